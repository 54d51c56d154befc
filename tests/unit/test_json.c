/*
 * test_json.c - the canonical form of JSON: published rows, structure, and the
 * call itself.
 */
#include "canon.h"

#include "base/text.h"
#include "json_slow.h"
#include "rows.h"

static void
vectors_hold(void **state)
{
	struct rows rows;
	struct row row;
	size_t n = 0, at;

	(void)state;
	rows_open(&rows, "tests/vectors/json_canonical.tsv");
	for (; rows_next(&rows, &row); n++) {
		struct idem_span want = row.cell[1];
		enum idem_err err = IDEM_OK;
		struct idem_buf out;

		assert_int_equal(row.ncells, 2);
		if (span_eq(want, IDEM_LIT("INEXACT")))
			err = IDEM_EINEXACT;
		else if (span_eq(want, IDEM_LIT("INVALID")))
			err = IDEM_ESYNTAX;
		if (err == IDEM_OK) {
			assert_form(row.cell[0], want);
			continue;
		}
		if (canon_of(row.cell[0], &out, &at) != err)
			fail_msg("line %u", row.line);
		assert_int_equal(out.n, 0);
		idem_buf_free(&out);
	}
	assert_true(n > 50);
	rows_close(&rows);
}

static void
structure(void **state)
{
	static const struct example rows[] = {
		{ L("[]"), OK, L("[]") },
		{ L(" { } "), OK, L("{}") },
		{ L("\t\n\r [\t1\n,\r2 ]\n"), OK, L("[1,2]") },
		{ L("{\"a\" : [ { } , [ ] ] }"), OK, L("{\"a\":[{},[]]}") },
		{ L("[true,false,null]"), OK, L("[true,false,null]") },
		{ L("false"), OK, L("false") },
		{ L(""), BAD(0), NONE },
		{ L("  "), BAD(2), NONE },
		{ L("\xef\xbb\xbf{}"), BAD(0), NONE },
		{ L("{}\xef\xbb\xbf"), BAD(2), NONE },
		{ L("\0"), BAD(0), NONE },
		{ L("1\0"), BAD(1), NONE },
		{ L("\f1"), BAD(0), NONE },
		{ L("\xc2\xa0" "1"), BAD(0), NONE },
		{ L("["), BAD(1), NONE },
		{ L("]"), BAD(0), NONE },
		{ L("[1"), BAD(2), NONE },
		{ L("[1,"), BAD(3), NONE },
		{ L("[1,]"), BAD(3), NONE },
		{ L("[,1]"), BAD(1), NONE },
		{ L("[1 2]"), BAD(3), NONE },
		{ L("[1}"), BAD(2), NONE },
		{ L("[1]]"), BAD(3), NONE },
		{ L("[1:2]"), BAD(2), NONE },
		{ L("{"), BAD(1), NONE },
		{ L("{,}"), BAD(1), NONE },
		{ L("{1:2}"), BAD(1), NONE },
		{ L("{a:1}"), BAD(1), NONE },
		{ L("{null:1}"), BAD(1), NONE },
		{ L("{\"a\""), BAD(4), NONE },
		{ L("{\"a\"}"), BAD(4), NONE },
		{ L("{\"a\",1}"), BAD(4), NONE },
		{ L("{\"a\"::1}"), BAD(5), NONE },
		{ L("{\"a\":"), BAD(5), NONE },
		{ L("{\"a\":}"), BAD(5), NONE },
		{ L("{\"a\":1"), BAD(6), NONE },
		{ L("{\"a\":1]"), BAD(6), NONE },
		{ L("{\"a\":1,"), BAD(7), NONE },
		{ L("{\"a\":1,}"), BAD(7), NONE },
		{ L("{\"a\":1 \"b\":2}"), BAD(7), NONE },
		{ L("{} {}"), BAD(3), NONE },
		{ L("1 2"), BAD(2), NONE },
		{ L("/**/1"), BAD(0), NONE },
		{ L("[1]//"), BAD(3), NONE },
		{ L("True"), BAD(0), NONE },
		{ L("tRue"), BAD(1), NONE },
		{ L("tru"), BAD(3), NONE },
		{ L("trux"), BAD(3), NONE },
		{ L("truetrue"), BAD(4), NONE },
		{ L("falsy     "), BAD(4), NONE },
		{ L("nul"), BAD(3), NONE },
		{ L("nulll"), BAD(4), NONE },
		{ L("undefined"), BAD(0), NONE },
		{ L("'a'"), BAD(0), NONE },
	};

	(void)state;
	assert_examples(rows, COUNT(rows));
}

static void
output_is_appended_or_left_alone(void **state)
{
	struct idem_json_work work;
	struct idem_buf out;
	size_t at = 77;

	(void)state;
	idem_json_work_init(&work);
	idem_buf_init(&out, 100);
	idem_buf_puts(&out, IDEM_LIT("before "));
	assert_int_equal(idem_json_canonical(&work, IDEM_LIT("[2, 1]"), &out,
	    NULL), IDEM_OK);
	assert_span(idem_buf_span(&out), IDEM_LIT("before [2,1]"));
	assert_int_equal(idem_json_canonical(&work,
	    IDEM_LIT("{\"b\":1,\"a\":2}"), &out, &at), IDEM_OK);
	assert_span(idem_buf_span(&out),
	    IDEM_LIT("before [2,1]{\"a\":2,\"b\":1}"));
	assert_int_equal(at, 77);
	assert_int_equal(idem_json_canonical(&work, IDEM_LIT("[1,x]"), &out,
	    NULL), IDEM_ESYNTAX);
	assert_int_equal(idem_json_canonical(&work, IDEM_LIT("\"\\ud800\""),
	    &out, NULL), IDEM_EINEXACT);
	assert_int_equal(idem_json_canonical(&work, IDEM_ABSENT, &out, &at),
	    IDEM_ESYNTAX);
	assert_int_equal(at, 0);
	assert_span(idem_buf_span(&out),
	    IDEM_LIT("before [2,1]{\"a\":2,\"b\":1}"));
	idem_buf_free(&out);
	idem_json_work_free(&work);
}

static void
ceiling_of_the_output(void **state)
{
	struct idem_json_work work;
	struct idem_buf text, out;
	struct idem_span s;

	(void)state;
	idem_json_work_init(&work);
	idem_buf_init(&text, 1 << 16);
	idem_buf_puts(&text, IDEM_LIT("[-1e20"));
	for (int i = 0; i < 1000; i++)
		idem_buf_puts(&text, IDEM_LIT(",1e20"));
	idem_buf_putc(&text, ']');
	s = idem_buf_span(&text);
	idem_buf_init(&out, IDEM_JSON_ROOM(s.n));
	assert_int_equal(idem_json_canonical(&work, s, &out, NULL), IDEM_OK);
	assert_int_equal(out.n, 24 + 1000 * 22);
	idem_buf_free(&out);
	idem_buf_init(&out, 24 + 1000 * 22 - 1);
	idem_buf_putc(&out, 'x');
	assert_int_equal(idem_json_canonical(&work, s, &out, NULL),
	    IDEM_ETOOBIG);
	assert_span(idem_buf_span(&out), IDEM_LIT("x"));
	assert_int_equal(idem_json_canonical(&work, IDEM_LIT("1"), &out, NULL),
	    IDEM_ETOOBIG); /* sticks */
	idem_buf_free(&out);
	idem_buf_free(&text);
	idem_json_work_free(&work);
}

/* The second time the same text needs no memory that the first did not. */
static void
work_is_used_again(void **state)
{
	struct idem_json_work work;
	struct idem_buf text, out;
	struct idem_buf members, moved;

	(void)state;
	idem_json_work_init(&work);
	idem_buf_init(&text, 1 << 20);
	idem_buf_init(&out, 1 << 20);
	canon_put_reversed(&text, 1000, "n");
	assert_int_equal(idem_json_canonical(&work, idem_buf_span(&text), &out,
	    NULL), IDEM_OK);
	members = work.members;
	moved = work.moved;
	for (int i = 0; i < 3; i++) {
		idem_buf_reset(&out);
		assert_int_equal(idem_json_canonical(&work,
		    idem_buf_span(&text), &out, NULL), IDEM_OK);
		assert_ptr_equal(work.members.p, members.p);
		assert_int_equal(work.members.cap, members.cap);
		assert_ptr_equal(work.moved.p, moved.p);
		assert_int_equal(work.moved.cap, moved.cap);
	}
	idem_buf_free(&text);
	idem_buf_free(&out);
	idem_json_work_free(&work);
}

static void
assert_as_slow(struct idem_span text)
{
	struct idem_buf out, want;
	size_t at = 0, want_at = 0;
	enum idem_err want_err;

	idem_buf_init(&want, 1 << 20);
	want_err = json_slow(text, &want, &want_at);
	if (canon_of(text, &out, &at) != want_err || at != want_at)
		fail_msg("%.*s: %s at %zu is what slow says", IDEM_FMT(text),
		    idem_strerror(want_err), want_at);
	assert_span(idem_buf_span(&out), idem_buf_span(&want));
	idem_buf_free(&want);
	idem_buf_free(&out);
}

/* All that any text of the vectors begins with. */
static void
prefixes_are_as_slow_says(void **state)
{
	struct rows rows;
	struct row row;
	size_t n = 0;

	(void)state;
	rows_open(&rows, "tests/vectors/json_canonical.tsv");
	while (rows_next(&rows, &row))
		for (size_t i = 0; i <= row.cell[0].n; i++, n++)
			assert_as_slow(span_first(row.cell[0], i));
	assert_true(n > 1000);
	rows_close(&rows);
}

static void
strings_are_written(void **state)
{
	static const struct {
		struct idem_span text, want;
	} rows[] = {
		{ L(""), L("\"\"") },
		{ L("plain"), L("\"plain\"") },
		{ L("\""), L("\"\\\"\"") },
		{ L("a\\b\"c"), L("\"a\\\\b\\\"c\"") },
		{ L("\b\t\n\f\r"), L("\"\\b\\t\\n\\f\\r\"") },
		{ L("\0\x01\x0b\x1f \x7f/"),
		    L("\"\\u0000\\u0001\\u000b\\u001f \x7f/\"") },
		{ L("\xc3\xa9\xf0\x9f\x98\x80"),
		    L("\"\xc3\xa9\xf0\x9f\x98\x80\"") },
	};
	struct idem_buf out;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		idem_buf_init(&out, 100);
		idem_json_string(&out, rows[i].text);
		assert_span(idem_buf_span(&out), rows[i].want);
		assert_form(rows[i].want, rows[i].want);
		idem_buf_free(&out);
	}
	idem_buf_init(&out, 4);
	idem_json_string(&out, IDEM_LIT("abc"));
	assert_int_equal(idem_buf_err(&out), IDEM_ETOOBIG);
	idem_buf_free(&out);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors_hold),
		cmocka_unit_test(structure),
		cmocka_unit_test(output_is_appended_or_left_alone),
		cmocka_unit_test(ceiling_of_the_output),
		cmocka_unit_test(work_is_used_again),
		cmocka_unit_test(prefixes_are_as_slow_says),
		cmocka_unit_test(strings_are_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
