/*
 * test_store_finish.c - the store's contract: how a record ends, and what its
 * handler's writes and its answer leave.  Keys are small letters, tokens
 * digits.
 */
#include "contract.h"

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

int
main(void)
{
	static const struct contract_case cases[] = {
		CASE(once_is_claim_effect_and_answer),
		CASE(finish_hold_and_release_need_the_token),
		CASE(finish_runs_the_handler),
		CASE(once_leaves_what_its_effect_says),
		CASE(apply_alone_needs_no_key),
		CASE(a_part_of_the_answer_is_kept),
		CASE(an_answer_that_does_not_fit_fails),
	};

	return CONTRACT_RUN(cases);
}
