/*
 * shop_store.c - a store that fails when told to: the real back end behind one
 * that may answer in its place.
 */
#include "shop.h"

static enum idem_err
fault(struct shop *s, bool look, enum idem_op_kind kind)
{
	for (size_t i = 0; i < COUNT(s->fault); i++) {
		struct shop_fault *f = &s->fault[i];

		if (f->times > 0 && f->look == look &&
		    (look || f->kind == kind)) {
			f->times--;
			return f->err;
		}
	}
	return IDEM_OK;
}

static enum idem_err
look(void *self, struct idem_op *op)
{
	struct shop *s = self;
	enum idem_err err = fault(s, true, op->kind);

	return err != IDEM_OK ? err : s->backend->look(s->self, op);
}

static enum idem_err
submit(void *self, struct idem_op *op)
{
	struct shop *s = self;
	enum idem_err err = fault(s, false, op->kind);

	return err != IDEM_OK ? err : s->backend->submit(s->self, op);
}

static enum idem_err
read_tables(void *self, idem_reader fn, void *arg)
{
	struct shop *s = self;

	return s->backend->read(s->self, fn, arg);
}

static enum idem_err
walk(void *self, uint64_t *from, size_t max, bool *more, idem_visit fn,
    void *arg)
{
	struct shop *s = self;

	return s->backend->walk(s->self, from, max, more, fn, arg);
}

static enum idem_err
room(void *self, struct idem_room *out)
{
	struct shop *s = self;

	return s->backend->room(s->self, out);
}

static bool
runs(void *self, const unsigned char id[IDEM_ID_BYTES])
{
	struct shop *s = self;

	(void)id; /* there is one */
	s->nasked++;
	if (s->ends == SHOP_ENDS_NOT)
		return true;
	shop_end(s);
	if (s->break_look)
		s->fault[0] = (struct shop_fault){ IDEM_ESTORE, 0, true, 1 };
	return false;
}

static void
close_backend(void *self)
{
	struct shop *s = self;

	s->backend->close(s->self);
}

static const struct backend faulty = {
	.look = look, .submit = submit, .read = read_tables, .walk = walk,
	.room = room, .runs = runs, .close = close_backend,
};

void
shop_break_into(struct shop *s)
{
	s->backend = s->store->backend;
	s->self = s->store->self;
	s->store->backend = &faulty;
	s->store->self = s;
}
