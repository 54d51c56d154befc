/*
 * test_wrap_source.c - keys from other places than the usual header, conditions
 * on requests and answers, and what counts in the fingerprint: whole requests
 * through the engine.
 */
#include "shop.h"

#define FORM "CONTENT_TYPE=application/x-www-form-urlencoded"

/* Send without the usual header. */
static unsigned
post(struct shop *s, const char *body)
{
	return shop_send(s, SHOP_WORK, NULL, body);
}

static void
a_double_submit_is_one(void **state)
{
	struct shop *s = *state;

	s->type = FORM;
	s->policy.key_from = IDEM_LIT("form:nonce");
	s->script.status = 303;
	post(s, "nonce=n1&item=5");
	assert_ended(s, 303, IDEM_O_CREATED);
	assert_true(s->call.keyed);
	post(s, "nonce=n1&item=5");
	assert_ended(s, 303, IDEM_O_REPLAYED);
	/* the same form in another spelling */
	post(s, "nonce=n%31&%69tem=5");
	assert_ended(s, 303, IDEM_O_REPLAYED);
	assert_int_equal(s->nworked, 1);
	/* a corrected form under the same field is another request */
	post(s, "nonce=n1&item=6");
	assert_ended(s, 303, IDEM_O_CREATED);
	post(s, "nonce=n2&item=6");
	assert_ended(s, 303, IDEM_O_CREATED);
	assert_int_equal(s->nworked, 3);
	assert_int_equal(shop_nrecords(s), 3);
}

static void
what_is_no_key_runs_unprotected(void **state)
{
	static const struct { const char *body; bool passed_over; } rows[] = {
		{ "item=5", false },
		{ "nonce=&item=5", true },
		{ "nonce=a&nonce=a", true },
		{ "", false },
	};
	struct shop *s = *state;

	s->type = FORM;
	s->policy.key_from = IDEM_LIT("form:nonce");
	for (size_t i = 0; i < COUNT(rows); i++) {
		for (unsigned n = 1; n <= 2; n++) {
			post(s, rows[i].body);
			assert_ended(s, 201, IDEM_O_UNPROTECTED);
			assert_false(s->call.keyed);
			assert_false(s->call.has_id);
			assert_int_equal(s->call.key_passed_over,
			    rows[i].passed_over);
		}
		assert_int_equal(s->nworked, 2 * (i + 1));
	}
	s->type = "CONTENT_TYPE=text/plain";
	post(s, "nonce=a");
	assert_ended(s, 201, IDEM_O_UNPROTECTED);
	assert_int_equal(shop_nrecords(s), 0);
}

static void
nobody_who_sent_no_key_gets_an_error(void **state)
{
	static const enum idem_err errs[] = { IDEM_ETOOBIG, IDEM_ESYNTAX };
	struct shop *s = *state;

	s->type = FORM;
	s->handler_reads = true;
	s->policy.key_from = IDEM_LIT("form:nonce query:x");
	for (size_t i = 0; i < COUNT(errs); i++) {
		s->body_err = errs[i];
		s->nread = 0;
		post(s, "nonce=1");
		/* query:x is there, and yet the content cannot be compared */
		assert_ended(s, 201, IDEM_O_UNPROTECTED);
		assert_true(s->call.key_passed_over);
		assert_int_equal(s->nread, 1);
	}
	/* a body that broke off must come again */
	s->body_err = IDEM_ESHORT;
	post(s, "nonce=1");
	assert_ended(s, 503, IDEM_O_REFUSED);
	assert_problem(s, "body-truncated");
	s->body_err = IDEM_ENOMEM;
	post(s, "nonce=1");
	assert_ended(s, 503, IDEM_O_REFUSED);
	assert_int_equal(s->nworked, 2);
	/* who needs the body to answer still says 413 */
	s->body_err = IDEM_ETOOBIG;
	s->handler_reads = false;
	post(s, "nonce=1");
	assert_ended(s, 413, IDEM_O_REFUSED);
	assert_int_equal(s->nworked, 2);
	assert_int_equal(shop_nrecords(s), 0);
}

static void
no_scope_is_no_key(void **state)
{
	struct shop *s = *state;

	s->type = FORM;
	s->policy.key_from = IDEM_LIT("header:Idempotency-Key form:nonce");
	s->policy.anonymous = false;
	post(s, "nonce=1");
	assert_ended(s, 201, IDEM_O_UNPROTECTED);
	assert_true(s->call.key_passed_over);
	shop_send(s, SHOP_WORK, "k1", "nonce=1");
	assert_ended(s, 400, IDEM_O_REFUSED);
	assert_problem(s, "scope-required");
	s->more[0] = "REMOTE_USER=ali";
	post(s, "nonce=1");
	assert_ended(s, 201, IDEM_O_CREATED);
	s->more[0] = "REMOTE_USER=vali";
	post(s, "nonce=1");
	assert_ended(s, 201, IDEM_O_CREATED);
	s->more[0] = "REMOTE_USER=ali";
	post(s, "nonce=1");
	assert_ended(s, 201, IDEM_O_REPLAYED);
}

static void
a_key_may_be_required_of_all(void **state)
{
	struct shop *s = *state;

	s->type = FORM;
	s->policy.key_from = IDEM_LIT("form:nonce");
	s->policy.require_key = true;
	post(s, "item=1");
	assert_ended(s, 400, IDEM_O_REFUSED);
	assert_problem(s, "key-required");
	post(s, "nonce=1");
	assert_ended(s, 201, IDEM_O_CREATED);
	s->policy.anonymous = false;
	post(s, "nonce=1");
	assert_ended(s, 400, IDEM_O_REFUSED);
	assert_problem(s, "key-required");
}

static void
the_first_place_that_is_there_decides(void **state)
{
	struct shop *s = *state;

	s->type = FORM;
	s->policy.key_from =
	    IDEM_LIT("header:X-Txn header:Idempotency-Key form:nonce");
	shop_send(s, SHOP_WORK, "k1", "nonce=1");
	assert_ended(s, 201, IDEM_O_CREATED);
	/* a promise: other content under it is an error */
	shop_send(s, SHOP_WORK, "k1", "nonce=2");
	assert_ended(s, 422, IDEM_O_MISMATCH);
	assert_problem(s, "key-reused");
	shop_send(s, SHOP_WORK, "k 1", "nonce=2");
	assert_ended(s, 400, IDEM_O_REFUSED);
	assert_problem(s, "key-invalid");
	s->more[0] = "HTTP_X_TXN=t1";
	shop_send(s, SHOP_WORK, "k 1", "nonce=2");
	assert_ended(s, 201, IDEM_O_CREATED);
	shop_send(s, SHOP_WORK, NULL, "nonce=2");
	assert_ended(s, 201, IDEM_O_REPLAYED);
	s->more[0] = NULL;
	post(s, "nonce=2");
	assert_ended(s, 201, IDEM_O_CREATED);
	/* unusable here: the next place */
	s->policy.key_from = IDEM_LIT("form:nonce cookie:c");
	s->more[0] = "HTTP_COOKIE=c=7";
	post(s, "nonce=");
	assert_ended(s, 201, IDEM_O_CREATED);
	assert_true(s->call.keyed);
	assert_true(s->call.key_passed_over);
}

static void
joined_parts_have_lengths(void **state)
{
	struct shop *s = *state;

	s->type = FORM;
	s->policy.key_from = IDEM_LIT("form:t+form:a");
	post(s, "t=1&a=23");
	assert_ended(s, 201, IDEM_O_CREATED);
	post(s, "t=12&a=3");
	assert_ended(s, 201, IDEM_O_CREATED);
	post(s, "a=3&t=12");
	assert_ended(s, 201, IDEM_O_REPLAYED);
	post(s, "t=12");
	assert_ended(s, 201, IDEM_O_UNPROTECTED);
	s->policy.key_from = IDEM_LIT("header:X-A+header:X-B");
	s->more[0] = "HTTP_X_A=1";
	s->more[1] = "HTTP_X_B=23";
	post(s, "z");
	assert_ended(s, 201, IDEM_O_CREATED);
	post(s, "y");
	assert_ended(s, 422, IDEM_O_MISMATCH);
	s->more[0] = "HTTP_X_A=12";
	s->more[1] = "HTTP_X_B=3";
	post(s, "z");
	assert_ended(s, 201, IDEM_O_CREATED);
}

/* A checkout page and its last click may carry the same value. */
static void
the_same_value_in_two_places_is_two_keys(void **state)
{
	struct shop *s = *state;

	s->type = FORM;
	s->policy.key_from = IDEM_LIT("form:n");
	post(s, "n=1&m=1");
	assert_ended(s, 201, IDEM_O_CREATED);
	s->policy.key_from = IDEM_LIT("query:x");
	post(s, "m=1&n=1");
	assert_ended(s, 201, IDEM_O_CREATED);
	assert_int_equal(shop_nrecords(s), 2);
}

#define CREATE "{\"method\":\"CreateTransaction\",\"params\":{\"id\":\"p1\"}}"
#define CHECK "{\"method\":\"CheckTransaction\",\"params\":{\"id\":\"p1\"}}"

static void
conditions_choose_requests(void **state)
{
	struct shop *s = *state;

	s->policy.key_from = IDEM_LIT("json:/method+json:/params/id");
	s->policy.when = IDEM_LIT("json:/method=CreateTransaction|"
	    "PerformTransaction");
	s->policy.require_key = true; /* asks nothing of the others */
	post(s, CREATE);
	assert_ended(s, 201, IDEM_O_CREATED);
	post(s, CREATE);
	assert_ended(s, 201, IDEM_O_REPLAYED);
	for (unsigned i = 1; i <= 2; i++) {
		post(s, CHECK);
		assert_ended(s, 201, IDEM_O_UNPROTECTED);
		assert_int_equal(s->nworked, 1 + i);
	}
	assert_int_equal(shop_nrecords(s), 1);
	/* nor is a key in a header looked at */
	s->policy.key_from = IDEM_LIT("header:Idempotency-Key");
	shop_send(s, SHOP_WORK, "k 1", CHECK);
	assert_ended(s, 201, IDEM_O_UNPROTECTED);
	shop_send(s, SHOP_WORK, "k 1", CREATE);
	assert_ended(s, 400, IDEM_O_REFUSED);
}

static void
conditions_on_a_body_that_did_not_come(void **state)
{
	struct shop *s = *state;

	s->policy.when = IDEM_LIT("json:/a");
	s->handler_reads = true;
	s->body_err = IDEM_ETOOBIG;
	shop_send(s, SHOP_WORK, "k1", "{}");
	assert_ended(s, 413, IDEM_O_REFUSED);
	shop_send(s, SHOP_WORK, NULL, "{}");
	assert_ended(s, 201, IDEM_O_UNPROTECTED);
	assert_int_equal(s->nread, 2);
}

static void
without_a_key_the_handler_may_read(void **state)
{
	struct shop *s = *state;

	s->handler_reads = true;
	shop_send(s, SHOP_WORK, NULL, "{}");
	assert_ended(s, 201, IDEM_O_UNPROTECTED);
	s->method = "GET";
	shop_send(s, SHOP_WORK, "k1", "{}");
	assert_ended(s, 201, IDEM_O_UNPROTECTED);
	assert_int_equal(s->nread, 0);
	s->method = "POST";
	shop_send(s, SHOP_WORK, "k1", "{}");
	assert_ended(s, 201, IDEM_O_CREATED);
	assert_int_equal(s->nread, 1);
}

/* keep NULL: not set; key: from the header, else from the form. */
static const struct keep_row {
	const char *keep;
	bool header, keep_5xx;
	unsigned status;
	const char *body;
	enum idem_outcome outcome;
} keep_rows[] = {
	{ NULL, true, false, 404, "x", IDEM_O_CREATED },
	{ NULL, true, false, 500, "x", IDEM_O_RELEASED },
	{ NULL, true, true, 500, "x", IDEM_O_CREATED },
	{ NULL, false, true, 200, "x", IDEM_O_CREATED },
	{ NULL, false, true, 303, "", IDEM_O_CREATED },
	{ NULL, false, true, 404, "x", IDEM_O_RELEASED },
	{ NULL, false, true, 500, "x", IDEM_O_CREATED },
	{ NULL, false, false, 500, "x", IDEM_O_RELEASED },
	{ "3xx", false, true, 200, "x", IDEM_O_RELEASED },
	{ "3xx", false, true, 302, "x", IDEM_O_CREATED },
	{ "3xx", true, true, 404, "x", IDEM_O_RELEASED },
	{ "3xx", true, true, 429, "x", IDEM_O_RELEASED },
	{ "3xx 429", true, true, 429, "x", IDEM_O_CREATED },
	{ "3xx", false, true, 500, "x", IDEM_O_CREATED },
	{ "3xx 503", false, false, 503, "x", IDEM_O_CREATED },
	{ "3xx 503", false, false, 500, "x", IDEM_O_RELEASED },
	{ "json:/result", true, true, 200, "{\"result\":{}}",
	    IDEM_O_CREATED },
	{ "json:/result", false, true, 200, " { \"error\" : 1 } ",
	    IDEM_O_RELEASED },
	{ "json:/result", false, true, 200, "<html>", IDEM_O_RELEASED },
	{ "json:/error=0", false, true, 200, "{\"error\":0.0}",
	    IDEM_O_CREATED },
	{ "location:/t/*", false, true, 200, "", IDEM_O_CREATED },
	{ "location:/x/*", false, true, 200, "", IDEM_O_RELEASED },
};

static void
conditions_choose_answers(void **state)
{
	struct shop *s = *state;

	s->type = FORM;
	s->policy.key_from = IDEM_LIT("header:Idempotency-Key form:n");
	for (size_t i = 0; i < COUNT(keep_rows); i++) {
		const struct keep_row *r = &keep_rows[i];
		const enum shop_handler handlers[] = { SHOP_WORK, SHOP_ONCE,
			SHOP_BOTH };

		s->policy.keep = span_of(r->keep);
		s->policy.keep_5xx = r->keep_5xx;
		s->script.status = r->status;
		s->script.body = span_of(r->body);
		for (size_t h = 0; h < COUNT(handlers); h++) {
			shop_send(s, handlers[h], r->header ? "k1" : NULL,
			    "n=1");
			if (s->call.outcome != r->outcome)
				print_error("row %zu, handler %zu\n", i, h);
			assert_ended(s, r->status, r->outcome);
			assert_text(idem_buf_span(&s->res.body), r->body);
			shop_clear(s);
		}
	}
}

/* What is unknown is no matter of the answer. */
static void
unknown_is_decided_before(void **state)
{
	struct shop *s = *state;

	s->policy.keep = IDEM_LIT("2xx");
	s->script.effect = IDEM_HOLD;
	s->script.status = 404;
	shop_send(s, SHOP_WORK, "k1", "{}");
	assert_ended(s, 404, IDEM_O_HELD);
	s->script.effect = IDEM_DONE;
	shop_send(s, SHOP_WORK, "k2", "{}");
	assert_ended(s, 404, IDEM_O_CREATED);
	s->script.effect = IDEM_NONE;
	s->script.status = 200;
	shop_send(s, SHOP_WORK, "k3", "{}");
	assert_ended(s, 200, IDEM_O_RELEASED);
}

static void
what_counts_is_a_setting(void **state)
{
	struct shop *s = *state;

	s->policy.fingerprint_ignore = IDEM_LIT("json:/csrf");
	shop_send(s, SHOP_WORK, "k1", "{\"a\":1,\"csrf\":1}");
	assert_ended(s, 201, IDEM_O_CREATED);
	shop_send(s, SHOP_WORK, "k1", "{\"a\":1,\"csrf\":2}");
	assert_ended(s, 201, IDEM_O_REPLAYED);
	shop_send(s, SHOP_WORK, "k1", "{\"a\":2,\"csrf\":1}");
	assert_ended(s, 422, IDEM_O_MISMATCH);
	s->policy.fingerprint_ignore = IDEM_ABSENT;
	s->policy.fingerprint = IDEM_LIT("json:/a");
	shop_send(s, SHOP_WORK, "k2", "{\"a\":1,\"b\":1}");
	assert_ended(s, 201, IDEM_O_CREATED);
	shop_send(s, SHOP_WORK, "k2", "{\"a\":1.0,\"b\":2}");
	assert_ended(s, 201, IDEM_O_REPLAYED);
	shop_send(s, SHOP_WORK, "k2", "{\"b\":1}");
	assert_ended(s, 422, IDEM_O_MISMATCH);
	s->policy.fingerprint = IDEM_LIT("none");
	shop_send(s, SHOP_WORK, "k3", "{\"a\":1}");
	assert_ended(s, 201, IDEM_O_CREATED);
	shop_send(s, SHOP_WORK, "k3", "x");
	assert_ended(s, 201, IDEM_O_REPLAYED);
}

/* A forged first call does not keep the real one out. */
static void
other_content_is_another_request(void **state)
{
	struct shop *s = *state;

	s->type = FORM;
	s->policy.key_from = IDEM_LIT("form:txn");
	s->policy.keep = IDEM_LIT("json:/error=0");
	s->script.status = 200;
	s->script.body = IDEM_LIT("{\"error\":-1}");
	post(s, "txn=5&sign=forged");
	assert_ended(s, 200, IDEM_O_RELEASED);
	s->script.body = IDEM_LIT("{\"error\":0}");
	post(s, "txn=5&sign=real");
	assert_ended(s, 200, IDEM_O_CREATED);
	post(s, "txn=5&sign=real");
	assert_ended(s, 200, IDEM_O_REPLAYED);
}

static void
replays_for_people_and_origins(void **state)
{
	struct shop *s = *state;

	s->keep_cors = true;
	s->script.status = 200;
	s->script.fields[0] = "Content-Type";
	s->script.fields[1] = "text/html";
	s->script.fields[2] = "Access-Control-Allow-Origin";
	s->script.fields[3] = "https://a.uz";
	s->more[0] = "HTTP_ORIGIN=https://a.uz";
	s->more[1] = "HTTP_SEC_FETCH_MODE=navigate";
	shop_send(s, SHOP_WORK, "k1", "{}");
	assert_ended(s, 200, IDEM_O_CREATED);
	shop_send(s, SHOP_WORK, "k1", "{}");
	assert_ended(s, 200, IDEM_O_REPLAYED);
	assert_text(shop_field(&s->res, "Cache-Control"), "private, no-cache");
	assert_text(shop_field(&s->res, "Access-Control-Allow-Origin"),
	    "https://a.uz");
	s->more[0] = "HTTP_ORIGIN=https://b.uz";
	s->more[1] = NULL;
	shop_send(s, SHOP_WORK, "k1", "{}");
	assert_text(shop_field(&s->res, "Cache-Control"), "no-store");
	assert_text(shop_field(&s->res, "Access-Control-Allow-Origin"), NULL);
}

static void
a_store_that_is_down_lets_nothing_run(void **state)
{
	struct shop *s = *state;

	s->type = FORM;
	s->policy.key_from = IDEM_LIT("form:nonce");
	s->fault[0] = (struct shop_fault){ IDEM_ESTORE, 0, true, 1 };
	post(s, "nonce=1");
	assert_ended(s, 503, IDEM_O_DOWN);
	assert_problem(s, "store-unavailable");
	assert_int_equal(s->nworked, 0);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, shop_open, shop_close)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(a_double_submit_is_one),
		EACH(what_is_no_key_runs_unprotected),
		EACH(nobody_who_sent_no_key_gets_an_error),
		EACH(no_scope_is_no_key),
		EACH(a_key_may_be_required_of_all),
		EACH(the_first_place_that_is_there_decides),
		EACH(joined_parts_have_lengths),
		EACH(the_same_value_in_two_places_is_two_keys),
		EACH(conditions_choose_requests),
		EACH(conditions_on_a_body_that_did_not_come),
		EACH(without_a_key_the_handler_may_read),
		EACH(conditions_choose_answers),
		EACH(unknown_is_decided_before),
		EACH(what_counts_is_a_setting),
		EACH(other_content_is_another_request),
		EACH(replays_for_people_and_origins),
		EACH(a_store_that_is_down_lets_nothing_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
