/*
 * test_conditions.c - If-Match and If-None-Match against one strong tag.
 */
#include "tests.h"

#include "tasks/conditions.h"

#define L(s) IDEM_LIT_INIT(s)

static void
names_a_tag(void **state)
{
	static const struct {
		struct idem_span field;
		bool strong, weak;
	} rows[] = {
		{ L("\"3-7\""), true, true },
		{ L("  \"3-7\"\t"), true, true },
		{ L("W/\"3-7\""), false, true },
		{ L("w/\"3-7\""), false, false },
		{ L("*"), true, true },
		{ L(" * "), true, true },
		{ L("\"3-8\""), false, false },
		{ L("\"3-7"), false, false },
		{ L("3-7"), false, false },
		{ L("\"3-7\"x"), true, true },
		{ L("\"\""), false, false },
		{ L(""), false, false },
		{ L(","), false, false },
		{ L("\"a\", \"3-7\""), true, true },
		{ L("\"a\" , W/\"b\" ,\"3-7\""), true, true },
		{ L(",,\"a\",,\"3-7\",,"), true, true },
		{ L("\"a,b\", \"3-7\""), true, true },
		{ L("\"a,\"3-7\""), false, false },
		{ L("\"a\" \"3-7\""), false, false },
		{ L("\"a\", *"), false, false },
		{ L("*, \"3-7\""), false, false },
		{ L("\"a b\", \"3-7\""), false, false },
		{ L("W/\"a\", W/\"3-7\""), false, true },
		{ L("\"\x7f\", \"3-7\""), false, false },
		{ L("\"\xC3\xA9\", \"3-7\""), true, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *block;
		struct idem_span field = exact_copy(rows[i].field, &block);

		if (conditions_name(field, IDEM_LIT("\"3-7\""),
		    ETAG_STRONG) != rows[i].strong ||
		    conditions_name(field, IDEM_LIT("\"3-7\""),
		    ETAG_WEAK) != rows[i].weak)
			fail_msg("row %zu: %.*s", i, IDEM_FMT(field));
		free(block);
	}
}

static void
allows_a_change(void **state)
{
	static const struct {
		struct idem_span match, none_match;
		bool want;
	} rows[] = {
		{ { NULL, 0 }, { NULL, 0 }, true },
		{ L("\"3-7\""), { NULL, 0 }, true },
		{ L("W/\"3-7\""), { NULL, 0 }, false },
		{ L("*"), { NULL, 0 }, true },
		{ L(""), { NULL, 0 }, false },
		{ { NULL, 0 }, L("*"), false },
		{ { NULL, 0 }, L("W/\"3-7\""), false },
		{ { NULL, 0 }, L("\"3-6\""), true },
		{ L("\"3-7\""), L("\"3-6\""), true },
		{ L("\"3-7\""), L("\"3-7\""), false },
		{ L("\"3-6\""), L("\"3-6\""), false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		if (conditions_allow(rows[i].match, rows[i].none_match,
		    IDEM_LIT("\"3-7\"")) != rows[i].want)
			fail_msg("row %zu", i);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_a_tag),
		cmocka_unit_test(allows_a_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
