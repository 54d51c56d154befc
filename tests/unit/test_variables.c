/*
 * test_variables.c - what an application is told, and what it is not.
 */
#include "tests.h"

#include "guard/variables.h"

static void
makes_lists(void **state)
{
	static const char *const vars[] = {
		"REQUEST_METHOD=POST", "IDEM_TTL=1h", "REDIRECT_IDEM_TTL=1h",
		"REDIRECT_REDIRECT_IDEM_LENGTH=3", "HTTP_IDEM_TTL=2h",
		"HTTP_PROXY=http://evil", "REDIRECT_STATUS=200",
		"HTTP_IDEMPOTENCY_KEY=k", "CONTENT_LENGTH=", "PATH_INFO=/a",
		"IDEM=1", "X", NULL,
	};
	static const struct variables_change changes[] = {
		{ IDEM_LIT_INIT("CONTENT_LENGTH"), IDEM_LIT_INIT("3") },
		{ IDEM_LIT_INIT("PATH_INFO"), { NULL, 0 } },
		{ IDEM_LIT_INIT("PATH"), IDEM_LIT_INIT("/bin") },
		{ IDEM_LIT_INIT("EMPTY"), IDEM_LIT_INIT("") },
		{ IDEM_LIT_INIT("ABSENT"), { NULL, 0 } },
	};
	static const char *const want[] = {
		"REQUEST_METHOD=POST", "HTTP_IDEM_TTL=2h",
		"REDIRECT_STATUS=200", "HTTP_IDEMPOTENCY_KEY=k", "IDEM=1", "X",
		"CONTENT_LENGTH=3", "PATH=/bin", "EMPTY=",
	};
	const char *const *list;
	struct variables v;

	(void)state;
	variables_init(&v);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(variables_make(&v, vars, changes,
		    COUNT(changes), &list), IDEM_OK);
		for (size_t i = 0; i < COUNT(want); i++)
			assert_text(span_of(list[i]), want[i]);
		assert_null(list[COUNT(want)]);
	}
	assert_int_equal(variables_make(&v, vars + COUNT(vars) - 1, NULL, 0,
	    &list), IDEM_OK);
	assert_null(list[0]);
	variables_free(&v);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(makes_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
