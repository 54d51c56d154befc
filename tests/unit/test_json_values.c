/*
 * test_json_values.c - the canonical form of JSON: strings and numbers.
 */
#include "canon.h"

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

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(escapes),
		cmocka_unit_test(lone_surrogates_are_inexact),
		cmocka_unit_test(utf8_is_checked),
		cmocka_unit_test(utf8_is_checked_across_chunks),
		cmocka_unit_test(numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
