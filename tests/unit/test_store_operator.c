/*
 * test_store_operator.c - the store's contract: what the operator's command
 * asks: sweep, resolve, walk, room and check.  Keys are small letters, tokens
 * digits.
 */
#include "contract.h"

static void
the_sweep_treats_what_is_due(struct kit *k)
{
	static const struct step steps[] = {
		{ CLAIM, 'r', '1', .now = 0, .verdict = IDEM_CLAIMED },
		{ ONCE, 'u', '2', .now = 0, .script = "hold",
		    .verdict = IDEM_HELD },
		{ ONCE, 'a', '3', .now = 0, .input = "a",
		    .verdict = IDEM_STORED },
		{ ONCE, 'b', '3', .now = 1, .input = "b",
		    .verdict = IDEM_STORED },
		{ SWEEP, .now = 999, .swept = "0 0 0 0" },
		{ SWEEP, .now = 1000, .swept = "1 0 0 0",
		    .walk = "1rR 2uU 4bD" },
		{ SWEEP, .now = 4999, .swept = "1 0 0 0", .walk = "1rR 2uU" },
		{ SWEEP, .now = 5000, .swept = "0 1 0 0", .walk = "1rR" },
		{ LEAVE, .token = '1' },
		{ CLAIM, 's', '4', .now = 5000, .retry = true,
		    .verdict = IDEM_CLAIMED },
		{ SWEEP, .now = 6000, .swept = "0 0 1 0", .walk = "1rU 2sR" },
		{ CLAIM, 'r', '5', .now = 6000, .verdict = IDEM_UNKNOWN },
		{ LEAVE, .token = '4' },
		{ SWEEP, .now = 6000, .swept = "0 0 0 1", .walk = "1rU" },
		/* unknown since 6,000: its time is 11,000 */
		{ SWEEP, .now = 10999, .swept = "0 0 0 0" },
		{ SWEEP, .now = 11000, .swept = "0 1 0 0", .walk = "" },
	};

	KIT_RUN(k, steps);
}

/* The key was claimed anew since it expired: the new record stays. */
static void
the_sweep_spares_a_key_claimed_anew(struct kit *k)
{
	static const struct step steps[] = {
		{ ONCE, 'a', '1', .now = 0, .input = "a",
		    .verdict = IDEM_STORED },
		{ CLAIM, 'a', '2', .now = 1000, .verdict = IDEM_CLAIMED },
		{ SWEEP, .now = 2000, .swept = "0 0 0 0", .walk = "2aR" },
		{ FINISH, 'a', '2', .now = 2000, .input = "b",
		    .verdict = IDEM_STORED },
		{ SWEEP, .now = 2999, .swept = "0 0 0 0", .walk = "2aD" },
		{ LOOK, 'a', .now = 2999, .verdict = IDEM_REPLAY,
		    .answer = "b" },
	};

	KIT_RUN(k, steps);
}

static void
the_sweep_goes_in_steps(struct kit *k)
{
	struct idem_sweep w = { .from = 0 };
	struct step s = { ONCE, 'a', '1', .input = "x",
		.verdict = IDEM_STORED };

	for (; s.key <= 'g'; s.key++)
		kit_run(k, &s, 1);
	assert_int_equal(idem_store_sweep(k->store, 1000, 1, 3, &w), IDEM_OK);
	assert_true(w.more);
	assert_int_equal(w.nexpired, 3);
	assert_int_equal(w.nseen, 3);
	assert_int_equal(w.from, 3);
	assert_int_equal(idem_store_sweep(k->store, 1000, 1, 3, &w), IDEM_OK);
	assert_true(w.more);
	assert_int_equal(idem_store_sweep(k->store, 1000, 1, 3, &w), IDEM_OK);
	assert_false(w.more);
	assert_int_equal(w.nexpired, 7);
	assert_int_equal(w.nseen, 7);
}

static void
resolve_ends_unknown_and_orphaned_ones(struct kit *k)
{
	static const struct step steps[] = {
		{ RESOLVE, 'a', .input = "x", .verdict = IDEM_ABSENT_KEY,
		    .walk = "" },
		{ CLAIM, 'a', '1', .verdict = IDEM_CLAIMED },
		{ RESOLVE, 'a', .input = "x", .verdict = IDEM_RUNNING },
		{ RESOLVE, 'a', .verdict = IDEM_RUNNING, .walk = "1aR" },
		{ LEAVE, .token = '1' },
		{ RESOLVE, 'a', 0, 'x', .now = 50, .input = "resolved",
		    .verdict = IDEM_STORED, .walk = "1aD" },
		{ RESOLVE, 'a', .now = 50, .verdict = IDEM_REPLAY,
		    .answer = "resolved", .walk = "1aD" },
		{ LOOK, 'a', .now = 1049, .verdict = IDEM_REPLAY,
		    .answer = "resolved" },
		{ LOOK, 'a', .now = 1050, .verdict = IDEM_ABSENT_KEY },
		{ ONCE, 'b', '2', .script = "hold", .verdict = IDEM_HELD },
		{ RESOLVE, 'b', .verdict = IDEM_RELEASED, .walk = "1aD" },
		{ ONCE, 'c', '3', .script = "hold", .verdict = IDEM_HELD },
		{ RESOLVE, 'c', .input = "", .verdict = IDEM_STORED,
		    .walk = "1aD 2cD" },
		{ LOOK, 'c', .verdict = IDEM_REPLAY, .answer = "" },
		{ ONCE, 'd', '4', .script = "hold", .verdict = IDEM_HELD },
		{ RESOLVE, 'd', .script = "put 0 x 1\nsay by handler",
		    .verdict = IDEM_STORED, .answer = "by handler",
		    .table = "x=1" },
	};

	KIT_RUN(k, steps);
}

static bool
copy_record(void *arg, uint64_t n, const struct idem_record *r)
{
	struct idem_record *out = arg;

	(void)n;
	*out = *r;
	if (r->state == IDEM_STATE_DONE)
		assert_span(r->answer, IDEM_LIT("answer"));
	else
		assert_int_equal(r->answer.n, 0);
	return true;
}

static void
a_record_says_all_of_itself(struct kit *k)
{
	static const struct step claim[] = {
		{ CLAIM, 'a', '1', .now = 100, .retry = true,
		    .verdict = IDEM_CLAIMED },
	};
	static const struct step finish[] = {
		{ FINISH, 'a', '1', 'x', .now = 200, .input = "answer",
		    .recipe = 2, .verdict = IDEM_STORED },
	};
	struct idem_record r;
	uint64_t from = 0;
	bool more;

	KIT_RUN(k, claim);
	assert_int_equal(idem_store_walk(k->store, &from, 1, &more,
	    copy_record, &r), IDEM_OK);
	assert_int_equal(r.state, IDEM_STATE_RUNNING);
	assert_int_equal(r.recipe, 1);
	assert_int_equal(r.seal, 0);
	assert_true(r.retry);
	assert_int_equal(r.id[31], 'a');
	assert_int_equal(r.fingerprint[31], 'f');
	assert_int_equal(r.token[15], '1');
	assert_int_equal(r.claimed_ms, 100);
	assert_int_equal(r.stored_ms, 0);
	assert_true(r.expires_ms == INT64_MAX);
	KIT_RUN(k, finish);
	from = 0;
	assert_int_equal(idem_store_walk(k->store, &from, 1, &more,
	    copy_record, &r), IDEM_OK);
	assert_int_equal(r.state, IDEM_STATE_DONE);
	assert_int_equal(r.recipe, 1);
	assert_int_equal(r.fingerprint[0], 'f');
	assert_int_equal(r.claimed_ms, 100);
	assert_int_equal(r.stored_ms, 200);
	assert_int_equal(r.expires_ms, 1200);
}

static bool
stop_at_once(void *arg, uint64_t n, const struct idem_record *r)
{
	uint64_t *seen = arg;

	assert_non_null(r);
	*seen = n;
	return false;
}

static void
the_walk_goes_on_where_it_was(struct kit *k)
{
	struct step s = { ONCE, 'a', '1', .input = "x",
		.verdict = IDEM_STORED };
	uint64_t from = 0, seen = 0;
	bool more = true;

	assert_int_equal(idem_store_walk(k->store, &from, 10, &more,
	    stop_at_once, &seen), IDEM_OK);
	assert_false(more);
	assert_int_equal(from, 0);
	for (; s.key <= 'c'; s.key++)
		kit_run(k, &s, 1);
	for (uint64_t want = 1; want <= 3; want++) {
		assert_int_equal(idem_store_walk(k->store, &from, 10, &more,
		    stop_at_once, &seen), IDEM_OK);
		assert_true(more);
		assert_int_equal(seen, want);
		assert_int_equal(from, want);
	}
	assert_int_equal(idem_store_walk(k->store, &from, 10, &more,
	    stop_at_once, &seen), IDEM_OK);
	assert_false(more);
	from = 0;
	assert_int_equal(idem_store_walk(k->store, &from, 0, &more,
	    stop_at_once, &seen), IDEM_OK);
	assert_true(more);
	assert_int_equal(from, 0);
}

static void
room_and_check_count(struct kit *k)
{
	static const struct step steps[] = {
		{ CLAIM, 'a', '1', .verdict = IDEM_CLAIMED },
		{ ONCE, 'b', '2', .input = "b", .verdict = IDEM_STORED },
	};
	struct idem_room room;
	uint64_t nbad = 7;

	assert_int_equal(idem_store_room(k->store, &room), IDEM_OK);
	assert_int_equal(room.nrecords, 0);
	KIT_RUN(k, steps);
	assert_int_equal(idem_store_room(k->store, &room), IDEM_OK);
	assert_int_equal(room.nrecords, 2);
	assert_true(room.used_bytes > 0);
	assert_int_equal(room.max_bytes, 64 << 20);
	assert_int_equal(idem_store_check(k->store, &nbad), IDEM_OK);
	assert_int_equal(nbad, 0);
}

int
main(void)
{
	static const struct contract_case cases[] = {
		CASE(the_sweep_treats_what_is_due),
		CASE(the_sweep_spares_a_key_claimed_anew),
		CASE(the_sweep_goes_in_steps),
		CASE(resolve_ends_unknown_and_orphaned_ones),
		CASE(a_record_says_all_of_itself),
		CASE(the_walk_goes_on_where_it_was),
		CASE(room_and_check_count),
	};

	return CONTRACT_RUN(cases);
}
