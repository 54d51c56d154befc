/*
 * datafile.h - what has to be seen to on LMDB's files from outside.
 */
#ifndef STORE_DATAFILE_H
#define STORE_DATAFILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "idem/log.h"

/* IDEM_ESTORE with a log line: there is none in this directory, or it is empty,
 * and LMDB would make one of it. */
IDEM_MUST_CHECK enum idem_err
datafile_expect(const char *dir, const struct idem_log *log);

/* No data file is there, or nothing is in it.  LMDB would begin a new one, on
 * which who has the old one still open would go on: every key is new. */
bool datafile_is_lost(const char *dir);

/*
 * A data file that a power cut left in the middle of being made, one of its two
 * heads never written, is one that LMDB refuses for ever: rename it to
 * data.mdb.unfinished.  Only where nothing was ever stored, and under the lock
 * of openlock.h.  A copy that was cut short does not look so.  *aside: it was
 * renamed.  0 or errno.
 */
int datafile_put_aside(const char *dir, bool *aside);

/*
 * Remove what LMDB made of a new one and could not finish, as where the disk
 * had room for one of its two heads: it would be refused for ever.  Under the
 * lock of openlock.h.
 */
void datafile_take_back(const char *dir);

/*
 * Make LMDB's lock file for at least nreaders, or give the one that is there
 * all of its blocks: it is mapped, and a hole in it would be a SIGBUS on a full
 * disk.  Only while this process has no environment open on it, for closing any
 * descriptor of the file drops LMDB's locks; under the lock of openlock.h.
 * 0 or errno.
 */
int datafile_make_locks(const char *dir, unsigned nreaders);

/*
 * How many pages LMDB believes in, and of what size: as the head says that it
 * would read.  false: there is no head to be read, which is for LMDB to say.
 */
bool datafile_last_page(const char *dir, uint64_t *npages,
    uint64_t *page_bytes, uint64_t *file_bytes);

/* Keep every descriptor of the file that fd has open out of programs that this
 * process starts: LMDB holds two and says only one. */
void datafile_close_on_exec(int fd);

bool datafile_ends_before(int fd, off_t end);

/*
 * A file that ends before its last page is read with SIGBUS.  Made longer, the
 * missing pages are zero, which LMDB reports as damage; where it only never
 * wrote them, nobody will read them.  Call it under the writer's lock: nobody
 * else may make the file longer meanwhile.  0 or errno.
 */
int datafile_reach(int fd, off_t end);

/* As far as one can see: may it end there, and has its disk that many bytes? */
bool datafile_may_grow(int fd, off_t end, uint64_t bytes);

/* A write that finds room for a part of it fails, in LMDB's words, with EIO:
 * ENOSPC, EFBIG, or EIO where there is room. */
int datafile_why_short(int fd);

#endif
