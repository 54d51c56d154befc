/*
 * killat.c - preloaded by a test: ends the process, as kill -9 does, just
 * before its nth write or flush.  Knows nothing of what is written.
 *
 * $KILLAT holds the path of a file with n in it.  While that file exists,
 * calls are counted; it is removed before the process dies, so that the next
 * one lives.  Standard output and error do not count.  "-n": it is stopped
 * (SIGSTOP), and goes on where it was.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static int ncalls;

/* What n the test asks for; 0: nothing is asked. */
static int
asked(const char *path)
{
	char text[16];
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC), number = 0;

	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof text);
	close(fd);
	for (ssize_t i = n > 0 && text[0] == '-'; i < n && text[i] >= '0' &&
	    text[i] <= '9'; i++)
		number = number * 10 + (text[i] - '0');
	return n > 0 && text[0] == '-' ? -number : number;
}

static void
count(int fd, bool writes_file)
{
	const char *path = getenv("KILLAT");
	int n;

	if (path == NULL || fd <= 2)
		return;
	n = asked(path);
	if (n < 0 && !writes_file)
		return;
	if (n == 0) {
		ncalls = 0;
		return;
	}
	if (++ncalls == (n < 0 ? -n : n)) {
		unlink(path);
		kill(getpid(), n < 0 ? SIGSTOP : SIGKILL);
	}
}

#define NEXT(name) \
	static __typeof__(&name) next; \
	if (next == NULL) \
		next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t
write(int fd, const void *p, size_t n)
{
	NEXT(write);
	count(fd, true);
	return next(fd, p, n);
}

ssize_t
send(int fd, const void *p, size_t n, int flags)
{
	NEXT(send);
	count(fd, false);
	return next(fd, p, n, flags);
}

ssize_t
writev(int fd, const struct iovec *v, int n)
{
	NEXT(writev);
	count(fd, true);
	return next(fd, v, n);
}

ssize_t
pwrite(int fd, const void *p, size_t n, off_t at)
{
	NEXT(pwrite);
	count(fd, true);
	return next(fd, p, n, at);
}

ssize_t
pwrite64(int fd, const void *p, size_t n, off64_t at)
{
	NEXT(pwrite64);
	count(fd, true);
	return next(fd, p, n, at);
}

int
fdatasync(int fd)
{
	NEXT(fdatasync);
	count(fd, false);
	return next(fd);
}

int
fsync(int fd)
{
	NEXT(fsync);
	count(fd, false);
	return next(fd);
}

int
ftruncate(int fd, off_t n)
{
	NEXT(ftruncate);
	count(fd, false);
	return next(fd, n);
}
