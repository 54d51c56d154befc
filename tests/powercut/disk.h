/*
 * disk.h - what a disk may hold of a directory after a power cut: what was
 * flushed, and any part of what was not.
 *
 * Strict, as POSIX is: a flush covers what came back before it began, of that
 * file alone; a synchronous write covers itself; a name is there for sure after
 * a flush of its directory only; a sector of 512 bytes is written whole or not.
 */
#ifndef DISK_H
#define DISK_H

#include "trace.h"

#define DISK_FILES 12
#define DISK_SECTOR 512
#define DISK_PAGE 4096
#define DISK_NEVER UINT64_MAX

/* What was asked of a file and is not on the disk for sure. */
struct disk_op {
	bool is_size;      /* at: the new size; shorter only where shrinks */
	bool shrinks;
	bool synchronous;
	uint64_t at, n;
	const unsigned char *bytes; /* in the log */
	uint32_t pid, call;
	uint64_t back;     /* the entry at which it came back, or NEVER */
};

struct disk_file {
	char name[TRACE_NAME];
	bool there;        /* programs see it */
	bool safe;         /* its name is on the disk */
	bool gone;         /* its name was removed, perhaps not on the disk */
	bool mapped;       /* shared memory: its bytes may be anything */
	uint64_t named_at; /* or removed */
	uint64_t visible;  /* bytes long, as programs see it */
	unsigned char *base; /* what is on the disk for sure */
	uint64_t n;
	struct disk_op *ops;
	size_t nops;
};

struct disk {
	bool copy;            /* it is made under another name, then named */
	bool made, made_safe; /* the directory itself */
	uint64_t made_at;
	struct disk_file file[DISK_FILES];
	size_t nfiles;
	struct {              /* flushes on their way */
		uint32_t pid, call;
		uint64_t began;
		char name[TRACE_NAME];
	} flush[64];
	size_t nflushes;
};

/* Take entry number index of the log.  true: a cut behind it may leave another
 * disk than one before it. */
bool disk_step(struct disk *d, const struct trace_entry *e, uint64_t index);

struct disk_file *disk_find(struct disk *d, const char *name);

#endif
