/*
 * lmdb_room.c - limits: how many records there may be and which ones go, and
 * how many bytes.
 */
#include <inttypes.h>
#include <string.h>

#include "store/lmdb_store.h"

#include "base/bytes.h"

/* Nothing new begins above this share of max_bytes: deletes need pages too. */
#define CROWDED_PERCENT 90
/* The free pages are counted again after so many commits as would fill what
 * is left, each with this many pages. */
#define PAGES_PER_COMMIT 64

struct search {
	const struct idem_op *op;
	struct lmdb_victims expired;
	struct lmdb_victims old;
	size_t looked_at;
	struct store_full full;
};

static void
add(struct lmdb_victims *v, uint64_t number, const unsigned char *id)
{
	if (v->n == ROOM_DROPS_MAX)
		return;
	v->one[v->n].number = number;
	memcpy(v->one[v->n].id, id, IDEM_ID_BYTES);
	v->n++;
}

/* An entry of the log, from the oldest on. */
static bool
consider(void *arg, struct idem_span key, struct idem_span value)
{
	struct search *f = arg;
	struct idem_record r;
	uint64_t number;

	if (key.n != 8 || record_decode(value, &r) != IDEM_OK)
		return true; /* "idem check" finds it; nobody may drop it */
	if (memcmp(r.id, f->op->id, IDEM_ID_BYTES) == 0)
		return true; /* about to be replaced */
	number = u64_from_key((const unsigned char *)key.p);
	f->full.nlooked++;
	f->full.nheld += r.state == IDEM_STATE_UNKNOWN;
	if (record_expired(&r, f->op->now_ms))
		add(&f->expired, number, r.id);
	else if (r.state != IDEM_STATE_DONE)
		return true;
	else if (f->op->now_ms - r.stored_ms >= f->op->min_keep_ms)
		add(&f->old, number, r.id);
	return ++f->looked_at < ROOM_LOOKED_AT &&
	    f->expired.n < ROOM_DROPS_MAX;
}

/* Expired ones, wherever they are. */
struct hunt {
	const struct idem_op *op;
	uint64_t at; /* number of the last one looked at */
	struct lmdb_victims *found;
	struct store_full full;
};

static bool
look_at(void *arg, struct idem_span key, struct idem_span value)
{
	struct hunt *h = arg;
	struct idem_record r;

	if (key.n != 8)
		return true; /* as above */
	h->at = u64_from_key((const unsigned char *)key.p);
	h->full.nlooked++;
	if (record_decode(value, &r) == IDEM_OK &&
	    memcmp(r.id, h->op->id, IDEM_ID_BYTES) != 0) {
		h->full.nheld += r.state == IDEM_STATE_UNKNOWN;
		if (record_expired(&r, h->op->now_ms))
			add(h->found, h->at, r.id);
	}
	return h->full.nlooked < ROOM_HUNTED && h->found->n < ROOM_DROPS_MAX;
}

static enum idem_err
hunt_from(struct kv_txn *t, struct hunt *h, uint64_t number)
{
	unsigned char start[8];

	u64_to_key(number, start);
	return kv_each(t, LMDB_LOG, (struct idem_span){ (const char *)start,
	    sizeof start }, look_at, h);
}

/*
 * Where this claim stops looking the next one goes on: each looks at a few
 * records only, and together they see all.
 */
static enum idem_err
hunt(struct lmdb_store *s, struct kv_txn *t, struct hunt *h)
{
	uint64_t first = s->hunted;
	enum idem_err err = hunt_from(t, h, first);

	if (err == IDEM_OK && first > 0 && h->found->n == 0 &&
	    h->full.nlooked < ROOM_HUNTED)
		err = hunt_from(t, h, 0);
	s->hunted = h->found->n > 0 ? h->found->one[0].number : h->at + 1;
	return err;
}

enum idem_err
lmdb_make_room(struct lmdb_store *s, struct kv_txn *t,
    const struct idem_op *op, const struct lmdb_found *own,
    struct lmdb_victims *out)
{
	struct search f = { .op = op, .full = { .name = "IDEM_MAX_KEYS",
		.limit = op->max_keys } };
	struct hunt h = { .op = op };
	size_t nexpired;
	uint64_t n, others;
	enum idem_err err = kv_count(t, LMDB_RECORDS, &n);

	out->n = 0;
	if (err != IDEM_OK)
		return err;
	others = own->there ? n - 1 : n;
	if (others < op->max_keys)
		return IDEM_OK;
	if ((err = kv_each(t, LMDB_LOG, IDEM_ABSENT, consider, &f)) != IDEM_OK)
		return err;
	*out = f.expired;
	for (size_t i = 0; op->evict && i < f.old.n &&
	    out->n < others - op->max_keys + 1; i++)
		add(out, f.old.one[i].number, f.old.one[i].id);
	nexpired = f.expired.n;
	if (out->n == 0) {
		h.found = out;
		err = hunt(s, t, &h);
		nexpired = out->n;
	}
	if (err != IDEM_OK || (out->n > 0 && out->n == nexpired))
		return err;
	f.full.nrecords = n;
	f.full.evicts = out->n > 0;
	store_tell_full(s->base, op->now_ms, &f.full);
	return out->n > 0 ? IDEM_OK : IDEM_EFULL;
}

enum idem_err
lmdb_replace_expired(struct lmdb_store *s, struct kv_txn *t,
    const struct idem_op *op, bool own, struct lmdb_victims *out)
{
	struct hunt h = { .op = op, .found = out,
		.full = { .name = "IDEM_MAX_STORE", .limit = s->max_bytes } };
	struct kv_reader reader;
	enum idem_err err;

	out->n = 0;
	err = hunt(s, t, &h);
	if (err != IDEM_OK || out->n > 0 || own)
		return err;
	if ((err = kv_count(t, LMDB_RECORDS, &h.full.nrecords)) != IDEM_OK ||
	    (err = kv_oldest_reader(s->kv, &reader)) != IDEM_OK)
		return err;
	h.full.reader_pid = reader.pid;
	h.full.reader_behind = reader.behind;
	store_tell_full(s->base, op->now_ms, &h.full);
	return IDEM_EFULL;
}

enum idem_err
lmdb_crowded(struct lmdb_store *s, bool *crowded)
{
	struct kv_pages now;
	enum idem_err err = kv_pages(s->kv, false, &now);
	uint64_t limit, used;

	*crowded = false;
	if (err != IDEM_OK)
		return err;
	limit = s->max_bytes / now.page_bytes * CROWDED_PERCENT / 100;
	if (now.end <= limit)
		return IDEM_OK;
	used = s->pages.end - s->pages.free;
	if (!s->counted || now.commit - s->pages.commit >
	    (used < limit ? (limit - used) / PAGES_PER_COMMIT : 0)) {
		if ((err = kv_pages(s->kv, true, &s->pages)) != IDEM_OK)
			return err;
		s->counted = true;
		used = s->pages.end - s->pages.free;
	}
	*crowded = used >= limit;
	return IDEM_OK;
}
