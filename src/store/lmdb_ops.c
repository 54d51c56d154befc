/*
 * lmdb_ops.c - each operation on a record, inside a transaction that somebody
 * else begins and commits.  An operation looks and decides first, then runs its
 * handler in a nested transaction, and writes last.
 */
#include <assert.h>
#include <string.h>

#include "store/lmdb_store.h"

/* One operation on its way. */
struct turn {
	struct lmdb_store *s;
	struct kv_txn *t;
	struct idem_op *op;
	bool crowded;
	struct lmdb_found own; /* the record of op->id, also an expired one */
};

struct outcome {
	enum idem_effect effect;
	struct idem_span kept; /* borrowed from op */
};

static bool
own_token(const struct turn *u)
{
	return memcmp(u->own.r.token, u->op->token, IDEM_TOKEN_BYTES) == 0;
}

static enum idem_err
call_handler(struct turn *u, struct kv_txn *t, struct idem_applied *applied)
{
	const struct idem_store *base = u->s->base;
	struct idem_tables tables = { &lmdb_tables_verbs, t, base->ntables,
		true };
	struct idem_op *op = u->op;
	enum idem_err err;

	idem_buf_reset(op->answer);
	err = base->apply(base->apply_arg, &tables, op, op->answer, applied);
	if (err == IDEM_OK)
		err = idem_buf_err(op->answer);
	if (err != IDEM_OK)
		return err;
	assert(applied->effect != IDEM_BY_STATUS);
	assert(applied->kept_bytes <= op->answer->n);
	return applied->kept_bytes > RECORD_ANSWER_MAX ? IDEM_ETOOBIG :
	    IDEM_OK;
}

/* In a transaction of its own, so that nothing stays of what is undone. */
static enum idem_err
run_handler(struct turn *u, struct idem_applied *applied)
{
	struct kv_txn nested;
	enum idem_err err = kv_nested(u->t, &nested);

	if (err != IDEM_OK)
		return err;
	err = call_handler(u, &nested, applied);
	if (err == IDEM_OK && applied->effect == IDEM_DONE && !applied->undo)
		err = kv_commit(&nested);
	kv_abort(&nested);
	return err;
}

/* How the work ended: as the handler says, or with the input as its answer. */
static enum idem_err
settle(struct turn *u, struct outcome *out)
{
	struct idem_applied applied = { .effect = IDEM_BY_STATUS };
	struct idem_op *op = u->op;
	enum idem_err err;

	if (op->apply == 0) {
		*out = (struct outcome){ IDEM_DONE,
			{ op->input.p, op->kept_bytes } };
		return op->kept_bytes > RECORD_ANSWER_MAX ? IDEM_ETOOBIG :
		    IDEM_OK;
	}
	if ((err = run_handler(u, &applied)) != IDEM_OK)
		return err;
	*out = (struct outcome){ applied.effect,
		{ op->answer->p, applied.kept_bytes } };
	return IDEM_OK;
}

/* What r becomes, and the verdict; NONE has no record. */
static void
ended(struct idem_record *r, struct idem_op *op, const struct outcome *out)
{
	r->stored_ms = op->now_ms;
	switch (out->effect) {
	case IDEM_BY_STATUS:
		assert(out->effect != IDEM_BY_STATUS);
		break;
	case IDEM_NONE:
		op->verdict = IDEM_RELEASED;
		break;
	case IDEM_HOLD:
		r->state = IDEM_STATE_UNKNOWN;
		r->expires_ms = store_expiry(op->now_ms, op->unknown_ttl_ms);
		r->answer = IDEM_ABSENT;
		op->verdict = IDEM_HELD;
		break;
	case IDEM_DONE:
		r->state = IDEM_STATE_DONE;
		r->expires_ms = store_expiry(op->now_ms, op->ttl_ms);
		r->answer = out->kept;
		op->verdict = IDEM_STORED;
		break;
	}
}

/* Give the record that stands there its end. */
static enum idem_err
end_own(struct turn *u, const struct outcome *out)
{
	struct idem_record r = u->own.r;

	ended(&r, u->op, out);
	if (out->effect == IDEM_NONE)
		return lmdb_drop(u->t, u->own.number, r.id);
	return lmdb_write(u->s, u->t, u->own.number, &r);
}

enum idem_err
lmdb_replay(struct lmdb_store *s, const struct lmdb_found *f,
    struct idem_op *op)
{
	if (f->r.seal != 0) {
		idem_log(s->base->log, IDEM_ERROR, "store %s: an answer is "
		    "sealed: run the version that sealed it", s->place.path);
		return IDEM_ENEWER;
	}
	op->verdict = IDEM_REPLAY;
	if (op->answer == NULL)
		return IDEM_OK;
	idem_buf_puts(op->answer, f->r.answer);
	return idem_buf_err(op->answer);
}

static enum idem_err
drop_all(struct turn *u, const struct lmdb_victims *gone)
{
	enum idem_err err = IDEM_OK;

	for (size_t i = 0; err == IDEM_OK && i < gone->n; i++)
		err = lmdb_drop(u->t, gone->one[i].number, gone->one[i].id);
	return err;
}

/* Clear the way and write the new record behind all others. */
static enum idem_err
replace(struct turn *u, const struct lmdb_victims *gone, uint64_t number,
    const struct idem_record *r)
{
	enum idem_err err = IDEM_OK;

	if (u->own.there)
		err = lmdb_drop(u->t, u->own.number, u->op->id);
	if (err == IDEM_OK)
		err = drop_all(u, gone);
	return err != IDEM_OK ? err : lmdb_append(u->s, u->t, number, r);
}

/* What goes so that there is room: for one more record, and for its bytes. */
static enum idem_err
make_room(struct turn *u, struct lmdb_victims *gone)
{
	enum idem_err err = lmdb_make_room(u->s, u->t, u->op, &u->own, gone);

	if (err != IDEM_OK || !u->crowded || gone->n > 0)
		return err;
	return lmdb_replace_expired(u->s, u->t, u->op, u->own.there, gone);
}

/* The key is ours: a new record, running or already at its end. */
static enum idem_err
take(struct turn *u)
{
	struct idem_record r = record_running(u->op);
	struct lmdb_victims gone;
	struct outcome out;
	uint64_t number;
	enum idem_err err;

	if ((err = make_room(u, &gone)) != IDEM_OK ||
	    (err = lmdb_next_number(u->t, &number)) != IDEM_OK)
		return err;
	if (u->op->kind == IDEM_OP_CLAIM) {
		u->op->verdict = IDEM_CLAIMED;
		return replace(u, &gone, number, &r);
	}
	if ((err = settle(u, &out)) != IDEM_OK)
		return err;
	ended(&r, u->op, &out);
	if (out.effect != IDEM_NONE)
		return replace(u, &gone, number, &r);
	return u->own.there ? lmdb_drop(u->t, u->own.number, u->op->id) :
	    IDEM_OK;
}

/* The record stands and its worker is gone, or its outcome is unknown. */
static enum idem_err
take_over(struct turn *u)
{
	struct idem_op *op = u->op;

	if (op->retry) {
		op->took_over = true;
		return take(u);
	}
	if (u->own.r.state == IDEM_STATE_UNKNOWN) {
		op->verdict = IDEM_UNKNOWN;
		return IDEM_OK;
	}
	op->verdict = IDEM_ORPHAN;
	return lmdb_write_unknown(u->s, u->t, &u->own, op->now_ms,
	    op->unknown_ttl_ms);
}

static enum idem_err
claim_running(struct turn *u)
{
	struct idem_op *op = u->op;

	if (own_token(u)) {
		op->verdict = IDEM_CLAIMED;
		return op->kind == IDEM_OP_CLAIM ? IDEM_OK : take(u);
	}
	if (liveness_alive(&u->s->base->live, u->own.r.token)) {
		op->verdict = IDEM_RUNNING;
		return IDEM_OK;
	}
	return take_over(u);
}

static enum idem_err
claim(struct turn *u)
{
	const struct idem_record *r = &u->own.r;
	enum idem_err err;

	if (!u->own.there && (err = lmdb_is_absent(u->s, u->t, u->op->id)) !=
	    IDEM_OK)
		return err;
	if (!u->own.there || record_expired(r, u->op->now_ms))
		return take(u);
	if (r->recipe != u->op->recipe)
		return IDEM_ENEWER;
	/* Before the state: another body is told so also while the first
	 * request is still running. */
	if (memcmp(r->fingerprint, u->op->fingerprint,
	    IDEM_FINGERPRINT_BYTES) != 0) {
		u->op->verdict = IDEM_MISMATCH;
		return IDEM_OK;
	}
	switch (r->state) {
	case IDEM_STATE_RUNNING:
		return claim_running(u);
	case IDEM_STATE_DONE:
		return lmdb_replay(u->s, &u->own, u->op);
	case IDEM_STATE_UNKNOWN:
		return take_over(u);
	}
	return IDEM_ECORRUPT;
}

/* FINISH, HOLD and RELEASE: only a running record with our own token. */
static enum idem_err
finish(struct turn *u)
{
	struct outcome out = { IDEM_HOLD, IDEM_ABSENT };
	enum idem_err err;

	if (!u->own.there || u->own.r.state != IDEM_STATE_RUNNING ||
	    !own_token(u)) {
		u->op->verdict = IDEM_LOST;
		return IDEM_OK;
	}
	if (u->op->kind == IDEM_OP_RELEASE)
		out.effect = IDEM_NONE;
	else if (u->op->kind == IDEM_OP_FINISH &&
	    (err = settle(u, &out)) != IDEM_OK)
		return err;
	return end_own(u, &out);
}

static enum idem_err
resolve(struct turn *u)
{
	struct outcome out = { IDEM_NONE, IDEM_ABSENT };
	const struct idem_record *r = &u->own.r;
	struct idem_op *op = u->op;
	enum idem_err err;

	if (!u->own.there || record_expired(r, op->now_ms)) {
		op->verdict = IDEM_ABSENT_KEY;
		return IDEM_OK;
	}
	if (r->state == IDEM_STATE_DONE)
		return lmdb_replay(u->s, &u->own, op);
	if (r->state == IDEM_STATE_RUNNING &&
	    liveness_alive(&u->s->base->live, r->token)) {
		op->verdict = IDEM_RUNNING;
		return IDEM_OK;
	}
	if ((op->apply != 0 || op->input.p != NULL) &&
	    (err = settle(u, &out)) != IDEM_OK)
		return err;
	return end_own(u, &out);
}

static enum idem_err
apply_alone(struct turn *u)
{
	struct idem_applied applied = { .effect = IDEM_BY_STATUS };
	struct lmdb_victims gone = { .n = 0 };
	struct outcome out;
	struct idem_record none;
	enum idem_err err;

	if (u->crowded && (err = lmdb_replace_expired(u->s, u->t, u->op,
	    false, &gone)) != IDEM_OK)
		return err;
	if ((err = run_handler(u, &applied)) != IDEM_OK ||
	    (err = drop_all(u, &gone)) != IDEM_OK)
		return err;
	out = (struct outcome){ applied.effect, IDEM_ABSENT };
	ended(&none, u->op, &out);
	return IDEM_OK;
}

enum idem_err
lmdb_run(struct lmdb_store *s, struct kv_txn *t, struct idem_op *op,
    bool crowded)
{
	struct turn u = { .s = s, .t = t, .op = op, .crowded = crowded };
	enum idem_err err;

	store_start(op);
	if (op->kind == IDEM_OP_APPLY)
		return apply_alone(&u);
	if (op->kind == IDEM_OP_SWEEP)
		return lmdb_sweep_due(s, t, op);
	if ((err = lmdb_find(s, t, op->id, &u.own)) != IDEM_OK)
		return err;
	switch (op->kind) {
	case IDEM_OP_CLAIM:
	case IDEM_OP_ONCE:
		return claim(&u);
	case IDEM_OP_FINISH:
	case IDEM_OP_HOLD:
	case IDEM_OP_RELEASE:
		return finish(&u);
	case IDEM_OP_RESOLVE:
		return resolve(&u);
	case IDEM_OP_APPLY:
	case IDEM_OP_SWEEP:
		break;
	}
	return IDEM_OK;
}
