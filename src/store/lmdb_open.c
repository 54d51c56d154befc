/*
 * lmdb_open.c - the files and tables of a store, opened or made; what was made
 * by another program or by a newer version is left alone.
 */
#include <assert.h>
#include <string.h>

#include "store/lmdb_store.h"

#include "base/bytes.h"
#include "store/datafile.h"

#define SCHEMA_KEY IDEM_LIT("schema")

struct opening {
	struct lmdb_store *s;
	const struct idem_store_config *config;
	bool complete; /* all tables are there */
	bool fresh;    /* there was none before */
	bool used;     /* workers have had a store here before */
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

/* A new store in the place of one that is lost would do again what was done. */
static enum idem_err
refuse_anew(struct lmdb_store *s)
{
	idem_log(s->base->log, IDEM_ERROR, "store %s: data.mdb is gone or was "
	    "emptied: put a copy of it back; or remove the whole directory, "
	    "and every key counts as new", s->place.path);
	return IDEM_ECORRUPT;
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
	if (o->used)
		return refuse_anew(s);
	if (!create || (err = kv_table(t, LMDB_META, "meta", true, there)) !=
	    IDEM_OK)
		return err;
	o->fresh = true;
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
	struct opening o = { .s = s, .config = config,
		.used = place_has(&s->place, "workers") };
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
	err = kv_write(s->kv, false, make_tables, &o);
	if (err == IDEM_OK && o.fresh)
		idem_log(s->base->log, IDEM_INFO, "store %s: made: every key "
		    "is new", s->place.path);
	return err;
}

/*
 * Nothing may be told from a store before its names are on the disk, and who
 * finds it complete cannot see whether they are.  So whoever makes "workers"
 * flushes them first; who finds it may rely on them.
 */
static enum idem_err
open_workers(struct lmdb_store *s, const struct idem_store_config *config)
{
	bool first = !place_has(&s->place, "workers") && config->durable;
	char path[PATH_MAX];
	enum idem_err err;

	if (first && ((err = kv_flush(s->kv)) != IDEM_OK ||
	    (err = place_sync(&s->place)) != IDEM_OK))
		return err;
	if ((err = place_file(&s->place, "workers", path)) != IDEM_OK ||
	    (err = liveness_open(&s->base->live, path, s->base->log)) !=
	    IDEM_OK)
		return err;
	return first ? place_sync(&s->place) : IDEM_OK;
}

enum idem_err
lmdb_open_files(struct lmdb_store *s, const struct idem_store_config *config)
{
	struct idem_store *base = s->base;
	bool used = place_has(&s->place, "workers");
	char sightings[PATH_MAX], waiting[PATH_MAX];
	enum idem_err err;

	if (config->create && used && datafile_is_lost(s->place.path))
		return refuse_anew(s);
	if ((err = kv_open(&(struct kv_config){ .dir = s->place.path,
	    .create = config->create, .durable = config->durable,
	    .fresh = !used, .max_bytes = config->max_bytes,
	    .wait_ms = s->wait_ms, .log = base->log }, &s->kv)) !=
	    IDEM_OK || (err = set_up(s, config)) != IDEM_OK)
		return err;
	if ((err = open_workers(s, config)) != IDEM_OK ||
	    (err = place_file(&s->place, "sightings", sightings)) != IDEM_OK ||
	    (err = place_file(&s->place, "waiting", waiting)) != IDEM_OK)
		return err;
	sightings_open(&base->sightings, sightings, base->log);
	waiting_open(&base->waiting, waiting, config->worker, config->program,
	    base->log);
	if ((err = place_remember(&s->place, "data.mdb", kv_fd(s->kv))) !=
	    IDEM_OK || (err = place_remember(&s->place, "lock.mdb", -1)) !=
	    IDEM_OK)
		return err;
	return place_remember(&s->place, "workers", base->live.fd);
}
