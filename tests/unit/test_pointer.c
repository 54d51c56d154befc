/*
 * test_pointer.c - JSON Pointer over canonical text: what is found, what it is
 * as text, and what stays when it is cut out.
 */
#include "tests.h"

#include "idem/json.h"
#include "request/pointer.h"

static void
good_pointers(void **state)
{
	static const struct { const char *text; bool good; } rows[] = {
		{ "/a", true }, { "/", true }, { "/a/b/0", true },
		{ "/a~0b~1c", true }, { "/a%20b", true }, { "/%7E1", true },
		{ "", false }, { "a", false }, { "/a~", false },
		{ "/a~2", false }, { "/a b", false }, { "/50%", false },
		{ "/%g0", false }, { "/a\nb", false }, { "/a\x7f", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(pointer_is_good(span_of(rows[i].text)),
		    rows[i].good);
}

/* The text is made canonical first; value NULL: nothing is found. */
static const struct row {
	const char *json, *pointer;
	const char *value; /* its canonical form */
	const char *text;  /* what it is as text; NULL: null */
	const char *cut;   /* what stays */
} rows[] = {
	{ "{\"a\":1}", "/a", "1", "1", "{}" },
	{ "{\"a\":\"x\",\"b\":2}", "/a", "\"x\"", "x", "{\"b\":2}" },
	{ "{\"a\":\"x\",\"b\":2}", "/b", "2", "2", "{\"a\":\"x\"}" },
	{ "{\"a\":1,\"b\":2,\"c\":3}", "/b", "2", "2",
	    "{\"a\":1,\"c\":3}" },
	{ "{\"p\":{\"id\":12.50,\"x\":[]}}", "/p/id", "12.5", "12.5",
	    "{\"p\":{\"x\":[]}}" },
	{ "{\"p\":{\"id\":7}}", "/p", "{\"id\":7}", "{\"id\":7}", "{}" },
	{ "[10,20,30]", "/0", "10", "10", "[null,20,30]" },
	{ "[10,20,30]", "/2", "30", "30", "[10,20,null]" },
	{ "{\"a\":[{\"b\":\"}]\"},1]}", "/a/1", "1", "1",
	    "{\"a\":[{\"b\":\"}]\"},null]}" },
	{ "{\"a\":[{\"b\":\"}]\"},1]}", "/a/0/b", "\"}]\"", "}]",
	    "{\"a\":[{},1]}" },
	{ "{\"\":5}", "/", "5", "5", "{}" },
	{ "{\"\":{\"\":6}}", "//", "6", "6", "{\"\":{}}" },
	{ "{\"a/b\":1,\"m~n\":2}", "/a~1b", "1", "1", "{\"m~n\":2}" },
	{ "{\"a/b\":1,\"m~n\":2}", "/m~0n", "2", "2", "{\"a/b\":1}" },
	{ "{\"~1\":3}", "/~01", "3", "3", "{}" },
	{ "{\"a b\":1}", "/a%20b", "1", "1", "{}" },
	{ "{\"a%b\":1}", "/a%25b", "1", "1", "{}" },
	{ "{\"a\\\"b\":1,\"c\\\\\":2}", "/a\"b", "1", "1",
	    "{\"c\\\\\":2}" },
	{ "{\"a\\\"b\":1,\"c\\\\\":2}", "/c\\", "2", "2",
	    "{\"a\\\"b\":1}" },
	{ "{\"a\\u0001\":1}", "/a%01", "1", "1", "{}" },
	{ "{\"summa\\u00e9\":1}", "/summa\xc3\xa9", "1", "1", "{}" },
	{ "{\"a\":\"q\\\"w\\\\e\\n\\u0007\\u00e9\"}", "/a",
	    "\"q\\\"w\\\\e\\n\\u0007\xc3\xa9\"", "q\"w\\e\n\a\xc3\xa9", "{}" },
	{ "{\"a\":null}", "/a", "null", NULL, "{}" },
	{ "{\"a\":true}", "/a", "true", "true", "{}" },
	{ "{\"a\":\"\"}", "/a", "\"\"", "", "{}" },
	{ "{\"a\":\"null\"}", "/a", "\"null\"", "null", "{}" },
	{ "{\"0\":\"o\"}", "/0", "\"o\"", "o", "{}" },
	/* not there */
	{ "{\"a\":1}", "/b", NULL, NULL, NULL },
	{ "{\"a\":1}", "/a/b", NULL, NULL, NULL },
	{ "{\"a\":\"{}\"}", "/a/b", NULL, NULL, NULL },
	{ "{\"ab\":1}", "/a", NULL, NULL, NULL },
	{ "{\"a\":1}", "/ab", NULL, NULL, NULL },
	{ "{\"A\":1}", "/a", NULL, NULL, NULL },
	{ "{}", "/a", NULL, NULL, NULL },
	{ "{}", "/", NULL, NULL, NULL },
	{ "[]", "/0", NULL, NULL, NULL },
	{ "[1]", "/1", NULL, NULL, NULL },
	{ "[1,2]", "/01", NULL, NULL, NULL },
	{ "[1,2]", "/-", NULL, NULL, NULL },
	{ "[1,2]", "/", NULL, NULL, NULL },
	{ "[1,2]", "/4294967296", NULL, NULL, NULL },
	{ "5", "/0", NULL, NULL, NULL },
	{ "\"a\"", "/0", NULL, NULL, NULL },
	{ "null", "/a", NULL, NULL, NULL },
};

static void
check_row(const struct row *r, struct idem_span json, struct idem_buf *out)
{
	struct pointer_value at;
	struct spelled text;

	if (r->value == NULL) {
		assert_false(pointer_find(json, span_of(r->pointer), &at));
		return;
	}
	assert_true(pointer_find(json, span_of(r->pointer), &at));
	assert_text(at.text, r->value);
	text = pointer_text(at.text);
	assert_int_equal(text.s.p == NULL, r->text == NULL);
	idem_buf_reset(out);
	spelled_put(text, out);
	if (r->text != NULL) {
		idem_buf_putc(out, '.'); /* so that empty is not absent */
		assert_int_equal(out->n, strlen(r->text) + 1);
		assert_memory_equal(out->p, r->text, out->n - 1);
	}
	idem_buf_reset(out);
	pointer_cut(json, &at, out);
	assert_text(idem_buf_span(out), r->cut);
}

static void
values_are_found(void **state)
{
	struct idem_json_work work;
	struct idem_buf canonical, out;

	(void)state;
	idem_json_work_init(&work);
	idem_buf_init(&canonical, 4096);
	idem_buf_init(&out, 4096);
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *block;
		struct idem_span json;

		idem_buf_reset(&canonical);
		assert_int_equal(idem_json_canonical(&work,
		    span_of(rows[i].json), &canonical, NULL), IDEM_OK);
		json = exact_copy(idem_buf_span(&canonical), &block);
		check_row(&rows[i], json, &out);
		free(block);
	}
	idem_buf_free(&out);
	idem_buf_free(&canonical);
	idem_json_work_free(&work);
}

static void
no_text_has_no_values(void **state)
{
	struct pointer_value at;

	(void)state;
	assert_false(pointer_find(IDEM_ABSENT, IDEM_LIT("/a"), &at));
	assert_false(pointer_find(IDEM_LIT(""), IDEM_LIT("/"), &at));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_pointers),
		cmocka_unit_test(values_are_found),
		cmocka_unit_test(no_text_has_no_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
