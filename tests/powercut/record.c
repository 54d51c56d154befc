/*
 * record.c - preloaded into a load: writes down all that is done to the files
 * of one directory, in one log for all processes.  Knows nothing of what is
 * written.
 *
 * POWERCUT_DIR is the directory, POWERCUT_LOG the log.  POWERCUT_FLUSH_US: how
 * long a flush takes, as a disk's would.  POWERCUT_KILL=n: of a thousand writes
 * and flushes n end the process, as kill -9 does; POWERCUT_CUT=n: of a thousand
 * synchronous writes n do so when the write is seen, but not yet on the disk.
 * POWERCUT_SEED: for these.  POWERCUT_SENT: log FastCGI answers, too.
 * POWERCUT_DENY: files whose names begin so cannot be opened.
 *
 * A write is logged before it is made, since from then on it may be on the
 * disk, and its end after it came back, since only then does a flush cover it.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "record.h"

/* --- writes ----------------------------------------------------------------*/

/* Begins a write; true: it shall come back, but not be on the disk, and then
 * the process ends: as if it had been killed before its flush. */
static bool
begin_write(const struct known *k, const struct iovec *bytes, int n, off_t at)
{
	struct trace_entry e = record_entry(TRACE_WRITE, k->name, (uint64_t)at);

	e.durable = k->synchronous;
	record_perhaps_die();
	record_bytes(&e, bytes, n);
	return k->synchronous && record_unlucky("POWERCUT_CUT");
}

static void
end_write(const struct known *k, bool dies)
{
	if (!dies && k->synchronous)
		record_take_time(k->name);
	record_end(k->name, !dies);
	if (dies)
		(void)kill(getpid(), SIGKILL);
	record_perhaps_die();
}

ssize_t
pwrite(int fd, const void *p, size_t n, off_t at)
{
	NEXT(pwrite);
	struct known *k = record_known(fd);
	struct iovec bytes = { (void *)(uintptr_t)p, n };
	ssize_t rc;
	bool dies;

	if (k == NULL)
		return next(fd, p, n, at);
	dies = begin_write(k, &bytes, 1, at);
	rc = next(fd, p, n, at);
	end_write(k, dies);
	return rc;
}

ssize_t
pwrite64(int fd, const void *p, size_t n, off64_t at)
{
	return pwrite(fd, p, n, at);
}

ssize_t
writev(int fd, const struct iovec *bytes, int nbytes)
{
	NEXT(writev);
	struct known *k = record_known(fd);
	ssize_t rc;
	bool dies;

	if (k == NULL)
		return next(fd, bytes, nbytes);
	dies = begin_write(k, bytes, nbytes, lseek(fd, 0, SEEK_CUR));
	rc = next(fd, bytes, nbytes);
	end_write(k, dies);
	return rc;
}

/* Does a record of FastCGI's standard output leave here? */
static bool
is_answer(const unsigned char *p, size_t n)
{
	return n > 8 && p[0] == 1 && p[1] == 6 &&
	    getenv("POWERCUT_SENT") != NULL;
}

static void
record_answer(const void *p, size_t n)
{
	struct iovec bytes = { (void *)(uintptr_t)p, n };
	struct trace_entry sent;

	if (!is_answer(p, n))
		return;
	sent = record_entry(TRACE_SENT, "", 0);
	record_bytes(&sent, &bytes, 1);
}

ssize_t
send(int fd, const void *p, size_t n, int flags)
{
	NEXT(send);

	record_answer(p, n);
	return next(fd, p, n, flags);
}

/* The bytes may be those of a store in use, which change while they are read:
 * what is logged and what is written must be the same. */
static void *
still(const void *p, size_t n)
{
	void *copy = malloc(n > 0 ? n : 1);

	if (copy == NULL)
		abort();
	return memcpy(copy, p, n);
}

ssize_t
write(int fd, const void *p, size_t n)
{
	NEXT(write);
	struct known *k = record_known(fd);
	struct iovec bytes = { (void *)(uintptr_t)p, n };
	ssize_t rc;
	bool dies;

	if (k == NULL) {
		record_answer(p, n);
		return next(fd, p, n);
	}
	bytes.iov_base = still(p, n);
	dies = begin_write(k, &bytes, 1, lseek(fd, 0, SEEK_CUR));
	rc = next(fd, bytes.iov_base, n);
	end_write(k, dies);
	free(bytes.iov_base);
	return rc;
}

/* --- sizes -----------------------------------------------------------------*/

int
ftruncate(int fd, off_t size)
{
	NEXT(ftruncate);
	struct known *k = record_known(fd);
	int rc;

	if (k != NULL)
		record_note(TRACE_SIZE, k->name, (uint64_t)size);
	rc = next(fd, size);
	if (k != NULL)
		record_end(k->name, true);
	return rc;
}

int
ftruncate64(int fd, off64_t size)
{
	return ftruncate(fd, size);
}

int
posix_fallocate(int fd, off_t at, off_t n)
{
	NEXT(posix_fallocate);
	struct known *k = record_known(fd);
	int rc;

	if (k != NULL)
		record_note(TRACE_EXTEND, k->name, (uint64_t)(at + n));
	rc = next(fd, at, n);
	if (k != NULL)
		record_end(k->name, true);
	return rc;
}

int
posix_fallocate64(int fd, off64_t at, off64_t n)
{
	return posix_fallocate(fd, at, n);
}

/* --- flushes ---------------------------------------------------------------*/

#define FLUSHES(call) \
int \
call(int fd) \
{ \
	NEXT(call); \
	struct known *k = record_known(fd); \
	int rc; \
\
	if (k == NULL) \
		return next(fd); \
	record_perhaps_die(); \
	record_note(TRACE_FLUSH, k->name, 0); \
	rc = next(fd); \
	record_take_time(k->name); \
	record_end(k->name, rc == 0); \
	record_perhaps_die(); \
	return rc; \
}
FLUSHES(fsync)
FLUSHES(fdatasync)

/* What is shared memory may be on the disk or not, whatever is flushed of it:
 * nothing may rest on it. */
#define MAPS(call, off) \
void * \
call(void *p, size_t n, int prot, int flags, int fd, off at) \
{ \
	NEXT(call); \
	struct known *k = record_known(fd); \
\
	if (k != NULL && (flags & MAP_SHARED) != 0 && \
	    (prot & PROT_WRITE) != 0) \
		record_note(TRACE_MAP, k->name, 0); \
	return next(p, n, prot, flags, fd, at); \
}
MAPS(mmap, off_t)
MAPS(mmap64, off64_t)
