/*
 * test_store_full.c - IDEM_MAX_STORE or IDEM_MAX_KEYS is met: what expired
 * makes room, nothing new begins, and what runs ends.
 */
#include "harmkit.h"

static void
a_full_map(void **state)
{
	static const struct step before[] = {
		{ CLAIM, 'a', '1', .verdict = IDEM_CLAIMED },
		{ CLAIM, 'b', '2', .verdict = IDEM_CLAIMED },
		{ CLAIM, 'c', '3', .verdict = IDEM_CLAIMED },
	};
	/* nothing new, but what is there goes on */
	static const struct step crowded[] = {
		{ CLAIM, 'd', '4', .err = IDEM_EFULL },
		{ ONCE, 'd', '4', .input = "", .err = IDEM_EFULL },
		{ APPLY, .script = "put 0 x 1", .err = IDEM_EFULL },
		{ CLAIM, 'a', '5', .verdict = IDEM_RUNNING },
		{ CLAIM, 'a', '5', 'x', .verdict = IDEM_MISMATCH },
		{ FINISH, 'a', '1', .script = "put 0 x 1\nsay done",
		    .verdict = IDEM_STORED, .answer = "done", .table = "x=1" },
		{ HOLD, 'b', '2', .verdict = IDEM_HELD },
		{ RELEASE, 'c', '3', .verdict = IDEM_RELEASED },
		{ RESOLVE, 'b', .input = "b", .verdict = IDEM_STORED },
		{ LOOK, 'a', .verdict = IDEM_REPLAY, .answer = "done" },
	};
	static const struct step after[] = {
		{ CLAIM, 'd', '4', .now = 2000, .verdict = IDEM_CLAIMED },
		{ APPLY, .script = "put 0 x 2", .verdict = IDEM_STORED },
	};
	struct kit *k = *state;
	struct idem_room room;
	uint64_t full_bytes;
	size_t n;

	k->max_bytes = 2048 * KIB;
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	KIT_RUN(k, before);
	n = harm_fill(k, IDEM_EFULL);
	/* three pages and a bit for each answer, 90 percent of 512 pages */
	assert_in_range(n, 130, 155);
	kit_logged(k, "the store is full: IDEM_MAX_STORE=2097152 is met, ");
	kit_logged(k, " records are held; new keys are refused: run \"idem "
	    "sweep\", or raise it");
	KIT_RUN(k, crowded);
	assert_int_equal(idem_store_room(k->store, &room), IDEM_OK);
	assert_int_equal(room.nrecords, n + 2);
	assert_int_equal(room.max_bytes, 2048 * KIB);
	assert_in_range(room.used_bytes, 1843 * KIB, 1900 * KIB);
	assert_in_range(room.file_bytes, room.used_bytes, 2048 * KIB);
	full_bytes = room.used_bytes;
	harm_sweep_all(k, 1000, n + 2);
	assert_int_equal(idem_store_room(k->store, &room), IDEM_OK);
	assert_int_equal(room.nrecords, 0);
	assert_in_range(room.used_bytes, 1, full_bytes / 4);
	KIT_RUN(k, after);
	assert_in_range(harm_fill(k, IDEM_EFULL), 130, 155);
}

/* Nobody sweeps: what begins takes the place of what has expired. */
static void
a_full_map_of_expired_records(void **state)
{
	static const struct step first[] = {
		{ ONCE, 'u', '1', .script = "hold", .verdict = IDEM_HELD },
		{ CLAIM, 'r', '2', .verdict = IDEM_CLAIMED },
	};
	static const struct step crowded[] = {
		{ CLAIM, 'a', '3', .now = 999, .err = IDEM_EFULL },
		{ CLAIM, 'a', '3', .now = 1000, .verdict = IDEM_CLAIMED },
		{ APPLY, .now = 1000, .script = "put 0 x 1",
		    .verdict = IDEM_STORED, .table = "x=1" },
		{ ONCE, 'b', '4', .now = 1000, .script = "put 0 x 2\nsay b",
		    .verdict = IDEM_STORED, .answer = "b", .table = "x=2" },
		{ CLAIM, 'u', '5', .now = 1000, .verdict = IDEM_UNKNOWN },
		{ CLAIM, 'r', '5', .now = 1000, .verdict = IDEM_RUNNING },
	};
	struct kit *k = *state;
	struct idem_room room;
	uint64_t nbad;
	size_t n;

	k->max_bytes = 2048 * KIB;
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	KIT_RUN(k, first);
	n = harm_fill(k, IDEM_EFULL);
	KIT_RUN(k, crowded);
	assert_int_equal(idem_store_room(k->store, &room), IDEM_OK);
	/* two are new, and there is room again */
	assert_in_range(room.nrecords, 2 + n - 3 * 8 + 2, 2 + n - 8 + 2);
	assert_int_equal(idem_store_check(k->store, &nbad), IDEM_OK);
	assert_int_equal(nbad, 0);
}

#define BIG 1000000

/* The expired ones lie behind more others than one claim looks at. */
static void
expired_records_far_behind(void **state)
{
	static const struct step crowded[] = {
		{ CLAIM, 'a', '3', .now = 1000, .max_keys = BIG,
		    .err = IDEM_EFULL },
		{ CLAIM, 'a', '3', .now = 1000, .max_keys = BIG,
		    .err = IDEM_EFULL },
		{ CLAIM, 'a', '3', .now = 1000, .max_keys = BIG,
		    .verdict = IDEM_CLAIMED },
		{ CLAIM, 'b', '4', .now = 1000, .max_keys = BIG,
		    .verdict = IDEM_CLAIMED },
	};
	struct step held = { ONCE, .token = '1', .script = "hold",
		.max_keys = BIG };
	struct kit *k = *state;
	struct idem_op op;

	k->max_bytes = 2048 * KIB;
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	for (unsigned i = 0; i < 2100; i++) {
		kit_op(k, &held, &op);
		op.id[0] = 2;
		op.id[1] = (unsigned char)(i >> 8);
		op.id[2] = (unsigned char)i;
		assert_int_equal(idem_store_submit(k->store, &op), IDEM_OK);
		assert_int_equal(op.verdict, IDEM_HELD);
	}
	assert_in_range(harm_fill(k, IDEM_EFULL), 20, 140);
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	idem_buf_reset(&k->lines);
	KIT_RUN(k, crowded);
	kit_logged(k, "the store is full: IDEM_MAX_STORE=2097152 is met, ");
	kit_logged(k, " records are held; new keys are refused: most of them "
	    "are of unknown outcome, see \"idem list --state unknown\" and "
	    "\"idem resolve\", or raise it");
}

/* The same where the limit is one of records, of which all but the last ten
 * live longer. */
static void
expired_records_behind_others(void **state)
{
	static const struct step full[] = {
		{ CLAIM, 'a', '3', .now = 999, .max_keys = 210,
		    .err = IDEM_EFULL },
		{ CLAIM, 'a', '3', .now = 1000, .max_keys = 210,
		    .verdict = IDEM_CLAIMED },
	};
	struct step s = { ONCE, .token = '1', .input = "x", .max_keys = BIG };
	struct kit *k = *state;
	struct idem_room room;
	struct idem_op op;

	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	for (unsigned i = 0; i < 210; i++) {
		kit_op(k, &s, &op);
		op.id[0] = (unsigned char)i;
		op.ttl_ms = i < 200 ? 2000 : 1000;
		assert_int_equal(idem_store_submit(k->store, &op), IDEM_OK);
	}
	KIT_RUN(k, full);
	assert_int_equal(idem_store_room(k->store, &room), IDEM_OK);
	assert_int_equal(room.nrecords, 210 - 8 + 1);
}

/* A handler that writes more than there is: its key is as it was before. */
static void
a_handler_that_fills_the_map(void **state)
{
	static const struct step steps[] = {
		{ LOOK, 'a', .verdict = IDEM_ABSENT_KEY, .walk = "",
		    .table = "" },
		{ ONCE, 'a', '2', .script = "put 0 x 1\nsay small",
		    .verdict = IDEM_STORED, .answer = "small", .walk = "1aD",
		    .table = "x=1" },
	};
	struct step s = { ONCE, .key = 'a', .token = '1' };
	struct kit *k = *state;
	struct idem_op op;
	struct idem_buf script;

	k->max_bytes = 1024 * KIB;
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	idem_buf_init(&script, 4096 * KIB);
	idem_buf_puts(&script, IDEM_LIT("put 0 x 1\nput 0 big "));
	memset(idem_buf_room(&script, 1100 * KIB), 'x', 1100 * KIB);
	idem_buf_grew(&script, 1100 * KIB);
	kit_op(k, &s, &op);
	op.apply = 1;
	op.input = idem_buf_span(&script);
	assert_int_equal(idem_store_submit(k->store, &op), IDEM_EFULL);
	kit_logged(k, "/store: data.mdb: MDB_MAP_FULL: Environment mapsize "
	    "limit reached: sweep, or raise IDEM_MAX_STORE");
	assert_false(idem_store_alive(k->store, op.token));
	KIT_RUN(k, steps);
	idem_buf_free(&script);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		HARM(a_full_map),
		HARM(a_full_map_of_expired_records),
		HARM(expired_records_far_behind),
		HARM(expired_records_behind_others),
		HARM(a_handler_that_fills_the_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
