/*
 * test_condition.c - when a request counts as keyed, and an answer as done.
 */
#include "tests.h"

#include "idem/json.h"
#include "request/condition.h"

static void
good_and_bad_conditions(void **state)
{
	static const struct { const char *text; bool when, keep; } rows[] = {
		{ "form:a", true, false },
		{ "form:a=b", true, false },
		{ "form:a=b|c|", true, false },
		{ "form:a= query:b", true, false },
		{ " form:a=Pay%20now   cookie:c ", true, false },
		{ "header:X-A=1 cookie:c query:q=%3D", true, false },
		{ "json:/m=a|b", true, true },
		{ "json:/m", true, true },
		{ "json:/m=", true, true },
		{ "2xx", false, true },
		{ "2xx 3xx 404", false, true },
		{ "1xx 599", false, true },
		{ "location:/thanks*", false, true },
		{ "location:*?order=* json:/ok=true", false, true },
		{ "", false, false },
		{ "  ", false, false },
		{ "path:1=a", false, false },
		{ "form:a=100%", false, false },
		{ "form:", false, false },
		{ "form:=a", false, false },
		{ "form:a and", false, false },
		{ "json:m", false, false },
		{ "6xx", false, false },
		{ "0xx", false, false },
		{ "2x", false, false },
		{ "2XX", false, false },
		{ "20x", false, false },
		{ "2000", false, false },
		{ "location:", false, false },
		{ "location:a\x01", false, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct idem_span text = span_of(rows[i].text);

		assert_int_equal(condition_when_is_good(text), rows[i].when);
		assert_int_equal(condition_keep_is_good(text), rows[i].keep);
	}
}

#define FORM "CONTENT_TYPE=application/x-www-form-urlencoded"
#define JSON "CONTENT_TYPE=application/json"

static const struct when_row {
	const char *when, *vars[4], *body;
	bool reads, holds;
} when_rows[] = {
	{ "form:a", { FORM }, "a=1", true, true },
	{ "form:a", { FORM }, "a=", true, true },
	{ "form:a", { FORM }, "a=1&a=2", true, true },
	{ "form:a", { FORM }, "b=1", true, false },
	{ "form:a", { JSON }, "a=1", false, false },
	{ "form:a=buy|pay", { FORM }, "a=pay", true, true },
	{ "form:a=buy|pay", { FORM }, "a=buy", true, true },
	{ "form:a=buy|pay", { FORM }, "a=buyer", true, false },
	{ "form:a=buy|pay", { FORM }, "a=buy%7Cpay", true, false },
	{ "form:a=buy%7Cpay", { FORM }, "a=buy|pay", true, true },
	{ "form:a=Pay%20now", { FORM }, "a=Pay+now", true, true },
	{ "form:a=buy", { FORM }, "a=buy&a=buy", true, false },
	{ "form:a=", { FORM }, "a=", true, true },
	{ "form:a=", { FORM }, "a=1", true, false },
	{ "form:a=buy", { FORM }, "a=BUY", true, false },
	{ "json:/m=Create|Perform", { JSON }, "{\"m\":\"Perform\"}", true,
	    true },
	{ "json:/m=Create|Perform", { JSON }, "{\"m\":\"Check\"}", true,
	    false },
	{ "json:/n=1", { JSON }, "{\"n\":1.0}", true, true },
	{ "json:/n=true", { JSON }, "{\"n\":true}", true, true },
	{ "json:/n", { JSON }, "{\"n\":null}", true, false },
	{ "json:/n", { JSON }, "{\"n\":", true, false },
	{ "json:/n", { FORM }, "n=1", false, false },
	{ "query:do=pay", { "REQUEST_URI=/p?do=pay" }, "", false, true },
	{ "query:do=pay", { "REQUEST_URI=/p?do=see" }, "", false, false },
	{ "header:X-A=1", { "HTTP_X_A=1" }, "", false, true },
	{ "header:X-A=1", { "HTTP_X_A=2" }, "", false, false },
	{ "cookie:c", { "HTTP_COOKIE=c=1" }, "", false, true },
	{ "cookie:c", { "HTTP_COOKIE=d=1" }, "", false, false },
	/* all of them */
	{ "query:a form:b", { FORM, "REQUEST_URI=/p?a=1" }, "b=1", true,
	    true },
	{ "query:a form:b", { FORM, "REQUEST_URI=/p?a=1" }, "c=1", true,
	    false },
	{ "query:a form:b", { FORM, "REQUEST_URI=/p" }, "b=1", true, false },
};

static void
requests_that_count(void **state)
{
	struct idem_json_work work;

	(void)state;
	idem_json_work_init(&work);
	for (size_t i = 0; i < COUNT(when_rows); i++) {
		const struct when_row *r = &when_rows[i];
		struct idem_span when = span_of(r->when);
		struct idem_buf scratch, canonical;
		struct idem_request req;

		idem_buf_init(&scratch, 64);
		idem_buf_init(&canonical, 4096);
		assert_int_equal(idem_request_init(&req, r->vars, &scratch),
		    IDEM_OK);
		req.body = span_of(r->body);
		if (idem_json_canonical(&work, req.body, &canonical, NULL) !=
		    IDEM_OK)
			idem_buf_reset(&canonical);
		if (condition_when_holds(when, &req, idem_buf_span(
		    &canonical)) != r->holds)
			print_error("%s, %s\n", r->when, r->body);
		assert_int_equal(condition_when_holds(when, &req,
		    idem_buf_span(&canonical)), r->holds);
		assert_int_equal(condition_when_reads_body(when, &req),
		    r->reads);
		idem_buf_free(&canonical);
		idem_buf_free(&scratch);
	}
	idem_json_work_free(&work);
}

static const struct keep_row {
	const char *keep;
	unsigned status;
	const char *location, *json; /* in canonical form */
	bool unseen, holds;
} keep_rows[] = {
	{ "2xx", 200, NULL, NULL, false, true },
	{ "2xx", 299, NULL, NULL, false, true },
	{ "2xx", 303, NULL, NULL, false, false },
	{ "2xx 3xx", 303, NULL, NULL, false, true },
	{ "303", 303, NULL, NULL, false, true },
	{ "303", 302, NULL, NULL, false, false },
	{ "json:/result", 200, NULL, "{\"result\":{\"state\":1}}", false,
	    true },
	{ "json:/result", 200, NULL, "{\"error\":{\"code\":-1}}", false,
	    false },
	{ "json:/result", 200, NULL, "{\"error\":1,\"result\":null}", false,
	    false },
	{ "json:/result", 200, NULL, NULL, false, false },
	{ "json:/error=0", 200, NULL, "{\"error\":0}", false, true },
	{ "json:/error=0", 200, NULL, "{\"error\":-9}", false, false },
	{ "json:/ok=true|yes", 500, NULL, "{\"ok\":\"yes\"}", false, true },
	{ "json:/result", 200, NULL, NULL, true, true },
	{ "json:/result", 404, NULL, NULL, true, false },
	{ "404 json:/result", 404, NULL, NULL, true, true },
	{ "location:/thanks", 302, "/thanks", NULL, false, true },
	{ "location:/thanks", 302, "/thanks?o=1", NULL, false, false },
	{ "location:/thanks*", 302, "/thanks?o=1", NULL, false, true },
	{ "location:/thanks*", 302, "https://shop.uz/thanks?o=1", NULL, false,
	    true },
	{ "location:/thanks*", 302, "https://shop.uz/x/thanks", NULL, false,
	    false },
	{ "location:*/thanks*", 302, "https://shop.uz/x/thanks", NULL, false,
	    true },
	{ "location:https://shop.uz/*", 302, "https://shop.uz/", NULL, false,
	    true },
	{ "location:*a*b", 302, "/xaabbab", NULL, false, true },
	{ "location:*a*b", 302, "/xaabba", NULL, false, false },
	{ "location:*", 302, NULL, NULL, false, false },
	{ "location:**", 302, "", NULL, false, true },
	{ "location:/a", 302, "", NULL, false, false },
	{ "location:/t.php?id=*", 302, "/t.php?id=", NULL, false, true },
};

static void
answers_that_count(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(keep_rows); i++) {
		const struct keep_row *r = &keep_rows[i];
		struct condition_answer a = { r->status, span_of(r->location),
			span_of(r->json), r->unseen };

		assert_true(condition_keep_is_good(span_of(r->keep)));
		if (condition_keep_holds(span_of(r->keep), &a) != r->holds)
			print_error("%s, row %zu\n", r->keep, i);
		assert_int_equal(condition_keep_holds(span_of(r->keep), &a),
		    r->holds);
	}
}

static void
what_a_list_names(void **state)
{
	(void)state;
	assert_true(condition_keep_names(IDEM_LIT("2xx 503"), 503));
	assert_true(condition_keep_names(IDEM_LIT("json:/a 5xx"), 503));
	assert_false(condition_keep_names(IDEM_LIT("2xx 503"), 500));
	assert_false(condition_keep_names(IDEM_LIT("location:*"), 303));
	assert_true(condition_keep_reads_body(IDEM_LIT("2xx json:/a")));
	assert_false(condition_keep_reads_body(IDEM_LIT("2xx location:*")));
	assert_false(condition_keep_reads_body(IDEM_ABSENT));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_and_bad_conditions),
		cmocka_unit_test(requests_that_count),
		cmocka_unit_test(answers_that_count),
		cmocka_unit_test(what_a_list_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
