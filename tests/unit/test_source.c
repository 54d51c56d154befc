/*
 * test_source.c - places of a request: how settings write them, and what stands
 * there.
 */
#include "tests.h"

#include "idem/json.h"
#include "request/source.h"

static void
places_parse(void **state)
{
	static const struct {
		const char *text;
		enum idem_err err;
		enum source_kind kind;
		const char *name;
	} rows[] = {
		{ "header:Idempotency-Key", IDEM_OK, SOURCE_HEADER,
		    "Idempotency-Key" },
		{ "form:nonce", IDEM_OK, SOURCE_FORM, "nonce" },
		{ "form:order[id]", IDEM_OK, SOURCE_FORM, "order[id]" },
		{ "form:a%2Bb", IDEM_OK, SOURCE_FORM, "a%2Bb" },
		{ "json:/params/id", IDEM_OK, SOURCE_JSON, "/params/id" },
		{ "query:txn", IDEM_OK, SOURCE_QUERY, "txn" },
		{ "cookie:intent", IDEM_OK, SOURCE_COOKIE, "intent" },
		{ "path:1", IDEM_OK, SOURCE_PATH, "1" },
		{ "path:99", IDEM_OK, SOURCE_PATH, "99" },
		{ "", IDEM_ESYNTAX, 0, NULL },
		{ "nonce", IDEM_ESYNTAX, 0, NULL },
		{ "form:", IDEM_ESYNTAX, 0, NULL },
		{ "form:100%", IDEM_ESYNTAX, 0, NULL },
		{ "Form:a", IDEM_ESYNTAX, 0, NULL },
		{ "form:a=b", IDEM_ESYNTAX, 0, NULL },
		{ "form:a%3Db", IDEM_OK, SOURCE_FORM, "a%3Db" },
		{ "json:/a=b", IDEM_ESYNTAX, 0, NULL },
		{ "header:", IDEM_ESYNTAX, 0, NULL },
		{ "header:a b", IDEM_ESYNTAX, 0, NULL },
		{ "header:a:b", IDEM_ESYNTAX, 0, NULL },
		{ "json:a", IDEM_ESYNTAX, 0, NULL },
		{ "json:", IDEM_ESYNTAX, 0, NULL },
		{ "json:/a~", IDEM_ESYNTAX, 0, NULL },
		{ "path:0", IDEM_ESYNTAX, 0, NULL },
		{ "path:100", IDEM_ESYNTAX, 0, NULL },
		{ "path:x", IDEM_ESYNTAX, 0, NULL },
		{ "cookie:", IDEM_ESYNTAX, 0, NULL },
		{ "body:x", IDEM_ESYNTAX, 0, NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct source s;

		assert_int_equal(source_parse(span_of(rows[i].text),
		    SOURCES_ALL, &s), rows[i].err);
		if (rows[i].err != IDEM_OK)
			continue;
		assert_int_equal(s.kind, rows[i].kind);
		assert_text(s.text, rows[i].text);
		assert_text(s.name, rows[i].name);
	}
}

static void
kinds_may_be_left_out(void **state)
{
	struct source s;

	(void)state;
	assert_int_equal(source_parse(IDEM_LIT("path:1"),
	    SOURCES_ALL & ~SOURCE_BIT(SOURCE_PATH), &s), IDEM_ESYNTAX);
	assert_int_equal(source_parse(IDEM_LIT("json:/a"),
	    SOURCE_BIT(SOURCE_JSON), &s), IDEM_OK);
}

static void
lists_are_walked(void **state)
{
	struct idem_span rest = IDEM_LIT("  header:A   form:b+json:/c "), word;
	struct source s;

	(void)state;
	assert_true(source_word(&rest, &word));
	assert_text(word, "header:A");
	assert_true(source_word(&rest, &word));
	assert_text(word, "form:b+json:/c");
	assert_true(source_next(&word, '+', &s));
	assert_text(s.text, "form:b");
	assert_true(source_next(&word, '+', &s));
	assert_text(s.text, "json:/c");
	assert_false(source_next(&word, '+', &s));
	assert_false(source_word(&rest, &word));
	rest = IDEM_ABSENT;
	assert_false(source_next(&rest, ' ', &s));
}

static void
media_types_fit(void **state)
{
	static const struct { const char *type; bool form, json; } rows[] = {
		{ "CONTENT_TYPE=application/x-www-form-urlencoded", true,
		    false },
		{ "CONTENT_TYPE=Application/X-WWW-Form-Urlencoded;charset=x",
		    true, false },
		{ "CONTENT_TYPE=multipart/form-data; boundary=b", true,
		    false },
		{ "CONTENT_TYPE=application/json; charset=utf-8", false,
		    true },
		{ "CONTENT_TYPE=application/vnd.a+json", false, true },
		{ "CONTENT_TYPE=text/json", false, true },
		{ "CONTENT_TYPE=text/plain", false, false },
		{ "CONTENT_TYPE=application/+json", false, true },
		{ "CONTENT_TYPE=image/a+json", false, false },
		{ "CONTENT_TYPE=multipart/mixed", false, false },
		{ "X=y", false, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *vars[] = { rows[i].type, NULL };
		struct idem_request req;
		struct idem_buf scratch;

		idem_buf_init(&scratch, 64);
		assert_int_equal(idem_request_init(&req, vars, &scratch),
		    IDEM_OK);
		assert_int_equal(source_fits(SOURCE_FORM, &req), rows[i].form);
		assert_int_equal(source_fits(SOURCE_JSON, &req), rows[i].json);
		assert_true(source_fits(SOURCE_QUERY, &req));
		idem_buf_free(&scratch);
	}
}

#define FORM "CONTENT_TYPE=application/x-www-form-urlencoded"
#define PARTS "CONTENT_TYPE=multipart/form-data; boundary=B"
#define JSON "CONTENT_TYPE=application/json"
#define PART(name, value) "--B\r\nContent-Disposition: form-data; name=\"" \
	name "\"\r\n\r\n" value "\r\n"

/* found: A(bsent), 1, 2; value is compared unless absent. */
static const struct row {
	const char *place, *var, *body;
	char found;
	const char *value;
} rows[] = {
	{ "header:PayPal-Request-Id", "HTTP_PAYPAL_REQUEST_ID= p-1 ", "", '1',
	    "p-1" },
	{ "header:X-A", "HTTP_X_A=", "", '1', "" },
	{ "header:X-A", "HTTP_X_AB=1", "", 'A', NULL },
	{ "form:a", FORM, "a=1", '1', "1" },
	{ "form:a", FORM, "b=2&a=x+y%21&c", '1', "x y!" },
	{ "form:a", FORM, "a=", '1', "" },
	{ "form:a", FORM, "a", '1', "" },
	{ "form:a", FORM, "a=1&a=1", '2', "1" },
	{ "form:a", FORM, "%61=1", '1', "1" },
	{ "form:a", FORM, "a=%zz%4", '1', "%zz%4" },
	{ "form:a", FORM, "&&a=1=2&", '1', "1=2" },
	{ "form:a", FORM, "A=1&aa=2", 'A', NULL },
	{ "form:a", FORM, "", 'A', NULL },
	{ "form:a[b]", FORM, "a%5Bb%5D=1", '1', "1" },
	{ "form:a%20b", FORM, "a+b=1", '1', "1" },
	{ "form:a+b", FORM, "a%2Bb=1", '1', "1" },
	{ "form:a%3Db", FORM, "a%3Db=1", '1', "1" },
	{ "form:a", JSON, "a=1", 'A', NULL },
	{ "form:a", PARTS, PART("a", "1+1%20") "--B--\r\n", '1', "1+1%20" },
	{ "form:a", PARTS, PART("a", "1") PART("a", "1") "--B--", '2', "1" },
	{ "form:a\"", PARTS, PART("a\\\"", "x") "--B--", '1', "x" },
	{ "form:a", PARTS, PART("b", "1") "--B--", 'A', NULL },
	{ "form:a", PARTS, PART("a", "1"), 'A', NULL },
	{ "form:a", PARTS, "--B\r\nContent-Disposition: form-data; name=\"a\";"
	    " filename=\"f\"\r\n\r\n1\r\n--B--", 'A', NULL },
	{ "json:/id", JSON, "{\"id\":\"o-1\"}", '1', "o-1" },
	{ "json:/id", JSON, "{\"id\":1.50e1}", '1', "15" },
	{ "json:/id", JSON, "{\"id\":null}", 'A', NULL },
	{ "json:/id", JSON, "{\"id\":\"\"}", '1', "" },
	{ "json:/id", JSON, "{\"id\":1,\"id\":1}", 'A', NULL },
	{ "json:/id", JSON, "{\"id\":", 'A', NULL },
	{ "json:/p/id", JSON, "{\"p\":{\"id\":\"\\u0041\"}}", '1', "A" },
	{ "query:t", "REQUEST_URI=/p?t=a%20b+c&u=1", "", '1', "a b c" },
	{ "query:t", "REQUEST_URI=/p?t=1&t=2", "", '2', "1" },
	{ "query:t", "REQUEST_URI=/p", "", 'A', NULL },
	{ "query:t", "REQUEST_URI=/p?t", "", '1', "" },
	{ "cookie:c", "HTTP_COOKIE=a=1; c=2%20", "", '1', "2%20" },
	{ "cookie:c", "HTTP_COOKIE=c=1; c=2", "", '2', "1" },
	{ "cookie:c", "HTTP_COOKIE=a=1", "", 'A', NULL },
	{ "path:1", "REQUEST_URI=/pay/o%2F1/x?q", "", '1', "pay" },
	{ "path:2", "REQUEST_URI=/pay/o%2F1/x?q", "", '1', "o/1" },
	{ "path:3", "REQUEST_URI=/pay/o%2F1/x?q", "", '1', "x" },
	{ "path:4", "REQUEST_URI=/pay/o%2F1/x?q", "", 'A', NULL },
	{ "path:2", "REQUEST_URI=/pay/", "", '1', "" },
	{ "path:1", "REQUEST_URI=http://h/pay", "", '1', "pay" },
};

static void
check_row(const struct row *r, struct idem_json_work *work)
{
	const char *vars[] = { r->var, NULL };
	static const char letters[] = { [SOURCE_ABSENT] = 'A',
		[SOURCE_ONCE] = '1', [SOURCE_TWICE] = '2' };
	struct idem_request req;
	struct idem_buf scratch, canonical, value;
	struct spelled found;
	struct source s;
	char *block, got;

	idem_buf_init(&scratch, 64);
	idem_buf_init(&canonical, 4096);
	idem_buf_init(&value, 4096);
	assert_int_equal(idem_request_init(&req, vars, &scratch), IDEM_OK);
	req.body = exact_copy(span_of(r->body), &block);
	if (idem_json_canonical(work, req.body, &canonical, NULL) != IDEM_OK)
		idem_buf_reset(&canonical);
	assert_int_equal(source_parse(span_of(r->place), SOURCES_ALL, &s),
	    IDEM_OK);
	got = letters[source_find(&s, &req, idem_buf_span(&canonical),
	    &found)];
	if (got != r->found)
		print_error("%s in %s %s\n", r->place, r->var, r->body);
	assert_int_equal(got, r->found);
	if (r->value != NULL) {
		spelled_put(found, &value);
		assert_int_equal(value.n, strlen(r->value));
		assert_true(value.n == 0 ||
		    memcmp(value.p, r->value, value.n) == 0);
	}
	free(block);
	idem_buf_free(&value);
	idem_buf_free(&canonical);
	idem_buf_free(&scratch);
}

static void
values_are_found(void **state)
{
	struct idem_json_work work;

	(void)state;
	idem_json_work_init(&work);
	for (size_t i = 0; i < COUNT(rows); i++)
		check_row(&rows[i], &work);
	idem_json_work_free(&work);
}

static void
a_header_that_came_twice(void **state)
{
	static const char *const vars[] = { "HTTP_X_A=1", "HTTP_X_A=1", NULL };
	struct idem_request req;
	struct idem_buf scratch;
	struct spelled found;
	struct source s;

	(void)state;
	idem_buf_init(&scratch, 64);
	assert_int_equal(idem_request_init(&req, vars, &scratch), IDEM_OK);
	assert_int_equal(source_parse(IDEM_LIT("header:x-a"), SOURCES_ALL, &s),
	    IDEM_OK);
	assert_int_equal(source_find(&s, &req, IDEM_ABSENT, &found),
	    SOURCE_TWICE);
	idem_buf_free(&scratch);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_parse),
		cmocka_unit_test(kinds_may_be_left_out),
		cmocka_unit_test(lists_are_walked),
		cmocka_unit_test(media_types_fit),
		cmocka_unit_test(values_are_found),
		cmocka_unit_test(a_header_that_came_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
