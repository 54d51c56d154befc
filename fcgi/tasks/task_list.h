/*
 * task_list.h - a page of the tasks that fit a query.
 */
#ifndef TASKS_TASK_LIST_H
#define TASKS_TASK_LIST_H

#include "idem/tables.h"
#include "tasks/faults.h"

#define TASK_PAGE 50      /* tasks, where soni is absent */
#define TASK_PAGE_MAX 200

struct task_query {
	bool has_tag, has_done;
	bool done;
	struct idem_span tag; /* borrowed from the tag buffer */
	uint64_t after;       /* only ids above this one */
	size_t limit;         /* 1 to TASK_PAGE_MAX */
};

/*
 * Read a URL's query: teg, bajarildi, keyin, soni.  Absent: all tasks, the
 * first page.  Other names are ignored; an empty value is a bad one.
 *
 * IDEM_OK: *out is set.  IDEM_ESYNTAX: faults are added.  IDEM_ENOMEM.
 * tag is reset; a ceiling of 4 KiB is enough.
 */
IDEM_MUST_CHECK enum idem_err
task_query_parse(struct idem_span query, struct idem_buf *tag,
    struct faults *faults, struct task_query *out);

/*
 * Append {"vazifalar":[...],"keyingi":ID}: keyingi is what the next page takes
 * as keyin, or null.  IDEM_ECORRUPT: *bad_id is the task that does not decode;
 * IDEM_ENOMEM or IDEM_ETOOBIG of out; IDEM_ESTORE.
 */
IDEM_MUST_CHECK enum idem_err
task_list_json(struct idem_tables *t, const struct task_query *q,
    struct idem_buf *out, uint64_t *bad_id);

#endif
