/*
 * record.h - what the preloaded halves share: the log, the fate of a process,
 * and which descriptors are of the directory.
 */
#ifndef RECORD_H
#define RECORD_H

#include <dlfcn.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "trace.h"

#define NEXT(name) \
	static __typeof__(&name) next; \
	if (next == NULL) \
		next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

struct known {
	bool used;
	bool synchronous; /* O_DSYNC or O_SYNC */
	char name[TRACE_NAME];
};

/* NULL: of no interest. */
struct known *record_known(int fd);

/* Log an entry, with these bytes behind it; errno stays. */
void record_note(enum trace_kind kind, const char *name, uint64_t at);
void record_bytes(struct trace_entry *e, const struct iovec *bytes, int n);
struct trace_entry record_entry(enum trace_kind kind, const char *name,
    uint64_t at);
/* What was logged last has come back. */
void record_end(const char *name, bool whole);
void record_name(char to[TRACE_NAME], const char *name);

/* Of a thousand calls as many are unlucky as this variable says. */
bool record_unlucky(const char *permille);
void record_perhaps_die(void);
/* Take as long as a disk takes to flush this. */
void record_take_time(const char *name);

#endif
