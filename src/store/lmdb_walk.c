/*
 * lmdb_walk.c - all records in the order of their claims, and whether index
 * and log agree.
 */
#include <inttypes.h>
#include <string.h>

#include "store/lmdb_store.h"

#include "base/bytes.h"

struct walk {
	uint64_t *from;
	size_t left;
	bool more;
	idem_visit fn;
	void *arg;
};

static bool
visit(void *arg, struct idem_span key, struct idem_span value)
{
	struct walk *w = arg;
	struct idem_record r;
	bool good, go_on;

	if (key.n != 8)
		return true; /* no number: lmdb_check() counts it */
	if (w->left == 0) {
		w->more = true;
		return false;
	}
	w->left--;
	*w->from = u64_from_key((const unsigned char *)key.p);
	good = record_decode(value, &r) == IDEM_OK;
	go_on = w->fn(w->arg, *w->from, good ? &r : NULL);
	w->more = !go_on;
	return go_on;
}

enum idem_err
lmdb_walk(void *self, uint64_t *from, size_t max, bool *more, idem_visit fn,
    void *arg)
{
	struct lmdb_store *s = self;
	struct walk w = { .from = from, .left = max, .fn = fn, .arg = arg };
	unsigned char start[8];
	struct kv_txn t;
	enum idem_err err;

	if ((err = place_same(&s->place)) != IDEM_OK ||
	    (err = kv_begin(s->kv, false, &t)) != IDEM_OK)
		return err;
	if (*from < UINT64_MAX) {
		u64_to_key(*from + 1, start);
		err = kv_each(&t, LMDB_LOG, (struct idem_span){
		    (const char *)start, sizeof start }, visit, &w);
	}
	kv_abort(&t);
	*more = w.more;
	return err;
}

struct check {
	struct lmdb_store *s;
	struct kv_txn t;
	uint64_t *nbad;
	enum idem_err err;
};

static void
complain(struct check *c, struct idem_span key, const char *what)
{
	++*c->nbad;
	if (key.n == 8)
		idem_log(c->s->base->log, IDEM_ERROR, "store %s: record %"
		    PRIu64 ": %s", c->s->place.path,
		    u64_from_key((const unsigned char *)key.p), what);
	else
		idem_log(c->s->base->log, IDEM_ERROR, "store %s: a key of %zu "
		    "bytes in the log", c->s->place.path, key.n);
}

/* An entry of the log: it decodes, and the index leads to it. */
static bool
check_record(void *arg, struct idem_span key, struct idem_span value)
{
	struct check *c = arg;
	struct idem_record r;
	struct idem_span back;

	if (key.n != 8 || record_decode(value, &r) != IDEM_OK) {
		complain(c, key, "does not decode");
		return true;
	}
	c->err = kv_get(&c->t, LMDB_RECORDS, (struct idem_span){
	    (const char *)r.id, sizeof r.id }, &back);
	if (c->err != IDEM_OK)
		return false;
	if (back.n != 8 || memcmp(back.p, key.p, 8) != 0)
		complain(c, key, "the index does not lead to it");
	return true;
}

/* An entry of the index: it leads to a record. */
static bool
check_index(void *arg, struct idem_span key, struct idem_span value)
{
	struct check *c = arg;
	struct idem_span there = IDEM_ABSENT;

	if (value.n == 8)
		c->err = kv_get(&c->t, LMDB_LOG, value, &there);
	if (c->err != IDEM_OK)
		return false;
	if (there.p == NULL || key.n != IDEM_ID_BYTES)
		complain(c, value, "in the index, but not in the log");
	return true;
}

/* One bit of the number of the last page: too many lose room and no record;
 * too few, and the next writes go over pages that are in use. */
static enum idem_err
check_pages(struct lmdb_store *s, uint64_t *nbad)
{
	int64_t nlost;
	enum idem_err err = kv_lost_pages(s->kv, &nlost);

	if (err == IDEM_OK && nlost > 0)
		idem_log(s->base->log, IDEM_WARN, "store %s: data.mdb: %"
		    PRId64 " of its pages belong to nothing, as the number of "
		    "its last page is damaged: no record is lost, but so much "
		    "room: raise IDEM_MAX_STORE where it is short",
		    s->place.path, nlost);
	if (err == IDEM_OK && nlost < 0) {
		++*nbad;
		idem_log(s->base->log, IDEM_ERROR, "store %s: data.mdb: %"
		    PRId64 " more pages are in use than there are, as the "
		    "number of its last page is damaged: stop the programs and "
		    "put a copy of the store in its place", s->place.path,
		    -nlost);
	}
	return err;
}

enum idem_err
lmdb_check(void *self, uint64_t *nbad)
{
	struct check c = { .s = self, .nbad = nbad };
	enum idem_err err = kv_begin(c.s->kv, false, &c.t);

	if (err != IDEM_OK)
		return err;
	err = kv_each(&c.t, LMDB_LOG, IDEM_ABSENT, check_record, &c);
	if (err == IDEM_OK && c.err == IDEM_OK)
		err = kv_each(&c.t, LMDB_RECORDS, IDEM_ABSENT, check_index,
		    &c);
	kv_abort(&c.t);
	if (err == IDEM_OK && c.err == IDEM_OK)
		err = check_pages(c.s, nbad);
	return err != IDEM_OK ? err : c.err;
}
