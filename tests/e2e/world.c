/*
 * world.c - preloaded by a test: another time, another kind of file system, a
 * quota on it, and a gate, as long as the test says so.  Knows nothing of the
 * program.
 *
 * $WORLD_CLOCK holds the path of a file with seconds in it, which are added to
 * the time of day; $WORLD_STEADY likewise for the clock that never steps;
 * $WORLD_DISK one with the number of a file system's type, as fstatfs(2) says
 * it; $WORLD_QUOTA one with the number of bytes beyond which no file grows, or
 * -1: no flush succeeds.  No file, or 0: the world as it is.
 *
 * A sleep of GATE_S and GATE_NS lasts as long as the file that $WORLD_GATE
 * names is there; who comes to it writes his number to that name and ".at".
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define GATE_S 7 /* with harness/world.py */
#define GATE_NS 777000000
#define LOOK_NS 2000000 /* between two looks at the gate */

#define NEXT(name) \
	static __typeof__(&name) next; \
	if (next == NULL) \
		next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* The number in the file that this variable names; 0: there is none. */
static long
number_in(const char *variable)
{
	const char *path = getenv(variable);
	char text[32] = "";
	int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof text - 1) < 0)
		text[0] = '\0';
	close(fd);
	return strtol(text, NULL, 0);
}

int
clock_gettime(clockid_t clock, struct timespec *t)
{
	NEXT(clock_gettime);
	int rc = next(clock, t);

	if (rc == 0 && clock == CLOCK_REALTIME)
		t->tv_sec += number_in("WORLD_CLOCK");
	if (rc == 0 && clock == CLOCK_MONOTONIC)
		t->tv_sec += number_in("WORLD_STEADY");
	return rc;
}

int
fstatfs(int fd, struct statfs *fs)
{
	NEXT(fstatfs);
	int rc = next(fd, fs);
	long type = number_in("WORLD_DISK");

	if (rc == 0 && type != 0)
		fs->f_type = type;
	return rc;
}

/* Whether a file would grow beyond the quota by n bytes at that place; the log
 * and sockets have none. */
static bool
too_much(int fd, off64_t at, size_t n)
{
	struct stat st;
	long most = fd <= 2 ? 0 : number_in("WORLD_QUOTA");

	if (most <= 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    at + (off64_t)n <= st.st_size || at + (off64_t)n <= most)
		return false;
	errno = EDQUOT;
	return true;
}

static size_t
sum(const struct iovec *v, int n)
{
	size_t bytes = 0;

	while (n-- > 0)
		bytes += v[n].iov_len;
	return bytes;
}

ssize_t
pwrite(int fd, const void *p, size_t n, off_t at)
{
	NEXT(pwrite);
	return too_much(fd, at, n) ? -1 : next(fd, p, n, at);
}

ssize_t
pwrite64(int fd, const void *p, size_t n, off64_t at)
{
	NEXT(pwrite64);
	return too_much(fd, at, n) ? -1 : next(fd, p, n, at);
}

ssize_t
pwritev(int fd, const struct iovec *v, int n, off_t at)
{
	NEXT(pwritev);
	return too_much(fd, at, sum(v, n)) ? -1 : next(fd, v, n, at);
}

ssize_t
pwritev64(int fd, const struct iovec *v, int n, off64_t at)
{
	NEXT(pwritev64);
	return too_much(fd, at, sum(v, n)) ? -1 : next(fd, v, n, at);
}

ssize_t
write(int fd, const void *p, size_t n)
{
	NEXT(write);
	return too_much(fd, lseek64(fd, 0, SEEK_CUR), n) ? -1 : next(fd, p, n);
}

ssize_t
writev(int fd, const struct iovec *v, int n)
{
	NEXT(writev);
	return too_much(fd, lseek64(fd, 0, SEEK_CUR), sum(v, n)) ? -1 :
	    next(fd, v, n);
}

int
ftruncate(int fd, off_t n)
{
	NEXT(ftruncate);
	return too_much(fd, n, 0) ? -1 : next(fd, n);
}

int
ftruncate64(int fd, off64_t n)
{
	NEXT(ftruncate64);
	return too_much(fd, n, 0) ? -1 : next(fd, n);
}

int
posix_fallocate(int fd, off_t at, off_t n)
{
	NEXT(posix_fallocate);
	return too_much(fd, at, (size_t)n) ? EDQUOT : next(fd, at, n);
}

static bool
fails(void)
{
	if (number_in("WORLD_QUOTA") >= 0)
		return false;
	errno = EDQUOT;
	return true;
}

int
fdatasync(int fd)
{
	NEXT(fdatasync);
	return fails() ? -1 : next(fd);
}

int
fsync(int fd)
{
	NEXT(fsync);
	return fails() ? -1 : next(fd);
}

static void
say_who_comes(const char *gate)
{
	char path[PATH_MAX];
	int fd, n = snprintf(path, sizeof path, "%s.at", gate);

	if (n < 0 || (size_t)n >= sizeof path)
		abort();
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0 || dprintf(fd, "%d\n", (int)getpid()) < 0)
		abort();
	close(fd);
}

int
nanosleep(const struct timespec *wanted, struct timespec *left)
{
	NEXT(nanosleep);
	const struct timespec look = { .tv_nsec = LOOK_NS };
	const char *gate = getenv("WORLD_GATE");

	if (gate == NULL || wanted->tv_sec != GATE_S ||
	    wanted->tv_nsec != GATE_NS)
		return next(wanted, left);
	say_who_comes(gate);
	while (access(gate, F_OK) == 0)
		next(&look, NULL);
	return 0;
}
