/*
 * disk.c - follows the log: what is flushed, what is pending.
 */
#include <stdlib.h>
#include <string.h>

#include "disk.h"

static void *
must(void *p)
{
	if (p == NULL)
		abort();
	return p;
}

struct disk_file *
disk_find(struct disk *d, const char *name)
{
	for (size_t i = 0; i < d->nfiles; i++)
		if (strcmp(d->file[i].name, name) == 0)
			return &d->file[i];
	return NULL;
}

static struct disk_file *
add_file(struct disk *d, const char *name)
{
	struct disk_file *f = disk_find(d, name);

	if (f != NULL)
		return f;
	if (d->nfiles == DISK_FILES)
		abort();
	f = &d->file[d->nfiles++];
	*f = (struct disk_file){ .there = false };
	memcpy(f->name, name, sizeof f->name);
	return f;
}

static void
add_op(struct disk_file *f, const struct trace_entry *e)
{
	struct disk_op *op;

	f->ops = must(realloc(f->ops, (f->nops + 1) * sizeof *f->ops));
	op = &f->ops[f->nops++];
	*op = (struct disk_op){ .at = e->at, .pid = e->pid, .call = e->call,
		.is_size = e->kind != TRACE_WRITE, .back = DISK_NEVER,
		.shrinks = e->kind == TRACE_SIZE && e->at < f->visible };
	if (e->kind == TRACE_WRITE) {
		op->n = e->n;
		op->bytes = (const unsigned char *)(e + 1);
		op->synchronous = e->durable != 0;
	}
	if (e->kind == TRACE_SIZE || op->at + op->n > f->visible)
		f->visible = op->at + op->n;
}

static void
resize(struct disk_file *f, uint64_t n)
{
	f->base = must(realloc(f->base, n > 0 ? n : 1));
	if (n > f->n)
		memset(f->base + f->n, 0, n - f->n);
	f->n = n;
}

/* From now on it is on the disk. */
static void
settle(struct disk_file *f, const struct disk_op *op)
{
	if (f->mapped)
		return; /* nobody believes its bytes */
	if (op->is_size) {
		if (op->shrinks || op->at > f->n)
			resize(f, op->at);
		return;
	}
	if (op->at + op->n > f->n)
		resize(f, op->at + op->n);
	memcpy(f->base + op->at, op->bytes, op->n);
}

/* All that came back before entry number began; or one synchronous write. */
static void
flush(struct disk_file *f, uint64_t began, const struct disk_op *only)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->nops; i++) {
		struct disk_op op = f->ops[i];

		if (only != NULL ? i == (size_t)(only - f->ops) :
		    op.back < began)
			settle(f, &op);
		else
			f->ops[kept++] = op;
	}
	f->nops = kept;
}

static bool
flush_names(struct disk *d, const char *name, uint64_t began)
{
	if (strcmp(name, "..") == 0) {
		d->made_safe = d->made_safe || (d->made &&
		    d->made_at < began);
		return true;
	}
	for (size_t i = 0; i < d->nfiles; i++)
		if (d->file[i].there && d->file[i].named_at < began) {
			d->file[i].safe = !d->file[i].gone;
			d->file[i].there = !d->file[i].gone;
		}
	return true;
}

static bool
end_flush(struct disk *d, const struct trace_entry *e)
{
	struct disk_file *f = disk_find(d, e->name);
	size_t i = 0;
	uint64_t began;

	while (i < d->nflushes && (d->flush[i].pid != e->pid ||
	    d->flush[i].call != e->call))
		i++;
	if (i == d->nflushes)
		return false;
	began = d->flush[i].began;
	d->flush[i] = d->flush[--d->nflushes];
	if (e->durable == 0)
		return false;
	if (e->name[0] == '.' && (e->name[1] == '\0' || e->name[1] == '.'))
		return flush_names(d, e->name, began);
	if (f != NULL)
		flush(f, began, NULL);
	return f != NULL;
}

static bool
end(struct disk *d, const struct trace_entry *e, uint64_t index)
{
	struct disk_file *f = disk_find(d, e->name);

	for (size_t i = 0; f != NULL && i < f->nops; i++) {
		struct disk_op *op = &f->ops[i];

		if (op->pid != e->pid || op->call != e->call)
			continue;
		op->back = index;
		if (!op->synchronous || e->durable == 0)
			return false;
		flush(f, 0, op);
		return true;
	}
	return end_flush(d, e);
}

/* A flush of a killed process never comes back; its pid does not return while
 * the log is short. */
static void
begin_flush(struct disk *d, const struct trace_entry *e, uint64_t index)
{
	size_t i = d->nflushes;

	if (i == sizeof d->flush / sizeof d->flush[0])
		abort();
	d->nflushes++;
	d->flush[i].pid = e->pid;
	d->flush[i].call = e->call;
	d->flush[i].began = index;
	memcpy(d->flush[i].name, e->name, sizeof e->name);
}

static bool
create(struct disk *d, const struct trace_entry *e, uint64_t index)
{
	struct disk_file *f = add_file(d, e->name);

	if (f->there && !f->gone)
		return false;
	f->there = true;
	f->gone = false;
	f->named_at = index;
	return true;
}

static bool
drop_name(struct disk *d, const struct trace_entry *e, uint64_t index)
{
	struct disk_file *f = add_file(d, e->name);

	f->gone = true;
	f->safe = false;
	f->named_at = index;
	return true;
}

/* The directory has the name by which it is looked for. */
static bool
name_it(struct disk *d, uint64_t index)
{
	d->made = true;
	d->made_at = index;
	return true;
}

bool
disk_step(struct disk *d, const struct trace_entry *e, uint64_t index)
{
	switch ((enum trace_kind)e->kind) {
	case TRACE_WRITE:
	case TRACE_SIZE:
	case TRACE_EXTEND:
		add_op(add_file(d, e->name), e);
		return true;
	case TRACE_END:
		return end(d, e, index);
	case TRACE_CREATE:
		return create(d, e, index);
	case TRACE_MKDIR:
		return !d->copy && name_it(d, index);
	case TRACE_FLUSH:
		begin_flush(d, e, index);
		return false;
	case TRACE_MAP:
		add_file(d, e->name)->mapped = true;
		return false;
	case TRACE_MARK:
	case TRACE_SENT:
		return true;
	case TRACE_UNLINK:
		return drop_name(d, e, index);
	case TRACE_RENAME:
		if (strcmp(e->name, ".") != 0)
			abort(); /* no file of a store is renamed */
		return name_it(d, index);
	}
	return false;
}
