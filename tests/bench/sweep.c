/*
 * sweep.c - sweeping expired records, against a bare LMDB loop that deletes the
 * same records in batches of 500.
 *
 *   sweep fill DIR N
 * fills a store with N expired records.
 *   sweep idem|lmdb DIR N
 * sweeps them all durably, and prints records a second.
 */
#include <lmdb.h>
#include <stdio.h>
#include <string.h>

#include "kit.h"

#define BATCH 500

static void
fill(const char *dir, uint64_t n)
{
	struct idem_store *s = kit_store(dir, false);
	struct idem_buf answer;

	idem_buf_init(&answer, 65536);
	for (uint64_t i = 0; i < n; i++) {
		struct idem_op op = kit_op(IDEM_OP_ONCE, &answer);

		op.now_ms = 1;
		op.ttl_ms = 1;
		op.input = kit_answer();
		op.kept_bytes = op.input.n;
		kit_check("fill", idem_store_submit(s, &op));
	}
	idem_store_close(&s);
	idem_buf_free(&answer);
}

static uint64_t
sweep_idem(const char *dir)
{
	struct idem_store *s = kit_store(dir, true);
	struct idem_sweep sweep = { .more = true };

	while (sweep.more)
		kit_check("sweep", idem_store_sweep(s, 1000, 1, BATCH, &sweep));
	idem_store_close(&s);
	return sweep.nexpired;
}

static void
lmdb(const char *what, int rc)
{
	if (rc == 0)
		return;
	fprintf(stderr, "bench: %s: %s\n", what, mdb_strerror(rc));
	kit_die(what, IDEM_ESTORE);
}

/* One batch from the front of the log: the number of records that went. */
static uint64_t
lmdb_batch(MDB_env *env, MDB_dbi records, MDB_dbi log, size_t id_at)
{
	MDB_txn *txn;
	MDB_cursor *cursor;
	MDB_val number, record;
	uint64_t n = 0;

	lmdb("begin", mdb_txn_begin(env, NULL, 0, &txn));
	lmdb("cursor", mdb_cursor_open(txn, log, &cursor));
	while (n < BATCH &&
	    mdb_cursor_get(cursor, &number, &record, MDB_FIRST) == 0) {
		MDB_val id = { IDEM_ID_BYTES,
			(char *)record.mv_data + id_at };

		lmdb("delete id", mdb_del(txn, records, &id, NULL));
		lmdb("delete record", mdb_cursor_del(cursor, 0));
		n++;
	}
	mdb_cursor_close(cursor);
	lmdb("commit", mdb_txn_commit(txn));
	return n;
}

/* Where the id stands in a record: the bytes that are a key of records. */
static size_t
find_id(MDB_env *env, MDB_dbi records, MDB_dbi log)
{
	MDB_txn *txn;
	MDB_cursor *cursor;
	MDB_val number, record, value;
	size_t at = 0;

	lmdb("begin", mdb_txn_begin(env, NULL, MDB_RDONLY, &txn));
	lmdb("cursor", mdb_cursor_open(txn, log, &cursor));
	lmdb("first", mdb_cursor_get(cursor, &number, &record, MDB_FIRST));
	for (;; at++) {
		MDB_val id = { IDEM_ID_BYTES, (char *)record.mv_data + at };

		if (at + IDEM_ID_BYTES > record.mv_size)
			kit_die("no id in the record", IDEM_ECORRUPT);
		if (mdb_get(txn, records, &id, &value) == 0)
			break;
	}
	mdb_cursor_close(cursor);
	mdb_txn_abort(txn);
	return at;
}

static uint64_t
sweep_lmdb(const char *dir)
{
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi records, log;
	uint64_t total = 0, n;
	size_t id_at;

	lmdb("create", mdb_env_create(&env));
	lmdb("maxdbs", mdb_env_set_maxdbs(env, 16));
	lmdb("mapsize", mdb_env_set_mapsize(env, (size_t)64 << 30));
	lmdb("maxreaders", mdb_env_set_maxreaders(env, 2048));
	lmdb("open", mdb_env_open(env, dir, MDB_NOTLS, 0600));
	lmdb("begin", mdb_txn_begin(env, NULL, 0, &txn));
	lmdb("records", mdb_dbi_open(txn, "records", 0, &records));
	lmdb("log", mdb_dbi_open(txn, "log", 0, &log));
	lmdb("commit", mdb_txn_commit(txn));
	id_at = find_id(env, records, log);
	while ((n = lmdb_batch(env, records, log, id_at)) > 0)
		total += n;
	mdb_env_close(env);
	return total;
}

int
main(int argc, char **argv)
{
	uint64_t n, gone;
	int64_t began;

	if (argc != 4) {
		fputs("usage: sweep fill|idem|lmdb DIR N\n", stderr);
		return 2;
	}
	n = kit_number(argv[3], UINT32_MAX);
	if (strcmp(argv[1], "fill") == 0) {
		fill(argv[2], n);
		return 0;
	}
	began = kit_now_us();
	gone = strcmp(argv[1], "idem") == 0 ? sweep_idem(argv[2]) :
	    sweep_lmdb(argv[2]);
	if (gone != n)
		kit_die("not all were swept", IDEM_ESTORE);
	printf("%.0f\n", (double)n * 1e6 / (double)(kit_now_us() - began));
	return 0;
}
