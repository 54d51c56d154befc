/*
 * store_memory.c - the memory back end, for one process.  Simple rather than
 * fast: what the other back ends are compared with.
 */
#include <stdlib.h>
#include <string.h>

#include "store/memory.h"

static enum idem_err
mem_look(void *self, struct idem_op *op)
{
	const struct mem_store *m = self;
	const struct idem_record *r = mem_standing(self, op);
	enum idem_err err = r == NULL ? IDEM_OK : store_look_at(m->base, r, op);

	return err == IDEM_OK && op->verdict == IDEM_REPLAY ?
	    mem_replay(r, op) : err;
}

static enum idem_err
mem_read(void *self, idem_reader fn, void *arg)
{
	struct mem_store *m = self;
	struct idem_tables t = { &mem_tables_verbs, &m->tables,
	    m->base->ntables, false };

	return fn(arg, &t);
}

/* Index of the first record behind this number. */
static size_t
behind(const struct mem_store *m, uint64_t number)
{
	size_t i = 0;

	while (i < m->n && m->records[i].number <= number)
		i++;
	return i;
}

static enum idem_err
mem_walk(void *self, uint64_t *from, size_t max, bool *more, idem_visit fn,
    void *arg)
{
	const struct mem_store *m = self;
	size_t at = behind(m, *from);
	bool go_on = true;

	for (size_t seen = 0; at < m->n && seen < max && go_on; seen++, at++) {
		*from = m->records[at].number;
		go_on = fn(arg, *from, &m->records[at].r);
	}
	*more = !go_on || at < m->n;
	return IDEM_OK;
}

/* Treat the record if it is due.  true: it is gone. */
static bool
sweep_one(struct mem_store *m, size_t at, int64_t now_ms, int64_t ttl_ms,
    struct idem_sweep *sweep, size_t *ndue)
{
	struct idem_record *r = &m->records[at].r;

	if (record_expired(r, now_ms)) {
		++*ndue;
		if (r->state == IDEM_STATE_DONE)
			sweep->nexpired++;
		else
			sweep->nunknown++;
		mem_drop(m, at);
		return true;
	}
	if (r->state != IDEM_STATE_RUNNING ||
	    liveness_alive(&m->base->live, r->token))
		return false;
	++*ndue;
	if (!r->retry) {
		mem_become_unknown(r, now_ms, ttl_ms);
		sweep->nheld++;
		return false;
	}
	mem_drop(m, at);
	sweep->nreleased++;
	return true;
}

static enum idem_err
mem_sweep(void *self, int64_t now_ms, int64_t unknown_ttl_ms, size_t max,
    struct idem_sweep *sweep)
{
	struct mem_store *m = self;
	size_t at = behind(m, sweep->from), ndue = 0;

	if (max > SWEEP_DUE_MAX)
		max = SWEEP_DUE_MAX;
	for (size_t seen = 0; at < m->n && ndue < max && seen < SWEEP_LOOK_MAX;
	    seen++) {
		sweep->from = m->records[at].number;
		sweep->nseen++;
		if (!sweep_one(m, at, now_ms, unknown_ttl_ms, sweep, &ndue))
			at++;
	}
	sweep->more = at < m->n;
	return IDEM_OK;
}

static enum idem_err
mem_room(void *self, struct idem_room *out)
{
	const struct mem_store *m = self;

	*out = (struct idem_room){ .nrecords = m->n,
	    .max_bytes = m->max_bytes };
	for (size_t i = 0; i < m->n; i++)
		out->used_bytes += sizeof m->records[i] +
		    m->records[i].r.answer.n;
	return IDEM_OK;
}

/* In memory the index is the array itself: what can be wrong is its order. */
static enum idem_err
mem_check(void *self, uint64_t *nbad)
{
	const struct mem_store *m = self;

	for (size_t i = 0; i < m->n; i++)
		if (mem_find(m, m->records[i].r.id) != i ||
		    (i > 0 && m->records[i - 1].number >= m->records[i].number))
			++*nbad;
	return IDEM_OK;
}

/* Memory lies in no directory. */
static enum idem_err
mem_outside(void *self, struct idem_span document_root)
{
	(void)self;
	(void)document_root;
	return IDEM_OK;
}

static void
mem_close(void *self)
{
	struct mem_store *m = self;

	while (m->n > 0)
		mem_drop(m, m->n - 1);
	free(m->records);
	mem_tables_free(&m->tables);
	free(m);
}

static const struct backend memory = {
	.look = mem_look,
	.submit = mem_submit,
	.read = mem_read,
	.walk = mem_walk,
	.sweep = mem_sweep,
	.room = mem_room,
	.check = mem_check,
	.outside = mem_outside,
	.close = mem_close,
};

enum idem_err
store_memory_open(struct idem_store *s, const struct idem_store_config *config)
{
	struct mem_store *m = calloc(1, sizeof *m);
	enum idem_err err;

	if (m == NULL)
		return IDEM_ENOMEM;
	if ((err = liveness_open(&s->live, NULL, s->log)) != IDEM_OK) {
		free(m);
		return err;
	}
	sightings_open(&s->sightings, NULL, s->log);
	waiting_open(&s->waiting, NULL, false, 0, s->log);
	m->base = s;
	m->max_bytes = config->max_bytes;
	s->backend = &memory;
	s->self = m;
	return IDEM_OK;
}
