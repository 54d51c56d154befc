/*
 * store.c - the store's verbs: what holds for every back end, then the back
 * end's own.  It knows neither LMDB nor the layout of a record.
 */
#include <assert.h>
#include <stdlib.h>

#include "store/backend.h"
#include "store/group.h"

#include "base/text.h"

/* Who found no memory below may have had nobody to tell. */
static enum idem_err
tell(const struct idem_log *log, enum idem_err err)
{
	if (err == IDEM_ENOMEM)
		idem_log(log, IDEM_ERROR, "store: out of memory: raise the "
		    "limit on memory, or run fewer workers");
	return err;
}

enum idem_err
idem_store_open(const struct idem_store_config *config, struct idem_store **out)
{
	struct idem_store *s = calloc(1, sizeof *s);
	enum idem_err err;

	assert(config->ntables <= IDEM_TABLES_MAX);
	if (s == NULL)
		return tell(config->log, IDEM_ENOMEM);
	s->apply = config->apply;
	s->apply_arg = config->apply_arg;
	s->ntables = (unsigned)config->ntables;
	s->program = config->program;
	s->log = config->log;
	if (span_eq(config->place, IDEM_LIT("memory:")))
		err = store_memory_open(s, config);
	else
		err = store_lmdb_open(s, config);
	if (err != IDEM_OK) {
		free(s);
		return tell(config->log, err);
	}
	*out = s;
	return IDEM_OK;
}

const char *
idem_store_commits(bool durable)
{
	if (!durable)
		return "one at a time: there is no flush to share";
	return group_possible() ? "many at once, by one flush" :
	    "one at a time: no robust mutex, futex or file locks here";
}

void
idem_store_close(struct idem_store **s)
{
	if (*s == NULL)
		return;
	(*s)->backend->close((*s)->self);
	sightings_close(&(*s)->sightings);
	waiting_close(&(*s)->waiting);
	liveness_close(&(*s)->live);
	free(*s);
	*s = NULL;
}

enum idem_err
idem_store_outside(struct idem_store *s, struct idem_span document_root)
{
	return tell(s->log, s->backend->outside(s->self, document_root));
}

bool
idem_store_stuck(const struct idem_store *s)
{
	return s->backend->stuck != NULL && s->backend->stuck(s->self);
}

enum idem_err
idem_store_look(struct idem_store *s, struct idem_op *op)
{
	assert(op->answer != NULL);
	store_start(op);
	return tell(s->log, s->backend->look(s->self, op));
}

/* Does it end what others may wait for? */
static bool
ends(enum idem_op_kind kind)
{
	switch (kind) {
	case IDEM_OP_FINISH:
	case IDEM_OP_HOLD:
	case IDEM_OP_RELEASE:
	case IDEM_OP_RESOLVE:
		return true;
	case IDEM_OP_CLAIM:
	case IDEM_OP_ONCE:
	case IDEM_OP_APPLY:
	case IDEM_OP_SWEEP:
		return false;
	}
	return false;
}

enum idem_err
idem_store_submit(struct idem_store *s, struct idem_op *op)
{
	bool claims = op->kind == IDEM_OP_CLAIM || op->kind == IDEM_OP_ONCE;
	enum idem_err err;

	assert(op->apply == 0 ? op->kept_bytes <= op->input.n :
	    s->apply != NULL && op->answer != NULL);
	assert(!claims || op->answer != NULL);
	assert(op->kind != IDEM_OP_SWEEP);
	store_start(op);
	/* ONCE leaves nothing running, so nobody will ask after its worker. */
	if (op->kind == IDEM_OP_CLAIM &&
	    (err = liveness_hold(&s->live, op->token)) != IDEM_OK)
		return err;
	err = s->backend->submit(s->self, op);
	if (err == IDEM_OK && ends(op->kind))
		waiting_ended(&s->waiting, op->id);
	if (claims && (err != IDEM_OK || op->verdict != IDEM_CLAIMED))
		liveness_drop(&s->live, op->token);
	return tell(s->log, err);
}

bool
idem_store_wait(struct idem_store *s, const unsigned char id[IDEM_ID_BYTES],
    int64_t *left_ms, bool (*stop)(void *arg), void *stop_arg)
{
	const struct waiting_for what = { .id = id, .runs = s->backend->runs,
		.runs_arg = s->self, .stop = stop, .stop_arg = stop_arg };

	return what.runs != NULL && waiting_for(&s->waiting, &what, left_ms);
}

void
idem_store_leave(struct idem_store *s,
    const unsigned char token[IDEM_TOKEN_BYTES])
{
	liveness_drop(&s->live, token);
}

bool
idem_store_alive(struct idem_store *s,
    const unsigned char token[IDEM_TOKEN_BYTES])
{
	return liveness_alive(&s->live, token);
}

enum idem_err
idem_store_read(struct idem_store *s, idem_reader fn, void *arg)
{
	return tell(s->log, s->backend->read(s->self, fn, arg));
}

enum idem_err
idem_store_walk(struct idem_store *s, uint64_t *from, size_t max, bool *more,
    idem_visit fn, void *arg)
{
	return tell(s->log, s->backend->walk(s->self, from, max, more, fn,
	    arg));
}

enum idem_err
idem_store_sweep(struct idem_store *s, int64_t now_ms, int64_t unknown_ttl_ms,
    size_t max, struct idem_sweep *sweep)
{
	assert(max > 0);
	return tell(s->log, s->backend->sweep(s->self, now_ms, unknown_ttl_ms,
	    max, sweep));
}

enum idem_err
idem_store_room(struct idem_store *s, struct idem_room *out)
{
	return tell(s->log, s->backend->room(s->self, out));
}

enum idem_err
idem_store_check(struct idem_store *s, uint64_t *nbad)
{
	*nbad = 0;
	return tell(s->log, s->backend->check(s->self, nbad));
}

enum idem_err
idem_store_copy(struct idem_store *s, const struct idem_copy *copy,
    struct idem_copied *out)
{
	*out = (struct idem_copied){ .nrecords = 0 };
	if (s->backend->copy != NULL)
		return s->backend->copy(s->self, copy, out);
	idem_log(s->log, IDEM_ERROR, "a store in memory cannot be copied");
	return IDEM_EREFUSED;
}

bool
idem_store_other_scope(struct idem_store *s, uint64_t what,
    const unsigned char id[IDEM_ID_BYTES], int64_t now_ms)
{
	return sightings_other(&s->sightings, what, id, now_ms);
}
