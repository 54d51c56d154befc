/*
 * rawkit.h - a store's environment written by LMDB itself, behind the back of
 * the store, which must be closed.
 */
#ifndef UNIT_RAWKIT_H
#define UNIT_RAWKIT_H

#include "storekit.h"

#include <lmdb.h>

struct raw {
	MDB_env *env;
	MDB_txn *txn; /* one write transaction */
};

void raw_begin(const struct kit *k, struct raw *r);
MDB_dbi raw_table(const struct raw *r, const char *name);
/* Commit and close. */
void raw_end(struct raw *r);

/* One byte in the place of the first entry's value. */
void raw_spoil_first(const struct raw *r, MDB_dbi table);

#endif
