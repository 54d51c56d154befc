/*
 * faults.h - what is wrong with a value, in the reader's language: the member
 * "xatolar" of a validation problem.  Knows no values.
 */
#ifndef TASKS_FAULTS_H
#define TASKS_FAULTS_H

#include "idem/buf.h"
#include "idem/problem.h"

enum fault {
	FAULT_NOT_OBJECT,
	FAULT_REQUIRED,
	FAULT_NOT_STRING,
	FAULT_EMPTY,
	FAULT_TOO_LONG,   /* over TASK_TEXT_MAX code points */
	FAULT_NUL,        /* U+0000 in a string */
	FAULT_NOT_BOOL,
	FAULT_TAG,        /* empty, with a #, or no UTF-8 */
	FAULT_FROM,       /* keyin: not a number */
	FAULT_COUNT,      /* soni: not 1 to 200 */
	FAULT_TWICE
};
#define NFAULTS ((size_t)FAULT_TWICE + 1)

/*
 * Collects them: out holds nothing, or after faults_end()
 * "xatolar":[{"maydon":FIELD,"xabar":TEXT},...].
 */
struct faults {
	struct idem_buf *out; /* the caller's, empty at the start */
	enum idem_lang lang;
};

/* field: the member's or parameter's name, "" for the whole body. */
void faults_add(struct faults *f, const char *field, enum fault fault);
/* true: there are some, and out is complete. */
bool faults_end(struct faults *f);

#endif
