/*
 * store_lmdb.c - the LMDB back end, for any number of processes of one host:
 * opening, and the verbs on one record.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/lmdb_store.h"

#include "base/bytes.h"
#include "base/text.h"

#define WAIT_MS 10000 /* where the caller does not say */
#define SCHEMA_KEY IDEM_LIT("schema")
#define OPERATION_BYTES ((size_t)UINT32_MAX) /* with input or answer */

static enum idem_err
lmdb_look(void *self, struct idem_op *op)
{
	struct lmdb_store *s = self;
	struct lmdb_found f;
	struct kv_txn t;
	enum idem_err err;

	if ((err = place_same(&s->place)) != IDEM_OK ||
	    (err = kv_begin(s->kv, false, &t)) != IDEM_OK)
		return err;
	err = lmdb_find(s, &t, op->id, &f);
	if (err == IDEM_OK && f.there && !record_expired(&f.r, op->now_ms)) {
		if (f.r.recipe != op->recipe)
			err = IDEM_ENEWER;
		else if (f.r.state == IDEM_STATE_DONE &&
		    memcmp(f.r.fingerprint, op->fingerprint,
		    IDEM_FINGERPRINT_BYTES) == 0)
			err = lmdb_replay(s, &f, op);
	}
	kv_abort(&t);
	return err;
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

/* The one way of an operation into the store. */
static enum idem_err
lmdb_submit(void *self, struct idem_op *op)
{
	struct lmdb_store *s = self;
	bool ready;
	enum idem_err err;

	if ((err = place_same(&s->place)) != IDEM_OK ||
	    (err = lmdb_group_ready(s, &ready)) != IDEM_OK)
		return err;
	err = ready ? lmdb_group_submit(s, op) : submit_alone(s, op);
	return err == IDEM_EFULL && !begins(op->kind) ? IDEM_ESTORE : err;
}

static bool
lmdb_stuck(void *self)
{
	const struct lmdb_store *s = self;

	return s->group != NULL && group_in_doubt(s->group);
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
	struct kv_txn t;
	struct stat st = { .st_size = 0 };
	enum idem_err err;

	*out = (struct idem_room){ .max_bytes = s->max_bytes };
	if ((err = kv_pages(s->kv, true, &pages)) != IDEM_OK ||
	    (err = kv_begin(s->kv, false, &t)) != IDEM_OK)
		return err;
	err = kv_count(&t, LMDB_RECORDS, &out->nrecords);
	kv_abort(&t);
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
	.outside = lmdb_outside,
	.stuck = lmdb_stuck,
	.close = lmdb_close,
};

struct opening {
	struct lmdb_store *s;
	const struct idem_store_config *config;
	bool complete; /* all tables are there */
};

static enum idem_err
judge_schema(struct lmdb_store *s, struct idem_span value)
{
	struct reader r = reader_of(value);
	uint32_t version = rd_u32(&r);

	if (!r.bad && version == LMDB_SCHEMA)
		return IDEM_OK;
	if (!r.bad && version > LMDB_SCHEMA) {
		idem_log(s->base->log, IDEM_ERROR, "store %s: its schema is "
		    "%u, this program knows up to %u: run a newer version",
		    s->place.path, (unsigned)version, LMDB_SCHEMA);
		return IDEM_ENEWER;
	}
	idem_log(s->base->log, IDEM_ERROR, "store %s: its schema is damaged: "
	    "put a copy of the store in its place", s->place.path);
	return IDEM_ECORRUPT;
}

static enum idem_err
make_schema(struct lmdb_store *s, struct kv_txn *t)
{
	enum idem_err err;

	idem_buf_reset(&s->head);
	wr_u32(&s->head, LMDB_SCHEMA);
	if ((err = idem_buf_err(&s->head)) != IDEM_OK)
		return err;
	return kv_put(t, LMDB_META, SCHEMA_KEY, idem_buf_span(&s->head),
	    IDEM_ABSENT, false);
}

/* The schema comes first: of a newer store nothing else is touched. */
static enum idem_err
open_meta(struct opening *o, struct kv_txn *t, bool create, bool *there)
{
	struct lmdb_store *s = o->s;
	struct idem_span value;
	uint64_t nothers;
	enum idem_err err;

	if ((err = kv_table(t, LMDB_META, "meta", false, there)) != IDEM_OK)
		return err;
	if (*there) {
		err = kv_get(t, LMDB_META, SCHEMA_KEY, &value);
		return err != IDEM_OK ? err : judge_schema(s, value);
	}
	if ((err = kv_count(t, KV_NAMES, &nothers)) != IDEM_OK)
		return err;
	if (nothers > 0) {
		idem_log(s->base->log, IDEM_ERROR, "store %s: data.mdb belongs "
		    "to another program: set IDEM_STORE to a directory of its "
		    "own", s->place.path);
		return IDEM_EREFUSED;
	}
	if (!create || (err = kv_table(t, LMDB_META, "meta", true, there)) !=
	    IDEM_OK)
		return err;
	return make_schema(s, t);
}

static enum idem_err
open_tables(struct opening *o, struct kv_txn *t, bool create)
{
	const struct idem_store_config *c = o->config;
	enum idem_err err;
	bool there;

	o->complete = false;
	if ((err = open_meta(o, t, create, &there)) != IDEM_OK || !there)
		return err;
	if ((err = kv_table(t, LMDB_RECORDS, "records", create, &there)) !=
	    IDEM_OK || !there)
		return err;
	if ((err = kv_table(t, LMDB_LOG, "log", create, &there)) != IDEM_OK ||
	    !there)
		return err;
	for (unsigned i = 0; i < c->ntables; i++) {
		assert(strcmp(c->tables[i], "meta") != 0 &&
		    strcmp(c->tables[i], "records") != 0 &&
		    strcmp(c->tables[i], "log") != 0);
		err = kv_table(t, LMDB_OWN + i, c->tables[i], create, &there);
		if (err != IDEM_OK || !there)
			return err;
	}
	o->complete = true;
	return IDEM_OK;
}

static enum idem_err
make_tables(void *arg, struct kv_txn *t)
{
	return open_tables(arg, t, true);
}

/* A store that is complete is opened without a write. */
static enum idem_err
set_up(struct lmdb_store *s, const struct idem_store_config *config)
{
	struct opening o = { .s = s, .config = config };
	struct kv_txn t;
	enum idem_err err;

	if ((err = kv_begin(s->kv, false, &t)) != IDEM_OK)
		return err;
	err = open_tables(&o, &t, false);
	if (err == IDEM_OK)
		err = kv_commit(&t); /* keeps the tables open */
	kv_abort(&t);
	if (err != IDEM_OK || o.complete)
		return err;
	if ((err = kv_write(s->kv, false, make_tables, &o)) != IDEM_OK)
		return err;
	return config->durable ? place_sync(&s->place) : IDEM_OK;
}

static enum idem_err
open_files(struct lmdb_store *s, const struct idem_store_config *config)
{
	struct idem_store *base = s->base;
	char workers[PATH_MAX], sightings[PATH_MAX];
	enum idem_err err;

	if ((err = kv_open(&(struct kv_config){ .dir = s->place.path,
	    .create = config->create, .durable = config->durable,
	    .max_bytes = config->max_bytes, .log = base->log }, &s->kv)) !=
	    IDEM_OK || (err = set_up(s, config)) != IDEM_OK)
		return err;
	if ((err = place_file(&s->place, "workers", workers)) != IDEM_OK ||
	    (err = place_file(&s->place, "sightings", sightings)) != IDEM_OK)
		return err;
	if ((err = liveness_open(&base->live, workers, base->log)) != IDEM_OK)
		return err;
	sightings_open(&base->sightings, sightings, base->log);
	if ((err = place_remember(&s->place, "data.mdb", kv_fd(s->kv))) !=
	    IDEM_OK || (err = place_remember(&s->place, "lock.mdb", -1)) !=
	    IDEM_OK)
		return err;
	return place_remember(&s->place, "workers", base->live.fd);
}

enum idem_err
store_lmdb_open(struct idem_store *base, const struct idem_store_config *config)
{
	struct lmdb_store *s = calloc(1, sizeof *s);
	enum idem_err err;

	if (s == NULL)
		return IDEM_ENOMEM;
	s->base = base;
	s->max_bytes = config->max_bytes;
	base->live.fd = -1;
	s->wait_ms = config->wait_ms > 0 ? config->wait_ms : WAIT_MS;
	s->plain = !config->durable; /* no flush to share */
	idem_buf_init(&s->head, RECORD_HEAD_BYTES);
	idem_buf_init(&s->request, OPERATION_BYTES);
	idem_buf_init(&s->result, OPERATION_BYTES);
	idem_buf_init(&s->answer, OPERATION_BYTES);
	/* Now, so that no write fails for it later. */
	if (idem_buf_room(&s->head, RECORD_HEAD_BYTES) == NULL) {
		free(s);
		return IDEM_ENOMEM;
	}
	err = place_open(&s->place, config->place, config->create,
	    place_fs_type, base->log);
	if (err == IDEM_OK)
		err = open_files(s, config);
	if (err != IDEM_OK) {
		lmdb_close(s);
		sightings_close(&base->sightings);
		liveness_close(&base->live);
		return err;
	}
	base->backend = &lmdb;
	base->self = s;
	return IDEM_OK;
}
