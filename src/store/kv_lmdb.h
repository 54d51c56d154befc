/*
 * kv_lmdb.h - what the parts of kv share.  LMDB's header stands here and
 * nowhere else; nobody but the files named kv*.c includes this one.
 */
#ifndef STORE_KV_LMDB_H
#define STORE_KV_LMDB_H

#include <lmdb.h>

#include "store/kv.h"

struct kv {
	MDB_env *env;
	char dir[4096];
	uint64_t max_bytes;
	unsigned flags;
	bool broken; /* of no use any more */
	int open_lock; /* openlock.h, writelock.h */
	int64_t until_ms; /* writers wait for others */
	MDB_dbi dbi[KV_TABLES_MAX + 2];
	const struct idem_log *log;
};

/* Log what rc means for this environment; what names the call or object. */
enum idem_err kv_fail(const struct kv *kv, const char *what, int rc);

/* A code from a call inside a transaction: a full map is remembered, other
 * failures are logged. */
enum idem_err kv_outcome(struct kv_txn *t, const char *what, int rc);

/* Adopt the size that another process gave the map. */
void kv_adopt_size(struct kv *kv);

#endif
