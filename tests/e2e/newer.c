/*
 * newer.c - a tool of the tests: raises the schema's number in a store's "meta"
 * table, as a newer version of the program would have written it.
 *
 * usage: newer STORE [NUMBER]      99 where it is not said
 */
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>

int
main(int argc, char **argv)
{
	char name[] = { 's', 'c', 'h', 'e', 'm', 'a' };
	char newer[] = { 0, 0, 0, 99 }; /* big-endian */
	MDB_val key = { sizeof name, name };
	MDB_val value = { sizeof newer, newer };
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi meta;
	int rc;

	if (argc != 2 && argc != 3)
		return 2;
	if (argc == 3)
		newer[3] = (char)atoi(argv[2]);
	if ((rc = mdb_env_create(&env)) != 0 ||
	    (rc = mdb_env_set_maxdbs(env, 16)) != 0 ||
	    (rc = mdb_env_open(env, argv[1], 0, 0600)) != 0 ||
	    (rc = mdb_txn_begin(env, NULL, 0, &txn)) != 0 ||
	    (rc = mdb_dbi_open(txn, "meta", 0, &meta)) != 0 ||
	    (rc = mdb_get(txn, meta, &key, &(MDB_val){ 0, NULL })) != 0 ||
	    (rc = mdb_put(txn, meta, &key, &value, 0)) != 0 ||
	    (rc = mdb_txn_commit(txn)) != 0) {
		fprintf(stderr, "newer: %s: %s\n", argv[1], mdb_strerror(rc));
		return 1;
	}
	mdb_env_close(env);
	return 0;
}
