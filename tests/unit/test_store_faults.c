/*
 * test_store_faults.c - every call of LMDB fails once, one after the other: an
 * error comes out or a line of the log, and the store is right afterwards.
 *
 * The functions here stand before those of the library, which is shared.
 */
#include "storekit.h"

#include <dlfcn.h>
#include <errno.h>
#include <lmdb.h>

static struct fault {
	unsigned countdown; /* the call that fails; 0: none does */
	int rc;
	bool within;        /* the library's own calls are not counted */
	const char *name;   /* what failed */
	const char *only;   /* calls of this one are counted; NULL: of all */
	const char *then;   /* what fails once behind the first fault */
} fault;

static bool
fails(const char *name)
{
	if (fault.within || fault.countdown == 0 ||
	    (fault.only != NULL && strcmp(fault.only, name) != 0) ||
	    --fault.countdown > 0)
		return false;
	fault.name = name;
	if (fault.then != NULL) {
		fault.only = fault.then;
		fault.then = NULL;
		fault.countdown = 1;
	}
	return true;
}

#define REAL(name) \
	static __typeof__(&(name)) real; \
	int rc; \
	if (real == NULL) \
		*(void **)&real = dlsym(RTLD_NEXT, #name)

#define CALL(args) \
	do { \
		bool before = fault.within; \
		fault.within = true; \
		rc = real args; \
		fault.within = before; \
	} while (0)

#define STANDS_BEFORE(name, parameters, args) \
int \
name parameters \
{ \
	REAL(name); \
	if (fails(#name)) \
		return fault.rc; \
	CALL(args); \
	return rc; \
}

STANDS_BEFORE(mdb_env_create, (MDB_env **e), (e))
STANDS_BEFORE(mdb_env_open, (MDB_env *e, const char *path, unsigned flags,
    mdb_mode_t mode), (e, path, flags, mode))
STANDS_BEFORE(mdb_env_set_mapsize, (MDB_env *e, size_t n), (e, n))
STANDS_BEFORE(mdb_env_info, (MDB_env *e, MDB_envinfo *i), (e, i))
STANDS_BEFORE(mdb_env_stat, (MDB_env *e, MDB_stat *s), (e, s))
STANDS_BEFORE(mdb_env_sync, (MDB_env *e, int force), (e, force))
STANDS_BEFORE(mdb_env_copyfd2, (MDB_env *e, int fd, unsigned flags),
    (e, fd, flags))
STANDS_BEFORE(mdb_reader_check, (MDB_env *e, int *dead), (e, dead))
STANDS_BEFORE(mdb_txn_begin, (MDB_env *e, MDB_txn *parent, unsigned flags,
    MDB_txn **t), (e, parent, flags, t))
STANDS_BEFORE(mdb_dbi_open, (MDB_txn *t, const char *name, unsigned flags,
    MDB_dbi *dbi), (t, name, flags, dbi))
STANDS_BEFORE(mdb_stat, (MDB_txn *t, MDB_dbi dbi, MDB_stat *s), (t, dbi, s))
STANDS_BEFORE(mdb_get, (MDB_txn *t, MDB_dbi dbi, MDB_val *k, MDB_val *v),
    (t, dbi, k, v))
STANDS_BEFORE(mdb_put, (MDB_txn *t, MDB_dbi dbi, MDB_val *k, MDB_val *v,
    unsigned flags), (t, dbi, k, v, flags))
STANDS_BEFORE(mdb_del, (MDB_txn *t, MDB_dbi dbi, MDB_val *k, MDB_val *v),
    (t, dbi, k, v))
STANDS_BEFORE(mdb_cursor_open, (MDB_txn *t, MDB_dbi dbi, MDB_cursor **c),
    (t, dbi, c))
STANDS_BEFORE(mdb_cursor_get, (MDB_cursor *c, MDB_val *k, MDB_val *v,
    MDB_cursor_op op), (c, k, v, op))

/* A commit that fails has ended its transaction. */
int
mdb_txn_commit(MDB_txn *t)
{
	REAL(mdb_txn_commit);
	if (fails("mdb_txn_commit")) {
		mdb_txn_abort(t);
		return fault.rc;
	}
	CALL((t));
	return rc;
}

/* What is asked of the store, whatever happened before. */
static const struct step load[] = {
	{ CLAIM, 'a', '1', .now = 0 },
	{ FINISH, 'a', '1', .script = "put 0 k v\nsay done" },
	{ LOOK, 'a', '2', .now = 0 },
	{ ONCE, 'b', '3', .script = "put 1 k w\nput 0 l x\ndel 0 k\nsay b" },
	{ CLAIM, 'c', '4', .now = 0 },
	{ HOLD, 'c', '4', .now = 0 },
	{ RESOLVE, 'c', '5', .input = "resolved" },
	{ CLAIM, 'd', '6', .now = 0 },
	{ RELEASE, 'd', '6', .now = 0 },
	{ CLAIM, 'e', '7', .now = 0 },
	{ ONCE, 'f', '8', .input = "f" },
	{ ONCE, 'b', '9', .now = 5000, .script = "say again" },
};
#define NLOAD COUNT(load)

struct outcome {
	bool ok[NLOAD];
	enum idem_verdict verdict[NLOAD];
	size_t nerrors;
};

static void
count_error(struct outcome *o, enum idem_err err)
{
	o->nerrors += err != IDEM_OK;
}

static void
work(struct kit *k, struct outcome *o)
{
	for (size_t i = 0; i < NLOAD; i++) {
		unsigned char token[IDEM_TOKEN_BYTES];
		struct idem_op op;
		enum idem_err err;

		kit_op(k, &load[i], &op);
		err = load[i].what == LOOK ? idem_store_look(k->store, &op) :
		    idem_store_submit(k->store, &op);
		o->ok[i] = err == IDEM_OK;
		o->verdict[i] = op.verdict;
		count_error(o, err);
		memset(token, load[i].token, sizeof token);
		idem_store_leave(k->store, token);
	}
}

static bool
any_record(void *arg, uint64_t number, const struct idem_record *r)
{
	size_t *n = arg;

	(void)number;
	(void)r;
	++*n;
	return true;
}

static enum idem_err
read_tables(void *arg, struct idem_tables *t)
{
	struct idem_span key, value;

	(void)arg;
	return idem_tables_last(t, 0, &key, &value);
}

static void
look_around(struct kit *k, struct outcome *o)
{
	struct idem_sweep w = { .from = 0 };
	struct idem_copied copied;
	struct idem_room room;
	uint64_t from = 0, nbad;
	size_t n = 0;
	bool more;

	count_error(o, idem_store_walk(k->store, &from, 100, &more, any_record,
	    &n));
	count_error(o, idem_store_read(k->store, read_tables, NULL));
	count_error(o, idem_store_room(k->store, &room));
	count_error(o, idem_store_check(k->store, &nbad));
	count_error(o, idem_store_copy(k->store, &(struct idem_copy){
	    .to = span_of(kit_path(k, "copy")) }, &copied));
	count_error(o, idem_store_sweep(k->store, 20000, KIT_UNKNOWN_TTL_MS,
	    100, &w));
}

/* What was said to be stored is there, and no more than was asked. */
static void
assert_right(struct kit *k, const struct outcome *o)
{
	static const struct step fresh[] = {
		{ ONCE, 'z', 'z', .now = 30000, .input = "z",
		    .verdict = IDEM_STORED },
		{ LOOK, 'z', 'y', .now = 30000, .verdict = IDEM_REPLAY,
		    .answer = "z" },
	};
	struct idem_buf got;
	uint64_t nbad;

	assert_int_equal(idem_store_check(k->store, &nbad), IDEM_OK);
	assert_int_equal(nbad, 0);
	idem_buf_init(&got, 1 << 16);
	kit_dump(k->store, &got);
	if (o->ok[3] && o->verdict[3] == IDEM_STORED) {
		assert_non_null(memmem(got.p, got.n, "l=x", 3));
		assert_non_null(memmem(got.p, got.n, "k=w", 3));
		assert_null(memmem(got.p, got.n, "k=v", 3));
	}
	/* a handler's writes come together or not at all */
	assert_int_equal(memmem(got.p, got.n, "l=x", 3) != NULL,
	    memmem(got.p, got.n, "k=w", 3) != NULL);
	idem_buf_free(&got);
	KIT_RUN(k, fresh);
}

/* false: there is no such call any more. */
static bool
one_fault(bool durable, unsigned nth, int rc)
{
	struct outcome o = { .nerrors = 0 };
	struct kit k;
	bool fired;

	kit_make(&k, false);
	k.durable = durable;
	fault = (struct fault){ .countdown = nth, .rc = rc };
	if (kit_reopen(&k, true) == IDEM_OK) {
		work(&k, &o);
		look_around(&k, &o);
	} else
		o.nerrors = 1;
	fired = fault.countdown == 0;
	fault.countdown = 0;
	/* A full map grows, and all is done again. */
	if (fired && rc != MDB_MAP_FULL && o.nerrors == 0 && k.lines.n == 0) {
		print_error("call %u, %s: nobody said so\n", nth, fault.name);
		fail();
	}
	assert_int_equal(kit_reopen(&k, true), IDEM_OK);
	assert_right(&k, &o);
	kit_close(&k);
	return fired;
}

static void
every_call_fails_once(void **state)
{
	static const struct {
		bool durable;
		int rc;
		unsigned step; /* a flush takes its time */
	} rows[] = {
		{ false, EIO, 1 },
		{ true, EIO, 4 },
		{ false, MDB_MAP_FULL, 3 },
		{ false, ENOMEM, 3 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned nth = 1;

		while (one_fault(rows[i].durable, nth, rows[i].rc))
			nth += rows[i].step;
		assert_in_range(nth, 200, 600); /* calls of LMDB, about 300 */
	}
}

/* LMDB's files appear one after the other. */
static void
opening_tries_again(void **state)
{
	static const int rows[] = { ENOENT, EAGAIN, EBUSY, EINVAL };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct kit k;

		kit_make(&k, false);
		fault = (struct fault){ .countdown = 1, .rc = rows[i],
			.only = "mdb_env_open" };
		assert_int_equal(kit_reopen(&k, true), IDEM_OK);
		assert_int_equal(fault.countdown, 0);
		assert_int_equal(k.lines.n, 0);
		kit_close(&k);
	}
}

/* LMDB has no map any more then: the process must not touch the store. */
static void
a_map_that_is_lost_while_it_grows(void **state)
{
	static const struct step put[] = {
		{ ONCE, 'a', '1', .input = "a", .err = IDEM_EMOVED },
	};
	static const struct step after[] = {
		{ ONCE, 'b', '2', .input = "b", .err = IDEM_EMOVED },
		{ LOOK, 'a', '1', .err = IDEM_EMOVED },
	};
	static const struct step anew[] = {
		{ ONCE, 'a', '3', .input = "a", .verdict = IDEM_STORED,
		    .walk = "1aD" },
	};
	struct idem_room room;
	struct kit k;

	(void)state;
	kit_open(&k, false);
	fault = (struct fault){ .countdown = 1, .rc = MDB_MAP_FULL,
		.only = "mdb_put", .then = "mdb_env_set_mapsize" };
	KIT_RUN(&k, put);
	kit_logged(&k, "the map: ");
	KIT_RUN(&k, after);
	assert_int_equal(idem_store_room(k.store, &room), IDEM_EMOVED);
	assert_int_equal(fault.countdown, 0);
	assert_int_equal(kit_reopen(&k, false), IDEM_OK);
	KIT_RUN(&k, anew);
	kit_close(&k);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_fails_once),
		cmocka_unit_test(opening_tries_again),
		cmocka_unit_test(a_map_that_is_lost_while_it_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
