/*
 * trace.h - the log of a load: what was done to the store's files and what was
 * told to clients, in one order over all processes.  One entry is one write(2)
 * to a file opened with O_APPEND, so its place in the file is its place in
 * time.
 */
#ifndef TRACE_H
#define TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_MAGIC 0x7077637574303031u
#define TRACE_NAME 40
#define TRACE_PAD(n) ((8 - (n) % 8) % 8) /* zeroes behind n bytes */

enum trace_kind {
	TRACE_WRITE = 1, /* begins: n bytes follow, to be at offset at */
	TRACE_SIZE,      /* begins: the file is to be at bytes long */
	TRACE_EXTEND,    /* begins: it is to be at least that long */
	TRACE_CREATE,    /* done: the name is in the directory */
	TRACE_UNLINK,    /* done */
	TRACE_RENAME,    /* done; of the directory "." itself: it has its
	                  * name now */
	TRACE_MKDIR,     /* done: the directory itself */
	TRACE_FLUSH,     /* begins: of the file, or of the directory "." or
	                  * "..", or of what is mapped */
	TRACE_END,       /* what this process began last has come back */
	TRACE_MAP,       /* the file is shared memory from now on */
	TRACE_MARK,      /* said by the load: struct mark, and the answer */
	TRACE_SENT       /* begins: these bytes go to a web server */
};

struct trace_entry {
	uint64_t magic;
	uint32_t kind;
	uint32_t durable; /* WRITE: this write flushes itself;
	                   * END: false where it was cut short on purpose */
	uint32_t pid;
	uint32_t call;    /* END: of the entry that it ends */
	uint64_t at;
	uint64_t n;       /* bytes behind this entry */
	char name[TRACE_NAME]; /* in the store's directory */
};

enum mark_kind {
	MARK_ASKED = 1, /* the request has come; nothing was answered */
	MARK_BEGAN,     /* claimed; its work in the world begins now */
	MARK_ANSWERED,  /* the answer leaves now: its bytes follow */
	MARK_HELD,      /* told that nobody knows how it ended */
	MARK_RELEASED,  /* told that nothing was done */
	MARK_APPLIED    /* work without a key is done: its row follows */
};

struct mark {
	uint32_t kind;
	uint32_t deed; /* enum deed_kind */
	unsigned char id[32];
};

#endif
