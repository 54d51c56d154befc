/*
 * test_store_damage.c - records that are damaged, of another version, or that
 * the index does not lead to: never an answer, and never an absent key.
 */
#include "harmkit.h"
#include "rawkit.h"

#define IDS "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define PRINTS "ffffffffffffffffffffffffffffffff"

static bool
only_b_decodes(void *arg, uint64_t number, const struct idem_record *record)
{
	size_t *n = arg;

	++*n;
	assert_int_equal(record == NULL, number == 1);
	return true;
}

/* One bit each of the record of a: its state, its fingerprint, its answer. */
static const struct {
	struct idem_span right, wrong;
} flips[] = {
	{ IDEM_LIT_INIT("\2\1\0\0" IDS), IDEM_LIT_INIT("\3\1\0\0" IDS) },
	{ IDEM_LIT_INIT(IDS "f"), IDEM_LIT_INIT(IDS "v") },
	{ IDEM_LIT_INIT("answer of a"), IDEM_LIT_INIT("answer of c") },
};

/* It is no answer, and no absent key either: nothing is run for it. */
static void
a_damaged_record(void **state)
{
	static const struct step steps[] = {
		{ LOOK, 'a', .err = IDEM_ECORRUPT },
		{ CLAIM, 'a', '3', .err = IDEM_ECORRUPT },
		{ ONCE, 'a', '3', .script = "put 0 x 1", .err = IDEM_ECORRUPT,
		    .table = "" },
		{ RESOLVE, 'a', .err = IDEM_ECORRUPT },
		{ CLAIM, 'a', '3', .retry = true, .now = 1000000,
		    .err = IDEM_ECORRUPT },
	};
	/* The others are well, and whoever makes room passes over it. */
	static const struct step others[] = {
		{ FINISH, 'b', '2', .input = "b", .verdict = IDEM_STORED },
		{ LOOK, 'b', .verdict = IDEM_REPLAY, .answer = "b" },
		{ SWEEP, .now = 1000000, .swept = "1 0 0 0" },
		{ CLAIM, 'c', '4', .max_keys = 1, .evict = true,
		    .now = 1000000, .err = IDEM_EFULL },
		{ CLAIM, 'c', '4', .verdict = IDEM_CLAIMED },
		{ LOOK, 'a', .err = IDEM_ECORRUPT },
	};
	struct kit *k = *state;

	for (size_t i = 0; i < COUNT(flips); i++) {
		uint64_t from = 0, nbad = 0;
		size_t n = 0;
		bool more;

		kit_remove(k, "store");
		idem_buf_reset(&k->lines);
		harm_make_store(k);
		assert_in_range(harm_patch(k, flips[i].right, flips[i].wrong),
		    1, 9);
		assert_int_equal(kit_reopen(k, true), IDEM_OK);
		KIT_RUN(k, steps);
		kit_logged(k, "/store: record 1 is damaged: see \"idem "
		    "check\", and put a copy of the store in its place");
		assert_int_equal(idem_store_walk(k->store, &from, 10, &more,
		    only_b_decodes, &n), IDEM_OK);
		assert_int_equal(n, 2);
		assert_int_equal(idem_store_check(k->store, &nbad), IDEM_OK);
		assert_int_equal(nbad, 1);
		kit_logged(k, "/store: record 1: does not decode");
		KIT_RUN(k, others);
		idem_store_close(&k->store);
	}
}

#define SUM "\x4d\x34\x21\xec\x22\x2c\x89\x6a"
#define SEALED_SUM "\xf4\xdd\x0c\x77\x92\x59\x93\x28"

static void
a_record_of_a_newer_version(void **state)
{
	static const struct step steps[] = {
		{ LOOK, 'a', .err = IDEM_ENEWER },
		{ CLAIM, 'a', '3', .err = IDEM_ENEWER },
	};
	static const struct step sealed[] = {
		{ LOOK, 'a', .err = IDEM_ENEWER },
		{ CLAIM, 'a', '3', .err = IDEM_ENEWER },
		{ LOOK, 'a', .body = 'x', .verdict = IDEM_MISMATCH },
		{ CLAIM, 'a', '3', 'x', .verdict = IDEM_MISMATCH },
	};
	struct kit *k = *state;

	harm_make_store(k);
	assert_in_range(harm_patch(k, IDEM_LIT("\2" SUM "\2\1\0\0" IDS),
	    IDEM_LIT("\3" SUM "\2\1\0\0" IDS)), 1, 9);
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	KIT_RUN(k, steps);
	kit_logged(k, "/store: record 1 was written by a newer version: run "
	    "that one");
	idem_store_close(&k->store);
	harm_patch(k, IDEM_LIT("\3" SUM "\2\1\0\0" IDS),
	    IDEM_LIT("\2" SEALED_SUM "\2\1\1\0" IDS));
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	KIT_RUN(k, sealed);
	kit_logged(k, "/store: an answer is sealed: run the version that "
	    "sealed it");
}

#define OLD_TIMES "\0\0\0\0\0\0\0\0"

/* Put a value in the place of the record of this number. */
static void
put_record(const struct kit *k, unsigned char number, struct idem_span record)
{
	unsigned char digits[8] = { 0, 0, 0, 0, 0, 0, 0, number };
	MDB_val key = { sizeof digits, digits };
	MDB_val value = { record.n, (void *)(uintptr_t)record.p };
	struct raw raw;

	raw_begin(k, &raw);
	assert_int_equal(mdb_put(raw.txn, raw_table(&raw, "log"), &key,
	    &value, 0), 0);
	raw_end(&raw);
}

/* Version 1 has no sum.  It is read, and what becomes of it has one. */
static void
records_of_an_older_version(void **state)
{
	static const struct step steps[] = {
		{ SEE, .walk = "1aD 2bR" },
		{ LOOK, 'a', .verdict = IDEM_REPLAY, .answer = "old answer" },
		{ CLAIM, 'a', '3', 'x', .verdict = IDEM_MISMATCH },
		{ FINISH, 'b', '2', .input = "new answer",
		    .verdict = IDEM_STORED },
		{ LOOK, 'b', .verdict = IDEM_REPLAY, .answer = "new answer" },
		{ SEE, .walk = "1aD 2bD" },
	};
	struct kit *k = *state;
	uint64_t nbad;

	harm_make_store(k);
	put_record(k, 1, IDEM_LIT("\1\2\1\0\0" IDS PRINTS
	    "1111111111111111" OLD_TIMES OLD_TIMES "\0\0\0\0\0\0\3\xe8"
	    "\0\0\0\12old answer"));
	put_record(k, 2, IDEM_LIT("\1\1\1\0\0"
	    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb" PRINTS "2222222222222222"
	    OLD_TIMES OLD_TIMES "\x7f\xff\xff\xff\xff\xff\xff\xff"
	    "\0\0\0\0"));
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	KIT_RUN(k, steps);
	assert_int_equal(idem_store_check(k->store, &nbad), IDEM_OK);
	assert_int_equal(nbad, 0);
	idem_store_close(&k->store);
	/* the new one is guarded, the old one as ever not */
	assert_in_range(harm_patch(k, IDEM_LIT("new answer"),
	    IDEM_LIT("mew answer")), 1, 9);
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	assert_int_equal(idem_store_check(k->store, &nbad), IDEM_OK);
	assert_int_equal(nbad, 1);
}

/* The index leads from b to the record of a. */
static void
an_index_that_leads_astray(void **state)
{
	static const struct step steps[] = {
		{ LOOK, 'b', .err = IDEM_ECORRUPT },
		{ CLAIM, 'b', '3', .err = IDEM_ECORRUPT },
		{ LOOK, 'a', .verdict = IDEM_REPLAY, .answer = "answer of a" },
	};
	static const char to_2[] = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	    "\0\0\0\0\0\0\0\2";
	static const char to_1[] = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	    "\0\0\0\0\0\0\0\1";
	struct kit *k = *state;
	uint64_t nbad;

	harm_make_store(k);
	assert_in_range(harm_patch(k, (struct idem_span){ to_2, 40 },
	    (struct idem_span){ to_1, 40 }), 1, 9);
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	KIT_RUN(k, steps);
	assert_int_equal(idem_store_check(k->store, &nbad), IDEM_OK);
	assert_int_equal(nbad, 1);
	kit_logged(k, "/store: record 2: the index does not lead to it");
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		HARM(a_damaged_record),
		HARM(a_record_of_a_newer_version),
		HARM(records_of_an_older_version),
		HARM(an_index_that_leads_astray),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
