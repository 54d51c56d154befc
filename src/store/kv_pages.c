/*
 * kv_pages.c - how many pages an LMDB environment has, and what they are used
 * for.
 */
#include <string.h>

#include "store/kv_lmdb.h"

#include "base/text.h"
#include "store/datafile.h"

#define NHEADS 2 /* the pages at the front of data.mdb */
#define SNAPSHOT_TRIES 100 /* commits that may come between two calls */

/* An entry of LMDB's list of free pages begins with their number. */
static bool
add_free(void *arg, struct idem_span key, struct idem_span value)
{
	uint64_t *n = arg;
	size_t here = 0;

	(void)key;
	if (value.n >= sizeof here)
		memcpy(&here, value.p, sizeof here);
	*n += here;
	return true;
}

enum idem_err
kv_pages(struct kv *kv, bool count_free, struct kv_pages *out)
{
	MDB_envinfo info;
	MDB_stat stat;
	struct kv_txn t;
	enum idem_err err;
	int rc;

	*out = (struct kv_pages){ 0 };
	if (kv->broken) /* LMDB would read where its map was */
		return IDEM_EMOVED;
	if ((rc = mdb_env_info(kv->env, &info)) != 0 ||
	    (rc = mdb_env_stat(kv->env, &stat)) != 0)
		return kv_fail(kv, "size", rc);
	*out = (struct kv_pages){ .page_bytes = stat.ms_psize,
	    .end = info.me_last_pgno + 1, .commit = info.me_last_txnid };
	if (!count_free)
		return IDEM_OK;
	if ((err = kv_begin(kv, false, &t)) != IDEM_OK)
		return err;
	err = kv_each(&t, KV_FREE, IDEM_ABSENT, add_free, &out->free);
	kv_abort(&t);
	return err;
}

bool
kv_has_room(struct kv *kv, uint64_t bytes)
{
	MDB_envinfo info;
	struct kv_pages pages;
	uint64_t end;

	if (kv_pages(kv, true, &pages) != IDEM_OK ||
	    mdb_env_info(kv->env, &info) != 0)
		return false;
	/* A value wants pages side by side. */
	if (pages.free * pages.page_bytes / 4 > bytes)
		return true;
	end = pages.end * pages.page_bytes + bytes;
	return (end <= info.me_mapsize || kv_grow(kv, true) == IDEM_OK) &&
	    datafile_may_grow(kv_fd(kv), (off_t)end, bytes);
}

static uint64_t
pages_of(const MDB_stat *stat)
{
	return stat->ms_branch_pages + stat->ms_leaf_pages +
	    stat->ms_overflow_pages;
}

struct counting {
	struct kv_txn *t;
	uint64_t npages;
	int rc;
};

/* A name in the main table; what is no table there has no pages of its own. */
static bool
add_table(void *arg, struct idem_span key, struct idem_span value)
{
	struct counting *c = arg;
	char name[64];
	MDB_stat stat;
	MDB_dbi dbi;

	(void)value;
	if (key.n == 0 || memchr(key.p, '\0', key.n) != NULL ||
	    text_format(name, sizeof name, "%.*s", IDEM_FMT(key)) != IDEM_OK)
		return true;
	c->rc = mdb_dbi_open(c->t->txn, name, 0, &dbi);
	if (c->rc == MDB_INCOMPATIBLE || c->rc == MDB_NOTFOUND) {
		c->rc = 0;
		return true;
	}
	if (c->rc == 0 && (c->rc = mdb_stat(c->t->txn, dbi, &stat)) == 0)
		c->npages += pages_of(&stat);
	return c->rc == 0;
}

static enum idem_err
count_used(struct kv_txn *t, uint64_t *npages)
{
	struct counting c = { .t = t, .npages = NHEADS };
	enum idem_err err;
	MDB_stat stat;

	for (MDB_dbi own = 0; own < 2; own++) { /* the free pages, the names */
		if ((c.rc = mdb_stat(t->txn, own, &stat)) != 0)
			return kv_outcome(t, "size", c.rc);
		c.npages += pages_of(&stat);
	}
	if ((err = kv_each(t, KV_FREE, IDEM_ABSENT, add_free, &c.npages)) !=
	    IDEM_OK || (err = kv_each(t, KV_NAMES, IDEM_ABSENT, add_table,
	    &c)) != IDEM_OK)
		return err;
	*npages = c.npages;
	return c.rc == 0 ? IDEM_OK : kv_outcome(t, "size", c.rc);
}

/* A reader, and how many pages its snapshot has: LMDB says only how many the
 * last commit left. */
static enum idem_err
begin_snapshot(struct kv *kv, struct kv_txn *t, uint64_t *end)
{
	MDB_envinfo info = { .me_last_pgno = 0 };
	enum idem_err err;
	int rc;

	for (int i = 0; i < SNAPSHOT_TRIES; i++) {
		if ((err = kv_begin(kv, false, t)) != IDEM_OK)
			return err;
		if ((rc = mdb_env_info(kv->env, &info)) != 0)
			err = kv_outcome(t, "size", rc);
		*end = info.me_last_pgno + 1;
		if (err == IDEM_OK && info.me_last_txnid == mdb_txn_id(t->txn))
			return IDEM_OK;
		kv_abort(t);
		if (err != IDEM_OK)
			return err;
	}
	return IDEM_EBUSY;
}

enum idem_err
kv_lost_pages(struct kv *kv, int64_t *nlost)
{
	struct kv_txn t;
	uint64_t end = 0, used = 0;
	enum idem_err err;

	*nlost = 0;
	if ((err = begin_snapshot(kv, &t, &end)) != IDEM_OK)
		return err == IDEM_EBUSY ? IDEM_OK : err;
	if ((err = count_used(&t, &used)) == IDEM_OK)
		*nlost = (int64_t)(end - used);
	kv_abort(&t);
	return err;
}
