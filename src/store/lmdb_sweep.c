/*
 * lmdb_sweep.c - one step of a sweep: find due records without the writer's
 * lock, then treat them in one transaction, where each is judged again.
 */
#include "store/lmdb_store.h"

#include "base/bytes.h"

struct step {
	struct lmdb_store *s;
	struct idem_sweep *sweep;
	int64_t now_ms;
	int64_t unknown_ttl_ms;
	size_t max;
	size_t nseen;
	uint64_t due[SWEEP_DUE_MAX];
	size_t ndue;
	struct idem_sweep done; /* counts of the transaction */
};

static bool
is_due(const struct step *p, const struct idem_record *r)
{
	if (r->state == IDEM_STATE_RUNNING)
		return !liveness_alive(&p->s->base->live, r->token);
	return record_expired(r, p->now_ms);
}

static bool
look_at(void *arg, struct idem_span key, struct idem_span value)
{
	struct step *p = arg;
	struct idem_record r;

	if (key.n != 8)
		return true;
	if (p->ndue == p->max || p->nseen == SWEEP_LOOK_MAX) {
		p->sweep->more = true;
		return false;
	}
	p->nseen++;
	p->sweep->from = u64_from_key((const unsigned char *)key.p);
	if (record_decode(value, &r) == IDEM_OK && is_due(p, &r))
		p->due[p->ndue++] = p->sweep->from;
	return true;
}

static enum idem_err
find_due(struct step *p)
{
	unsigned char start[8];
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
treat_one(struct step *p, struct kv_txn *t, const struct lmdb_found *f)
{
	switch (f->r.state) {
	case IDEM_STATE_DONE:
		p->done.nexpired++;
		break;
	case IDEM_STATE_UNKNOWN:
		p->done.nunknown++;
		break;
	case IDEM_STATE_RUNNING:
		if (!f->r.retry) {
			p->done.nheld++;
			return lmdb_write_unknown(p->s, t, f, p->now_ms,
			    p->unknown_ttl_ms);
		}
		p->done.nreleased++;
		break;
	}
	return lmdb_drop(t, f->number, f->r.id);
}

/* May run more than once, so it counts from the start. */
static enum idem_err
treat(void *arg, struct kv_txn *t)
{
	struct step *p = arg;
	struct lmdb_found f;
	enum idem_err err = IDEM_OK;

	p->done = (struct idem_sweep){ .from = 0 };
	for (size_t i = 0; err == IDEM_OK && i < p->ndue; i++) {
		err = lmdb_find_number(p->s, t, p->due[i], &f);
		if (err == IDEM_OK && f.there && is_due(p, &f.r))
			err = treat_one(p, t, &f);
	}
	return err;
}

enum idem_err
lmdb_sweep(void *self, int64_t now_ms, int64_t unknown_ttl_ms, size_t max,
    struct idem_sweep *sweep)
{
	struct step p = { .s = self, .sweep = sweep, .now_ms = now_ms,
		.unknown_ttl_ms = unknown_ttl_ms,
		.max = max < SWEEP_DUE_MAX ? max : SWEEP_DUE_MAX };
	enum idem_err err;

	if ((err = place_same(&p.s->place)) != IDEM_OK)
		return err;
	kv_check_readers(p.s->kv);
	if ((err = find_due(&p)) != IDEM_OK)
		return err;
	sweep->nseen += p.nseen;
	if (p.ndue == 0)
		return IDEM_OK;
	if ((err = kv_write(p.s->kv, true, treat, &p)) != IDEM_OK)
		return err == IDEM_EFULL ? IDEM_ESTORE : err;
	sweep->nexpired += p.done.nexpired;
	sweep->nunknown += p.done.nunknown;
	sweep->nheld += p.done.nheld;
	sweep->nreleased += p.done.nreleased;
	return IDEM_OK;
}
