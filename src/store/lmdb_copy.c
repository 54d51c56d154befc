/*
 * lmdb_copy.c - a store copied while others use it: written under another name,
 * read back, flushed, and only then named.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/lmdb_store.h"

#include "base/io.h"
#include "base/text.h"

#define WALK_RECORDS 1000

struct copying {
	struct lmdb_store *s;
	const struct idem_copy *copy;
	char above[PATH_MAX];   /* the directory of both, without links */
	char path[PATH_MAX];    /* of the copy */
	char partial[PATH_MAX]; /* of the same, while it is not whole */
	int above_fd;
	int dir_fd;             /* of partial */
	int fd;                 /* of its data file */
	bool named;
};

/* What a store's directory holds.  An empty "workers" stays, so that a copy
 * that lost its data file is not taken for a new store; the others are made
 * when it is read back, and again when it is used. */
static const struct {
	const char *name;
	bool stays;
} files[] = {
	{ "data.mdb", true },
	{ "workers", true },
	{ "lock.mdb", false },
	{ "open.lock", false },
	{ "sightings", false },
	{ "waiting", false },
};

static enum idem_err
refuse(const struct copying *c, const char *why)
{
	idem_log(c->s->base->log, IDEM_ERROR, "copy to %.*s: %s", IDEM_LOG_PATH,
	    c->path, why);
	return IDEM_EREFUSED;
}

static enum idem_err
fail(const struct copying *c, const char *what, int err)
{
	static const struct {
		int err;
		const char *advice;
	} rows[] = {
		{ EACCES, "the owner of the store must be able to write to the "
		    "directory above it" },
		{ ENOENT, "make the directory above it" },
		{ ENOTDIR, "what is above it is no directory" },
		{ EROFS, "copy to a disk that can be written" },
		{ EEXIST, "it came meanwhile: give a name that is free" },
		{ ENOTEMPTY, "it came meanwhile: give a name that is free" },
	};
	const char *advice = place_advice(err);

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].err == err)
			advice = rows[i].advice;
	idem_log(c->s->base->log, IDEM_ERROR, "copy to %.*s: %s: %s: %s",
	    IDEM_LOG_PATH, c->path, what, strerror(err), advice);
	return place_is_full(err) ? IDEM_EFULL : IDEM_ESTORE;
}

/* --- where -----------------------------------------------------------------*/

static enum idem_err
find_above(struct copying *c, struct idem_span before, struct idem_span name)
{
	char above[PATH_MAX];
	bool root;

	if (text_format(above, sizeof above, "%.*s", IDEM_FMT(before)) !=
	    IDEM_OK)
		return refuse(c, "this name is too long");
	if (realpath(above, c->above) == NULL)
		return fail(c, "realpath", errno);
	root = span_eq(span_of(c->above), IDEM_LIT("/"));
	if (text_format(c->path, sizeof c->path, "%s/%.*s", root ? "" :
	    c->above, IDEM_FMT(name)) != IDEM_OK ||
	    text_format(c->partial, sizeof c->partial, "%s/.%.*s."
	    "partial-XXXXXX", root ? "" : c->above, IDEM_FMT(name)) !=
	    IDEM_OK)
		return refuse(c, "this name is too long");
	return IDEM_OK;
}

static enum idem_err
find_place(struct copying *c)
{
	struct idem_span to = c->copy->to, before, name;
	enum idem_err err;
	struct stat st;

	while (to.n > 0 && to.p[to.n - 1] == '/')
		to.n--;
	name = place_last_part(to, &before);
	if (text_format(c->path, sizeof c->path, "%.*s", IDEM_FMT(to)) !=
	    IDEM_OK || memchr(to.p, '\0', to.n) != NULL || name.n == 0 ||
	    span_eq(name, IDEM_LIT(".")) || span_eq(name, IDEM_LIT("..")))
		return refuse(c, "the name of a new directory is wanted");
	if ((err = find_above(c, before, name)) != IDEM_OK)
		return err;
	if (lstat(c->path, &st) == 0)
		return refuse(c, "it is there already: give a name that is "
		    "free, or move that one away");
	if (errno != ENOENT)
		return fail(c, "lstat", errno);
	if (place_holds(&c->s->place, c->path))
		return refuse(c, "this lies inside the store itself: copy to "
		    "another directory");
	return IDEM_OK;
}

/* May a store lie here?  What is wrong goes to the log first. */
static enum idem_err
judge(const struct copying *c)
{
	const struct place_wanted wanted = { .path = span_of(c->partial),
		.document_root = c->copy->document_root,
		.fs_type = place_fs_type };
	struct place place;
	enum idem_err err = place_open(&place, &wanted, c->s->base->log);

	return err != IDEM_EREFUSED ? err : refuse(c, "refused: a copy is a "
	    "store, and lies only where one may");
}

/* --- the files -------------------------------------------------------------*/

/* false: a file is still there, of no use to anybody. */
static bool
remove_files(const struct copying *c, bool all)
{
	bool well = true;

	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		if ((all || !files[i].stays) &&
		    unlinkat(c->dir_fd, files[i].name, 0) != 0 &&
		    errno != ENOENT)
			well = false;
	return well;
}

static enum idem_err
make_partial(struct copying *c)
{
	c->above_fd = open(c->above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c->above_fd < 0)
		return fail(c, "open", errno);
	if (mkdtemp(c->partial) == NULL)
		return fail(c, "mkdtemp", errno);
	c->dir_fd = open(c->partial, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return c->dir_fd < 0 ? fail(c, "open", errno) : IDEM_OK;
}

static enum idem_err
write_data(struct copying *c)
{
	c->fd = openat(c->dir_fd, files[0].name,
	    O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (c->fd < 0)
		return fail(c, files[0].name, errno);
	return kv_copy(c->s->kv, c->fd, c->copy->compact, c->path);
}

static bool
count_running(void *arg, uint64_t number, const struct idem_record *r)
{
	struct idem_copied *out = arg;

	(void)number;
	out->nrunning += r != NULL && r->state == IDEM_STATE_RUNNING;
	return true;
}

static enum idem_err
look_through(struct idem_store *copy, struct idem_copied *out)
{
	enum idem_err err = idem_store_check(copy, &out->nbad);
	struct idem_room room;
	uint64_t from = 0;
	bool more = true;

	if (err == IDEM_OK)
		err = idem_store_room(copy, &room);
	if (err != IDEM_OK)
		return err;
	out->nrecords = room.nrecords;
	out->file_bytes = room.file_bytes;
	while (err == IDEM_OK && more)
		err = idem_store_walk(copy, &from, WALK_RECORDS, &more,
		    count_running, out);
	return err;
}

/* Opened as any other store, by this very program, and read to its end. */
static enum idem_err
read_back(const struct copying *c, struct idem_copied *out)
{
	const struct idem_store_config config = {
		.place = span_of(c->partial),
		.durable = true,
		.max_bytes = c->s->max_bytes,
		.log = c->s->base->log,
	};
	struct idem_store *copy;
	enum idem_err err = idem_store_open(&config, &copy);

	if (err != IDEM_OK)
		return err;
	err = look_through(copy, out);
	idem_store_close(&copy);
	return err;
}

/* What was written is on disk before it has its name, and the name then. */
static enum idem_err
settle(struct copying *c)
{
	int err;

	if (!remove_files(c, false))
		return fail(c, "unlink", errno);
	if (fsync(c->fd) != 0)
		return fail(c, "fsync", errno);
	if ((err = place_sync_names(c->dir_fd)) != 0)
		return fail(c, "fsync of its directory", err);
	/* In place of an empty directory at most, if one came meanwhile. */
	if (rename(c->partial, c->path) != 0)
		return fail(c, "rename", errno);
	c->named = true;
	if ((err = place_sync_names(c->above_fd)) != 0)
		return fail(c, "fsync of the directory above it", err);
	return IDEM_OK;
}

static enum idem_err
make(struct copying *c, struct idem_copied *out)
{
	enum idem_err err;

	if ((err = find_place(c)) != IDEM_OK ||
	    (err = make_partial(c)) != IDEM_OK ||
	    (err = judge(c)) != IDEM_OK ||
	    (err = write_data(c)) != IDEM_OK ||
	    (err = read_back(c, out)) != IDEM_OK)
		return err;
	return settle(c);
}

/* Of a copy that failed nothing stays, also where only its last step did. */
static void
clear_away(const struct copying *c)
{
	if (c->dir_fd >= 0)
		(void)remove_files(c, true);
	(void)rmdir(c->named ? c->path : c->partial);
}

static void
close_all(const struct copying *c)
{
	const int fds[] = { c->fd, c->dir_fd, c->above_fd };

	for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
		if (fds[i] >= 0)
			(void)close(fds[i]); /* flushed, or removed */
}

enum idem_err
lmdb_copy(void *self, const struct idem_copy *copy, struct idem_copied *out)
{
	struct copying c = { .s = self, .copy = copy, .above_fd = -1,
		.dir_fd = -1, .fd = -1 };
	enum idem_err err = place_same(&c.s->place);

	kv_wait_until(c.s->kv, io_steady_ms() + c.s->wait_ms);
	if (err == IDEM_OK)
		err = make(&c, out);
	if (err != IDEM_OK) {
		clear_away(&c);
		*out = (struct idem_copied){ .nrecords = 0 };
	}
	close_all(&c);
	return err;
}
