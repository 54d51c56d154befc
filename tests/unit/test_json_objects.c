/*
 * test_json_objects.c - the canonical form of JSON: members sorted, equal
 * names, depth.
 */
#include "canon.h"

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
			canon_put_reversed(&text, sizes[i], prefixes[j]);
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
		canon_put_reversed(&text, sizes[i], "n");
		idem_buf_cut(&text, text.n - 1);
		at = text.n + 1;
		idem_buf_puts(&text, IDEM_LIT(",\"n000001\":0,\"n000000\":0}"));
		assert_canonical(idem_buf_span(&text), IDEM_EINEXACT, at,
		    IDEM_LIT(""));
	}
	idem_buf_free(&text);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_sorted),
		cmocka_unit_test(equal_names_are_inexact),
		cmocka_unit_test(depth_ends_at_64),
		cmocka_unit_test(deep_texts_are_still_checked),
		cmocka_unit_test(objects_of_all_sizes),
		cmocka_unit_test(equal_names_in_objects_of_all_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
