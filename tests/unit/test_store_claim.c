/*
 * test_store_claim.c - the store's contract: of who asks for one key, who gets
 * it and what the others are told.  Keys are small letters, tokens digits.
 */
#include "contract.h"

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

static void
closing_nothing_is_fine(struct kit *k)
{
	idem_store_close(&k->store);
	assert_null(k->store);
	idem_store_close(&k->store);
}

int
main(void)
{
	static const struct contract_case cases[] = {
		CASE(claim_finish_replay),
		CASE(mismatch_comes_before_the_state),
		CASE(an_orphan_is_unknown_or_claimed_anew),
		CASE(a_claim_may_be_repeated),
		CASE(only_claimed_keeps_the_lock),
		CASE(a_newer_recipe_is_not_compared),
		CASE(closing_nothing_is_fine),
	};

	return CONTRACT_RUN(cases);
}
