/*
 * memory_ops.c - the operations on records in memory, written apart from those
 * of the other back ends, since they are compared with these.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "store/memory.h"

static bool
same(const unsigned char *a, const unsigned char *b, size_t n)
{
	return memcmp(a, b, n) == 0;
}

static enum idem_err
copy_of(struct idem_span s, struct idem_span *out)
{
	char *p = malloc(s.n == 0 ? 1 : s.n);

	if (p == NULL)
		return IDEM_ENOMEM;
	if (s.n > 0)
		memcpy(p, s.p, s.n);
	*out = (struct idem_span){ p, s.n };
	/* cppcheck-suppress memleak ; *out owns it */
	return IDEM_OK;
}

struct outcome {
	enum idem_effect effect;
	struct idem_span kept; /* owned, absent unless DONE */
};

static enum idem_err
run_handler(struct mem_store *m, struct idem_op *op,
    struct idem_applied *applied)
{
	struct idem_tables t = { &mem_tables_verbs, &m->tables,
	    m->base->ntables, true };
	enum idem_err err;

	idem_buf_reset(op->answer);
	err = m->base->apply(m->base->apply_arg, &t, op, op->answer, applied);
	if (err != IDEM_OK || (err = idem_buf_err(op->answer)) != IDEM_OK)
		return err;
	assert(applied->effect != IDEM_BY_STATUS);
	assert(applied->kept_bytes <= op->answer->n);
	if (applied->effect != IDEM_DONE || applied->undo)
		mem_tables_undo(&m->tables);
	return IDEM_OK;
}

/* How the work ended: by the handler, or with the input as its answer.  What
 * the handler wrote stands until keep or undo. */
static enum idem_err
settle(struct mem_store *m, struct idem_op *op, struct outcome *out)
{
	struct idem_span kept = { op->input.p, op->kept_bytes };
	struct idem_applied applied = { .effect = IDEM_DONE };
	enum idem_err err;

	if (op->apply != 0) {
		if ((err = run_handler(m, op, &applied)) != IDEM_OK)
			return err;
		kept.p = op->answer->p;
		kept.n = applied.kept_bytes;
	}
	*out = (struct outcome){ applied.effect, IDEM_ABSENT };
	return applied.effect == IDEM_DONE ? copy_of(kept, &out->kept) :
	    IDEM_OK;
}

/* Give an existing record its end: done, unknown or absent. */
static void
end(struct mem_store *m, size_t at, struct idem_op *op,
    const struct outcome *out)
{
	struct idem_record *r = &m->records[at].r;

	switch (out->effect) {
	case IDEM_BY_STATUS:
		assert(out->effect != IDEM_BY_STATUS);
		break;
	case IDEM_NONE:
		mem_drop(m, at);
		op->verdict = IDEM_RELEASED;
		break;
	case IDEM_HOLD:
		mem_become_unknown(r, op->now_ms, op->unknown_ttl_ms);
		op->verdict = IDEM_HELD;
		break;
	case IDEM_DONE:
		r->answer = out->kept;
		r->state = IDEM_STATE_DONE;
		r->stored_ms = op->now_ms;
		r->expires_ms = store_expiry(op->now_ms, op->ttl_ms);
		op->verdict = IDEM_STORED;
		break;
	}
}

/* The key is ours: put a new record behind all others, in place of what is
 * left of an old one. */
static enum idem_err
take(struct mem_store *m, struct idem_op *op)
{
	struct mem_victims gone = { .n = 0 };
	struct outcome out = { IDEM_BY_STATUS, IDEM_ABSENT };
	void *block = m->records;
	enum idem_err err;
	uint64_t number;
	size_t at;

	if ((err = mem_make_room(m, op, &gone)) != IDEM_OK)
		return err;
	err = mem_grow(&block, m->n, &m->cap, sizeof *m->records);
	m->records = block;
	if (err != IDEM_OK)
		return err;
	if (op->kind == IDEM_OP_ONCE && (err = settle(m, op, &out)) != IDEM_OK)
		return err;
	number = m->n == 0 ? 1 : m->records[m->n - 1].number + 1;
	if ((at = mem_find(m, op->id)) < m->n)
		mem_drop(m, at);
	if (out.effect != IDEM_NONE)
		mem_drop_victims(m, &gone);
	at = m->n++;
	m->records[at].number = number;
	m->records[at].r = record_running(op);
	op->verdict = IDEM_CLAIMED;
	if (op->kind == IDEM_OP_ONCE)
		end(m, at, op, &out);
	return IDEM_OK;
}

static enum idem_err
claim(struct mem_store *m, struct idem_op *op)
{
	struct idem_record *r = mem_standing(m, op);

	if (r == NULL)
		return take(m, op);
	if (r->recipe != op->recipe)
		return IDEM_ENEWER;
	if (!same(r->fingerprint, op->fingerprint, IDEM_FINGERPRINT_BYTES)) {
		op->verdict = IDEM_MISMATCH;
		return IDEM_OK;
	}
	if (r->state == IDEM_STATE_DONE)
		return mem_replay(r, op);
	if (r->state == IDEM_STATE_RUNNING &&
	    same(r->token, op->token, IDEM_TOKEN_BYTES)) {
		op->verdict = IDEM_CLAIMED;
		return op->kind == IDEM_OP_CLAIM ? IDEM_OK : take(m, op);
	}
	if (r->state == IDEM_STATE_RUNNING &&
	    liveness_alive(&m->base->live, r->token)) {
		op->verdict = IDEM_RUNNING;
		return IDEM_OK;
	}
	if (op->retry) {
		op->took_over = true;
		return take(m, op);
	}
	op->verdict = r->state == IDEM_STATE_RUNNING ? IDEM_ORPHAN :
	    IDEM_UNKNOWN;
	if (r->state == IDEM_STATE_RUNNING)
		mem_become_unknown(r, op->now_ms, op->unknown_ttl_ms);
	return IDEM_OK;
}

/* FINISH, HOLD and RELEASE: only on a running record with our own token. */
static enum idem_err
end_own(struct mem_store *m, struct idem_op *op)
{
	struct outcome out = { IDEM_HOLD, IDEM_ABSENT };
	size_t at = mem_find(m, op->id);
	enum idem_err err;

	if (at == m->n || m->records[at].r.state != IDEM_STATE_RUNNING ||
	    !same(m->records[at].r.token, op->token, IDEM_TOKEN_BYTES)) {
		op->verdict = IDEM_LOST;
		return IDEM_OK;
	}
	if (op->kind == IDEM_OP_RELEASE)
		out.effect = IDEM_NONE;
	else if (op->kind == IDEM_OP_FINISH &&
	    (err = settle(m, op, &out)) != IDEM_OK)
		return err;
	end(m, at, op, &out);
	return IDEM_OK;
}

static enum idem_err
resolve(struct mem_store *m, struct idem_op *op)
{
	struct outcome out = { IDEM_NONE, IDEM_ABSENT };
	const struct idem_record *r = mem_standing(m, op);
	enum idem_err err;

	if (r == NULL) {
		op->verdict = IDEM_ABSENT_KEY;
		return IDEM_OK;
	}
	if (r->state == IDEM_STATE_DONE)
		return mem_replay(r, op);
	if (r->state == IDEM_STATE_RUNNING &&
	    liveness_alive(&m->base->live, r->token)) {
		op->verdict = IDEM_RUNNING;
		return IDEM_OK;
	}
	if ((op->apply != 0 || op->input.p != NULL) &&
	    (err = settle(m, op, &out)) != IDEM_OK)
		return err;
	end(m, mem_find(m, op->id), op, &out);
	return IDEM_OK;
}

static enum idem_err
apply_alone(struct mem_store *m, struct idem_op *op)
{
	struct idem_applied applied = { .effect = IDEM_DONE };
	enum idem_err err = run_handler(m, op, &applied);

	if (err == IDEM_OK)
		op->verdict = applied.effect == IDEM_NONE ? IDEM_RELEASED :
		    applied.effect == IDEM_HOLD ? IDEM_HELD : IDEM_STORED;
	return err;
}

static enum idem_err
run(struct mem_store *m, struct idem_op *op)
{
	switch (op->kind) {
	case IDEM_OP_CLAIM:
	case IDEM_OP_ONCE:
		return claim(m, op);
	case IDEM_OP_FINISH:
	case IDEM_OP_HOLD:
	case IDEM_OP_RELEASE:
		return end_own(m, op);
	case IDEM_OP_RESOLVE:
		return resolve(m, op);
	case IDEM_OP_APPLY:
		return apply_alone(m, op);
	case IDEM_OP_SWEEP:
		break; /* mem_sweep() needs no operation */
	}
	return IDEM_ESTORE;
}

enum idem_err
mem_submit(void *self, struct idem_op *op)
{
	struct mem_store *m = self;
	enum idem_err err = run(m, op);

	if (err == IDEM_OK)
		mem_tables_keep(&m->tables);
	else
		mem_tables_undo(&m->tables);
	return err;
}
