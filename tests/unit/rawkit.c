/*
 * rawkit.c - a store's environment written by LMDB itself.
 */
#include "rawkit.h"

void
raw_begin(const struct kit *k, struct raw *r)
{
	assert_int_equal(mdb_env_create(&r->env), 0);
	assert_int_equal(mdb_env_set_maxdbs(r->env, 8), 0);
	assert_int_equal(mdb_env_open(r->env, kit_path(k, "store"), 0, 0600),
	    0);
	assert_int_equal(mdb_txn_begin(r->env, NULL, 0, &r->txn), 0);
}

MDB_dbi
raw_table(const struct raw *r, const char *name)
{
	MDB_dbi table;

	assert_int_equal(mdb_dbi_open(r->txn, name, 0, &table), 0);
	return table;
}

void
raw_end(struct raw *r)
{
	assert_int_equal(mdb_txn_commit(r->txn), 0);
	mdb_env_close(r->env);
}

void
raw_spoil_first(const struct raw *r, MDB_dbi table)
{
	MDB_val key, value = { 1, (void *)(uintptr_t)"x" };
	MDB_cursor *cursor;

	assert_int_equal(mdb_cursor_open(r->txn, table, &cursor), 0);
	assert_int_equal(mdb_cursor_get(cursor, &key, NULL, MDB_FIRST), 0);
	assert_int_equal(mdb_cursor_put(cursor, &key, &value, MDB_CURRENT), 0);
	mdb_cursor_close(cursor);
}
