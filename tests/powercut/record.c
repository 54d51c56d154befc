/*
 * record.c - preloaded into a load: writes down all that is done to the files
 * of one directory, in one log for all processes.  Knows nothing of what is
 * written.
 *
 * POWERCUT_DIR is the directory, POWERCUT_LOG the log.  POWERCUT_FLUSH_US: how
 * long a flush takes, as a disk's would.  POWERCUT_KILL=n: of a thousand writes
 * and flushes n end the process, as kill -9 does; POWERCUT_CUT=n: of a thousand
 * synchronous writes n do so when the write is seen, but not yet on the disk.
 * POWERCUT_SEED: for these.
 * POWERCUT_DENY: files whose names begin so cannot be opened.
 *
 * A write is logged before it is made, since from then on it may be on the
 * disk, and its end after it came back, since only then does a flush cover it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "trace.h"

#define FDS 1024
#define PIECES 128 /* of one writev() */

struct known {
	bool used;
	bool synchronous; /* O_DSYNC or O_SYNC */
	char name[TRACE_NAME];
};

static struct known fds[FDS]; /* by descriptor */
static int log_fd = -1;
static uint32_t ncalls;
static uint64_t dice;

#define NEXT(name) \
	static __typeof__(&name) next; \
	if (next == NULL) \
		next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* --- the log ---------------------------------------------------------------*/

static int
number_of(const char *name)
{
	const char *text = getenv(name);
	int n = 0;

	for (; text != NULL && *text >= '0' && *text <= '9'; text++)
		n = n * 10 + (*text - '0');
	return n;
}

static int
the_log(void)
{
	static __typeof__(&open) real;

	if (real == NULL)
		real = (__typeof__(&open))dlsym(RTLD_NEXT, "open");
	if (log_fd < 0 && getenv("POWERCUT_LOG") != NULL)
		log_fd = real(getenv("POWERCUT_LOG"),
		    O_WRONLY | O_APPEND | O_CLOEXEC);
	if (log_fd < 0)
		abort();
	return log_fd;
}

static void
put(struct trace_entry *e, const struct iovec *bytes, int nbytes)
{
	static __typeof__(&writev) real;
	struct iovec all[PIECES + 2];
	size_t n = sizeof *e;

	if (real == NULL)
		real = (__typeof__(&writev))dlsym(RTLD_NEXT, "writev");
	if (nbytes > PIECES)
		abort();
	e->magic = TRACE_MAGIC;
	e->pid = (uint32_t)getpid();
	all[0] = (struct iovec){ e, sizeof *e };
	e->n = 0;
	for (int i = 0; i < nbytes; i++) {
		all[i + 1] = bytes[i];
		e->n += bytes[i].iov_len;
	}
	n += e->n + TRACE_PAD(e->n);
	all[nbytes + 1] = (struct iovec){ (char[8]){ 0 }, TRACE_PAD(e->n) };
	if (real(the_log(), all, nbytes + 2) != (ssize_t)n)
		abort();
}

static void
set_name(char to[TRACE_NAME], const char *name)
{
	size_t n = strnlen(name, TRACE_NAME - 1);

	memcpy(to, name, n);
	to[n] = '\0';
}

static struct trace_entry
entry(enum trace_kind kind, const char *name, uint64_t at)
{
	struct trace_entry e = { .kind = kind, .call = ++ncalls, .at = at };

	set_name(e.name, name);
	return e;
}

static void
note(enum trace_kind kind, const char *name, uint64_t at)
{
	struct trace_entry e = entry(kind, name, at);
	int saved = errno;

	put(&e, NULL, 0);
	errno = saved;
}

static void
note_end(const char *name, bool whole)
{
	struct trace_entry e = entry(TRACE_END, name, 0);
	int saved = errno;

	e.call = --ncalls;
	e.durable = whole;
	put(&e, NULL, 0);
	errno = saved;
}

/* --- what a disk and a killer do -------------------------------------------*/

static bool
unlucky(const char *permille)
{
	if (dice == 0)
		dice = (uint64_t)number_of("POWERCUT_SEED") * 2654435761u +
		    (uint64_t)getpid() * 40503u + 1;
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return (int)(dice % 1000) < number_of(permille);
}

static void
perhaps_die(void)
{
	if (unlucky("POWERCUT_KILL"))
		(void)kill(getpid(), SIGKILL);
}

/* A journal's commit, for a directory, takes longer. */
static void
take_time(const char *name)
{
	struct timespec t = { .tv_nsec = number_of("POWERCUT_FLUSH_US") *
		(name[0] == '.' ? 20000L : 1000L) };

	if (t.tv_nsec > 0)
		(void)nanosleep(&t, NULL);
}

/* --- which files -----------------------------------------------------------*/

/* The name within the directory; "." and ".." for it and the one above; NULL:
 * of no interest. */
static const char *
inside(const char *path)
{
	const char *dir = getenv("POWERCUT_DIR"), *slash;
	size_t n;

	if (dir == NULL || path == NULL)
		return NULL;
	n = strlen(dir);
	if (strncmp(path, dir, n) == 0) {
		if (path[n] == '\0')
			return ".";
		if (path[n] != '/')
			return NULL;
		return strcmp(path + n, "/..") == 0 ? ".." : path + n + 1;
	}
	slash = strrchr(dir, '/');
	return strlen(path) == (size_t)(slash - dir) &&
	    strncmp(path, dir, (size_t)(slash - dir)) == 0 ? ".." : NULL;
}

static struct known *
known(int fd)
{
	return fd >= 0 && fd < FDS && fds[fd].used ? &fds[fd] : NULL;
}

static bool
denied(const char *name)
{
	const char *deny = getenv("POWERCUT_DENY");

	return deny != NULL && *deny != '\0' && name != NULL &&
	    strncmp(name, deny, strlen(deny)) == 0;
}

typedef int open_fn(const char *path, int flags, ...);

static int
open_any(open_fn *real, const char *path, int flags, mode_t mode)
{
	const char *name = inside(path);
	bool there = name != NULL && access(path, F_OK) == 0;
	int fd;

	if (denied(name)) {
		errno = EIO;
		return -1;
	}
	fd = real(path, flags, mode);
	if (fd < 0 || fd >= FDS || name == NULL)
		return fd;
	fds[fd] = (struct known){ .used = true,
		.synchronous = (flags & O_DSYNC) != 0 };
	set_name(fds[fd].name, name);
	/* Two that make it at once both say so; the first one counts. */
	if ((flags & O_CREAT) != 0 && !there)
		note(TRACE_CREATE, name, 0);
	if ((flags & O_TRUNC) != 0 && there) {
		note(TRACE_SIZE, name, 0);
		note_end(name, true);
	}
	return fd;
}

static mode_t
mode_of(int flags, va_list ap)
{
	return (flags & (O_CREAT | O_TMPFILE)) != 0 ?
	    (mode_t)va_arg(ap, int) : 0;
}

#define OPENS(call) \
int \
call(const char *path, int flags, ...) \
{ \
	NEXT(call); \
	va_list ap; \
	mode_t mode; \
\
	va_start(ap, flags); \
	mode = mode_of(flags, ap); \
	va_end(ap); \
	return open_any((open_fn *)next, path, flags, mode); \
}
OPENS(open)
OPENS(open64)

int
close(int fd)
{
	NEXT(close);

	if (known(fd) != NULL)
		fds[fd].used = false;
	return next(fd);
}

int
mkdir(const char *path, mode_t mode)
{
	NEXT(mkdir);
	const char *name = inside(path);
	int rc = next(path, mode);

	if (rc == 0 && name != NULL)
		note(TRACE_MKDIR, name, 0);
	return rc;
}

int
unlink(const char *path)
{
	NEXT(unlink);
	const char *name = inside(path);
	int rc = next(path);

	if (rc == 0 && name != NULL)
		note(TRACE_UNLINK, name, 0);
	return rc;
}

int
rename(const char *from, const char *to)
{
	NEXT(rename);
	const char *name = inside(from), *new = inside(to);
	struct trace_entry e;
	struct iovec bytes;
	int rc = next(from, to);

	if (rc != 0 || name == NULL || new == NULL)
		return rc;
	e = entry(TRACE_RENAME, name, 0);
	bytes = (struct iovec){ (void *)(uintptr_t)new, strlen(new) + 1 };
	put(&e, &bytes, 1);
	return rc;
}

/* --- writes ----------------------------------------------------------------*/

/* Begins a write; true: it shall come back, but not be on the disk, and then
 * the process ends: as if it had been killed before its flush. */
static bool
begin_write(const struct known *k, const struct iovec *bytes, int n, off_t at)
{
	struct trace_entry e = entry(TRACE_WRITE, k->name, (uint64_t)at);

	e.durable = k->synchronous;
	perhaps_die();
	put(&e, bytes, n);
	return k->synchronous && unlucky("POWERCUT_CUT");
}

static void
end_write(const struct known *k, bool dies)
{
	if (!dies && k->synchronous)
		take_time(k->name);
	note_end(k->name, !dies);
	if (dies)
		(void)kill(getpid(), SIGKILL);
	perhaps_die();
}

ssize_t
pwrite(int fd, const void *p, size_t n, off_t at)
{
	NEXT(pwrite);
	struct known *k = known(fd);
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
	struct known *k = known(fd);
	ssize_t rc;
	bool dies;

	if (k == NULL)
		return next(fd, bytes, nbytes);
	dies = begin_write(k, bytes, nbytes, lseek(fd, 0, SEEK_CUR));
	rc = next(fd, bytes, nbytes);
	end_write(k, dies);
	return rc;
}

ssize_t
write(int fd, const void *p, size_t n)
{
	NEXT(write);
	struct known *k = known(fd);
	struct iovec bytes = { (void *)(uintptr_t)p, n };
	ssize_t rc;
	bool dies;

	if (k == NULL)
		return next(fd, p, n);
	dies = begin_write(k, &bytes, 1, lseek(fd, 0, SEEK_CUR));
	rc = next(fd, p, n);
	end_write(k, dies);
	return rc;
}

/* --- sizes -----------------------------------------------------------------*/

int
ftruncate(int fd, off_t size)
{
	NEXT(ftruncate);
	struct known *k = known(fd);
	int rc;

	if (k != NULL)
		note(TRACE_SIZE, k->name, (uint64_t)size);
	rc = next(fd, size);
	if (k != NULL)
		note_end(k->name, true);
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
	struct known *k = known(fd);
	int rc;

	if (k != NULL)
		note(TRACE_EXTEND, k->name, (uint64_t)(at + n));
	rc = next(fd, at, n);
	if (k != NULL)
		note_end(k->name, true);
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
	struct known *k = known(fd); \
	int rc; \
\
	if (k == NULL) \
		return next(fd); \
	perhaps_die(); \
	note(TRACE_FLUSH, k->name, 0); \
	rc = next(fd); \
	take_time(k->name); \
	note_end(k->name, rc == 0); \
	perhaps_die(); \
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
	struct known *k = known(fd); \
\
	if (k != NULL && (flags & MAP_SHARED) != 0 && \
	    (prot & PROT_WRITE) != 0) \
		note(TRACE_MAP, k->name, 0); \
	return next(p, n, prot, flags, fd, at); \
}
MAPS(mmap, off_t)
MAPS(mmap64, off64_t)
