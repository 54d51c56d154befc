/*
 * lmdb_records.c - finding and writing records in LMDB's tables, and the
 * application's tables beside them.
 */
#include <inttypes.h>
#include <string.h>

#include "store/lmdb_store.h"

#include "base/bytes.h"

static struct idem_span
number_key(uint64_t number, unsigned char key[8])
{
	u64_to_key(number, key);
	return (struct idem_span){ (const char *)key, 8 };
}

static struct idem_span
id_key(const unsigned char id[IDEM_ID_BYTES])
{
	return (struct idem_span){ (const char *)id, IDEM_ID_BYTES };
}

static enum idem_err
bad(struct lmdb_store *s, uint64_t number, enum idem_err err)
{
	if (err == IDEM_ENEWER)
		idem_log(s->base->log, IDEM_ERROR, "store %s: record %" PRIu64
		    " was written by a newer version: run that one",
		    s->place.path, number);
	else
		idem_log(s->base->log, IDEM_ERROR, "store %s: record %" PRIu64
		    " is damaged: see \"idem check\", and put a copy of the "
		    "store in its place", s->place.path, number);
	return err;
}

enum idem_err
lmdb_find_number(struct lmdb_store *s, struct kv_txn *t, uint64_t number,
    struct lmdb_found *out)
{
	unsigned char key[8];
	struct idem_span value;
	enum idem_err err;

	out->number = number;
	err = kv_get(t, LMDB_LOG, number_key(number, key), &value);
	out->there = value.p != NULL;
	if (err != IDEM_OK || !out->there)
		return err;
	if ((err = record_decode(value, &out->r)) != IDEM_OK)
		return bad(s, number, err);
	return IDEM_OK;
}

enum idem_err
lmdb_find(struct lmdb_store *s, struct kv_txn *t,
    const unsigned char id[IDEM_ID_BYTES], struct lmdb_found *out)
{
	struct idem_span value;
	enum idem_err err = kv_get(t, LMDB_RECORDS, id_key(id), &value);

	out->there = false;
	if (err != IDEM_OK || value.p == NULL)
		return err;
	if (value.n != 8)
		return bad(s, 0, IDEM_ECORRUPT);
	err = lmdb_find_number(s, t,
	    u64_from_key((const unsigned char *)value.p), out);
	if (err != IDEM_OK)
		return err;
	if (!out->there || memcmp(out->r.id, id, IDEM_ID_BYTES) != 0)
		return bad(s, out->number, IDEM_ECORRUPT);
	return IDEM_OK;
}

static enum idem_err
bad_index(struct lmdb_store *s)
{
	idem_log(s->base->log, IDEM_ERROR, "store %s: the index of the keys is "
	    "damaged: see \"idem check\", and put a copy of the store in its "
	    "place", s->place.path);
	return IDEM_ECORRUPT;
}

/* Does an entry of the index lead to its record?  One that is itself damaged
 * says nothing against the index. */
static enum idem_err
check_entry(struct lmdb_store *s, struct kv_txn *t, const struct kv_entry *e)
{
	struct idem_span value;
	struct idem_record r;
	enum idem_err err;

	if (e->key.p == NULL)
		return IDEM_OK;
	if (e->key.n != IDEM_ID_BYTES || e->value.n != 8)
		return bad_index(s);
	if ((err = kv_get(t, LMDB_LOG, e->value, &value)) != IDEM_OK)
		return err;
	if (value.p == NULL)
		return bad_index(s);
	if (record_has_id(value, (const unsigned char *)e->key.p) ||
	    record_decode(value, &r) != IDEM_OK)
		return IDEM_OK;
	return bad_index(s);
}

enum idem_err
lmdb_is_absent(struct lmdb_store *s, struct kv_txn *t,
    const unsigned char id[IDEM_ID_BYTES])
{
	struct kv_entry before, behind;
	enum idem_err err;

	err = kv_around(t, LMDB_RECORDS, id_key(id), &before, &behind);
	if (err != IDEM_OK ||
	    (err = check_entry(s, t, &before)) != IDEM_OK ||
	    (err = check_entry(s, t, &behind)) != IDEM_OK)
		return err;
	if ((before.key.p != NULL &&
	    memcmp(before.key.p, id, IDEM_ID_BYTES) >= 0) ||
	    (behind.key.p != NULL &&
	    memcmp(behind.key.p, id, IDEM_ID_BYTES) <= 0))
		return bad_index(s);
	return IDEM_OK;
}

enum idem_err
lmdb_next_number(struct kv_txn *t, uint64_t *number)
{
	struct idem_span last, value;
	enum idem_err err = kv_last(t, LMDB_LOG, &last, &value);

	*number = last.n == 8 ?
	    u64_from_key((const unsigned char *)last.p) + 1 : 1;
	return err;
}

static enum idem_err
write_log(struct lmdb_store *s, struct kv_txn *t, uint64_t number,
    const struct idem_record *r, bool append)
{
	unsigned char key[8];
	enum idem_err err;

	idem_buf_reset(&s->head);
	record_head(&s->head, r);
	if ((err = idem_buf_err(&s->head)) != IDEM_OK)
		return err;
	return kv_put(t, LMDB_LOG, number_key(number, key),
	    idem_buf_span(&s->head), r->answer, append);
}

enum idem_err
lmdb_write(struct lmdb_store *s, struct kv_txn *t, uint64_t number,
    const struct idem_record *r)
{
	return write_log(s, t, number, r, false);
}

enum idem_err
lmdb_append(struct lmdb_store *s, struct kv_txn *t, uint64_t number,
    const struct idem_record *r)
{
	unsigned char key[8];
	enum idem_err err = write_log(s, t, number, r, true);

	return err != IDEM_OK ? err : kv_put(t, LMDB_RECORDS, id_key(r->id),
	    number_key(number, key), IDEM_ABSENT, false);
}

enum idem_err
lmdb_drop(struct kv_txn *t, uint64_t number,
    const unsigned char id[IDEM_ID_BYTES])
{
	unsigned char key[8];
	enum idem_err err = kv_del(t, LMDB_RECORDS, id_key(id));

	return err != IDEM_OK ? err :
	    kv_del(t, LMDB_LOG, number_key(number, key));
}

enum idem_err
lmdb_write_unknown(struct lmdb_store *s, struct kv_txn *t,
    const struct lmdb_found *f, int64_t now_ms, int64_t ttl_ms)
{
	struct idem_record r = f->r;

	r.state = IDEM_STATE_UNKNOWN;
	r.stored_ms = now_ms;
	r.expires_ms = store_expiry(now_ms, ttl_ms);
	r.answer = IDEM_ABSENT;
	return lmdb_write(s, t, f->number, &r);
}

static enum idem_err
get(void *self, unsigned table, struct idem_span key, struct idem_span *value)
{
	return kv_get(self, LMDB_OWN + table, key, value);
}

static enum idem_err
put(void *self, unsigned table, struct idem_span key, struct idem_span value)
{
	return kv_put(self, LMDB_OWN + table, key, value, IDEM_ABSENT, false);
}

static enum idem_err
del(void *self, unsigned table, struct idem_span key)
{
	return kv_del(self, LMDB_OWN + table, key);
}

static enum idem_err
last(void *self, unsigned table, struct idem_span *key,
    struct idem_span *value)
{
	return kv_last(self, LMDB_OWN + table, key, value);
}

static enum idem_err
each(void *self, unsigned table, struct idem_span from, idem_entry_fn fn,
    void *arg)
{
	return kv_each(self, LMDB_OWN + table, from, fn, arg);
}

const struct tables_verbs lmdb_tables_verbs = { get, put, del, last, each };
