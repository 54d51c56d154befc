/*
 * test_plain.c - canonical JSON made fit for cJSON.
 */
#include "tests.h"

#include "tasks/plain.h"

#define L(s) IDEM_LIT_INIT(s)
#define DIGITS_40 "1234567890123456789012345678901234567890"

static const struct {
	struct idem_span in, want;
	bool in_member, elsewhere;
} rows[] = {
	{ L("{}"), L("{}"), false, false },
	{ L("\"a\""), L("\"a\""), false, false },
	{ L("-1.5e-7"), L("-1.5e-7"), false, false },
	{ L(DIGITS_40), L(DIGITS_40), false, false },
	{ L(DIGITS_40 "1"), L("0"), false, false },
	{ L("[" DIGITS_40 ".5,-" DIGITS_40 ",1]"), L("[0,0,1]"), false, false },
	{ L("{\"" DIGITS_40 "1\":true}"), L("{\"" DIGITS_40 "1\":true}"),
	    false, false },
	{ L("{\"a\":[null,false],\"matn\":\"\\\"\\\\\"}"),
	    L("{\"a\":[null,false],\"matn\":\"\\\"\\\\\"}"), false, false },
	/* U+0000, and what only looks like it */
	{ L("{\"matn\":\"a\\u0000b\"}"), L("{\"matn\":\"a\\u0000b\"}"),
	    true, false },
	{ L("{\"matn\":\"\\\\u0000\"}"), L("{\"matn\":\"\\\\u0000\"}"),
	    false, false },
	{ L("{\"matn\":\"\\\\\\u0000\"}"), L("{\"matn\":\"\\\\\\u0000\"}"),
	    true, false },
	{ L("{\"matn\":\"\\u0001\"}"), L("{\"matn\":\"\\u0001\"}"),
	    false, false },
	{ L("{\"a\":\"\\u0000\",\"matn\":\"x\"}"),
	    L("{\"a\":\"\\u0000\",\"matn\":\"x\"}"), false, true },
	{ L("{\"matn\":\"x\",\"z\":\"\\u0000\"}"),
	    L("{\"matn\":\"x\",\"z\":\"\\u0000\"}"), false, true },
	{ L("{\"matn\\u0000\":\"x\"}"), L("{\"matn\\u0000\":\"x\"}"),
	    false, true },
	{ L("{\"a\":{\"matn\":\"\\u0000\"}}"),
	    L("{\"a\":{\"matn\":\"\\u0000\"}}"), false, true },
	{ L("{\"matn\":[{\"b\":\"\\u0000\"}]}"),
	    L("{\"matn\":[{\"b\":\"\\u0000\"}]}"), true, false },
	{ L("{\"matn\":[[],{}],\"b\":\"\\u0000\"}"),
	    L("{\"matn\":[[],{}],\"b\":\"\\u0000\"}"), false, true },
	{ L("{\"a\":\"matn\",\"b\":\"\\u0000\"}"),
	    L("{\"a\":\"matn\",\"b\":\"\\u0000\"}"), false, true },
	{ L("\"\\u0000\""), L("\"\\u0000\""), false, true },
};

static void
copies_what_cjson_reads(void **state)
{
	struct idem_buf out;

	(void)state;
	idem_buf_init(&out, 4096);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct plain p;
		char *block;

		plain_make(&p, exact_copy(rows[i].in, &block),
		    IDEM_LIT("matn"), &out);
		assert_int_equal(idem_buf_err(&out), IDEM_OK);
		assert_span(idem_buf_span(&out), rows[i].want);
		if (p.nul_in_member != rows[i].in_member ||
		    p.nul_elsewhere != rows[i].elsewhere)
			fail_msg("row %zu", i);
		free(block);
	}
	idem_buf_free(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_what_cjson_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
