/*
 * reader.c - a tool of the tests: begins to read a store, says so by a line,
 * and goes on until it is ended.
 */
#include <lmdb.h>
#include <stdio.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	MDB_env *env;
	MDB_txn *txn;
	int rc;

	if (argc != 2)
		return 2;
	if ((rc = mdb_env_create(&env)) != 0 ||
	    (rc = mdb_env_set_maxreaders(env, 2048)) != 0 ||
	    (rc = mdb_env_open(env, argv[1], MDB_NOTLS | MDB_RDONLY,
	    0600)) != 0 ||
	    (rc = mdb_txn_begin(env, NULL, MDB_RDONLY, &txn)) != 0) {
		fprintf(stderr, "reader: %s: %s\n", argv[1], mdb_strerror(rc));
		return 1;
	}
	puts("reads");
	fflush(stdout);
	for (;;)
		pause();
}
