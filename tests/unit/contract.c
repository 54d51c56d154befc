/*
 * contract.c - cases of the store's contract, each run on every back end.
 */
#include "contract.h"

#include "base/text.h"

/* LMDB with single commits, and as a member of the group commit. */
enum backend { MEMORY, ALONE, GROUP };
#define NBACKENDS ((size_t)GROUP + 1)

#define CASES_MAX 20

/* Which case on which back end. */
struct which {
	void (*fn)(struct kit *k);
	enum backend backend;
	struct kit kit;
};

static int
setup(void **state)
{
	struct which *w = *state;

	kit_make(&w->kit, w->backend == MEMORY);
	w->kit.durable = w->backend == GROUP;
	assert_int_equal(kit_reopen(&w->kit, true), IDEM_OK);
	return 0;
}

static int
teardown(void **state)
{
	struct which *w = *state;

	kit_close(&w->kit);
	return 0;
}

static void
one_case(void **state)
{
	struct which *w = *state;

	w->fn(&w->kit);
}

int
contract_run(const struct contract_case *cases, size_t n)
{
	static const char *const backends[] = { "memory", "lmdb", "group" };
	static char names[CASES_MAX * NBACKENDS][80];
	struct which which[CASES_MAX * NBACKENDS];
	struct CMUnitTest tests[COUNT(which)];

	if (n > CASES_MAX)
		return 1;
	for (size_t i = 0; i < n * NBACKENDS; i++) {
		which[i].fn = cases[i / NBACKENDS].fn;
		which[i].backend = (enum backend)(i % NBACKENDS);
		if (text_format(names[i], sizeof names[i], "%s: %s",
		    backends[which[i].backend],
		    cases[i / NBACKENDS].name) != IDEM_OK)
			return 1;
		tests[i] = (struct CMUnitTest){ names[i], one_case, setup,
			teardown, &which[i] };
	}
	return _cmocka_run_group_tests("tests", tests, n * NBACKENDS, NULL,
	    NULL);
}
