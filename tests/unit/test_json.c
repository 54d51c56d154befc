/*
 * test_json.c - the canonical form of JSON, row by row.
 */
#include "tests.h"

#include "base/text.h"
#include "idem/json.h"
#include "json_slow.h"
#include "rows.h"

#define L(s) IDEM_LIT_INIT(s)
#define OK IDEM_OK, 0
#define BAD(at) IDEM_ESYNTAX, at
#define INEXACT(at) IDEM_EINEXACT, at
#define NONE L("")

struct example {
	struct idem_span text;
	enum idem_err err;
	size_t at;
	struct idem_span canonical;
};

/*
 * Both texts stand in blocks without a byte to spare, so that the sanitizer
 * sees what is read or written too far; what needs more room gets it.
 */
static enum idem_err
canonical(struct idem_span text, struct idem_buf *out, size_t *at)
{
	struct idem_json_work work;
	enum idem_err err;
	char *block;

	text = exact_copy(text, &block);
	idem_json_work_init(&work);
	idem_buf_init(out, text.n + 16);
	err = idem_json_canonical(&work, text, out, at);
	if (err == IDEM_ETOOBIG) {
		idem_buf_free(out);
		idem_buf_init(out, IDEM_JSON_ROOM(text.n));
		err = idem_json_canonical(&work, text, out, at);
	}
	idem_json_work_free(&work);
	free(block);
	return err;
}

static void
assert_canonical(struct idem_span text, enum idem_err want, size_t want_at,
    struct idem_span form)
{
	struct idem_buf out;
	size_t at = 0;
	enum idem_err err = canonical(text, &out, &at);

	if (err != want || at != want_at)
		fail_msg("%.*s: %s at %zu, not %s at %zu", IDEM_FMT(text),
		    idem_strerror(err), at, idem_strerror(want), want_at);
	assert_span(idem_buf_span(&out), form);
	idem_buf_free(&out);
}

/* What is canonical stays as it is. */
static void
assert_form(struct idem_span text, struct idem_span form)
{
	assert_canonical(text, IDEM_OK, 0, form);
	assert_canonical(form, IDEM_OK, 0, form);
}

static void
assert_examples(const struct example *e, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (e[i].err == IDEM_OK)
			assert_form(e[i].text, e[i].canonical);
		else
			assert_canonical(e[i].text, e[i].err, e[i].at,
			    IDEM_LIT(""));
}

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
		if (canonical(row.cell[0], &out, &at) != err)
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
escapes(void **state)
{
	static const struct example rows[] = {
		{ L("\"\""), OK, L("\"\"") },
		{ L("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), OK,
		    L("\"\\\"\\\\/\\b\\f\\n\\r\\t\"") },
		{ L("\"\\u0022\\u005C\\u002f\\u0008\\u000C\\u000a\\u000D"
		    "\\u0009\""), OK, L("\"\\\"\\\\/\\b\\f\\n\\r\\t\"") },
		{ L("\"\\u0000\\u0001\\u0007\\u000b\\u000E\\u0019\\u001F\""),
		    OK, L("\"\\u0000\\u0001\\u0007\\u000b\\u000e\\u0019"
		    "\\u001f\"") },
		{ L("\"\\u0020\\u007e\\u007F\""), OK, L("\" ~\x7f\"") },
		{ L("\"\\u0080\\u07ff\\u0800\\uFFFF\""), OK,
		    L("\"\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\"") },
		{ L("\"\\u00e9\\u00E9\\u2028\""), OK,
		    L("\"\xc3\xa9\xc3\xa9\xe2\x80\xa8\"") },
		{ L("\"\\ud800\\udc00\\udbff\\udfff\\uD83D\\uDE00\""), OK,
		    L("\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\xf0\x9f\x98\x80\"") },
		{ L("\"\\ud7ff\\ue000\""), OK,
		    L("\"\xed\x9f\xbf\xee\x80\x80\"") },
		{ L("\"\x7f\""), OK, L("\"\x7f\"") },
		{ L("\"a long plain text of more than one chunk\\n\""), OK,
		    L("\"a long plain text of more than one chunk\\n\"") },
		{ L("\"\\"), BAD(2), NONE },
		{ L("\"\\x41\""), BAD(2), NONE },
		{ L("\"\\U0041\""), BAD(2), NONE },
		{ L("\"\\'\""), BAD(2), NONE },
		{ L("\"\\0\""), BAD(2), NONE },
		{ L("\"\\\n\""), BAD(2), NONE },
		{ L("\"\\\0\""), BAD(2), NONE },
		{ L("\"\\\xc3\xa9\""), BAD(2), NONE },
		{ L("\"\\u"), BAD(3), NONE },
		{ L("\"\\u12"), BAD(5), NONE },
		{ L("\"\\u12\""), BAD(5), NONE },
		{ L("\"\\u123g\""), BAD(6), NONE },
		{ L("\"\\u-123\""), BAD(3), NONE },
		{ L("\"\\u 123\""), BAD(3), NONE },
		{ L("\"\\ud800\\u12\""), BAD(11), NONE },
		{ L("\"\\u0041\\x\""), BAD(8), NONE },
		{ L("\"abc"), BAD(4), NONE },
		{ L("\"a\nb\""), BAD(2), NONE },
		{ L("\"a\tb\""), BAD(2), NONE },
		{ L("\"\0\""), BAD(1), NONE },
		{ L("\"\x1f\""), BAD(1), NONE },
		{ L("\"0123456789abcdef\x01\""), BAD(17), NONE },
		{ L("\"0123456789abcde\x01\""), BAD(16), NONE },
	};

	(void)state;
	assert_examples(rows, COUNT(rows));
}

static void
lone_surrogates_are_inexact(void **state)
{
	static const struct example rows[] = {
		{ L("\"\\ud800\""), INEXACT(1), NONE },
		{ L("\"\\udbff\""), INEXACT(1), NONE },
		{ L("\"\\udc00\""), INEXACT(1), NONE },
		{ L("\"\\udfff\""), INEXACT(1), NONE },
		{ L("\"ab\\uDC00\\uD800\""), INEXACT(3), NONE },
		{ L("\"\\ud800\\ud800\\udc00\""), INEXACT(1), NONE },
		{ L("\"\\ud800\\udc00\\udc00\""), INEXACT(13), NONE },
		{ L("\"\\ud800\\u0041\""), INEXACT(1), NONE },
		{ L("\"\\ud800\\n\""), INEXACT(1), NONE },
		{ L("\"\\ud800\xf0\x90\x80\x80\""), INEXACT(1), NONE },
		{ L("\"\\ud800\xed\x9f\xbf\""), INEXACT(1), NONE },
		{ L("{\"\\ud800\":1}"), INEXACT(2), NONE },
		{ L("{\"\\ud800\":1,\"\\ud801\":2}"), INEXACT(2), NONE },
		{ L("{\"\\ufffd\":1,\"\\ud800\":2}"), INEXACT(13), NONE },
		{ L("\"\\ud800\" x"), BAD(9), NONE },
	};

	(void)state;
	assert_examples(rows, COUNT(rows));
}

/* RFC 3629 4.  The offset is that of the first byte which nothing before it
 * allows.  Every row is also tried across the border of a chunk. */
static void
utf8_is_checked(void **state)
{
	static const struct {
		struct idem_span bytes;
		size_t broken; /* == bytes.n + 1: good */
	} rows[] = {
		{ L("\xc2\x80"), 3 }, { L("\xdf\xbf"), 3 },
		{ L("\xe0\xa0\x80"), 4 }, { L("\xe0\xbf\xbf"), 4 },
		{ L("\xe1\x80\x80"), 4 }, { L("\xec\xbf\xbf"), 4 },
		{ L("\xed\x80\x80"), 4 }, { L("\xed\x9f\xbf"), 4 },
		{ L("\xee\x80\x80"), 4 }, { L("\xef\xbf\xbf"), 4 },
		{ L("\xf0\x90\x80\x80"), 5 }, { L("\xf0\xbf\xbf\xbf"), 5 },
		{ L("\xf1\x80\x80\x80"), 5 }, { L("\xf3\xbf\xbf\xbf"), 5 },
		{ L("\xf4\x80\x80\x80"), 5 }, { L("\xf4\x8f\xbf\xbf"), 5 },
		{ L("\x80"), 0 }, { L("\xbf"), 0 }, { L("\xc0\x80"), 0 },
		{ L("\xc1\xbf"), 0 }, { L("\xf5\x80\x80\x80"), 0 },
		{ L("\xf8\x88\x80\x80\x80"), 0 }, { L("\xfe"), 0 },
		{ L("\xff"), 0 }, { L("\xc2"), 1 }, { L("\xc2\x41"), 1 },
		{ L("\xc2\xc0"), 1 }, { L("\xc2\x7f"), 1 },
		{ L("\xe0\x80\x80"), 1 }, { L("\xe0\x9f\xbf"), 1 },
		{ L("\xe0\xc0\x80"), 1 }, { L("\xe1"), 1 },
		{ L("\xe1\x80"), 2 }, { L("\xe1\x80\x41"), 2 },
		{ L("\xe1\x80\xc0"), 2 }, { L("\xe1\x7f\x80"), 1 },
		{ L("\xed\xa0\x80"), 1 }, { L("\xed\xbf\xbf"), 1 },
		{ L("\xed\xa0\x80\xed\xb0\x80"), 1 }, { L("\xee\x80"), 2 },
		{ L("\xf0\x80\x80\x80"), 1 }, { L("\xf0\x8f\xbf\xbf"), 1 },
		{ L("\xf0\x90"), 2 }, { L("\xf0\x90\x80"), 3 },
		{ L("\xf0\x90\x80\x41"), 3 }, { L("\xf1\x80\xc0\x80"), 2 },
		{ L("\xf3\x80\x80\xf3"), 3 }, { L("\xf4\x90\x80\x80"), 1 },
		{ L("\xf4\xbf\xbf\xbf"), 1 }, { L("\xf4\x8f"), 2 },
		{ L("\xc2\x80\x80"), 2 }, { L("\xe1\x80\x80\x80"), 3 },
	};
	static const char fill[] = "0123456789abcdef0123456789abcdef";
	char text[80];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		for (size_t before = 0; before <= 32; before++) {
			size_t n = rows[i].bytes.n, end = before + n + 1;
			struct idem_span s = { text, end + 1 };

			text[0] = '"';
			memcpy(text + 1, fill, before);
			memcpy(text + 1 + before, rows[i].bytes.p, n);
			text[end] = '"';
			if (rows[i].broken > n)
				assert_canonical(s, IDEM_OK, 0, s);
			else
				assert_canonical(s, IDEM_ESYNTAX,
				    1 + before + rows[i].broken, IDEM_LIT(""));
		}
}

/* A chunk of nothing but ASCII between the bytes of a code point. */
static void
utf8_is_checked_across_chunks(void **state)
{
	static const struct example rows[] = {
		{ L("\"0123456789abcde\xc2" "0123456789abcdef\x80\""), BAD(17),
		    NONE },
		{ L("\"0123456789abcd\xe1\x80" "0123456789abcdef\x80\""),
		    BAD(17), NONE },
		{ L("\"0123456789abcde\xc2\""), BAD(17), NONE },
		{ L("\"0123456789abcde\xc2\\u0080\""), BAD(17), NONE },
	};

	(void)state;
	assert_examples(rows, COUNT(rows));
}

static void
numbers(void **state)
{
	static const struct example rows[] = {
		{ L("0"), OK, L("0") }, { L("-0"), OK, L("0") },
		{ L("-0.0"), OK, L("0") }, { L("-0e7"), OK, L("0") },
		{ L("0.000000"), OK, L("0") },
		{ L("0.0000000e-5"), OK, L("0") },
		{ L("-0.00e+3"), OK, L("0") },
		{ L("0e-999999999"), OK, L("0") },
		{ L("1"), OK, L("1") }, { L("-1"), OK, L("-1") },
		{ L("10"), OK, L("10") }, { L("100e-2"), OK, L("1") },
		{ L("1.0"), OK, L("1") }, { L("10.0"), OK, L("10") },
		{ L("-1.50"), OK, L("-1.5") }, { L("1.050"), OK, L("1.05") },
		{ L("1E+2"), OK, L("100") }, { L("1e-2"), OK, L("0.01") },
		{ L("12.34e1"), OK, L("123.4") },
		{ L("12.34e2"), OK, L("1234") },
		{ L("12.34e3"), OK, L("12340") },
		{ L("12.34e-1"), OK, L("1.234") },
		{ L("12.34e-2"), OK, L("0.1234") },
		{ L("0.5"), OK, L("0.5") }, { L("-0.5"), OK, L("-0.5") },
		{ L("0.05"), OK, L("0.05") }, { L("0.0500"), OK, L("0.05") },
		{ L("0.50e1"), OK, L("5") }, { L("0.050e3"), OK, L("50") },
		/* 21 digits before the point, and more */
		{ L("100000000000000000000"), OK, L("100000000000000000000") },
		{ L("1e20"), OK, L("100000000000000000000") },
		{ L("-1e20"), OK, L("-100000000000000000000") },
		{ L("123e18"), OK, L("123000000000000000000") },
		{ L("123456789012345678901"), OK, L("123456789012345678901") },
		{ L("123456789012345678901.5"), OK,
		    L("123456789012345678901.5") },
		{ L("1.234567890123456789015e20"), OK,
		    L("123456789012345678901.5") },
		{ L("1e21"), OK, L("1e+21") }, { L("-1e21"), OK, L("-1e+21") },
		{ L("1000000000000000000000"), OK, L("1e+21") },
		{ L("1234567890123456789012.0"), OK,
		    L("1.234567890123456789012e+21") },
		{ L("9999999999999999999990"), OK,
		    L("9.99999999999999999999e+21") },
		{ L("12e20"), OK, L("1.2e+21") },
		/* six zeros behind the point, and more */
		{ L("0.000001"), OK, L("0.000001") },
		{ L("0.00000123"), OK, L("0.00000123") },
		{ L("-0.0000010"), OK, L("-0.000001") },
		{ L("1e-6"), OK, L("0.000001") },
		{ L("12e-7"), OK, L("0.0000012") },
		{ L("0.0000001"), OK, L("1e-7") }, { L("1e-7"), OK, L("1e-7") },
		{ L("0.00000012"), OK, L("1.2e-7") },
		{ L("-0.0000000120"), OK, L("-1.2e-8") },
		{ L("123e-9"), OK, L("1.23e-7") },
		{ L("1e-10"), OK, L("1e-10") },
		{ L("1.5e300"), OK, L("1.5e+300") },
		{ L("1e0000000000000000000000000000001"), OK, L("10") },
		{ L("1e-0000000000000000000000000000001"), OK, L("0.1") },
		{ L("3.141592653589793238462643383279502884197169399375105820"),
		    OK,
		    L("3.14159265358979323846264338327950288419716939937510"
		    "582") },
		{ L("12345678.87654321"), OK, L("12345678.87654321") },
		{ L("1234567.7654321"), OK, L("1234567.7654321") },
		/* the exponent, as written and in the canonical text */
		{ L("1e999999999"), OK, L("1e+999999999") },
		{ L("1e-999999999"), OK, L("1e-999999999") },
		{ L("0.1e-999999998"), OK, L("1e-999999999") },
		{ L("1.5e-999999999"), OK, L("1.5e-999999999") },
		{ L("0.01e999999999"), OK, L("1e+999999997") },
		{ L("1e1000000000"), INEXACT(0), NONE },
		{ L("1e-1000000000"), INEXACT(0), NONE },
		{ L("10e999999999"), INEXACT(0), NONE },
		{ L("0.1e-999999999"), INEXACT(0), NONE },
		{ L("0.1e1000000000"), INEXACT(0), NONE },
		{ L("0e1000000000"), INEXACT(0), NONE },
		{ L("[1, -1e99999999999999999999999]"), INEXACT(4), NONE },
		{ L("[1e1000000000,]"), BAD(14), NONE },
		/* the grammar */
		{ L("-"), BAD(1), NONE }, { L("--1"), BAD(1), NONE },
		{ L("+1"), BAD(0), NONE }, { L(".5"), BAD(0), NONE },
		{ L("-.5"), BAD(1), NONE }, { L("-a"), BAD(1), NONE },
		{ L("01"), BAD(1), NONE }, { L("00"), BAD(1), NONE },
		{ L("-01"), BAD(2), NONE }, { L("0123456789"), BAD(1), NONE },
		{ L("1."), BAD(2), NONE }, { L("1.e5"), BAD(2), NONE },
		{ L("1.x"), BAD(2), NONE }, { L("[1.]"), BAD(3), NONE },
		{ L("1e"), BAD(2), NONE }, { L("1e+"), BAD(3), NONE },
		{ L("1e-"), BAD(3), NONE }, { L("1e+-1"), BAD(3), NONE },
		{ L("1ex"), BAD(2), NONE }, { L("1e1.5"), BAD(3), NONE },
		{ L("1.2.3"), BAD(3), NONE }, { L("1e5e5"), BAD(3), NONE },
		{ L("0x10"), BAD(1), NONE }, { L("1_000"), BAD(1), NONE },
		{ L("1a"), BAD(1), NONE }, { L("NaN"), BAD(0), NONE },
		{ L("-Infinity"), BAD(1), NONE },
	};

	(void)state;
	assert_examples(rows, COUNT(rows));
}

/* RFC 8785 3.2.3: by UTF-16 code units of the unescaped name. */
static void
members_are_sorted(void **state)
{
	static const struct example rows[] = {
		{ L("{\"b\":1,\"a\":2}"), OK, L("{\"a\":2,\"b\":1}") },
		{ L("{\"c\":[3],\"b\":{\"z\":1,\"y\":2},\"a\":\"x\"}"), OK,
		    L("{\"a\":\"x\",\"b\":{\"y\":2,\"z\":1},\"c\":[3]}") },
		{ L("{\"ab\":1,\"a\":2,\"\":3}"), OK,
		    L("{\"\":3,\"a\":2,\"ab\":1}") },
		{ L("{\"aaaaaaaab\":1,\"aaaaaaaa\":2,\"aaaaaaaaa\":3}"), OK,
		    L("{\"aaaaaaaa\":2,\"aaaaaaaaa\":3,\"aaaaaaaab\":1}") },
		{ L("{\"a\":1,\"A\":2,\"_\":3,\"1\":4,\" \":5,\"~\":6}"), OK,
		    L("{\" \":5,\"1\":4,\"A\":2,\"_\":3,\"a\":1,\"~\":6}") },
		/* "!" is below the quote that ends the other name */
		{ L("{\"a!\":1,\"a\":2}"), OK, L("{\"a\":2,\"a!\":1}") },
		/* escaped, but compared as what they mean */
		{ L("{\"]\":1,\"\\\\\":2,\"[\":3}"), OK,
		    L("{\"[\":3,\"\\\\\":2,\"]\":1}") },
		{ L("{\"#\":1,\"\\\"\":2,\"!\":3}"), OK,
		    L("{\"!\":3,\"\\\"\":2,\"#\":1}") },
		{ L("{\" \":1,\"\\u001f\":2,\"\\r\":3,\"\\u000b\":4,\"\\n\":5,"
		    "\"\\u0000\":6,\"\":7}"), OK,
		    L("{\"\":7,\"\\u0000\":6,\"\\n\":5,\"\\u000b\":4,\"\\r\":3,"
		    "\"\\u001f\":2,\" \":1}") },
		{ L("{\"a\\u0000b\":1,\"a\\u0000\":2,\"a\":3}"), OK,
		    L("{\"a\":3,\"a\\u0000\":2,\"a\\u0000b\":1}") },
		{ L("{\"\\/a\":1,\".\":2,\"0\":3}"), OK,
		    L("{\".\":2,\"/a\":1,\"0\":3}") },
		{ L("{\"12345678\\n\":1,\"12345678\\b\":2,\"12345678\":3}"), OK,
		    L("{\"12345678\":3,\"12345678\\b\":2,\"12345678\\n\":1}") },
		{ L("{\"1234567\\t1\":1,\"1234567\\t\":2}"), OK,
		    L("{\"1234567\\t\":2,\"1234567\\t1\":1}") },
		/* the escape stands across two words */
		{ L("{\"123456781234567\\f\":1,\"123456781234567\\n\":"
		    "2}"), OK, L("{\"123456781234567\\n\":2,"
		    "\"123456781234567\\f\":1}") },
		{ L("{\"12345678\\\\\":1,\"12345678\\\"\":2,"
		    "\"12345678[\":3}"), OK,
		    L("{\"12345678\\\"\":2,\"12345678[\":3,"
		    "\"12345678\\\\\":1}") },
		/* U+10000 is D800 DC00 and so before U+E000, after U+D7FF */
		{ L("{\"\\uffff\":1,\"\\ue000\":2,\"\\ud800\\udc00\":3,"
		    "\"\\ud7ff\":4}"), OK,
		    L("{\"\xed\x9f\xbf\":4,\"\xf0\x90\x80\x80\":3,"
		    "\"\xee\x80\x80\":2,\"\xef\xbf\xbf\":1}") },
		{ L("{\"12345678\xef\xbf\xbf\":1,\"12345678\xf4\x8f\xbf\xbf\":"
		    "2}"), OK,
		    L("{\"12345678\xf4\x8f\xbf\xbf\":2,\"12345678\xef\xbf\xbf\""
		    ":1}") },
		{ L("{\"\xd0\xb2\":1,\"\xd0\xb1\":2,\"\xc3\xa9\":3,\"z\":4}"),
		    OK, L("{\"z\":4,\"\xc3\xa9\":3,\"\xd0\xb1\":2,"
		    "\"\xd0\xb2\":1}") },
	};

	(void)state;
	assert_examples(rows, COUNT(rows));
}

static void
equal_names_are_inexact(void **state)
{
	static const struct example rows[] = {
		{ L("{\"a\":1,\"a\":1}"), INEXACT(7), NONE },
		{ L("{\"\":1,\"\":1}"), INEXACT(6), NONE },
		{ L("{\"a\":1,\"b\":2,\"a\":3}"), INEXACT(13), NONE },
		{ L("{\"b\":1,\"a\":2,\"a\":3,\"b\":4}"), INEXACT(13), NONE },
		{ L("{\"b\":1,\"a\":2,\"b\":3,\"a\":4}"), INEXACT(13), NONE },
		{ L("{\"a\":1,\"a\":2,\"a\":3}"), INEXACT(7), NONE },
		{ L("{\"a\":1,\"\\u0061\":2}"), INEXACT(7), NONE },
		{ L("{\"\\n\":1,\"\\u000A\":2}"), INEXACT(8), NONE },
		{ L("{\"\\/\":1,\"/\":2}"), INEXACT(8), NONE },
		{ L("{\"\xc3\xa9\":1,\"\\u00e9\":2}"), INEXACT(8), NONE },
		{ L("{\"\xf0\x9f\x98\x80\":1,\"\\ud83d\\ude00\":2}"),
		    INEXACT(10), NONE },
		{ L("{\"a long name of two words\":1,"
		    "\"a long name of two words\":2}"), INEXACT(30), NONE },
		{ L("{\"a\":{\"x\":1},\"b\":{\"x\":2}}"), OK,
		    L("{\"a\":{\"x\":1},\"b\":{\"x\":2}}") },
		{ L("{\"a\":{\"x\":1,\"x\":2},\"a\":3}"), INEXACT(12), NONE },
		{ L("{\"a\":1,\"a\":{\"x\":1,\"x\":2}}"), INEXACT(7), NONE },
		{ L("[{\"a\":1,\"a\":2},\"\\ud800\"]"), INEXACT(8), NONE },
		{ L("{\"a\":1,\"a\":\"\\ud800\"}"), INEXACT(7), NONE },
		{ L("{\"a\":\"\\ud800\",\"a\":1}"), INEXACT(6), NONE },
		{ L("{\"a\":1,\"a\":2"), BAD(12), NONE },
		{ L("{\"a\":1,\"a\":2}}"), BAD(13), NONE },
	};

	(void)state;
	assert_examples(rows, COUNT(rows));
}

/* n times open, middle, n times close */
static struct idem_span
nested(char *text, const char *open, const char *middle, const char *close,
    size_t n)
{
	char *p = text;

	for (size_t i = 0; i < n; i++, p += strlen(open))
		memcpy(p, open, strlen(open));
	memcpy(p, middle, strlen(middle));
	p += strlen(middle);
	for (size_t i = 0; i < n; i++, p += strlen(close))
		memcpy(p, close, strlen(close));
	return (struct idem_span){ text, (size_t)(p - text) };
}

static void
depth_ends_at_64(void **state)
{
	char text[4000], form[4000];
	struct idem_span s;

	(void)state;
	s = nested(text, "[", "1", "]", 64);
	assert_form(s, s);
	s = nested(text, "{\"a\":", "1", "}", 64);
	assert_form(s, s);
	s = nested(text, "[{\"a\":", "[]", "}]", 31);
	assert_form(s, s);
	s = nested(text, "[", "{\"b\":1,\"a\":2}", "]", 63);
	assert_form(s, nested(form, "[", "{\"a\":2,\"b\":1}", "]", 63));
	s = nested(text, "[", "{\"a\":1,\"a\":2}", "]", 63);
	assert_canonical(s, IDEM_EINEXACT, 70, IDEM_LIT(""));
	s = nested(text, "[", "", "]", 65);
	assert_canonical(s, IDEM_EINEXACT, 64, IDEM_LIT(""));
	s = nested(text, "[", "1", "]", 65);
	assert_canonical(s, IDEM_EINEXACT, 64, IDEM_LIT(""));
	s = nested(text, "{\"a\":", "{}", "}", 64);
	assert_canonical(s, IDEM_EINEXACT, 320, IDEM_LIT(""));
	s = nested(text, "{\"b\":1,\"a\":", "{\"b\":2,\"a\":1,\"a\":1}", "}",
	    64);
	assert_canonical(s, IDEM_EINEXACT, 704, IDEM_LIT(""));
	s = nested(text, "[", "[1],[[2],{\"a\":[]}],3", "]", 64);
	assert_canonical(s, IDEM_EINEXACT, 64, IDEM_LIT(""));
	s = nested(text, "{\"a\":1,\"a\":[", "{\"b\":[]}", "]}", 40);
	assert_canonical(s, IDEM_EINEXACT, 7, IDEM_LIT(""));
}

/* Whether it is JSON is asked however deep it goes. */
static void
deep_texts_are_still_checked(void **state)
{
	char text[4000];
	struct idem_span s;

	(void)state;
	s = nested(text, "[{\"a\":", "1", "}]", 400);
	assert_canonical(s, IDEM_EINEXACT, 192, IDEM_LIT(""));
	s = nested(text, "[", "1", "]", 300);
	assert_canonical(span_first(s, 400), IDEM_ESYNTAX, 400, IDEM_LIT(""));
	text[350] = '}';
	assert_canonical(s, IDEM_ESYNTAX, 350, IDEM_LIT(""));
	text[350] = ']';
	text[601] = ']';
	s.n = 602;
	assert_canonical(s, IDEM_ESYNTAX, 601, IDEM_LIT(""));
	s = nested(text, "{\"a\":", "1", "}", 300);
	text[70 * 5] = '[';
	assert_canonical(s, IDEM_ESYNTAX, 70 * 5 + 4, IDEM_LIT(""));
}

/* An object of n members, last name first; every name has a prefix. */
static void
put_reversed(struct idem_buf *b, size_t n, const char *prefix)
{
	for (size_t i = n; i-- > 0;)
		idem_buf_printf(b, "%s\"%s%06zu\":%zu", i + 1 == n ? "{" : ",",
		    prefix, i, i);
	idem_buf_putc(b, '}');
}

static void
put_ascending(struct idem_buf *b, size_t n, const char *prefix)
{
	for (size_t i = 0; i < n; i++)
		idem_buf_printf(b, "%s\"%s%06zu\":%zu", i == 0 ? "{" : ",",
		    prefix, i, i);
	idem_buf_putc(b, '}');
}

/* Each size is sorted in another way. */
static void
objects_of_all_sizes(void **state)
{
	static const size_t sizes[] = { 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33,
		100, 255, 256, 257, 1000, 100000 };
	static const char *const prefixes[] = { "", "a", "\\n", "12345678",
		"a common beginning \\\\ and \\\" more ",
		"\xd0\xb6\xd1\x83\xef\xbf\xbd" };
	struct idem_buf text, want;

	(void)state;
	idem_buf_init(&text, 1 << 24);
	idem_buf_init(&want, 1 << 24);
	for (size_t i = 0; i < COUNT(sizes); i++)
		for (size_t j = 0; j < COUNT(prefixes); j++) {
			idem_buf_reset(&text);
			idem_buf_reset(&want);
			put_reversed(&text, sizes[i], prefixes[j]);
			put_ascending(&want, sizes[i], prefixes[j]);
			assert_form(idem_buf_span(&text), idem_buf_span(&want));
		}
	idem_buf_free(&text);
	idem_buf_free(&want);
}

/* The second of two equal names, whichever way its object is sorted. */
static void
equal_names_in_objects_of_all_sizes(void **state)
{
	static const size_t sizes[] = { 3, 16, 17, 255, 256, 5000 };
	struct idem_buf text;

	(void)state;
	idem_buf_init(&text, 1 << 24);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		size_t at;

		idem_buf_reset(&text);
		put_reversed(&text, sizes[i], "n");
		idem_buf_cut(&text, text.n - 1);
		at = text.n + 1;
		idem_buf_puts(&text, IDEM_LIT(",\"n000001\":0,\"n000000\":0}"));
		assert_canonical(idem_buf_span(&text), IDEM_EINEXACT, at,
		    IDEM_LIT(""));
	}
	idem_buf_free(&text);
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
	put_reversed(&text, 1000, "n");
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
	if (canonical(text, &out, &at) != want_err || at != want_at)
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
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors_hold),
		cmocka_unit_test(structure),
		cmocka_unit_test(escapes),
		cmocka_unit_test(lone_surrogates_are_inexact),
		cmocka_unit_test(utf8_is_checked),
		cmocka_unit_test(utf8_is_checked_across_chunks),
		cmocka_unit_test(numbers),
		cmocka_unit_test(members_are_sorted),
		cmocka_unit_test(equal_names_are_inexact),
		cmocka_unit_test(depth_ends_at_64),
		cmocka_unit_test(deep_texts_are_still_checked),
		cmocka_unit_test(objects_of_all_sizes),
		cmocka_unit_test(equal_names_in_objects_of_all_sizes),
		cmocka_unit_test(output_is_appended_or_left_alone),
		cmocka_unit_test(ceiling_of_the_output),
		cmocka_unit_test(work_is_used_again),
		cmocka_unit_test(prefixes_are_as_slow_says),
		cmocka_unit_test(strings_are_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
