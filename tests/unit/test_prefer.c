/*
 * test_prefer.c - Prefer: wait=N (RFC 7240).
 */
#include "tests.h"

#include "request/prefer.h"

static void
waits(void **state)
{
	static const struct { const char *text; int64_t ms; } rows[] = {
		{ "wait=5", 5000 },
		{ "wait=0", 0 },
		{ " WAIT = 5 ", 5000 },
		{ "wait=\"5\"", 5000 },
		{ "respond-async, wait=10", 10000 },
		{ "wait=10, wait=20", 10000 },
		{ "foo; wait=3, wait=4;x=y", 4000 },
		{ "wait=99999999999999999999", 86400000 },
		{ "wait=86400", 86400000 },
		/* none */
		{ NULL, -1 }, { "", -1 }, { "wait", -1 }, { "wait=", -1 },
		{ "wait=-1", -1 }, { "wait=1.5", -1 }, { "wait=5s", -1 },
		{ "waits=5", -1 }, { "handling=strict", -1 },
		{ "wait=\"", -1 }, { ",;=,", -1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t ms = -1;

		assert_int_equal(prefer_wait_ms(span_of(rows[i].text), &ms),
		    rows[i].ms >= 0);
		assert_true(ms == rows[i].ms);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(waits) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
