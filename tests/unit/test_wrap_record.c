/*
 * test_wrap_record.c - a request meets the record of its key: done, another's,
 * running, without a worker, expired.
 */
#include "shop.h"

/* For each kind of handler: run once, then the same bytes again, marked. */
static void
replays_are_the_first_answer(void **state)
{
	static const enum shop_handler kinds[] = {
		SHOP_ONCE, SHOP_WORK, SHOP_BOTH, SHOP_AGAIN,
	};
	static const char *const keys[] = { "k0", "k1", "k2", "k3" };
	struct shop *s = *state;

	s->script.fields[2] = "X-Request-Id";
	s->script.fields[3] = "r1";
	for (size_t i = 0; i < COUNT(kinds); i++) {
		unsigned nworked, ncommitted;

		shop_send(s, kinds[i], keys[i], "{\"a\":1}");
		assert_ended(s, 201, IDEM_O_CREATED);
		assert_false(s->call.replayed);
		assert_text(idem_buf_span(&s->res.fields),
		    "Location: /t/1\r\nX-Request-Id: r1\r\n");
		assert_text(idem_buf_span(&s->res.body), "{\"id\":1}");
		nworked = s->nworked;
		ncommitted = s->ncommitted;
		/* the same intent, written another way; another handler's
		 * script; another person */
		s->script.status = 500;
		s->more[0] = "HTTP_SEC_FETCH_MODE=navigate";
		shop_send(s, kinds[i], keys[i], " { \"a\" : 1.0 } ");
		assert_ended(s, 201, IDEM_O_REPLAYED);
		assert_true(s->call.replayed);
		assert_text(idem_buf_span(&s->res.fields),
		    "Location: /t/1\r\nCache-Control: no-store\r\n"
		    "Idempotency-Replayed: true\r\n");
		assert_text(idem_buf_span(&s->res.body), "{\"id\":1}");
		assert_int_equal(s->nworked, nworked);
		assert_int_equal(s->ncommitted, ncommitted);
		s->script.status = 201;
		s->more[0] = NULL;
	}
	assert_int_equal(shop_nrecords(s), 4);
	assert_int_equal(shop_nrows(s), 3);
}

static void
a_quoted_key_is_the_bare_one(void **state)
{
	struct shop *s = *state;

	shop_send(s, SHOP_ONCE, "k1", "{}");
	shop_send(s, SHOP_ONCE, " \"k1\";v=1", "{}");
	assert_ended(s, 201, IDEM_O_REPLAYED);
	shop_send(s, SHOP_ONCE, "K1", "{}");
	assert_ended(s, 201, IDEM_O_CREATED);
}

static void
another_request_under_the_key(void **state)
{
	struct shop *s = *state;

	shop_send(s, SHOP_ONCE, "k1", "{\"summa\":9007199254740992}");
	assert_ended(s, 201, IDEM_O_CREATED);
	shop_send(s, SHOP_ONCE, "k1", "{\"summa\":9007199254740993}");
	assert_ended(s, 422, IDEM_O_MISMATCH);
	assert_problem(s, "key-reused");
	assert_text(idem_buf_span(&s->res.body),
	    "{\"type\":\"https://x.example/xatolar/idempotentlik-boshqa-tana\""
	    ",\"title\":\"Idempotency-Key qayta ishlatildi\",\"status\":422,"
	    "\"detail\":\"Bu Idempotency-Key boshqa so'rov tanasi bilan "
	    "ishlatilgan\",\"instance\":\"/vazifalar\","
	    "\"kod\":\"idempotentlik-boshqa-tana\",\"code\":\"key-reused\"}");
	s->method = "PATCH";
	shop_send(s, SHOP_ONCE, "k1", "{\"summa\":9007199254740992}");
	assert_ended(s, 422, IDEM_O_MISMATCH);
	s->method = "POST";
	shop_send(s, SHOP_ONCE, "k1", "{\"summa\":9007199254740992.0}");
	assert_ended(s, 201, IDEM_O_REPLAYED);
	assert_int_equal(shop_nrows(s), 1);
}

static void
problems_speak_the_readers_language(void **state)
{
	struct shop *s = *state;

	shop_send(s, SHOP_ONCE, "k1", "1");
	s->more[0] = "HTTP_ACCEPT_LANGUAGE=tr-TR, en;q=0.5";
	s->more[1] = "HTTP_SEC_FETCH_MODE=navigate";
	shop_send(s, SHOP_ONCE, "k1", "2");
	assert_ended(s, 422, IDEM_O_MISMATCH);
	assert_text(shop_field(&s->res, "Content-Language"), "tr");
	assert_text(shop_field(&s->res, "Content-Type"),
	    "text/html; charset=utf-8");
}

static struct idem_response met; /* what another worker answered */
static enum shop_handler met_kind;

static void
ask_the_same(struct shop *s)
{
	s->script.meanwhile = NULL;
	shop_send_other(s, met_kind, "k1", "{\"a\":1}", &met);
}

static void
ask_another(struct shop *s)
{
	s->script.meanwhile = NULL;
	shop_send_other(s, met_kind, "k1", "{\"a\":2}", &met);
}

static void
a_running_request_is_met(void **state)
{
	static const enum shop_handler kinds[] = {
		SHOP_ONCE, SHOP_WORK, SHOP_AGAIN,
	};
	struct shop *s = *state;

	for (size_t i = 0; i < COUNT(kinds); i++) {
		met_kind = kinds[i];
		s->now_ms += s->policy.ttl_ms; /* the key is new again */
		idem_response_init(&met, SHOP_MAX_BYTES);
		s->script.meanwhile = ask_the_same;
		shop_send(s, SHOP_WORK, "k1", "{\"a\":1}");
		assert_ended(s, 201, IDEM_O_CREATED);
		assert_int_equal(met.status, 409);
		assert_problem_at(&met, "in-progress", __FILE__, __LINE__);
		assert_text(shop_field(&met, "Retry-After"), "1");
		idem_response_free(&met);
	}
	assert_int_equal(s->nworked, 3);
	assert_int_equal(shop_nrows(s), 0);
}

static void
another_request_meets_a_running_one(void **state)
{
	struct shop *s = *state;

	idem_response_init(&met, SHOP_MAX_BYTES);
	met_kind = SHOP_WORK;
	s->script.meanwhile = ask_another;
	shop_send(s, SHOP_WORK, "k1", "{\"a\":1}");
	assert_ended(s, 201, IDEM_O_CREATED);
	assert_int_equal(met.status, 422);
	assert_problem_at(&met, "key-reused", __FILE__, __LINE__);
	assert_int_equal(s->nworked, 1);
	idem_response_free(&met);
}

static void
die_and_ask_the_same(struct shop *s)
{
	shop_die(s);
	ask_the_same(s);
}

static void
a_dead_workers_outcome_is_unknown(void **state)
{
	struct shop *s = *state;

	idem_response_init(&met, SHOP_MAX_BYTES);
	met_kind = SHOP_WORK;
	s->script.meanwhile = die_and_ask_the_same;
	shop_send(s, SHOP_WORK, "k1", "{\"a\":1}");
	assert_int_equal(met.status, 409);
	assert_problem_at(&met, "outcome-unknown", __FILE__, __LINE__);
	assert_text(shop_field(&met, "Retry-After"), NULL);
	/* it stays so, for the same request and whatever handler asks */
	shop_send(s, SHOP_WORK, "k1", "{\"a\":1}");
	assert_ended(s, 409, IDEM_O_UNKNOWN);
	assert_problem(s, "outcome-unknown");
	shop_send(s, SHOP_ONCE, "k1", "{\"a\":1}");
	assert_ended(s, 409, IDEM_O_UNKNOWN);
	shop_send(s, SHOP_WORK, "k1", "{\"a\":2}");
	assert_ended(s, 422, IDEM_O_MISMATCH);
	assert_int_equal(s->nworked, 1);
	idem_response_free(&met);
}

static void
a_dead_workers_work_is_done_again(void **state)
{
	static const struct {
		enum shop_handler kind;
		bool setting;
	} rows[] = { { SHOP_AGAIN, false }, { SHOP_WORK, true } };
	struct shop *s = *state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		s->now_ms += s->policy.ttl_ms;
		s->policy.retry_unknown = rows[i].setting;
		idem_response_init(&met, SHOP_MAX_BYTES);
		met_kind = rows[i].kind;
		s->script.meanwhile = die_and_ask_the_same;
		shop_send(s, rows[i].kind, "k1", "{\"a\":1}");
		assert_int_equal(met.status, 201);
		assert_text(shop_field(&met, "Idempotency-Replayed"), NULL);
		assert_true(shop_logged(s, "W request=req-2"));
		assert_true(shop_logged(s, "done again"));
		idem_buf_reset(&s->lines);
		assert_int_equal(s->nworked, 2 * (i + 1));
		shop_send(s, rows[i].kind, "k1", "{\"a\":1}");
		assert_ended(s, 201, IDEM_O_REPLAYED);
		idem_response_free(&met);
	}
}

static void
an_expired_key_is_new(void **state)
{
	struct shop *s = *state;
	int64_t stored_ms = s->now_ms;

	shop_send(s, SHOP_ONCE, "k1", "{}");
	s->now_ms = stored_ms + s->policy.ttl_ms - 1;
	shop_send(s, SHOP_ONCE, "k1", "{}");
	assert_ended(s, 201, IDEM_O_REPLAYED);
	s->now_ms = stored_ms + s->policy.ttl_ms;
	shop_send(s, SHOP_ONCE, "k1", "{\"other\":1}");
	assert_ended(s, 201, IDEM_O_CREATED);
	assert_int_equal(shop_nrows(s), 2);
}

static void
take_an_hour(struct shop *s)
{
	s->now_ms += 3600000;
}

static void
time_to_live_counts_from_the_answer(void **state)
{
	struct shop *s = *state;
	int64_t claimed_ms = s->now_ms;

	s->script.meanwhile = take_an_hour;
	shop_send(s, SHOP_WORK, "k1", "{}");
	s->script.meanwhile = NULL;
	s->now_ms = claimed_ms + 3600000 + s->policy.ttl_ms - 1;
	shop_send(s, SHOP_WORK, "k1", "{}");
	assert_ended(s, 201, IDEM_O_REPLAYED);
	s->now_ms++;
	shop_send(s, SHOP_WORK, "k1", "{}");
	assert_ended(s, 201, IDEM_O_CREATED);
	assert_int_equal(s->nworked, 2);
}

#define ROW(f) cmocka_unit_test_setup_teardown(f, shop_open, shop_close)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ROW(replays_are_the_first_answer),
		ROW(a_quoted_key_is_the_bare_one),
		ROW(another_request_under_the_key),
		ROW(problems_speak_the_readers_language),
		ROW(a_running_request_is_met),
		ROW(another_request_meets_a_running_one),
		ROW(a_dead_workers_outcome_is_unknown),
		ROW(a_dead_workers_work_is_done_again),
		ROW(an_expired_key_is_new),
		ROW(time_to_live_counts_from_the_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
