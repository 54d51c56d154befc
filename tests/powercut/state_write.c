/*
 * state_write.c - makes the files of a chosen disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "deed.h"
#include "state.h"

#include "base/io.h"
#include "base/text.h"

#define MEMORY_PART 262144 /* bytes of it that are written, at most */

struct image {
	unsigned char *p;
	uint64_t n, cap;
	bool garbage;
	uint64_t seed;
};

static void
garble(unsigned char *p, uint64_t n, uint64_t *seed)
{
	uint64_t word = 0;

	for (uint64_t i = 0; i < n; i++) {
		if (i % 8 == 0)
			word = deed_random(seed);
		p[i] = (unsigned char)(word >> i % 8 * 8);
	}
}

static void
reach(struct image *m, uint64_t n)
{
	if (n <= m->n)
		return;
	if (n > m->cap)
		abort();
	if (m->garbage)
		garble(m->p + m->n, n - m->n, &m->seed);
	else
		memset(m->p + m->n, 0, n - m->n);
	m->n = n;
}

static void
put_piece(struct image *m, const struct disk_op *op,
    const struct state_piece *piece)
{
	if (op->is_size) {
		if (op->shrinks && op->at < m->n)
			m->n = op->at;
		reach(m, op->at);
		return;
	}
	reach(m, piece->at + piece->n);
	memcpy(m->p + piece->at, op->bytes + (piece->at - op->at), piece->n);
}

static void
build(const struct state *s, const struct disk_file *f, size_t file,
    struct image *m)
{
	m->cap = f->visible > f->n ? f->visible : f->n;
	for (size_t i = 0; i < f->nops; i++)
		if (f->ops[i].at + f->ops[i].n > m->cap)
			m->cap = f->ops[i].at + f->ops[i].n;
	m->p = malloc(m->cap + 1);
	if (m->p == NULL)
		abort();
	m->n = f->n;
	if (f->n > 0)
		memcpy(m->p, f->base, f->n);
	for (size_t i = 0; i < s->npieces; i++)
		if (s->piece[i].file == file && s->piece[i].there)
			put_piece(m, &f->ops[s->piece[i].op], &s->piece[i]);
	if (s->size == SIZE_LONG)
		reach(m, f->visible);
	if (s->size == SIZE_SHORT && m->n > f->n)
		m->n = s->cut < f->n ? f->n : s->cut < m->n ? s->cut : m->n;
}

/* What was on the disk, mixed with what is now: sectors at random. */
static void
tear(unsigned char *p, size_t n, uint64_t *seed)
{
	for (size_t at = 0; at + DISK_SECTOR <= n; at += DISK_SECTOR)
		if (deed_random(seed) % 3 == 0)
			memset(p + at, 0, DISK_SECTOR);
}

static size_t
read_image(const char *images, const char *name, unsigned char *p, size_t cap)
{
	char path[4096];
	ssize_t n = -1;
	int fd;

	if (text_format(path, sizeof path, "%s.%s", images, name) != IDEM_OK)
		abort();
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, p, cap);
		(void)close(fd);
	}
	return n > 0 ? (size_t)n : 0;
}

static void
write_memory(const struct state *s, const struct disk_file *f, size_t file,
    int fd, const char *images)
{
	static unsigned char bytes[MEMORY_PART];
	uint64_t seed = s->seed + file;
	size_t n = f->visible < sizeof bytes ? (size_t)f->visible :
	    sizeof bytes;
	enum state_memory what = s->memory[file];

	if (what == MEMORY_EMPTY)
		return;
	memset(bytes, 0, n);
	if (what == MEMORY_GARBAGE)
		garble(bytes, n, &seed);
	if (what == MEMORY_IMAGE || what == MEMORY_TORN)
		n = read_image(images, f->name, bytes, n);
	if (what == MEMORY_TORN)
		tear(bytes, n, &seed);
	if (io_write(fd, bytes, n) != IDEM_OK ||
	    ftruncate(fd, (off_t)f->visible) != 0)
		abort();
}

static void
write_file(const struct state *s, const struct disk_file *f, size_t file,
    int fd, const char *images)
{
	struct image m = { .garbage = s->garbage, .seed = s->seed };

	if (f->mapped) {
		write_memory(s, f, file, fd, images);
		return;
	}
	build(s, f, file, &m);
	if (io_write(fd, m.p, m.n) != IDEM_OK)
		abort();
	free(m.p);
}

void
state_write(const struct state *s, const struct disk *d, const char *dir,
    const char *images)
{
	char path[4096];
	int fd;

	if (!s->dir)
		return;
	if (mkdir(dir, 0700) != 0)
		abort();
	for (size_t i = 0; i < d->nfiles; i++) {
		if (!s->named[i])
			continue;
		if (text_format(path, sizeof path, "%s/%s", dir,
		    d->file[i].name) != IDEM_OK)
			abort();
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0)
			abort();
		write_file(s, &d->file[i], i, fd, images);
		(void)close(fd);
	}
}
