/*
 * test_key_place.c - IDEM_KEY_FROM: what a word finds in a request.
 */
#include "tests.h"

#include "request/key_place.h"

static void
settings_are_checked(void **state)
{
	static const struct { const char *text; bool good; } rows[] = {
		{ "header:Idempotency-Key", true },
		{ "header:PayPal-Request-Id header:Idempotency-Key", true },
		{ "form:click_trans_id+form:action", true },
		{ "json:/method+json:/params/id", true },
		{ "  cookie:a  path:2+query:b ", true },
		{ "form:a%2Bb", true },
		{ "", false }, { " ", false }, { "a", false },
		{ "form:a+b", false }, { "form:a+", false },
		{ "+form:a", false }, { "form:a form:", false },
		{ "header:Idempotency-Key,header:X", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(key_place_is_good(span_of(rows[i].text)),
		    rows[i].good);
}

static void
who_promises(void **state)
{
	(void)state;
	assert_true(key_place_is_promise(IDEM_LIT("header:X")));
	assert_true(key_place_is_promise(IDEM_LIT("header:X+header:Y")));
	assert_false(key_place_is_promise(IDEM_LIT("header:X+form:Y")));
	assert_false(key_place_is_promise(IDEM_LIT("cookie:X")));
}

#define FORM "CONTENT_TYPE=application/x-www-form-urlencoded"
#define X64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define X256 X64 X64 X64 X64

/* found: A(bsent), F(ound), U(nusable); parts with their lengths. */
static const struct row {
	const char *word, *vars[4], *body;
	char found;
	struct idem_span parts;
} rows[] = {
	/* promises: the grammar of a key */
	{ "header:Idempotency-Key", { "HTTP_IDEMPOTENCY_KEY=\"k 1\"" }, "",
	    'F', IDEM_LIT_INIT("\0\0\0\3k 1") },
	{ "header:idempotency-key", { "HTTP_IDEMPOTENCY_KEY= k1" }, "",
	    'F', IDEM_LIT_INIT("\0\0\0\2k1") },
	{ "header:Idempotency-Key", { "HTTP_X=1" }, "", 'A', { NULL, 0 } },
	{ "header:Idempotency-Key", { "HTTP_IDEMPOTENCY_KEY=" }, "", 'U',
	    { NULL, 0 } },
	{ "header:Idempotency-Key", { "HTTP_IDEMPOTENCY_KEY=a, b" }, "", 'U',
	    { NULL, 0 } },
	{ "header:Idempotency-Key", { "HTTP_IDEMPOTENCY_KEY=a",
	    "HTTP_IDEMPOTENCY_KEY=a" }, "", 'U', { NULL, 0 } },
	{ "header:PayPal-Request-Id", { "HTTP_PAYPAL_REQUEST_ID=p1" }, "",
	    'F', IDEM_LIT_INIT("\0\0\0\2p1") },
	{ "header:PayPal-Request-Id", { "HTTP_PAYPAL_REQUEST_ID=p 1" }, "",
	    'U', { NULL, 0 } },
	{ "header:PayPal-Request-Id", { "HTTP_PAYPAL_REQUEST_ID=p",
	    "HTTP_PAYPAL_REQUEST_ID=p" }, "", 'U', { NULL, 0 } },
	{ "header:A+header:B", { "HTTP_A=1", "HTTP_B=23" }, "", 'F',
	    IDEM_LIT_INIT("\0\0\0\0011\0\0\0\00223") },
	{ "header:A+header:B", { "HTTP_A=1" }, "", 'A', { NULL, 0 } },
	{ "header:A+header:B", { "HTTP_A=1 1", "HTTP_B=2" }, "", 'U',
	    { NULL, 0 } },
	{ "header:Idempotency-Key", { "HTTP_IDEMPOTENCY_KEY=" X256 }, "", 'U',
	    { NULL, 0 } },
	/* what the application happens to send: any bytes */
	{ "form:n", { FORM }, "n=%00%FF+,%22&x=1", 'F',
	    IDEM_LIT_INIT("\0\0\0\5\0\xff ,\"") },
	{ "form:n", { FORM }, "n=", 'U', { NULL, 0 } },
	{ "form:n", { FORM }, "n=1&n=1", 'U', { NULL, 0 } },
	{ "form:n", { FORM }, "m=1", 'A', { NULL, 0 } },
	{ "form:n", { "CONTENT_TYPE=text/plain" }, "n=1", 'A', { NULL, 0 } },
	{ "form:a+form:b", { FORM }, "b=22&a=1", 'F',
	    IDEM_LIT_INIT("\0\0\0\0011\0\0\0\00222") },
	{ "form:a+form:b", { FORM }, "a=1", 'A', { NULL, 0 } },
	{ "form:a+form:b", { FORM }, "a=1&b=", 'U', { NULL, 0 } },
	{ "header:X-A+query:b", { "HTTP_X_A= any, thing ",
	    "REQUEST_URI=/?b=1" }, "", 'F',
	    IDEM_LIT_INIT("\0\0\0\012any, thing\0\0\0\0011") },
	{ "cookie:c", { "HTTP_COOKIE=c=1; c=2" }, "", 'U', { NULL, 0 } },
	{ "path:2", { "REQUEST_URI=/a/%20/c" }, "", 'F',
	    IDEM_LIT_INIT("\0\0\0\1 ") },
};

static void
words_are_tried(void **state)
{
	static const char letters[] = { [KEY_PLACE_ABSENT] = 'A',
		[KEY_PLACE_FOUND] = 'F', [KEY_PLACE_UNUSABLE] = 'U' };
	struct idem_buf scratch, parts;

	(void)state;
	idem_buf_init(&scratch, 64);
	idem_buf_init(&parts, 65536);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct idem_span word = span_of(rows[i].word);
		enum key_place_found found;
		struct idem_request req;

		assert_int_equal(idem_request_init(&req, rows[i].vars,
		    &scratch), IDEM_OK);
		req.body = span_of(rows[i].body);
		found = key_place_is_promise(word) ?
		    key_place_promise(word, &req, &parts) :
		    key_place_value(word, &req, IDEM_ABSENT, &parts);
		if (letters[found] != rows[i].found)
			print_error("row %zu: %s\n", i, rows[i].word);
		assert_int_equal(letters[found], rows[i].found);
		if (found == KEY_PLACE_FOUND)
			assert_span(idem_buf_span(&parts), rows[i].parts);
	}
	idem_buf_free(&parts);
	idem_buf_free(&scratch);
}

static void
values_have_a_limit(void **state)
{
	static const char *const vars[] = { FORM, NULL };
	struct idem_buf scratch, parts;
	struct idem_request req;
	char body[2 + 4097];

	(void)state;
	idem_buf_init(&scratch, 64);
	idem_buf_init(&parts, 65536);
	assert_int_equal(idem_request_init(&req, vars, &scratch), IDEM_OK);
	memset(body, 'x', sizeof body);
	memcpy(body, "n=", 2);
	req.body = (struct idem_span){ body, 2 + 4096 };
	assert_int_equal(key_place_value(IDEM_LIT("form:n"), &req,
	    IDEM_ABSENT, &parts), KEY_PLACE_FOUND);
	assert_int_equal(parts.n, 4 + 4096);
	assert_memory_equal(parts.p, "\0\0\x10\0", 4);
	assert_memory_equal(parts.p + 4, body + 2, 4096);
	req.body.n++;
	assert_int_equal(key_place_value(IDEM_LIT("form:n"), &req,
	    IDEM_ABSENT, &parts), KEY_PLACE_UNUSABLE);
	idem_buf_free(&parts);
	idem_buf_free(&scratch);
}

static void
json_values(void **state)
{
	static const char *const vars[] = { "CONTENT_TYPE=application/json",
		NULL };
	struct idem_span json = IDEM_LIT("{\"id\":1.5,\"m\":\"a\\nb\","
	    "\"n\":null}");
	struct idem_buf scratch, parts;
	struct idem_request req;

	(void)state;
	idem_buf_init(&scratch, 64);
	idem_buf_init(&parts, 64);
	assert_int_equal(idem_request_init(&req, vars, &scratch), IDEM_OK);
	assert_int_equal(key_place_value(IDEM_LIT("json:/m+json:/id"), &req,
	    json, &parts), KEY_PLACE_FOUND);
	assert_span(idem_buf_span(&parts),
	    IDEM_LIT("\0\0\0\3a\nb\0\0\0\0031.5"));
	assert_int_equal(key_place_value(IDEM_LIT("json:/n"), &req, json,
	    &parts), KEY_PLACE_ABSENT);
	assert_int_equal(key_place_value(IDEM_LIT("json:/id"), &req,
	    IDEM_ABSENT, &parts), KEY_PLACE_ABSENT);
	idem_buf_free(&parts);
	idem_buf_free(&scratch);
}

static void
bodies_that_fit(void **state)
{
	static const char *const vars[] = { FORM, NULL };
	struct idem_request req;
	struct idem_buf scratch;

	(void)state;
	idem_buf_init(&scratch, 64);
	assert_int_equal(idem_request_init(&req, vars, &scratch), IDEM_OK);
	assert_true(key_place_fits(IDEM_LIT("query:a+form:b"),
	    SOURCES_IN_BODY, &req));
	assert_false(key_place_fits(IDEM_LIT("query:a+json:/b"),
	    SOURCES_IN_BODY, &req));
	assert_false(key_place_fits(IDEM_LIT("header:a"), SOURCES_IN_BODY,
	    &req));
	idem_buf_free(&scratch);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_are_checked),
		cmocka_unit_test(who_promises),
		cmocka_unit_test(words_are_tried),
		cmocka_unit_test(values_have_a_limit),
		cmocka_unit_test(json_values),
		cmocka_unit_test(bodies_that_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
