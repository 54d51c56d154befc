/*
 * test_wrap_lost.c - the end of a handler's run cannot be stored.
 */
#include "shop.h"

static void
the_client_has_its_answer(void **state)
{
	struct shop *s = *state;

	for (unsigned nfaults = 1; nfaults <= 2; nfaults++) {
		shop_clear(s);
		s->fault[0] = (struct shop_fault){ IDEM_ESTORE, IDEM_OP_FINISH,
		    false, 1 };
		s->fault[1] = (struct shop_fault){ IDEM_ESTORE, IDEM_OP_HOLD,
		    false, nfaults - 1 };
		shop_send(s, SHOP_WORK, "secret-key", "{\"b\":\"secret\"}");
		assert_ended(s, 201, IDEM_O_LOST);
		assert_text(idem_buf_span(&s->res.body), "{\"id\":1}");
		assert_text(shop_field(&s->res, "Location"), "/t/1");
		assert_true(shop_logged(s, "E request=req-1 id="));
		assert_true(shop_logged(s, "could not be stored"));
		assert_false(shop_logged(s, "secret"));
		assert_int_equal(s->fault[0].times + s->fault[1].times, 0);
		/* the same worker gets the retry: known to nobody, run once */
		shop_send(s, SHOP_WORK, "secret-key", "{\"b\":\"secret\"}");
		assert_ended(s, 409, IDEM_O_UNKNOWN);
		assert_problem(s, "outcome-unknown");
		assert_int_equal(s->nworked, 1);
	}
}

static void
a_release_or_hold_that_fails(void **state)
{
	static const struct {
		enum idem_effect effect;
		enum idem_op_kind kind;
	} rows[] = {
		{ IDEM_NONE, IDEM_OP_RELEASE }, { IDEM_HOLD, IDEM_OP_HOLD },
	};
	struct shop *s = *state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		shop_clear(s);
		s->script.effect = rows[i].effect;
		s->fault[0] = (struct shop_fault){ IDEM_ESTORE, rows[i].kind,
		    false, 1 };
		shop_send(s, SHOP_WORK, "k1", "{}");
		assert_ended(s, 201, IDEM_O_LOST);
		assert_true(shop_logged(s, "E request=req-1"));
		shop_send(s, SHOP_WORK, "k1", "{}");
		assert_ended(s, 409, IDEM_O_UNKNOWN);
	}
}

/* The work is done: one allocation that fails costs nobody an answer. */
static void
an_end_without_memory_is_tried_again(void **state)
{
	static const struct {
		enum shop_handler kind;
		enum idem_effect effect;
		enum idem_op_kind op;
		enum idem_outcome first;
		unsigned next_status;
		enum idem_outcome next;
	} rows[] = {
		{ SHOP_WORK, IDEM_DONE, IDEM_OP_FINISH, IDEM_O_CREATED, 201,
		    IDEM_O_REPLAYED },
		{ SHOP_BOTH, IDEM_DONE, IDEM_OP_FINISH, IDEM_O_CREATED, 201,
		    IDEM_O_REPLAYED },
		{ SHOP_WORK, IDEM_NONE, IDEM_OP_RELEASE, IDEM_O_RELEASED, 201,
		    IDEM_O_RELEASED },
		{ SHOP_WORK, IDEM_HOLD, IDEM_OP_HOLD, IDEM_O_HELD, 409,
		    IDEM_O_UNKNOWN },
	};
	struct shop *s = *state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		shop_clear(s);
		s->script.effect = rows[i].effect;
		s->fault[0] = (struct shop_fault){ IDEM_ENOMEM, rows[i].op,
		    false, 1 };
		shop_send(s, rows[i].kind, "k1", "{}");
		assert_ended(s, 201, rows[i].first);
		assert_int_equal(s->fault[0].times, 0);
		assert_false(shop_logged(s, "could not be stored"));
		shop_send(s, rows[i].kind, "k1", "{}");
		assert_ended(s, rows[i].next_status, rows[i].next);
		/* for long: as with any other fault */
		shop_clear(s);
		s->fault[0] = (struct shop_fault){ IDEM_ENOMEM, rows[i].op,
		    false, 2 };
		shop_send(s, rows[i].kind, "k1", "{}");
		assert_int_equal(s->call.outcome, IDEM_O_LOST);
		assert_true(shop_logged(s, "could not be stored"));
	}
}

/* commit() fails, or the transaction around it. */
static void
a_commit_that_fails(void **state)
{
	static const struct {
		enum shop_handler kind;
		enum idem_err err;
		bool in_handler, bad_field;
		unsigned status;
		const char *code;
		enum idem_outcome first;
		unsigned next_status;
		enum idem_outcome next;
	} rows[] = {
		/* one transaction: nothing happened */
		{ SHOP_ONCE, IDEM_ESTORE, true, false, 503,
		    "store-unavailable", IDEM_O_DOWN, 201, IDEM_O_CREATED },
		{ SHOP_ONCE, IDEM_EFULL, true, false, 503, "store-full",
		    IDEM_O_FULL, 201, IDEM_O_CREATED },
		{ SHOP_ONCE, IDEM_OK, false, true, 500, "internal",
		    IDEM_O_RELEASED, 201, IDEM_O_CREATED },
		/* work that may be repeated: the key is free */
		{ SHOP_AGAIN, IDEM_ESTORE, true, false, 503,
		    "store-unavailable", IDEM_O_DOWN, 201, IDEM_O_CREATED },
		{ SHOP_AGAIN, IDEM_EFULL, false, false, 503, "store-full",
		    IDEM_O_FULL, 201, IDEM_O_CREATED },
		{ SHOP_AGAIN, IDEM_OK, false, true, 500, "internal",
		    IDEM_O_RELEASED, 201, IDEM_O_CREATED },
		/* any other work may have left its mark */
		{ SHOP_BOTH, IDEM_ESTORE, true, false, 503,
		    "store-unavailable", IDEM_O_LOST, 409, IDEM_O_UNKNOWN },
		{ SHOP_BOTH, IDEM_ESTORE, false, false, 503,
		    "store-unavailable", IDEM_O_LOST, 409, IDEM_O_UNKNOWN },
		{ SHOP_BOTH, IDEM_OK, false, true, 500, "internal",
		    IDEM_O_LOST, 409, IDEM_O_UNKNOWN },
	};
	struct shop *s = *state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t nrows = shop_nrows(s);

		shop_clear(s);
		if (rows[i].in_handler)
			s->script.table_err = rows[i].err;
		else if (rows[i].err != IDEM_OK)
			s->fault[0] = (struct shop_fault){ rows[i].err,
			    IDEM_OP_FINISH, false, 1 };
		s->fault[1] = (struct shop_fault){ IDEM_ESTORE, IDEM_OP_HOLD,
		    false, 1 };
		s->script.bad_field = rows[i].bad_field;
		shop_send(s, rows[i].kind, "k1", "{}");
		assert_ended(s, rows[i].status, rows[i].first);
		assert_problem(s, rows[i].code);
		assert_int_equal(shop_nrows(s), nrows);
		assert_int_equal(shop_logged(s, "E request=req-1"),
		    rows[i].first == IDEM_O_LOST);
		/* it was tried to hold the record, at once */
		assert_int_equal(s->fault[1].times,
		    rows[i].first == IDEM_O_LOST ? 0 : 1);
		s->script.table_err = IDEM_OK;
		s->script.bad_field = false;
		shop_send(s, rows[i].kind, "k1", "{}");
		assert_ended(s, rows[i].next_status, rows[i].next);
	}
}

static void
a_commit_that_fails_without_a_key(void **state)
{
	struct shop *s = *state;

	s->script.table_err = IDEM_EFULL;
	shop_send(s, SHOP_ONCE, NULL, "{}");
	assert_ended(s, 503, IDEM_O_FULL);
	s->script.table_err = IDEM_OK;
	s->script.bad_field = true;
	shop_send(s, SHOP_ONCE, NULL, "{}");
	assert_ended(s, 500, IDEM_O_UNPROTECTED);
	assert_int_equal(shop_nrows(s), 0);
}

static struct idem_response met; /* what another worker answered */

static void
die_and_be_found(struct shop *s)
{
	s->script.meanwhile = NULL;
	shop_die(s);
	shop_send_other(s, SHOP_WORK, "k1", "{}", &met);
}

/* Somebody took the worker for dead while it worked. */
static void
a_record_that_is_no_longer_ours(void **state)
{
	static const struct {
		enum shop_handler kind;
		enum idem_effect effect;
		unsigned status;
	} rows[] = {
		{ SHOP_WORK, IDEM_DONE, 201 }, { SHOP_WORK, IDEM_NONE, 201 },
		{ SHOP_WORK, IDEM_HOLD, 201 }, { SHOP_BOTH, IDEM_DONE, 503 },
	};
	struct shop *s = *state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		shop_clear(s);
		idem_response_init(&met, SHOP_MAX_BYTES);
		s->script.effect = rows[i].effect;
		s->script.meanwhile = die_and_be_found;
		shop_send(s, rows[i].kind, "k1", "{}");
		assert_int_equal(met.status, 409);
		assert_ended(s, rows[i].status, IDEM_O_LOST);
		assert_true(shop_logged(s, "no longer this request's"));
		shop_send(s, rows[i].kind, "k1", "{}");
		assert_ended(s, 409, IDEM_O_UNKNOWN);
		assert_int_equal(s->ncommitted, 0);
		idem_response_free(&met);
	}
}

/* As of a damaged store: said, and nothing runs again. */
static void
a_stored_answer_that_is_none(void **state)
{
	struct shop *s = *state;

	for (int kind = SHOP_ONCE; kind < SHOP_NHANDLERS; kind++) {
		unsigned nworked, ncommitted;

		shop_clear(s);
		shop_send(s, (enum shop_handler)kind, "k1", "{}");
		assert_ended(s, 201, IDEM_O_CREATED);
		nworked = s->nworked;
		ncommitted = s->ncommitted;
		s->cut_answers = true;
		shop_send(s, (enum shop_handler)kind, "k1", "{}");
		assert_ended(s, 503, IDEM_O_DOWN);
		assert_problem(s, "store-unavailable");
		assert_true(shop_logged(s,
		    "the stored answer cannot be given back"));
		assert_false(s->call.replayed);
		s->cut_answers = false;
		shop_send(s, (enum shop_handler)kind, "k1", "{}");
		assert_ended(s, 201, IDEM_O_REPLAYED);
		assert_int_equal(s->nworked, nworked);
		assert_int_equal(s->ncommitted, ncommitted);
	}
}

static void
a_first_answer_that_is_none(void **state)
{
	struct shop *s = *state;

	s->cut_answers = true;
	shop_send(s, SHOP_ONCE, "k1", "{}");
	assert_ended(s, 500, IDEM_O_LOST);
	assert_problem(s, "internal");
	assert_true(shop_logged(s, "the first answer cannot be given"));
	s->cut_answers = false;
	shop_send(s, SHOP_ONCE, "k1", "{}");
	assert_ended(s, 201, IDEM_O_REPLAYED);
	assert_int_equal(s->ncommitted, 1);
}

static void
an_operation_of_another_version(void **state)
{
	struct shop *s = *state;
	struct idem_op op = { .kind = IDEM_OP_APPLY, .apply = 77 };
	struct idem_buf answer;

	idem_buf_init(&answer, 64);
	op.answer = &answer;
	assert_int_equal(idem_store_submit(s->store, &op), IDEM_EREFUSED);
	assert_true(shop_logged(s, "no handler number 77 here"));
	idem_buf_free(&answer);
}

#define ROW(f) cmocka_unit_test_setup_teardown(f, shop_open, shop_close)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ROW(the_client_has_its_answer),
		ROW(a_release_or_hold_that_fails),
		ROW(an_end_without_memory_is_tried_again),
		ROW(a_commit_that_fails),
		ROW(a_commit_that_fails_without_a_key),
		ROW(a_record_that_is_no_longer_ours),
		ROW(a_stored_answer_that_is_none),
		ROW(a_first_answer_that_is_none),
		ROW(an_operation_of_another_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
