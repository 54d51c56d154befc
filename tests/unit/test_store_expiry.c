/*
 * test_store_expiry.c - the store's contract: the end of an answer's time, and
 * IDEM_MAX_KEYS.  Keys are small letters, tokens digits.
 */
#include "contract.h"

static void
an_expired_record_counts_as_absent(struct kit *k)
{
	static const struct step steps[] = {
		/* done at 100, so it ends at 1,100 */
		{ ONCE, 'a', '1', .now = 100, .input = "a",
		    .verdict = IDEM_STORED },
		{ LOOK, 'a', .now = 1099, .verdict = IDEM_REPLAY,
		    .answer = "a" },
		{ CLAIM, 'a', '2', .now = 1099, .verdict = IDEM_REPLAY,
		    .answer = "a" },
		{ CLAIM, 'a', '2', 'x', .now = 1099,
		    .verdict = IDEM_MISMATCH },
		{ LOOK, 'a', .now = 1100, .verdict = IDEM_ABSENT_KEY },
		{ RESOLVE, 'a', .now = 1100, .verdict = IDEM_ABSENT_KEY,
		    .walk = "1aD" },
		{ CLAIM, 'a', '2', 'x', .now = 1100, .verdict = IDEM_CLAIMED,
		    .walk = "2aR" },
		{ FINISH, 'a', '2', 'x', .now = 1500, .input = "b",
		    .verdict = IDEM_STORED },
		/* the time runs from the answer on, not from the claim */
		{ LOOK, 'a', .body = 'x', .now = 2499,
		    .verdict = IDEM_REPLAY, .answer = "b" },
		{ LOOK, 'a', .body = 'x', .now = 2501,
		    .verdict = IDEM_ABSENT_KEY },
		/* a running one never expires */
		{ CLAIM, 'b', '3', .now = 3000, .verdict = IDEM_CLAIMED },
		{ CLAIM, 'b', '4', .now = INT64_MAX,
		    .verdict = IDEM_RUNNING },
		/* an unknown one after its own time, 5,000 from here */
		{ HOLD, 'b', '3', .now = 4000, .verdict = IDEM_HELD },
		{ CLAIM, 'b', '4', .now = 8999, .verdict = IDEM_UNKNOWN },
		{ CLAIM, 'b', '4', .now = 9000, .verdict = IDEM_CLAIMED },
		{ LEAVE, .token = '4' },
		{ CLAIM, 'b', '5', .now = 10000, .verdict = IDEM_ORPHAN },
		{ CLAIM, 'b', '5', .now = 14999, .verdict = IDEM_UNKNOWN },
		{ CLAIM, 'b', '5', .now = 15000, .verdict = IDEM_CLAIMED },
		/* the end of time */
		{ ONCE, 'c', '6', .now = INT64_MAX - 1, .input = "c",
		    .verdict = IDEM_STORED },
		{ LOOK, 'c', .now = INT64_MAX - 1, .verdict = IDEM_REPLAY,
		    .answer = "c" },
	};

	KIT_RUN(k, steps);
}

static void
full_drops_expired_then_old_ones(struct kit *k)
{
	static const struct step steps[] = {
		{ CLAIM, 'r', '1', .now = 0, .verdict = IDEM_CLAIMED },
		{ ONCE, 'u', '2', .now = 0, .script = "hold",
		    .verdict = IDEM_HELD },
		{ ONCE, 'a', '3', .now = 0, .input = "a",
		    .verdict = IDEM_STORED },
		{ ONCE, 'b', '4', .now = 500, .input = "b",
		    .verdict = IDEM_STORED, .walk = "1rR 2uU 3aD 4bD" },
		{ CLAIM, 'c', '5', .now = 900, .max_keys = 4,
		    .err = IDEM_EFULL },
		/* younger than min_keep: spared; at min_keep: dropped */
		{ CLAIM, 'c', '5', .now = 900, .max_keys = 4, .evict = true,
		    .min_keep = 901, .err = IDEM_EFULL,
		    .walk = "1rR 2uU 3aD 4bD" },
		{ CLAIM, 'c', '5', .now = 900, .max_keys = 4, .evict = true,
		    .min_keep = 900, .verdict = IDEM_CLAIMED,
		    .walk = "1rR 2uU 4bD 5cR" },
		/* b is expired: it goes also where nothing is evicted */
		{ CLAIM, 'd', '6', .now = 1500, .max_keys = 4,
		    .verdict = IDEM_CLAIMED, .walk = "1rR 2uU 5cR 6dR" },
		/* only running and unknown ones: never dropped */
		{ CLAIM, 'e', '7', .now = 1500, .max_keys = 4, .evict = true,
		    .err = IDEM_EFULL, .walk = "1rR 2uU 5cR 6dR" },
		/* known keys are answered as ever */
		{ CLAIM, 'u', '7', .now = 1500, .max_keys = 4,
		    .verdict = IDEM_UNKNOWN },
		{ FINISH, 'd', '6', .now = 1500, .input = "d", .max_keys = 4,
		    .verdict = IDEM_STORED },
		{ CLAIM, 'd', '8', .now = 1500, .max_keys = 4,
		    .verdict = IDEM_REPLAY, .answer = "d" },
		/* the unknown one is past its time at 5,000 */
		{ CLAIM, 'e', '7', .now = 5000, .max_keys = 4,
		    .verdict = IDEM_CLAIMED, .walk = "1rR 5cR 7eR" },
	};

	KIT_RUN(k, steps);
	kit_logged(k, "IDEM_MAX_KEYS=4 is met, 4 records are held");
}

static void
expired_ones_go_before_older_ones(struct kit *k)
{
	static const struct step steps[] = {
		{ CLAIM, 'a', '1', .now = 0, .verdict = IDEM_CLAIMED },
		{ ONCE, 'b', '2', .now = 0, .input = "b",
		    .verdict = IDEM_STORED },
		{ FINISH, 'a', '1', .now = 900, .input = "a",
		    .verdict = IDEM_STORED },
		/* a was claimed first, but b is expired */
		{ CLAIM, 'c', '3', .now = 1000, .max_keys = 2, .evict = true,
		    .verdict = IDEM_CLAIMED, .walk = "1aD 3cR" },
	};

	KIT_RUN(k, steps);
}

/* Nobody misses what is expired: no word about it. */
static void
expired_ones_go_silently(struct kit *k)
{
	static const struct step steps[] = {
		{ ONCE, 'a', '1', .now = 0, .input = "a",
		    .verdict = IDEM_STORED },
		{ ONCE, 'b', '2', .now = 1000, .input = "b", .max_keys = 1,
		    .evict = true, .verdict = IDEM_STORED, .walk = "2bD" },
	};
	static const struct step evicting[] = {
		{ ONCE, 'c', '3', .now = 1001, .input = "c", .max_keys = 1,
		    .evict = true, .verdict = IDEM_STORED, .walk = "3cD" },
	};

	KIT_RUN(k, steps);
	assert_int_equal(k->lines.n, 0);
	KIT_RUN(k, evicting);
	kit_logged(k, "the store is full: IDEM_MAX_KEYS=1 is met, 1 records "
	    "are held; the oldest go");
}

/* A key that is claimed again takes no more room than it had. */
static void
full_counts_without_the_record_replaced(struct kit *k)
{
	static const struct step steps[] = {
		{ ONCE, 'a', '1', .now = 0, .input = "a",
		    .verdict = IDEM_STORED },
		{ CLAIM, 'b', '2', .now = 0, .verdict = IDEM_CLAIMED },
		{ CLAIM, 'a', '3', .now = 1000, .max_keys = 2,
		    .verdict = IDEM_CLAIMED, .walk = "2bR 3aR" },
		{ LEAVE, .token = '2' },
		{ CLAIM, 'b', '4', .now = 1000, .max_keys = 2, .retry = true,
		    .verdict = IDEM_CLAIMED, .took_over = true,
		    .walk = "3aR 4bR" },
		{ ONCE, 'b', '5', .now = 1000, .max_keys = 1, .retry = true,
		    .script = "none", .verdict = IDEM_RUNNING },
	};

	KIT_RUN(k, steps);
}

/* A limit that was lowered is reached in a few claims, eight at a time. */
static void
a_lowered_limit_is_reached(struct kit *k)
{
	static const struct step make[] = {
		{ ONCE, 'a', '1', .input = "", .verdict = IDEM_STORED },
		{ ONCE, 'b', '1', .input = "", .verdict = IDEM_STORED },
		{ ONCE, 'c', '1', .input = "", .verdict = IDEM_STORED },
		{ ONCE, 'd', '1', .input = "", .verdict = IDEM_STORED },
		{ ONCE, 'e', '1', .input = "", .verdict = IDEM_STORED },
		{ ONCE, 'f', '1', .input = "", .verdict = IDEM_STORED },
		{ ONCE, 'g', '1', .input = "", .verdict = IDEM_STORED },
		{ ONCE, 'h', '1', .input = "", .verdict = IDEM_STORED },
		{ ONCE, 'i', '1', .input = "", .verdict = IDEM_STORED },
		{ ONCE, 'j', '1', .input = "", .verdict = IDEM_STORED },
		{ CLAIM, 'k', '2', .max_keys = 2, .evict = true,
		    .verdict = IDEM_CLAIMED, .walk = "9iD 10jD 11kR" },
		{ CLAIM, 'l', '3', .max_keys = 2, .evict = true,
		    .verdict = IDEM_CLAIMED, .walk = "11kR 12lR" },
	};

	KIT_RUN(k, make);
}

static void
a_limit_is_logged_once_a_minute(struct kit *k)
{
	static const struct step fill[] = {
		{ CLAIM, 'a', '1', .verdict = IDEM_CLAIMED },
		{ CLAIM, 'b', '2', .now = 1000, .max_keys = 1,
		    .err = IDEM_EFULL },
		{ CLAIM, 'b', '2', .now = 60999, .max_keys = 1,
		    .err = IDEM_EFULL },
	};
	static const struct step later[] = {
		{ CLAIM, 'b', '2', .now = 61000, .max_keys = 1,
		    .err = IDEM_EFULL },
	};
	static const struct step back[] = {
		{ CLAIM, 'b', '2', .now = 5, .max_keys = 1,
		    .err = IDEM_EFULL },
	};
	static const char line[] = "the store is full: IDEM_MAX_KEYS=1 is met,"
	    " 1 records are held; new keys are refused: run \"idem sweep\","
	    " or raise it\n";

	KIT_RUN(k, fill);
	assert_span(idem_buf_span(&k->lines), span_of(line));
	KIT_RUN(k, later);
	assert_int_equal(k->lines.n, 2 * (sizeof line - 1));
	KIT_RUN(k, back); /* the clock was set back */
	assert_int_equal(k->lines.n, 3 * (sizeof line - 1));
}

int
main(void)
{
	static const struct contract_case cases[] = {
		CASE(an_expired_record_counts_as_absent),
		CASE(full_drops_expired_then_old_ones),
		CASE(expired_ones_go_before_older_ones),
		CASE(expired_ones_go_silently),
		CASE(full_counts_without_the_record_replaced),
		CASE(a_lowered_limit_is_reached),
		CASE(a_limit_is_logged_once_a_minute),
	};

	return CONTRACT_RUN(cases);
}
