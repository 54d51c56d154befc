/*
 * spool.c - bytes in memory, or in a file that nobody else can open.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "exchange/spool.h"

#define NAME_BYTES 4096

void
spool_init(struct spool *s, const char *dir)
{
	*s = (struct spool){ .dir = dir, .fd = -1 };
	idem_buf_init(&s->memory, SPOOL_MEMORY_BYTES);
}

static void
unmap(struct spool *s)
{
	if (s->map != NULL)
		(void)munmap(s->map, s->mapped_bytes);
	s->map = NULL;
}

void
spool_reset(struct spool *s)
{
	unmap(s);
	if (s->fd >= 0)
		(void)close(s->fd); /* nobody reads it again */
	s->fd = -1;
	s->n = 0;
	idem_buf_reset(&s->memory);
}

void
spool_free(struct spool *s)
{
	spool_reset(s);
	idem_buf_free(&s->memory);
}

/* Not every file system makes files without a name. */
static int
open_named(const char *dir)
{
	char name[NAME_BYTES];
	int fd, saved;

	if (text_format(name, sizeof name, "%s/idem-XXXXXX", dir) != IDEM_OK) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if ((fd = mkostemp(name, O_CLOEXEC)) < 0)
		return -1;
	if (unlink(name) != 0) {
		saved = errno;
		(void)close(fd);
		errno = saved;
		return -1;
	}
	return fd;
}

static enum idem_err
move_to_file(struct spool *s)
{
	s->fd = open(s->dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (s->fd < 0)
		s->fd = open_named(s->dir);
	if (s->fd < 0 || io_write(s->fd, s->memory.p, s->memory.n) != IDEM_OK)
		return IDEM_EIO;
	idem_buf_reset(&s->memory);
	return IDEM_OK;
}

enum idem_err
spool_put(struct spool *s, const void *p, size_t n)
{
	enum idem_err err = IDEM_OK;

	if (s->fd < 0 && n <= SPOOL_MEMORY_BYTES - s->memory.n) {
		idem_buf_put(&s->memory, p, n);
		err = idem_buf_err(&s->memory);
	} else {
		unmap(s);
		if (s->fd < 0)
			err = move_to_file(s);
		if (err == IDEM_OK)
			err = io_write(s->fd, p, n);
	}
	if (err == IDEM_OK)
		s->n += n;
	return err;
}

enum idem_err
spool_bytes(struct spool *s, struct idem_span *out)
{
	if (s->fd < 0) {
		*out = s->n == 0 ? IDEM_LIT("") : idem_buf_span(&s->memory);
		return IDEM_OK;
	}
	if (s->map == NULL) {
		void *map = mmap(NULL, (size_t)s->n, PROT_READ, MAP_SHARED,
		    s->fd, 0);

		if (map == MAP_FAILED)
			return IDEM_EIO;
		s->map = map;
		s->mapped_bytes = (size_t)s->n;
	}
	*out = (struct idem_span){ s->map, s->mapped_bytes };
	return IDEM_OK;
}
