/*
 * test_store.c - the store's contract: one suite of cases, run on every back
 * end.
 */
#include "storekit.h"

#include "base/bytes.h"
#include "base/text.h"

/* Keys are small letters, tokens digits. */

static void
claim_finish_replay(struct kit *k)
{
	static const struct step steps[] = {
		{ LOOK, 'a', .now = 0, .verdict = IDEM_ABSENT_KEY },
		{ CLAIM, 'a', '1', .now = 10, .verdict = IDEM_CLAIMED,
		    .walk = "1aR" },
		{ LOOK, 'a', .now = 10, .verdict = IDEM_RUNNING },
		{ CLAIM, 'a', '2', .now = 11, .verdict = IDEM_RUNNING },
		{ FINISH, 'a', '1', .now = 20, .input = "answer",
		    .verdict = IDEM_STORED, .walk = "1aD" },
		{ LEAVE, .token = '1' },
		{ LOOK, 'a', .now = 21, .verdict = IDEM_REPLAY,
		    .answer = "answer" },
		{ CLAIM, 'a', '3', .now = 22, .verdict = IDEM_REPLAY,
		    .answer = "answer", .walk = "1aD" },
	};

	KIT_RUN(k, steps);
}

static void
once_is_claim_effect_and_answer(struct kit *k)
{
	static const struct step steps[] = {
		{ ONCE, 'a', '1', .script = "put 0 x 1\nsay hello",
		    .verdict = IDEM_STORED, .answer = "hello", .walk = "1aD",
		    .table = "x=1" },
		{ ONCE, 'a', '2', .script = "put 0 x 2\nsay again",
		    .verdict = IDEM_REPLAY, .answer = "hello", .table = "x=1" },
		{ ONCE, 'b', '3', .input = "given", .verdict = IDEM_STORED },
		{ LOOK, 'b', .verdict = IDEM_REPLAY, .answer = "given" },
		{ ONCE, 'c', '4', .script = "done", .verdict = IDEM_STORED },
		{ LOOK, 'c', .verdict = IDEM_REPLAY, .answer = "" },
	};

	KIT_RUN(k, steps);
}

static void
mismatch_comes_before_the_state(struct kit *k)
{
	static const struct step steps[] = {
		{ CLAIM, 'a', '1', .verdict = IDEM_CLAIMED },
		{ CLAIM, 'a', '2', 'x', .verdict = IDEM_MISMATCH },
		{ ONCE, 'a', '2', 'x', .script = "put 0 x 1",
		    .verdict = IDEM_MISMATCH, .table = "" },
		{ LEAVE, .token = '1' },
		/* its worker is gone, and the record stays untouched */
		{ CLAIM, 'a', '2', 'x', .retry = true,
		    .verdict = IDEM_MISMATCH, .walk = "1aR" },
		{ CLAIM, 'a', '2', .verdict = IDEM_ORPHAN, .walk = "1aU" },
		{ CLAIM, 'a', '2', 'x', .retry = true,
		    .verdict = IDEM_MISMATCH, .walk = "1aU" },
		{ ONCE, 'b', '3', .input = "b", .verdict = IDEM_STORED },
		{ CLAIM, 'b', '4', 'x', .verdict = IDEM_MISMATCH },
		{ LOOK, 'a', .body = 'x', .verdict = IDEM_MISMATCH },
		{ LOOK, 'b', .body = 'x', .verdict = IDEM_MISMATCH },
	};

	KIT_RUN(k, steps);
}

static void
an_orphan_is_unknown_or_claimed_anew(struct kit *k)
{
	static const struct step steps[] = {
		{ CLAIM, 'a', '1', .now = 1, .verdict = IDEM_CLAIMED },
		{ CLAIM, 'b', '2', .now = 2, .verdict = IDEM_CLAIMED },
		{ LEAVE, .token = '1' },
		{ LOOK, 'a', .now = 3, .verdict = IDEM_ABSENT_KEY },
		{ LOOK, 'b', .now = 3, .verdict = IDEM_RUNNING },
		{ CLAIM, 'a', '3', .now = 3, .verdict = IDEM_ORPHAN,
		    .walk = "1aU 2bR" },
		{ LOOK, 'a', .now = 4, .verdict = IDEM_ABSENT_KEY },
		{ CLAIM, 'a', '4', .now = 4, .verdict = IDEM_UNKNOWN },
		{ FINISH, 'a', '1', .now = 4, .input = "late",
		    .verdict = IDEM_LOST, .walk = "1aU 2bR" },
		{ CLAIM, 'a', '5', .now = 5, .retry = true,
		    .verdict = IDEM_CLAIMED, .took_over = true,
		    .walk = "2bR 3aR" },
		{ CLAIM, 'a', '6', .now = 6, .retry = true,
		    .verdict = IDEM_RUNNING },
		{ LEAVE, .token = '5' },
		{ CLAIM, 'a', '7', .now = 7, .retry = true,
		    .verdict = IDEM_CLAIMED, .took_over = true,
		    .walk = "2bR 4aR" },
		{ FINISH, 'a', '5', .now = 8, .input = "late",
		    .verdict = IDEM_LOST },
		{ FINISH, 'a', '7', .now = 8, .input = "mine",
		    .verdict = IDEM_STORED, .walk = "2bR 4aD" },
		{ LEAVE, .token = '7' },
		{ LEAVE, .token = '2' },
		{ ONCE, 'b', '8', .now = 9, .retry = true,
		    .script = "put 0 x 1\nsay done anew",
		    .verdict = IDEM_STORED, .took_over = true,
		    .answer = "done anew", .walk = "4aD 5bD", .table = "x=1" },
	};

	KIT_RUN(k, steps);
}

static void
a_claim_may_be_repeated(struct kit *k)
{
	static const struct step steps[] = {
		{ CLAIM, 'a', '1', .verdict = IDEM_CLAIMED },
		{ CLAIM, 'a', '1', .verdict = IDEM_CLAIMED, .walk = "1aR" },
		{ CLAIM, 'a', '1', .retry = true, .verdict = IDEM_CLAIMED,
		    .walk = "1aR" },
		{ CLAIM, 'a', '2', .verdict = IDEM_RUNNING },
		{ ONCE, 'a', '1', .script = "say once",
		    .verdict = IDEM_STORED, .answer = "once", .walk = "2aD" },
		{ ONCE, 'a', '1', .script = "say twice",
		    .verdict = IDEM_REPLAY, .answer = "once" },
	};

	KIT_RUN(k, steps);
}

/* Every outcome of a claim but CLAIMED unlocks its token. */
static void
only_claimed_keeps_the_lock(struct kit *k)
{
	static const struct step before[] = {
		{ CLAIM, 'a', '1', .verdict = IDEM_CLAIMED },
		{ CLAIM, 'a', '2', .verdict = IDEM_RUNNING },
		{ ONCE, 'b', '3', .input = "x", .verdict = IDEM_STORED },
		{ ONCE, 'c', '4', .script = "hold", .verdict = IDEM_HELD },
		{ ONCE, 'd', '5', .script = "none", .verdict = IDEM_RELEASED },
		{ ONCE, 'e', '6', .script = "fail", .err = IDEM_EINEXACT },
		{ CLAIM, 'b', '7', 'x', .verdict = IDEM_MISMATCH },
		{ CLAIM, 'b', '8', .verdict = IDEM_REPLAY, .answer = "x" },
		{ CLAIM, 'f', '9', .max_keys = 1, .err = IDEM_EFULL },
	};
	unsigned char token[IDEM_TOKEN_BYTES];

	KIT_RUN(k, before);
	for (char c = '1'; c <= '9'; c++) {
		memset(token, c, sizeof token);
		assert_int_equal(idem_store_alive(k->store, token), c == '1');
	}
	memset(token, '1', sizeof token);
	idem_store_leave(k->store, token);
	assert_false(idem_store_alive(k->store, token));
	idem_store_leave(k->store, token); /* twice is fine */
}

static void
finish_hold_and_release_need_the_token(struct kit *k)
{
	static const struct step steps[] = {
		{ FINISH, 'a', '1', .input = "x", .verdict = IDEM_LOST },
		{ HOLD, 'a', '1', .verdict = IDEM_LOST },
		{ RELEASE, 'a', '1', .verdict = IDEM_LOST, .walk = "" },
		{ CLAIM, 'a', '1', .verdict = IDEM_CLAIMED },
		{ FINISH, 'a', '2', .script = "put 0 x 1",
		    .verdict = IDEM_LOST, .table = "" },
		{ HOLD, 'a', '2', .verdict = IDEM_LOST },
		{ RELEASE, 'a', '2', .verdict = IDEM_LOST, .walk = "1aR" },
		{ HOLD, 'a', '1', .verdict = IDEM_HELD, .walk = "1aU" },
		{ HOLD, 'a', '1', .verdict = IDEM_LOST },
		{ RELEASE, 'a', '1', .verdict = IDEM_LOST, .walk = "1aU" },
		/* unknown also while its worker lives */
		{ CLAIM, 'a', '2', .verdict = IDEM_UNKNOWN },
		{ CLAIM, 'b', '3', .verdict = IDEM_CLAIMED },
		{ RELEASE, 'b', '3', .verdict = IDEM_RELEASED, .walk = "1aU" },
		{ CLAIM, 'b', '4', .verdict = IDEM_CLAIMED },
		{ FINISH, 'b', '4', .input = "x", .verdict = IDEM_STORED },
		{ FINISH, 'b', '4', .input = "y", .verdict = IDEM_LOST },
		{ LOOK, 'b', .verdict = IDEM_REPLAY, .answer = "x" },
	};

	KIT_RUN(k, steps);
}

static void
finish_runs_the_handler(struct kit *k)
{
	static const struct step steps[] = {
		{ CLAIM, 'a', '1', .verdict = IDEM_CLAIMED },
		{ FINISH, 'a', '1', .script = "put 0 x 1\nfail",
		    .err = IDEM_EINEXACT, .walk = "1aR", .table = "" },
		{ FINISH, 'a', '1', .script = "put 0 x 2\nsay two",
		    .verdict = IDEM_STORED, .answer = "two", .walk = "1aD",
		    .table = "x=2" },
		{ CLAIM, 'b', '2', .verdict = IDEM_CLAIMED },
		{ FINISH, 'b', '2', .script = "put 0 y 1\nsay no\nnone",
		    .verdict = IDEM_RELEASED, .answer = "no", .walk = "1aD",
		    .table = "x=2" },
		{ CLAIM, 'c', '3', .verdict = IDEM_CLAIMED },
		{ FINISH, 'c', '3', .script = "put 0 y 1\nsay so\nhold",
		    .verdict = IDEM_HELD, .answer = "so", .walk = "1aD 2cU",
		    .table = "x=2" },
		{ CLAIM, 'd', '4', .verdict = IDEM_CLAIMED },
		{ FINISH, 'd', '4', .script = "del 0 x\nsay 500\nundo",
		    .verdict = IDEM_STORED, .answer = "500",
		    .walk = "1aD 2cU 3dD", .table = "x=2" },
		{ LOOK, 'd', .verdict = IDEM_REPLAY, .answer = "500" },
	};

	KIT_RUN(k, steps);
}

static void
once_leaves_what_its_effect_says(struct kit *k)
{
	static const struct step steps[] = {
		{ ONCE, 'a', '1', .script = "put 0 x 1\nsay no\nnone",
		    .verdict = IDEM_RELEASED, .answer = "no", .walk = "",
		    .table = "" },
		{ ONCE, 'b', '2', .script = "put 0 x 1\nsay so\nhold",
		    .verdict = IDEM_HELD, .answer = "so", .walk = "1bU",
		    .table = "" },
		{ ONCE, 'b', '3', .script = "say again",
		    .verdict = IDEM_UNKNOWN },
		{ ONCE, 'c', '4', .script = "put 0 x 1\nsay 500\nundo",
		    .verdict = IDEM_STORED, .answer = "500",
		    .walk = "1bU 2cD", .table = "" },
		{ ONCE, 'd', '5', .script = "put 0 x 1\nfail",
		    .err = IDEM_EINEXACT, .walk = "1bU 2cD", .table = "" },
		/* an unknown one tried anew, and nothing came of it */
		{ ONCE, 'b', '6', .retry = true, .script = "none",
		    .verdict = IDEM_RELEASED, .took_over = true,
		    .walk = "2cD" },
	};

	KIT_RUN(k, steps);
}

static void
apply_alone_needs_no_key(struct kit *k)
{
	static const struct step steps[] = {
		{ APPLY, .script = "put 0 x 1\nput 1 z 9\nsay hello",
		    .verdict = IDEM_STORED, .answer = "hello", .walk = "",
		    .table = "x=1" },
		{ APPLY, .script = "put 0 y 1\nfail", .err = IDEM_EINEXACT,
		    .table = "x=1" },
		{ APPLY, .script = "put 0 y 1\nsay no\nundo",
		    .verdict = IDEM_STORED, .answer = "no", .table = "x=1" },
		{ APPLY, .script = "put 0 y 1\nsay no\nnone",
		    .verdict = IDEM_RELEASED, .answer = "no",
		    .table = "x=1" },
		{ APPLY, .script = "put 0 y 1\nsay no\nhold",
		    .verdict = IDEM_HELD, .answer = "no", .table = "x=1" },
		{ APPLY, .script = "del 0 x\ndel 0 q", .verdict = IDEM_STORED,
		    .table = "" },
	};

	KIT_RUN(k, steps);
}

static void
a_part_of_the_answer_is_kept(struct kit *k)
{
	static const struct step steps[] = {
		{ ONCE, 'a', '1', .script = "say headbody\nkeep 4",
		    .verdict = IDEM_STORED, .answer = "headbody" },
		{ LOOK, 'a', .verdict = IDEM_REPLAY, .answer = "head" },
		{ ONCE, 'b', '2', .script = "say headbody\nkeep 0",
		    .verdict = IDEM_STORED, .answer = "headbody" },
		{ CLAIM, 'b', '2', .verdict = IDEM_REPLAY, .answer = "" },
		{ CLAIM, 'c', '3', .verdict = IDEM_CLAIMED },
		{ FINISH, 'c', '3', .input = "headbody", .kept = 5,
		    .verdict = IDEM_STORED },
		{ CLAIM, 'c', '2', .verdict = IDEM_REPLAY, .answer = "headb" },
	};

	KIT_RUN(k, steps);
}

/* What the caller has no room for fails the operation, and nothing stays. */
static void
an_answer_that_does_not_fit_fails(struct kit *k)
{
	static const struct step steps[] = {
		{ ONCE, 'a', '1', .script = "put 0 x 1\nsay 1234567",
		    .err = IDEM_ETOOBIG, .walk = "", .table = "" },
		{ APPLY, .script = "put 0 x 1\nsay 1234567",
		    .err = IDEM_ETOOBIG, .table = "" },
		{ CLAIM, 'a', '2', .verdict = IDEM_CLAIMED },
		{ FINISH, 'a', '2', .script = "put 0 x 1\nsay 1234567",
		    .err = IDEM_ETOOBIG, .walk = "1aR", .table = "" },
		{ FINISH, 'a', '2', .input = "1234567",
		    .verdict = IDEM_STORED },
		{ LOOK, 'a', .err = IDEM_ETOOBIG },
		{ CLAIM, 'a', '3', .err = IDEM_ETOOBIG, .walk = "1aD" },
	};
	unsigned char token[IDEM_TOKEN_BYTES];

	idem_buf_free(&k->answer);
	idem_buf_init(&k->answer, 6);
	KIT_RUN(k, steps);
	memset(token, '3', sizeof token);
	assert_false(idem_store_alive(k->store, token));
}

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

static void
a_newer_recipe_is_not_compared(struct kit *k)
{
	static const struct step steps[] = {
		{ ONCE, 'a', '1', .recipe = 2, .input = "a",
		    .verdict = IDEM_STORED },
		{ LOOK, 'a', .err = IDEM_ENEWER },
		{ CLAIM, 'a', '2', 'x', .err = IDEM_ENEWER },
		{ LOOK, 'a', .recipe = 2, .verdict = IDEM_REPLAY,
		    .answer = "a" },
		{ CLAIM, 'a', '3', .now = 1000, .verdict = IDEM_CLAIMED },
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

/* Keys with bytes of every kind come back in order of their bytes. */
static enum idem_err
fill_tables(void *arg, struct idem_tables *t, const struct idem_op *op,
    struct idem_buf *answer, struct idem_applied *out)
{
	static const struct idem_span keys[] = {
		IDEM_LIT_INIT("b"), IDEM_LIT_INIT("a\0b"), IDEM_LIT_INIT("\0"),
		IDEM_LIT_INIT("\xff"), IDEM_LIT_INIT("a"),
		IDEM_LIT_INIT("ab"),
	};
	static const char big[511] = { 'z' };
	struct idem_span got;

	(void)arg;
	(void)op;
	(void)answer;
	for (size_t i = 0; i < COUNT(keys); i++)
		assert_int_equal(idem_tables_put(t, 0, keys[i], keys[i]),
		    IDEM_OK);
	/* reads see the transaction's own writes */
	assert_int_equal(idem_tables_get(t, 0, IDEM_LIT("a\0b"), &got),
	    IDEM_OK);
	assert_span(got, IDEM_LIT("a\0b"));
	assert_int_equal(idem_tables_put(t, 1,
	    (struct idem_span){ big, sizeof big }, IDEM_LIT("")), IDEM_OK);
	assert_int_equal(idem_tables_get(t, 1,
	    (struct idem_span){ big, sizeof big }, &got), IDEM_OK);
	assert_span(got, IDEM_LIT(""));
	assert_int_equal(idem_tables_del(t, 0, IDEM_LIT("b")), IDEM_OK);
	assert_int_equal(idem_tables_get(t, 0, IDEM_LIT("b"), &got), IDEM_OK);
	assert_null(got.p);
	*out = (struct idem_applied){ .effect = IDEM_DONE };
	return IDEM_OK;
}

static bool
join(void *arg, struct idem_span key, struct idem_span value)
{
	struct idem_buf *out = arg;

	assert_span(value, key);
	wr_run(out, key);
	return out->n < 30;
}

static enum idem_err
read_tables(void *arg, struct idem_tables *t)
{
	struct idem_buf *out = arg;
	struct idem_span key, value;

	assert_int_equal(idem_tables_each(t, 0, IDEM_ABSENT, join, out),
	    IDEM_OK);
	assert_span(idem_buf_span(out), IDEM_LIT("\0\0\0\1\0" "\0\0\0\1a"
	    "\0\0\0\3a\0b" "\0\0\0\2ab" "\0\0\0\1\xff"));
	idem_buf_reset(out);
	assert_int_equal(idem_tables_each(t, 0, IDEM_LIT("aa"), join, out),
	    IDEM_OK);
	assert_span(idem_buf_span(out), IDEM_LIT("\0\0\0\2ab" "\0\0\0\1\xff"));
	idem_buf_reset(out);
	assert_int_equal(idem_tables_each(t, 0, IDEM_LIT("\xff\xff"), join,
	    out), IDEM_OK);
	assert_int_equal(out->n, 0);
	assert_int_equal(idem_tables_last(t, 0, &key, &value), IDEM_OK);
	assert_span(key, IDEM_LIT("\xff"));
	assert_span(value, IDEM_LIT("\xff"));
	assert_int_equal(idem_tables_last(t, 1, &key, &value), IDEM_OK);
	assert_int_equal(key.n, 511);
	assert_span(value, IDEM_LIT(""));
	return IDEM_EINEXACT; /* comes out as it is */
}

static enum idem_err
read_empty(void *arg, struct idem_tables *t)
{
	struct idem_span key, value;

	(void)arg;
	assert_int_equal(idem_tables_last(t, 1, &key, &value), IDEM_OK);
	assert_null(key.p);
	assert_null(value.p);
	assert_int_equal(idem_tables_get(t, 1, IDEM_LIT("x"), &value),
	    IDEM_OK);
	assert_null(value.p);
	return IDEM_OK;
}

static void
tables_are_ordered_bytewise(struct kit *k)
{
	static const struct step fill[] = {
		{ APPLY, .script = "done", .verdict = IDEM_STORED },
	};
	struct idem_buf out;

	idem_buf_init(&out, 1000);
	assert_int_equal(idem_store_read(k->store, read_empty, NULL), IDEM_OK);
	k->apply = fill_tables;
	KIT_RUN(k, fill);
	assert_int_equal(idem_store_read(k->store, read_tables, &out),
	    IDEM_EINEXACT);
	idem_buf_free(&out);
}

static void
undo_puts_everything_back(struct kit *k)
{
	static const struct step steps[] = {
		{ APPLY, .script = "put 0 a 1\nput 0 b 2\nput 0 c 3",
		    .verdict = IDEM_STORED, .table = "a=1 b=2 c=3" },
		{ APPLY, .script = "put 0 a x\nput 0 a y\ndel 0 b\nput 0 b z\n"
		    "del 0 c\nput 0 d 4\ndel 0 d\nput 0 d 5\nundo",
		    .verdict = IDEM_STORED, .table = "a=1 b=2 c=3" },
		{ APPLY, .script = "put 0 a x\nput 0 a y\ndel 0 b\nput 0 b z\n"
		    "del 0 c\nput 0 d 4\ndel 0 d\nput 0 d 5",
		    .verdict = IDEM_STORED, .table = "a=y b=z d=5" },
	};

	KIT_RUN(k, steps);
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

static void
another_scope_is_noticed_for_ten_minutes(struct kit *k)
{
	static const struct {
		uint64_t what;
		char id;
		int64_t now_ms;
		bool other;
	} rows[] = {
		{ 0xfeed00000000abcd, 'a', 1000, false },
		{ 0xfeed00000000abcd, 'a', 2000, false },
		{ 0xfeed00000000abcd, 'b', 601999, true },
		{ 0xfeed00000000abcd, 'a', 602000, true },
		{ 0xfeed00000000abcd, 'b', 1202000, false },
		/* another hash in the same place */
		{ 0xbeef00000000abcd, 'c', 1202000, false },
		{ 0xfeed00000000abcd, 'a', 1203000, false },
		/* a clock that was set back */
		{ 0xfeed00000000abcd, 'b', 1000, false },
	};
	unsigned char id[IDEM_ID_BYTES];

	for (size_t i = 0; i < COUNT(rows); i++) {
		memset(id, rows[i].id, sizeof id);
		assert_int_equal(idem_store_other_scope(k->store, rows[i].what,
		    id, rows[i].now_ms), rows[i].other);
	}
}

static void
closing_nothing_is_fine(struct kit *k)
{
	idem_store_close(&k->store);
	assert_null(k->store);
	idem_store_close(&k->store);
}

#define CASE(f) { #f, f }
static const struct {
	const char *name;
	void (*fn)(struct kit *k);
} cases[] = {
	CASE(claim_finish_replay),
	CASE(once_is_claim_effect_and_answer),
	CASE(mismatch_comes_before_the_state),
	CASE(an_orphan_is_unknown_or_claimed_anew),
	CASE(a_claim_may_be_repeated),
	CASE(only_claimed_keeps_the_lock),
	CASE(finish_hold_and_release_need_the_token),
	CASE(finish_runs_the_handler),
	CASE(once_leaves_what_its_effect_says),
	CASE(apply_alone_needs_no_key),
	CASE(a_part_of_the_answer_is_kept),
	CASE(an_answer_that_does_not_fit_fails),
	CASE(an_expired_record_counts_as_absent),
	CASE(full_drops_expired_then_old_ones),
	CASE(expired_ones_go_before_older_ones),
	CASE(expired_ones_go_silently),
	CASE(full_counts_without_the_record_replaced),
	CASE(a_lowered_limit_is_reached),
	CASE(a_limit_is_logged_once_a_minute),
	CASE(the_sweep_treats_what_is_due),
	CASE(the_sweep_spares_a_key_claimed_anew),
	CASE(the_sweep_goes_in_steps),
	CASE(resolve_ends_unknown_and_orphaned_ones),
	CASE(a_newer_recipe_is_not_compared),
	CASE(a_record_says_all_of_itself),
	CASE(the_walk_goes_on_where_it_was),
	CASE(tables_are_ordered_bytewise),
	CASE(undo_puts_everything_back),
	CASE(room_and_check_count),
	CASE(another_scope_is_noticed_for_ten_minutes),
	CASE(closing_nothing_is_fine),
};

/* LMDB with single commits, and as a member of the group commit. */
enum backend { MEMORY, ALONE, GROUP };
#define NBACKENDS ((size_t)GROUP + 1)

/* Which case on which back end. */
struct which {
	size_t at;
	enum backend backend;
	struct kit kit;
};

static int
setup(void **state)
{
	struct which *w = *state;

	kit_make(&w->kit, w->backend == MEMORY);
	w->kit.durable = w->backend == GROUP;
	assert_int_equal(kit_reopen(&w->kit, true), IDEM_OK);
	return 0;
}

static int
teardown(void **state)
{
	struct which *w = *state;

	kit_close(&w->kit);
	return 0;
}

static void
one_case(void **state)
{
	struct which *w = *state;

	cases[w->at].fn(&w->kit);
}

int
main(void)
{
	static struct which which[COUNT(cases) * NBACKENDS];
	static struct CMUnitTest tests[COUNT(which)];
	static char names[COUNT(which)][80];
	static const char *const backends[] = { "memory", "lmdb", "group" };

	for (size_t i = 0; i < COUNT(which); i++) {
		which[i].at = i / NBACKENDS;
		which[i].backend = (enum backend)(i % NBACKENDS);
		if (text_format(names[i], sizeof names[i], "%s: %s",
		    backends[which[i].backend],
		    cases[which[i].at].name) != IDEM_OK)
			return 1;
		tests[i] = (struct CMUnitTest){ names[i], one_case, setup,
			teardown, &which[i] };
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
