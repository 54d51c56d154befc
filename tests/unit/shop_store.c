/*
 * shop_store.c - the shop's store: it fails when told to, as one stands before
 * the real back end; its records end by another's hand, and its rows are
 * counted.
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
cut(const struct shop *s, enum idem_err err, struct idem_op *op)
{
	if (s->cut_answers && err == IDEM_OK && op->answer->n > 1 &&
	    (op->verdict == IDEM_REPLAY || op->verdict == IDEM_STORED))
		op->answer->n = 1;
	return err;
}

static enum idem_err
look(void *self, struct idem_op *op)
{
	struct shop *s = self;
	enum idem_err err = fault(s, true, op->kind);

	return err != IDEM_OK ? err :
	    cut(s, s->backend->look(s->self, op), op);
}

static enum idem_err
submit(void *self, struct idem_op *op)
{
	struct shop *s = self;
	enum idem_err err = fault(s, false, op->kind);

	return err != IDEM_OK ? err :
	    cut(s, s->backend->submit(s->self, op), op);
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

static bool
leave_running(void *arg, uint64_t number, const struct idem_record *record)
{
	(void)number; /* only one record is running */
	if (record->state == IDEM_STATE_RUNNING)
		idem_store_leave(arg, record->token);
	return true;
}

void
shop_die(struct shop *s)
{
	uint64_t from = 0;
	bool more;

	assert_int_equal(idem_store_walk(s->store, &from, 100, &more,
	    leave_running, s->store), IDEM_OK);
}

static bool
resolve(void *arg, uint64_t number, const struct idem_record *record)
{
	struct shop *s = arg;
	struct idem_buf bytes, answer;
	struct idem_op op = { .kind = IDEM_OP_RESOLVE, .now_ms = s->now_ms,
		.ttl_ms = s->policy.ttl_ms, .recipe = IDEM_RECIPE };

	(void)number; /* only one record is running */
	if (record->state != IDEM_STATE_RUNNING)
		return true;
	memcpy(op.id, record->id, sizeof op.id);
	idem_store_leave(s->store, record->token);
	if (s->ends == SHOP_ENDS_DEAD)
		return false;
	idem_buf_init(&bytes, 64);
	idem_buf_init(&answer, 64);
	/* 200, no fields, a body */
	idem_buf_puts(&bytes, IDEM_LIT("\0\xc8\0\0\0\0\0\0\0\7by hand"));
	if (s->ends == SHOP_ENDS_DONE) {
		op.input = idem_buf_span(&bytes);
		op.kept_bytes = bytes.n;
	}
	op.answer = &answer;
	assert_int_equal(idem_store_submit(s->store, &op), IDEM_OK);
	assert_int_equal(op.verdict, s->ends == SHOP_ENDS_DONE ? IDEM_STORED :
	    IDEM_RELEASED);
	idem_buf_free(&bytes);
	idem_buf_free(&answer);
	return false;
}

void
shop_end(struct shop *s)
{
	uint64_t from = 0;
	bool more;

	assert_int_equal(idem_store_walk(s->store, &from, 100, &more, resolve,
	    s), IDEM_OK);
}

static bool
count_row(void *arg, struct idem_span key, struct idem_span value)
{
	(void)key;
	(void)value;
	++*(uint64_t *)arg;
	return true;
}

static enum idem_err
count_rows(void *arg, struct idem_tables *t)
{
	return idem_tables_each(t, SHOP_ROWS, IDEM_ABSENT, count_row, arg);
}

uint64_t
shop_nrows(struct shop *s)
{
	uint64_t n = 0;

	assert_int_equal(idem_store_read(s->store, count_rows, &n), IDEM_OK);
	return n;
}

uint64_t
shop_nrecords(struct shop *s)
{
	struct idem_room r;

	assert_int_equal(idem_store_room(s->store, &r), IDEM_OK);
	return r.nrecords;
}
