/*
 * store_lmdb.c - the LMDB back end, for any number of processes of one host:
 * the verbs on one record.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/lmdb_store.h"

#include "base/io.h"

#define SHORT_BYTES 65536 /* looked for at least, where an end found no room */
#define WAIT_MS 10000 /* where the caller does not say */
#define OPERATION_BYTES ((size_t)UINT32_MAX) /* with input or answer */

/*
 * Before a stored answer leaves for the first time: a process that died in its
 * commit may have left it visible and not on the disk, and nobody who was there
 * to flush it.
 */
static enum idem_err
settle(struct lmdb_store *s, const struct idem_op *op)
{
	enum idem_err err;

	if (s->settled || op->verdict != IDEM_REPLAY)
		return IDEM_OK;
	err = kv_flush(s->kv);
	s->settled = err == IDEM_OK;
	return err;
}

static enum idem_err
lmdb_look(void *self, struct idem_op *op)
{
	struct lmdb_store *s = self;
	struct lmdb_found f;
	struct kv_txn t;
	enum idem_err err;

	s->looked = false;
	if ((err = place_same(&s->place)) != IDEM_OK ||
	    (err = kv_begin(s->kv, false, &t)) != IDEM_OK)
		return err;
	err = lmdb_find(s, &t, op->id, &f);
	if (err == IDEM_OK && f.there && !record_expired(&f.r, op->now_ms))
		err = store_look_at(s->base, &f.r, op);
	if (err == IDEM_OK && op->verdict == IDEM_REPLAY)
		err = lmdb_replay(s, &f, op);
	kv_abort(&t);
	s->looked = err == IDEM_OK && op->verdict == IDEM_ABSENT_KEY;
	return err != IDEM_OK ? err : settle(s, op);
}

struct submission {
	struct lmdb_store *s;
	struct idem_op *op;
	bool crowded;
};

static enum idem_err
run(void *arg, struct kv_txn *t)
{
	struct submission *m = arg;

	return lmdb_run(m->s, t, m->op, m->crowded);
}

/* Does it begin something new?  Everything else always has room: it ends what
 * runs already, and of that there is no more than there are workers. */
static bool
begins(enum idem_op_kind kind)
{
	switch (kind) {
	case IDEM_OP_CLAIM:
	case IDEM_OP_ONCE:
	case IDEM_OP_APPLY:
		return true;
	case IDEM_OP_FINISH:
	case IDEM_OP_HOLD:
	case IDEM_OP_RELEASE:
	case IDEM_OP_RESOLVE:
	case IDEM_OP_SWEEP:
		return false;
	}
	return false;
}

static enum idem_err
submit_alone(struct lmdb_store *s, struct idem_op *op)
{
	struct submission m = { .s = s, .op = op };
	bool new = begins(op->kind);
	enum idem_err err;

	if (new && (err = lmdb_crowded(s, &m.crowded)) != IDEM_OK)
		return err;
	return kv_write(s->kv, !new, run, &m);
}

/* Where the end of finished work found no room, its key is held for a person
 * to look at.  One such is enough: no other work begins before there is room
 * for its end. */
static bool
lacks_room(struct lmdb_store *s)
{
	if (s->short_bytes == 0 || kv_has_room(s->kv, s->short_bytes))
		return false;
	idem_log(s->base->log, IDEM_ERROR, "store %s: there is still no room "
	    "for the answer of finished work: no other work begins; see the "
	    "line of when it was not stored", s->place.path);
	return true;
}

static void
note_end(struct lmdb_store *s, const struct idem_op *op, enum idem_err err)
{
	if (op->kind != IDEM_OP_FINISH)
		return;
	if (err == IDEM_OK)
		s->short_bytes = 0;
	else if (err == IDEM_EFULL || err == IDEM_ESTORE || err == IDEM_ENOMEM)
		s->short_bytes = op->input.n > SHORT_BYTES ? op->input.n :
		    SHORT_BYTES;
}

enum idem_err
lmdb_submit(void *self, struct idem_op *op)
{
	struct lmdb_store *s = self;
	bool ready, looked = s->looked;
	enum idem_err err;

	s->looked = false;
	kv_wait_until(s->kv, io_steady_ms() + s->wait_ms);
	if ((!looked && (err = place_same(&s->place)) != IDEM_OK) ||
	    (err = lmdb_group_ready(s, &ready)) != IDEM_OK)
		return err;
	if (op->kind == IDEM_OP_CLAIM && lacks_room(s))
		return IDEM_EFULL;
	err = ready ? lmdb_group_submit(s, op) : submit_alone(s, op);
	note_end(s, op, err);
	if (err == IDEM_OK)
		return settle(s, op);
	return err == IDEM_EFULL && !begins(op->kind) ? IDEM_ESTORE : err;
}

static bool
lmdb_stuck(void *self)
{
	const struct lmdb_store *s = self;

	return s->group != NULL && group_in_doubt(s->group);
}

/* What cannot be read is for the caller's next look to report. */
static bool
lmdb_runs(void *self, const unsigned char id[IDEM_ID_BYTES])
{
	struct lmdb_store *s = self;
	struct lmdb_found f;
	struct kv_txn t;
	bool runs;

	if (place_same(&s->place) != IDEM_OK ||
	    kv_begin(s->kv, false, &t) != IDEM_OK)
		return false;
	runs = lmdb_find(s, &t, id, &f) == IDEM_OK && f.there &&
	    f.r.state == IDEM_STATE_RUNNING &&
	    liveness_alive(&s->base->live, f.r.token);
	kv_abort(&t);
	return runs;
}

static enum idem_err
lmdb_read(void *self, idem_reader fn, void *arg)
{
	struct lmdb_store *s = self;
	struct idem_tables tables = { .verbs = &lmdb_tables_verbs,
		.ntables = s->base->ntables };
	struct kv_txn t;
	enum idem_err err;

	if ((err = place_same(&s->place)) != IDEM_OK ||
	    (err = kv_begin(s->kv, false, &t)) != IDEM_OK)
		return err;
	tables.self = &t;
	err = fn(arg, &tables);
	kv_abort(&t);
	return err;
}

static enum idem_err
lmdb_room(void *self, struct idem_room *out)
{
	struct lmdb_store *s = self;
	struct kv_pages pages;
	struct kv_reader reader;
	struct kv_txn t;
	struct stat st = { .st_size = 0 };
	enum idem_err err;

	*out = (struct idem_room){ .max_bytes = s->max_bytes };
	if ((err = kv_oldest_reader(s->kv, &reader)) != IDEM_OK ||
	    (err = kv_pages(s->kv, true, &pages)) != IDEM_OK ||
	    (err = kv_begin(s->kv, false, &t)) != IDEM_OK)
		return err;
	err = kv_count(&t, LMDB_RECORDS, &out->nrecords);
	kv_abort(&t);
	out->reader_pid = reader.pid;
	out->reader_behind = reader.behind;
	out->used_bytes = (pages.end - pages.free) * pages.page_bytes;
	if (fstat(kv_fd(s->kv), &st) == 0)
		out->file_bytes = (uint64_t)st.st_size;
	return err;
}

static enum idem_err
lmdb_outside(void *self, struct idem_span document_root)
{
	struct lmdb_store *s = self;

	return place_outside(&s->place, document_root);
}

static void
lmdb_close(void *self)
{
	struct lmdb_store *s = self;

	group_close(&s->group);
	kv_close(&s->kv);
	idem_buf_free(&s->head);
	idem_buf_free(&s->request);
	idem_buf_free(&s->result);
	idem_buf_free(&s->answer);
	free(s);
}

static const struct backend lmdb = {
	.look = lmdb_look,
	.submit = lmdb_submit,
	.read = lmdb_read,
	.walk = lmdb_walk,
	.sweep = lmdb_sweep,
	.room = lmdb_room,
	.check = lmdb_check,
	.copy = lmdb_copy,
	.outside = lmdb_outside,
	.stuck = lmdb_stuck,
	.runs = lmdb_runs,
	.close = lmdb_close,
};

enum idem_err
store_lmdb_open(struct idem_store *base, const struct idem_store_config *config)
{
	const struct place_wanted wanted = { .path = config->place,
		.document_root = config->document_root,
		.create = config->create, .fs_type = place_fs_type };
	struct lmdb_store *s = calloc(1, sizeof *s);
	enum idem_err err;

	if (s == NULL)
		return IDEM_ENOMEM;
	s->base = base;
	s->max_bytes = config->max_bytes;
	base->live.fd = -1;
	base->waiting.fd = -1;
	s->wait_ms = config->wait_ms > 0 ? config->wait_ms : WAIT_MS;
	s->plain = !config->durable; /* no flush to share */
	s->settled = !config->durable;
	idem_buf_init(&s->head, RECORD_HEAD_BYTES);
	idem_buf_init(&s->request, OPERATION_BYTES);
	idem_buf_init(&s->result, OPERATION_BYTES);
	idem_buf_init(&s->answer, OPERATION_BYTES);
	/* Now, so that no write fails for it later. */
	if (idem_buf_room(&s->head, RECORD_HEAD_BYTES) == NULL) {
		free(s);
		return IDEM_ENOMEM;
	}
	err = place_open(&s->place, &wanted, base->log);
	if (err == IDEM_OK)
		err = lmdb_open_files(s, config);
	if (err != IDEM_OK) {
		lmdb_close(s);
		sightings_close(&base->sightings);
		waiting_close(&base->waiting);
		liveness_close(&base->live);
		return err;
	}
	base->backend = &lmdb;
	base->self = s;
	return IDEM_OK;
}
