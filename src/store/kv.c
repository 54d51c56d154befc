/*
 * kv.c - transactions of an LMDB environment, and the entries of its tables.
 */
#include <errno.h>
#include <string.h>

#include "store/kv_lmdb.h"

#include "base/text.h"
#include "store/datafile.h"
#include "store/lend.h"
#include "store/writelock.h"

/* What another process grew, or a reader's slot that a dead one left: put right
 * once.  false: it is something else. */
static bool
cure(struct kv *kv, int rc)
{
	if (rc == MDB_READERS_FULL) {
		kv_check_readers(kv);
		return true;
	}
	if (rc != MDB_MAP_RESIZED)
		return false;
	kv_adopt_size(kv);
	return true;
}

static enum idem_err
begin(struct kv *kv, bool write, struct kv_txn *t)
{
	enum idem_err err;
	int rc = 0;

	for (int tries = 0; tries < 3 && !kv->broken; tries++) {
		rc = mdb_txn_begin(kv->env, NULL, write ? 0 : MDB_RDONLY,
		    &t->txn);
		if (rc == 0)
			return IDEM_OK;
		t->txn = NULL;
		if (!cure(kv, rc))
			break;
	}
	if (kv->broken)
		return IDEM_EMOVED;
	err = kv_fail(kv, "begin", rc);
	kv->broken = err == IDEM_EMOVED;
	return err;
}

/* Behind LMDB's own lock, which ends with the transaction. */
static void
unlock(struct kv_txn *t)
{
	if (t->locks)
		writelock_give(t->kv->open_lock);
	t->locks = false;
}

static enum idem_err
lock(struct kv *kv)
{
	enum idem_err err = writelock_take(kv->open_lock, kv->until_ms);

	if (err != IDEM_OK)
		kv_say_stuck(kv);
	return err;
}

enum idem_err
kv_begin(struct kv *kv, bool write, struct kv_txn *t)
{
	enum idem_err err;

	*t = (struct kv_txn){ .kv = kv };
	if (write && (err = lock(kv)) != IDEM_OK)
		return err;
	t->locks = write;
	if ((err = begin(kv, write, t)) != IDEM_OK)
		unlock(t);
	return err;
}

enum idem_err
kv_nested(struct kv_txn *parent, struct kv_txn *t)
{
	int rc;

	*t = (struct kv_txn){ .kv = parent->kv, .parent = parent };
	rc = mdb_txn_begin(parent->kv->env, parent->txn, 0, &t->txn);
	if (rc == 0)
		return IDEM_OK;
	t->txn = NULL;
	return kv_fail(t->kv, "begin within", rc);
}

enum idem_err
kv_outcome(struct kv_txn *t, const char *what, int rc)
{
	if (rc == 0)
		return IDEM_OK;
	/* LMDB does not say that the root of a table is not there, and calls
	 * the transaction bad then. */
	if (rc == MDB_BAD_TXN && !t->full && !t->spoiled)
		rc = MDB_PAGE_NOTFOUND;
	for (struct kv_txn *at = t; at != NULL; at = at->parent) {
		at->full = at->full || rc == MDB_MAP_FULL;
		at->spoiled = at->spoiled || rc != MDB_MAP_FULL;
	}
	return rc == MDB_MAP_FULL ? IDEM_EFULL : kv_fail(t->kv, what, rc);
}

enum idem_err
kv_commit(struct kv_txn *t)
{
	int rc = mdb_txn_commit(t->txn);

	unlock(t);
	lend_end(&t->lent);
	t->txn = NULL;
	if (rc == EIO)
		rc = datafile_why_short(kv_fd(t->kv));
	/* After a failed put LMDB says no more than MDB_BAD_TXN. */
	return kv_outcome(t, "commit", rc != 0 && t->full ? MDB_MAP_FULL : rc);
}

void
kv_abort(struct kv_txn *t)
{
	if (t->txn != NULL)
		mdb_txn_abort(t->txn);
	unlock(t);
	lend_end(&t->lent);
	t->txn = NULL;
}

enum idem_err
kv_write(struct kv *kv, bool beyond, kv_writer fn, void *arg)
{
	struct kv_txn t;
	enum idem_err err;

	for (;;) {
		if ((err = kv_begin(kv, true, &t)) != IDEM_OK)
			return err;
		err = fn(arg, &t);
		if (err == IDEM_OK && !t.full)
			err = kv_commit(&t);
		kv_abort(&t);
		if (!t.full)
			return err;
		if ((err = kv_grow(kv, beyond)) != IDEM_OK)
			return err;
	}
}

enum idem_err
kv_table(struct kv_txn *t, unsigned table, const char *name, bool create,
    bool *there)
{
	int rc = mdb_dbi_open(t->txn, name, create ? MDB_CREATE : 0,
	    &t->kv->dbi[table]);

	*there = rc == 0;
	if (rc == 0 || rc == MDB_NOTFOUND)
		return IDEM_OK;
	return kv_fail(t->kv, name, rc);
}

static MDB_val
val_of(struct idem_span s)
{
	/* LMDB does not write through it; its type is not const. */
	return (MDB_val){ s.n, (void *)s.p };
}

static struct idem_span
span_of_val(MDB_val v)
{
	return (struct idem_span){ v.mv_data, v.mv_size };
}

enum idem_err
kv_get(struct kv_txn *t, unsigned table, struct idem_span key,
    struct idem_span *value)
{
	MDB_val k = val_of(key), v;
	int rc = mdb_get(t->txn, t->kv->dbi[table], &k, &v);

	*value = rc == 0 ? lend(&t->lent, span_of_val(v)) : IDEM_ABSENT;
	return rc == MDB_NOTFOUND ? IDEM_OK : kv_outcome(t, "get", rc);
}

enum idem_err
kv_put(struct kv_txn *t, unsigned table, struct idem_span key,
    struct idem_span head, struct idem_span tail, bool append)
{
	MDB_val k = val_of(key), v = { head.n + tail.n, NULL };
	int rc = mdb_put(t->txn, t->kv->dbi[table], &k, &v,
	    MDB_RESERVE | (append ? MDB_APPEND : 0));

	if (rc == 0 && head.n > 0)
		memcpy(v.mv_data, head.p, head.n);
	if (rc == 0 && tail.n > 0)
		memcpy((char *)v.mv_data + head.n, tail.p, tail.n);
	lend_end(&t->lent);
	return kv_outcome(t, "put", rc);
}

enum idem_err
kv_del(struct kv_txn *t, unsigned table, struct idem_span key)
{
	MDB_val k = val_of(key);
	int rc = mdb_del(t->txn, t->kv->dbi[table], &k, NULL);

	lend_end(&t->lent);
	return rc == MDB_NOTFOUND ? IDEM_OK : kv_outcome(t, "delete", rc);
}

enum idem_err
kv_last(struct kv_txn *t, unsigned table, struct idem_span *key,
    struct idem_span *value)
{
	MDB_cursor *c;
	MDB_val k, v;
	int rc = mdb_cursor_open(t->txn, t->kv->dbi[table], &c);

	*key = *value = IDEM_ABSENT;
	if (rc != 0)
		return kv_outcome(t, "last", rc);
	if ((rc = mdb_cursor_get(c, &k, &v, MDB_LAST)) == 0) {
		*key = lend(&t->lent, span_of_val(k));
		*value = lend(&t->lent, span_of_val(v));
	}
	mdb_cursor_close(c);
	return rc == MDB_NOTFOUND ? IDEM_OK : kv_outcome(t, "last", rc);
}

static int
step(struct kv_txn *t, MDB_cursor *c, MDB_val *k, MDB_cursor_op to,
    struct kv_entry *out)
{
	MDB_val v;
	int rc = mdb_cursor_get(c, k, &v, to);

	*out = (struct kv_entry){ IDEM_ABSENT, IDEM_ABSENT };
	if (rc == 0)
		*out = (struct kv_entry){ lend(&t->lent, span_of_val(*k)),
			lend(&t->lent, span_of_val(v)) };
	return rc;
}

enum idem_err
kv_around(struct kv_txn *t, unsigned table, struct idem_span key,
    struct kv_entry *before, struct kv_entry *behind)
{
	MDB_cursor *c;
	MDB_val k = val_of(key);
	int rc = mdb_cursor_open(t->txn, t->kv->dbi[table], &c);

	if (rc != 0)
		return kv_outcome(t, "look around", rc);
	rc = step(t, c, &k, MDB_SET_RANGE, behind);
	if (rc == 0 || rc == MDB_NOTFOUND)
		rc = step(t, c, &k, rc == 0 ? MDB_PREV : MDB_LAST, before);
	mdb_cursor_close(c);
	return rc == MDB_NOTFOUND ? IDEM_OK :
	    kv_outcome(t, "look around", rc);
}

static bool
visit(idem_entry_fn fn, void *arg, MDB_val k, MDB_val v)
{
	struct lent *lent = NULL;
	bool go_on = fn(arg, lend(&lent, span_of_val(k)),
	    lend(&lent, span_of_val(v)));

	lend_end(&lent);
	return go_on;
}

enum idem_err
kv_each(struct kv_txn *t, unsigned table, struct idem_span from,
    idem_entry_fn fn, void *arg)
{
	MDB_cursor *c;
	MDB_val k = val_of(from), v;
	int rc = mdb_cursor_open(t->txn, t->kv->dbi[table], &c);

	if (rc != 0)
		return kv_outcome(t, "walk", rc);
	rc = mdb_cursor_get(c, &k, &v, from.p == NULL ? MDB_FIRST :
	    MDB_SET_RANGE);
	while (rc == 0 && visit(fn, arg, k, v))
		rc = mdb_cursor_get(c, &k, &v, MDB_NEXT);
	mdb_cursor_close(c);
	return rc == MDB_NOTFOUND ? IDEM_OK : kv_outcome(t, "walk", rc);
}

enum idem_err
kv_count(struct kv_txn *t, unsigned table, uint64_t *n)
{
	MDB_stat stat = { .ms_entries = 0 };
	int rc = mdb_stat(t->txn, t->kv->dbi[table], &stat);

	*n = stat.ms_entries;
	return kv_outcome(t, "count", rc);
}

enum idem_err
kv_copy(struct kv *kv, int fd, bool compact, const char *to)
{
	char what[IDEM_LOG_PATH + 16];
	enum idem_err err;
	int rc = 0;

	/* LMDB waits for whoever writes just now, and not by the clock: so see
	 * first that he goes on. */
	if ((err = lock(kv)) != IDEM_OK)
		return err;
	writelock_give(kv->open_lock);
	/* What can be cured happens before the first byte is written. */
	for (int tries = 0; tries < 3 && !kv->broken; tries++) {
		rc = mdb_env_copyfd2(kv->env, fd, compact ? MDB_CP_COMPACT : 0);
		if (rc == 0)
			return IDEM_OK;
		if (!cure(kv, rc))
			break;
	}
	if (kv->broken)
		return IDEM_EMOVED;
	if (rc == MDB_INCOMPATIBLE) {
		idem_log(kv->log, IDEM_ERROR, "copy to %.*s: the pages of "
		    "data.mdb do not add up: see \"idem check\", and copy it "
		    "without --compact", IDEM_LOG_PATH, to);
		return IDEM_ECORRUPT;
	}
	if (text_format(what, sizeof what, "copy to %.*s", IDEM_LOG_PATH, to) !=
	    IDEM_OK)
		return IDEM_ESTORE; /* it fits */
	return kv_fail(kv, what, rc);
}
