/*
 * test_wrap.c - the steps of one request before its record is met, in their
 * order, and a store that cannot answer.
 */
#include "shop.h"

static void
other_methods_are_not_protected(void **state)
{
	struct shop *s = *state;

	s->method = "PUT";
	for (unsigned i = 1; i <= 2; i++) {
		shop_send(s, SHOP_ONCE, "k1", "{}");
		assert_ended(s, 201, IDEM_O_UNPROTECTED);
		assert_int_equal(s->ncommitted, i);
	}
	/* not even a malformed key is looked at */
	shop_send(s, SHOP_ONCE, "a b", "{}");
	assert_ended(s, 201, IDEM_O_UNPROTECTED);
	assert_false(s->call.has_id);
	assert_int_equal(shop_nrecords(s), 0);
	assert_int_equal(shop_nrows(s), 3);
}

static void
without_a_key_it_runs_each_time(void **state)
{
	struct shop *s = *state;

	for (unsigned i = 1; i <= 2; i++) {
		shop_send(s, SHOP_ONCE, NULL, "{}");
		assert_ended(s, 201, IDEM_O_UNPROTECTED);
		assert_text(idem_buf_span(&s->res.fields),
		    "Location: /t/1\r\n");
		assert_text(idem_buf_span(&s->res.body), "{\"id\":1}");
		shop_send(s, SHOP_WORK, NULL, "{}");
		assert_ended(s, 201, IDEM_O_UNPROTECTED);
		shop_send(s, SHOP_BOTH, NULL, "{}");
		assert_ended(s, 201, IDEM_O_UNPROTECTED);
		assert_int_equal(s->ncommitted, 2 * i);
		assert_int_equal(s->nworked, 2 * i);
	}
	assert_int_equal(shop_nrecords(s), 0);
	assert_int_equal(shop_nrows(s), 4);
}

static void
a_key_may_be_required(void **state)
{
	struct shop *s = *state;

	s->policy.require_key = true;
	shop_send(s, SHOP_ONCE, NULL, "{}");
	assert_ended(s, 400, IDEM_O_REFUSED);
	assert_problem(s, "key-required");
	assert_int_equal(s->nprepared + s->nread, 0);
	s->method = "GET";
	shop_send(s, SHOP_ONCE, NULL, "{}");
	assert_ended(s, 201, IDEM_O_UNPROTECTED);
}

#define KEY_50 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define KEY_250 KEY_50 KEY_50 KEY_50 KEY_50 KEY_50

static void
malformed_keys_are_refused_first(void **state)
{
	static const char *const keys[] = {
		"", " ", "a b", "k1, k2", "k1,k2", "\"k1", "\"\"", "a\x7f",
		KEY_250 "123456",
	};
	struct shop *s = *state;

	s->body_err = IDEM_ETOOBIG;   /* comes later in the order */
	s->policy.anonymous = false;  /* and so does this */
	for (size_t i = 0; i < COUNT(keys); i++) {
		shop_send(s, SHOP_ONCE, keys[i], "{}");
		assert_ended(s, 400, IDEM_O_REFUSED);
		assert_problem(s, "key-invalid");
	}
	s->more[0] = "HTTP_IDEMPOTENCY_KEY=k1";
	shop_send(s, SHOP_ONCE, "k1", "{}");
	assert_ended(s, 400, IDEM_O_REFUSED);
	assert_problem(s, "key-invalid");
	assert_int_equal(s->nprepared + s->nread, 0);
	assert_int_equal(shop_nrecords(s), 0);
}

static void
long_keys_are_whole(void **state)
{
	struct shop *s = *state;

	shop_send(s, SHOP_ONCE, KEY_250 "12345", "{}");
	assert_ended(s, 201, IDEM_O_CREATED);
	shop_send(s, SHOP_ONCE, KEY_250 "12346", "{}");
	assert_ended(s, 201, IDEM_O_CREATED);
	shop_send(s, SHOP_ONCE, KEY_250 "12345", "{}");
	assert_ended(s, 201, IDEM_O_REPLAYED);
	assert_int_equal(shop_nrows(s), 2);
}

static void
bodies_that_did_not_come(void **state)
{
	static const struct {
		enum idem_err err;
		unsigned status;
		const char *code, *retry_after;
	} rows[] = {
		{ IDEM_ETOOBIG, 413, "body-too-large", NULL },
		{ IDEM_ESHORT, 503, "body-truncated", "1" },
		{ IDEM_ESYNTAX, 400, "body-length", NULL },
		{ IDEM_ENOMEM, 503, "store-unavailable", "1" },
	};
	static const char *const keys[] = { "k1", NULL };
	struct shop *s = *state;

	s->policy.anonymous = false; /* comes later in the order */
	for (size_t i = 0; i < COUNT(rows) * COUNT(keys); i++) {
		s->body_err = rows[i / 2].err;
		shop_send(s, SHOP_ONCE, keys[i % 2], "{}");
		assert_ended(s, rows[i / 2].status, IDEM_O_REFUSED);
		assert_problem(s, rows[i / 2].code);
		assert_text(shop_field(&s->res, "Retry-After"),
		    rows[i / 2].retry_after);
	}
	assert_int_equal(s->nprepared, 0);
	assert_int_equal(s->ndrawn, 0);
	assert_int_equal(shop_nrecords(s), 0);
}

static void
a_scope_may_be_due(void **state)
{
	struct shop *s = *state;

	s->policy.anonymous = false;
	shop_send(s, SHOP_ONCE, "k1", "{}");
	assert_ended(s, 400, IDEM_O_REFUSED);
	assert_problem(s, "scope-required");
	assert_int_equal(s->nread, 1);
	assert_int_equal(s->nprepared, 0);
	s->more[0] = "REMOTE_USER=ali";
	shop_send(s, SHOP_ONCE, "k1", "{}");
	assert_ended(s, 201, IDEM_O_CREATED);
	/* without a key nobody asks who it is */
	s->more[0] = NULL;
	shop_send(s, SHOP_ONCE, NULL, "{}");
	assert_ended(s, 201, IDEM_O_UNPROTECTED);
}

static void
scopes_do_not_meet(void **state)
{
	struct shop *s = *state;

	s->more[0] = "REMOTE_USER=ali";
	shop_send(s, SHOP_ONCE, "secret-key", "{\"a\":\"secret-body\"}");
	assert_ended(s, 201, IDEM_O_CREATED);
	assert_int_equal(s->lines.n, 0);
	s->more[0] = "REMOTE_USER=vali";
	shop_send(s, SHOP_ONCE, "secret-key", "{\"a\":\"secret-body\"}");
	assert_ended(s, 201, IDEM_O_CREATED);
	assert_int_equal(shop_nrows(s), 2);
	/* the owner hears of it, in a line without key or body */
	assert_true(shop_logged(s, "under another scope"));
	assert_false(shop_logged(s, "secret"));
	idem_buf_reset(&s->lines);
	/* other content under the same key tells nothing, nor the same content
	 * under another key */
	s->more[0] = "REMOTE_USER=guli";
	shop_send(s, SHOP_ONCE, "secret-key", "{}");
	assert_ended(s, 201, IDEM_O_CREATED);
	shop_send(s, SHOP_ONCE, "public-key", "{\"a\":\"secret-body\"}");
	assert_ended(s, 201, IDEM_O_CREATED);
	/* nor does a replay */
	s->more[0] = "REMOTE_USER=ali";
	shop_send(s, SHOP_ONCE, "secret-key", "{\"a\":\"secret-body\"}");
	assert_ended(s, 201, IDEM_O_REPLAYED);
	assert_int_equal(s->lines.n, 0);
}

static void
log_lines_name_request_and_record(void **state)
{
	struct shop *s = *state;
	char id[8], want[64];

	s->more[0] = "REMOTE_USER=ali";
	shop_send(s, SHOP_ONCE, "k1", "{}");
	s->more[0] = "REMOTE_USER=vali";
	shop_send(s, SHOP_ONCE, "k1", "{}");
	assert_true(s->call.has_id);
	hex_lower(s->call.id, 4, id);
	assert_int_equal(text_format(want, sizeof want,
	    "W request=req-1 id=%.8s: the same key", id), IDEM_OK);
	assert_span(span_first(idem_buf_span(&s->lines), strlen(want)),
	    span_of(want));
}

static void
a_store_that_cannot_answer(void **state)
{
	static const struct {
		struct shop_fault fault;
		unsigned status;
		const char *code, *retry_after;
		enum idem_outcome outcome;
	} rows[] = {
		{ { IDEM_ESTORE, 0, true, 1 }, 503, "store-unavailable", "1",
		    IDEM_O_DOWN },
		{ { IDEM_ENEWER, 0, true, 1 }, 503, "store-unavailable", "1",
		    IDEM_O_DOWN },
		{ { IDEM_ECORRUPT, 0, true, 1 }, 503, "store-unavailable", "1",
		    IDEM_O_DOWN },
		{ { IDEM_EMOVED, 0, true, 1 }, 503, "store-unavailable", "1",
		    IDEM_O_DOWN },
		{ { IDEM_ESTORE, IDEM_OP_ONCE, false, 1 }, 503,
		    "store-unavailable", "1", IDEM_O_DOWN },
		{ { IDEM_EBUSY, IDEM_OP_ONCE, false, 1 }, 503,
		    "store-unavailable", "1", IDEM_O_DOWN },
		{ { IDEM_ENOMEM, IDEM_OP_ONCE, false, 1 }, 503,
		    "store-unavailable", "1", IDEM_O_DOWN },
		{ { IDEM_EFULL, IDEM_OP_ONCE, false, 1 }, 503, "store-full",
		    "60", IDEM_O_FULL },
		{ { IDEM_EFULL, IDEM_OP_CLAIM, false, 1 }, 503, "store-full",
		    "60", IDEM_O_FULL },
		{ { IDEM_EMOVED, IDEM_OP_CLAIM, false, 1 }, 503,
		    "store-unavailable", "1", IDEM_O_DOWN },
	};
	struct shop *s = *state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		bool outside = rows[i].fault.kind == IDEM_OP_CLAIM &&
		    !rows[i].fault.look;

		s->fault[0] = rows[i].fault;
		shop_send(s, outside ? SHOP_WORK : SHOP_ONCE, "k1", "{}");
		assert_ended(s, rows[i].status, rows[i].outcome);
		assert_problem(s, rows[i].code);
		assert_text(shop_field(&s->res, "Retry-After"),
		    rows[i].retry_after);
		assert_int_equal(s->fault[0].times, 0);
	}
	assert_int_equal(s->nworked + s->ncommitted, 0);
	assert_int_equal(shop_nrecords(s), 0);
	shop_send(s, SHOP_ONCE, "k1", "{}");
	assert_ended(s, 201, IDEM_O_CREATED);
}

static void
a_store_that_is_not_there(void **state)
{
	static const char *const keys[] = { "k1", NULL };
	struct shop *s = *state;

	s->engine.store = NULL;
	for (size_t i = 0; i < COUNT(keys); i++) {
		shop_send(s, SHOP_ONCE, keys[i], "{}");
		assert_ended(s, 503, IDEM_O_DOWN);
		assert_problem(s, "store-unavailable");
		shop_send(s, SHOP_BOTH, keys[i], "{}");
		assert_ended(s, 503, IDEM_O_DOWN);
	}
	assert_int_equal(s->nworked + s->ncommitted, 0);
	/* what does not need it still answers */
	shop_send(s, SHOP_ONCE, "a b", "{}");
	assert_ended(s, 400, IDEM_O_REFUSED);
	shop_send(s, SHOP_WORK, NULL, "{}");
	assert_ended(s, 201, IDEM_O_UNPROTECTED);
}

static void
no_random_bytes_no_claim(void **state)
{
	struct shop *s = *state;

	shop_send(s, SHOP_ONCE, "k1", "{}");
	s->no_random = true;
	shop_send(s, SHOP_ONCE, "k2", "{}");
	assert_ended(s, 503, IDEM_O_REFUSED);
	assert_problem(s, "store-unavailable");
	shop_send(s, SHOP_WORK, "k2", "{}");
	assert_ended(s, 503, IDEM_O_REFUSED);
	shop_send(s, SHOP_ONCE, NULL, "{}");
	assert_ended(s, 503, IDEM_O_REFUSED);
	assert_int_equal(s->ncommitted, 1);
	assert_int_equal(s->nworked, 0);
	shop_send(s, SHOP_ONCE, "k1", "{}"); /* a replay needs none */
	assert_ended(s, 201, IDEM_O_REPLAYED);
}

static void
each_claim_draws_its_own_token(void **state)
{
	struct shop *s = *state;

	shop_send(s, SHOP_WORK, "k1", "{}");
	assert_int_equal(s->ndrawn, 2); /* the token and the handler's bytes */
	shop_send(s, SHOP_WORK, "k2", "{}");
	assert_int_equal(s->ndrawn, 4);
	shop_send(s, SHOP_WORK, "k2", "{}");
	assert_int_equal(s->ndrawn, 4);
}

static void
json_of_a_body(void **state)
{
	static const struct {
		const char *key, *body;
		enum idem_err err;
		const char *json;
		size_t at;
	} rows[] = {
		{ "k1", "{ \"b\":1, \"a\":2.0 }", IDEM_OK,
		    "{\"a\":2,\"b\":1}", 0 },
		{ NULL, "{ \"b\":1, \"a\":2.0 }", IDEM_OK,
		    "{\"a\":2,\"b\":1}", 0 },
		{ "k2", "{\"a\":1,", IDEM_ESYNTAX, NULL, 7 },
		{ NULL, "", IDEM_ESYNTAX, NULL, 0 },
		{ "k3", "{\"a\":1,\"a\":2}", IDEM_EINEXACT, NULL, 7 },
	};
	struct shop *s = *state;
	struct idem_span json, again;
	size_t at;

	for (size_t i = 0; i < COUNT(rows); i++) {
		json = IDEM_ABSENT;
		at = 0;
		shop_send(s, SHOP_ONCE, rows[i].key, rows[i].body);
		assert_int_equal(idem_call_json(&s->call, &json, &at),
		    rows[i].err);
		assert_text(json, rows[i].json);
		assert_int_equal(at, rows[i].at);
		if (rows[i].err != IDEM_OK)
			continue;
		assert_int_equal(idem_call_json(&s->call, &again, &at),
		    IDEM_OK);
		assert_ptr_equal(again.p, json.p);
	}
	/* nothing of an earlier request is left in a call */
	shop_send(s, SHOP_ONCE, NULL, "[]");
	s->call.canonical = IDEM_LIT("{}");
	idem_wrap(&s->engine, &s->call);
	assert_int_equal(idem_call_json(&s->call, &json, &at), IDEM_OK);
	assert_text(json, "[]");
}

static void
outcomes_have_names(void **state)
{
	static const char *const names[] = {
		"unprotected", "created", "released", "held", "replayed",
		"mismatch", "running", "unknown", "refused", "full", "down",
		"lost",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++)
		assert_string_equal(idem_outcome_name((enum idem_outcome)i),
		    names[i]);
}

#define ROW(f) cmocka_unit_test_setup_teardown(f, shop_open, shop_close)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ROW(other_methods_are_not_protected),
		ROW(without_a_key_it_runs_each_time),
		ROW(a_key_may_be_required),
		ROW(malformed_keys_are_refused_first),
		ROW(long_keys_are_whole),
		ROW(bodies_that_did_not_come),
		ROW(a_scope_may_be_due),
		ROW(scopes_do_not_meet),
		ROW(log_lines_name_request_and_record),
		ROW(a_store_that_cannot_answer),
		ROW(a_store_that_is_not_there),
		ROW(no_random_bytes_no_claim),
		ROW(each_claim_draws_its_own_token),
		ROW(json_of_a_body),
		cmocka_unit_test(outcomes_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
