/*
 * io.c - system calls on files and descriptors, random bytes and clocks.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"

#define CHUNK_BYTES 16384

enum idem_err
io_write(int fd, const void *p, size_t n)
{
	const char *at = p;

	while (n > 0) {
		ssize_t w = write(fd, at, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return IDEM_EIO;
		at += w;
		n -= (size_t)w;
	}
	return IDEM_OK;
}

long
io_read(int fd, void *p, size_t n)
{
	ssize_t r;

	do
		r = read(fd, p, n);
	while (r < 0 && errno == EINTR);
	return (long)r;
}

enum idem_err
io_read_all(int fd, struct idem_buf *b)
{
	char chunk[CHUNK_BYTES];
	long n;

	/* what has no end, as /dev/zero, is read to the ceiling only */
	while ((n = io_read(fd, chunk, sizeof chunk)) > 0) {
		idem_buf_put(b, chunk, (size_t)n);
		if (idem_buf_err(b) != IDEM_OK)
			break;
	}
	return n < 0 ? IDEM_EIO : idem_buf_err(b);
}

enum idem_err
io_read_file(const char *path, struct idem_buf *b)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	enum idem_err err;
	int saved;

	if (fd < 0)
		return IDEM_EIO;
	err = io_read_all(fd, b);
	saved = errno;
	(void)close(fd); /* nothing was written */
	errno = saved;
	return err;
}

enum idem_err
io_random(void *p, size_t n)
{
	char *at = p;

	while (n > 0) {
		ssize_t got = getrandom(at, n, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return IDEM_EIO;
		at += got;
		n -= (size_t)got;
	}
	return IDEM_OK;
}

static int64_t
clock_ms(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t) != 0)
		return 0; /* cannot happen: both clocks exist everywhere */
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t
io_wall_ms(void)
{
	return clock_ms(CLOCK_REALTIME);
}

int64_t
io_steady_ms(void)
{
	return clock_ms(CLOCK_MONOTONIC);
}
