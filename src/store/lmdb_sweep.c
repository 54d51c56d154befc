/*
 * lmdb_sweep.c - one step of a sweep: find due records without the writer's
 * lock, then treat them by one operation, which judges each again.
 */
#include "store/lmdb_store.h"

#include "base/bytes.h"

#define NUMBER_BYTES 8
#define COUNTS_BYTES (4 * 8)

/* Looking for due records. */
struct search {
	struct lmdb_store *s;
	struct idem_sweep *sweep;
	int64_t now_ms;
	size_t max;
	size_t nseen;
	size_t ndue;
	struct idem_buf due; /* their numbers */
};

static bool
is_due(struct lmdb_store *s, const struct idem_record *r, int64_t now_ms)
{
	if (r->state == IDEM_STATE_RUNNING)
		return !liveness_alive(&s->base->live, r->token);
	return record_expired(r, now_ms);
}

static bool
look_at(void *arg, struct idem_span key, struct idem_span value)
{
	struct search *p = arg;
	struct idem_record r;

	if (key.n != NUMBER_BYTES)
		return true;
	if (p->ndue == p->max || p->nseen == SWEEP_LOOK_MAX) {
		p->sweep->more = true;
		return false;
	}
	p->nseen++;
	p->sweep->from = u64_from_key((const unsigned char *)key.p);
	if (record_decode(value, &r) == IDEM_OK &&
	    is_due(p->s, &r, p->now_ms)) {
		idem_buf_puts(&p->due, key);
		p->ndue++;
	}
	return true;
}

static enum idem_err
find_due(struct search *p)
{
	unsigned char start[NUMBER_BYTES];
	struct kv_txn t;
	enum idem_err err;

	p->sweep->more = false;
	if (p->sweep->from == UINT64_MAX)
		return IDEM_OK;
	if ((err = kv_begin(p->s->kv, false, &t)) != IDEM_OK)
		return err;
	u64_to_key(p->sweep->from + 1, start);
	err = kv_each(&t, LMDB_LOG, (struct idem_span){ (const char *)start,
	    sizeof start }, look_at, p);
	kv_abort(&t);
	return err;
}

static enum idem_err
treat_one(struct lmdb_store *s, struct kv_txn *t, const struct idem_op *op,
    const struct lmdb_found *f, struct idem_sweep *done)
{
	switch (f->r.state) {
	case IDEM_STATE_DONE:
		done->nexpired++;
		break;
	case IDEM_STATE_UNKNOWN:
		done->nunknown++;
		break;
	case IDEM_STATE_RUNNING:
		if (!f->r.retry) {
			done->nheld++;
			return lmdb_write_unknown(s, t, f, op->now_ms,
			    op->unknown_ttl_ms);
		}
		done->nreleased++;
		break;
	}
	return lmdb_drop(t, f->number, f->r.id);
}

/* A record that no longer decodes is left to "idem check"; what the transaction
 * itself fails at ends the step. */
enum idem_err
lmdb_sweep_due(struct lmdb_store *s, struct kv_txn *t, struct idem_op *op)
{
	struct idem_sweep done = { .from = 0 };
	struct reader r = reader_of(op->input);
	enum idem_err err = IDEM_OK;

	if (op->answer == NULL || op->input.n % NUMBER_BYTES != 0 ||
	    idem_buf_room(op->answer, COUNTS_BYTES) == NULL)
		return IDEM_ECORRUPT; /* nobody asks like this */
	while (r.rest.n > 0 && !t->full && !t->spoiled) {
		struct lmdb_found f;

		err = lmdb_find_number(s, t, rd_u64(&r), &f);
		if (err == IDEM_OK && f.there &&
		    is_due(s, &f.r, op->now_ms))
			err = treat_one(s, t, op, &f, &done);
	}
	if (t->full || t->spoiled)
		return err;
	wr_u64(op->answer, done.nexpired);
	wr_u64(op->answer, done.nunknown);
	wr_u64(op->answer, done.nheld);
	wr_u64(op->answer, done.nreleased);
	return idem_buf_err(op->answer);
}

static void
count(struct idem_sweep *sweep, struct idem_span answer)
{
	struct reader r = reader_of(answer);

	sweep->nexpired += rd_u64(&r);
	sweep->nunknown += rd_u64(&r);
	sweep->nheld += rd_u64(&r);
	sweep->nreleased += rd_u64(&r);
}

enum idem_err
lmdb_sweep(void *self, int64_t now_ms, int64_t unknown_ttl_ms, size_t max,
    struct idem_sweep *sweep)
{
	char due[SWEEP_DUE_MAX * NUMBER_BYTES], counts[COUNTS_BYTES];
	struct search p = { .s = self, .sweep = sweep, .now_ms = now_ms,
		.max = max < SWEEP_DUE_MAX ? max : SWEEP_DUE_MAX };
	struct idem_buf answer;
	struct idem_op op = { .kind = IDEM_OP_SWEEP, .now_ms = now_ms,
		.unknown_ttl_ms = unknown_ttl_ms, .answer = &answer };
	enum idem_err err;

	idem_buf_over(&p.due, due, sizeof due);
	idem_buf_over(&answer, counts, sizeof counts);
	if ((err = place_same(&p.s->place)) != IDEM_OK)
		return err;
	kv_check_readers(p.s->kv);
	if ((err = find_due(&p)) != IDEM_OK)
		return err;
	sweep->nseen += p.nseen;
	if (p.ndue == 0)
		return IDEM_OK;
	op.input = idem_buf_span(&p.due);
	if ((err = lmdb_submit(self, &op)) == IDEM_OK)
		count(sweep, idem_buf_span(&answer));
	return err;
}
