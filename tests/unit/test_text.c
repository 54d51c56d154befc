/*
 * test_text.c - text: spans, tokens, numbers, durations and sizes, UTF-8,
 * percent, base64url, hex.
 */
#include "tests.h"

#include "base/text.h"
#include "base/units.h"

#define L(s) IDEM_LIT_INIT(s)

static void
spans_compare_bytes(void **state)
{
	(void)state;
	assert_true(span_eq(IDEM_LIT("a\0b"), IDEM_LIT("a\0b")));
	assert_false(span_eq(IDEM_LIT("a\0b"), IDEM_LIT("a\0c")));
	assert_false(span_eq(IDEM_LIT("a"), IDEM_LIT("ab")));
	assert_true(span_eq(IDEM_ABSENT, IDEM_LIT("")));
	assert_true(span_eq_nocase(IDEM_LIT("ETag"), IDEM_LIT("etAG")));
	assert_false(span_eq_nocase(IDEM_LIT("[a"), IDEM_LIT("{a")));
	assert_true(span_starts(IDEM_LIT("IDEM_X"), IDEM_LIT("IDEM_")));
	assert_false(span_starts(IDEM_LIT("IDE"), IDEM_LIT("IDEM_")));
	assert_true(span_starts_nocase(IDEM_LIT("bEARER x"),
	    IDEM_LIT("Bearer")));
	assert_int_equal(span_find(IDEM_LIT("a=b"), '='), 1);
	assert_int_equal(span_find(IDEM_LIT("ab"), '='), 2);
	assert_span(span_trim(IDEM_LIT(" \t a b\t ")), IDEM_LIT("a b"));
	assert_span(span_trim(IDEM_LIT(" \t")), IDEM_LIT(""));
	assert_null(span_of(NULL).p);
	assert_span(span_of("ab"), IDEM_LIT("ab"));
}

static void
fields_between_separators(void **state)
{
	struct idem_span rest = IDEM_LIT("a,,b"), f;

	(void)state;
	assert_true(span_next(&rest, ',', &f));
	assert_span(f, IDEM_LIT("a"));
	assert_true(span_next(&rest, ',', &f));
	assert_span(f, IDEM_LIT(""));
	assert_true(span_next(&rest, ',', &f));
	assert_span(f, IDEM_LIT("b"));
	assert_false(span_next(&rest, ',', &f));
	rest = IDEM_LIT("");
	assert_true(span_next(&rest, ',', &f));
	assert_span(f, IDEM_LIT(""));
	assert_false(span_next(&rest, ',', &f));
}

static void
tokens(void **state)
{
	static const char tchars[] = "!#$%&'*+-.^_`|~"
	    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	(void)state;
	for (int c = 0; c < 256; c++) {
		char b = (char)c;
		bool want = c != 0 && strchr(tchars, c) != NULL;

		assert_int_equal(is_token((struct idem_span){ &b, 1 }), want);
	}
	assert_false(is_token(IDEM_LIT("")));
	assert_false(is_token(IDEM_LIT("a b")));
	assert_true(is_visible(IDEM_LIT("!~")));
	assert_false(is_visible(IDEM_LIT("a b")));
	assert_false(is_visible(IDEM_LIT("\x7f")));
	assert_false(is_visible(IDEM_LIT("\xff")));
}

static void
decimal_numbers(void **state)
{
	static const struct {
		struct idem_span text;
		uint64_t max;
		enum idem_err err;
		uint64_t value;
	} rows[] = {
		{ L("0"), 9, IDEM_OK, 0 },
		{ L("007"), 9, IDEM_OK, 7 },
		{ L("10"), 10, IDEM_OK, 10 },
		{ L("11"), 10, IDEM_ETOOBIG, 0 },
		{ L("18446744073709551615"), UINT64_MAX, IDEM_OK, UINT64_MAX },
		{ L("18446744073709551616"), UINT64_MAX, IDEM_ETOOBIG, 0 },
		{ L("99999999999999999999x"), UINT64_MAX, IDEM_ESYNTAX, 0 },
		{ L(""), 9, IDEM_ESYNTAX, 0 },
		{ L("+1"), 9, IDEM_ESYNTAX, 0 },
		{ L("-1"), 9, IDEM_ESYNTAX, 0 },
		{ L(" 1"), 9, IDEM_ESYNTAX, 0 },
		{ L("1\0"), 9, IDEM_ESYNTAX, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t v = 0;

		assert_int_equal(parse_u64(rows[i].text, rows[i].max, &v),
		    rows[i].err);
		assert_true(v == rows[i].value);
	}
}

static void
durations_and_sizes(void **state)
{
	enum { OK = IDEM_OK, NO = IDEM_ESYNTAX, BIG = IDEM_ETOOBIG };
	static const struct {
		struct idem_span text;
		int duration_err;
		int64_t ms;
		int size_err;
		uint64_t bytes;
	} rows[] = {
		{ L("300ms"), OK, 300, NO, 0 },
		{ L("25s"), OK, 25000, NO, 0 },
		{ L("15m"), OK, 900000, NO, 0 },
		{ L("24h"), OK, 86400000, NO, 0 },
		{ L("30d"), OK, INT64_C(2592000000), NO, 0 },
		{ L("0"), OK, 0, OK, 0 },
		{ L("0s"), OK, 0, NO, 0 },
		{ L("24"), NO, 0, NO, 0 },
		{ L("00"), NO, 0, NO, 0 },
		{ L(""), NO, 0, NO, 0 },
		{ L("h"), NO, 0, NO, 0 },
		{ L("1 h"), NO, 0, NO, 0 },
		{ L("-1h"), NO, 0, NO, 0 },
		{ L("1H"), NO, 0, NO, 0 },
		{ L("106751991168d"), BIG, 0, NO, 0 },
		{ L("512B"), NO, 0, OK, 512 },
		{ L("64K"), NO, 0, OK, 65536 },
		{ L("1M"), NO, 0, OK, 1048576 },
		{ L("2G"), NO, 0, OK, UINT64_C(2147483648) },
		{ L("17179869184G"), NO, 0, BIG, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t ms = 0;
		uint64_t bytes = 0;

		assert_int_equal(parse_duration(rows[i].text, &ms),
		    rows[i].duration_err);
		assert_int_equal(ms, rows[i].ms);
		assert_int_equal(parse_size(rows[i].text, &bytes),
		    rows[i].size_err);
		assert_true(bytes == rows[i].bytes);
	}
}

static void
utf8_rows(void **state)
{
	static const struct {
		struct idem_span bytes;
		size_t n;
		uint32_t cp;
	} rows[] = {
		{ L("\0"), 1, 0 },
		{ L("\x7f"), 1, 0x7f },
		{ L("\x80"), 0, 0 },
		{ L("\xc0\x80"), 0, 0 },
		{ L("\xc1\xbf"), 0, 0 },
		{ L("\xc2\x80"), 2, 0x80 },
		{ L("\xdf\xbf"), 2, 0x7ff },
		{ L("\xdf\x3f"), 0, 0 },
		{ L("\xc2"), 0, 0 },
		{ L("\xe0\x9f\xbf"), 0, 0 },
		{ L("\xe0\xa0\x80"), 3, 0x800 },
		{ L("\xed\x9f\xbf"), 3, 0xd7ff },
		{ L("\xed\xa0\x80"), 0, 0 },
		{ L("\xed\xbf\xbf"), 0, 0 },
		{ L("\xee\x80\x80"), 3, 0xe000 },
		{ L("\xef\xbf\xbf"), 3, 0xffff },
		{ L("\xef\xbf"), 0, 0 },
		{ L("\xf0\x8f\xbf\xbf"), 0, 0 },
		{ L("\xf0\x90\x80\x80"), 4, 0x10000 },
		{ L("\xf4\x8f\xbf\xbf"), 4, 0x10ffff },
		{ L("\xf4\x90\x80\x80"), 0, 0 },
		{ L("\xf5\x80\x80\x80"), 0, 0 },
		{ L("\xf0\x9f\x98"), 0, 0 },
		{ L("\xff"), 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct idem_buf b;
		uint32_t cp = 0;
		char *block;

		assert_int_equal(utf8_decode(exact_copy(rows[i].bytes, &block),
		    &cp), rows[i].n);
		assert_int_equal(cp, rows[i].cp);
		idem_buf_init(&b, 8);
		if (rows[i].n > 0) {
			utf8_put(&b, cp);
			assert_span(idem_buf_span(&b), rows[i].bytes);
		}
		idem_buf_free(&b);
		free(block);
	}
}

static void
percent_rows(void **state)
{
	static const struct {
		struct idem_span text;
		bool plus;
		enum idem_err err;
		struct idem_span want;
	} rows[] = {
		{ L("a%20b+c"), true, IDEM_OK, L("a b c") },
		{ L("a%2Fb+c"), false, IDEM_OK, L("a/b+c") },
		{ L("%00%fF"), false, IDEM_OK, L("\0\xff") },
		{ L("%"), false, IDEM_ESYNTAX, L("") },
		{ L("x%2"), false, IDEM_ESYNTAX, L("x") },
		{ L("%g0"), false, IDEM_ESYNTAX, L("") },
		{ L("%2525"), false, IDEM_OK, L("%25") },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct idem_buf b;
		char *block;

		idem_buf_init(&b, 64);
		assert_int_equal(percent_decode(
		    exact_copy(rows[i].text, &block), rows[i].plus, &b),
		    rows[i].err);
		assert_span(idem_buf_span(&b), rows[i].want);
		idem_buf_free(&b);
		free(block);
	}
}

/* RFC 4648 10's vectors, in the URL alphabet and without padding. */
static void
base64url_rows(void **state)
{
	static const char *const rows[][2] = {
		{ "", "" }, { "f", "Zg" }, { "fo", "Zm8" }, { "foo", "Zm9v" },
		{ "foob", "Zm9vYg" }, { "fooba", "Zm9vYmE" },
		{ "foobar", "Zm9vYmFy" }, { "\xfb\xff\xfe", "-__-" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t n = strlen(rows[i][0]);
		char out[16] = "";

		assert_int_equal(BASE64URL_BYTES(n), strlen(rows[i][1]));
		base64url((const unsigned char *)rows[i][0], n, out);
		assert_string_equal(out, rows[i][1]);
	}
}

static void
hex_and_formats(void **state)
{
	char hex[5] = "", small[4];

	(void)state;
	hex_lower((const unsigned char *)"\x0a\xff", 2, hex);
	assert_string_equal(hex, "0aff");
	assert_int_equal(hex_value('F'), 15);
	assert_int_equal(hex_value('g'), -1);
	assert_int_equal(text_format(small, sizeof small, "%d", 123), IDEM_OK);
	assert_string_equal(small, "123");
	assert_int_equal(text_format(small, sizeof small, "%d", 1234),
	    IDEM_ETOOBIG);
	assert_string_equal(small, "");
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_compare_bytes),
		cmocka_unit_test(fields_between_separators),
		cmocka_unit_test(tokens),
		cmocka_unit_test(decimal_numbers),
		cmocka_unit_test(durations_and_sizes),
		cmocka_unit_test(utf8_rows),
		cmocka_unit_test(percent_rows),
		cmocka_unit_test(base64url_rows),
		cmocka_unit_test(hex_and_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
