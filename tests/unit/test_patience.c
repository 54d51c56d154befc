/*
 * test_patience.c - what a peer may let an answer stand for what it took.
 */
#include "tests.h"

#include "exchange/patience.h"

#define STEPS_MAX 4
#define KIB 1024
#define MIB 1048576

/* First it took so many bytes in all, then we waited so long; what is left of
 * the time after the last of them. */
static const struct {
	const char *what;
	struct {
		uint64_t ntaken;
		int waited_ms;
	} step[STEPS_MAX];
	int left_ms;
} rows[] = {
	{ "nothing", { { 0, 9999 } }, 1 },
	{ "nothing, and it is over", { { 0, 10000 } }, 0 },
	{ "one byte buys 1.2 ms, which are one", { { 0, 10000 }, { 1, 0 } },
	  1 },
	{ "8 KiB buy the whole time", { { 0, 10000 }, { 8 * KIB, 0 } },
	  10000 },
	{ "but save no more than half a second", { { 8 * KIB, 0 } }, 10500 },
	{ "160 KiB let as much again be saved", { { 160 * KIB, 0 } }, 20000 },
	{ "the same 160 KiB count once", { { 160 * KIB, 15000 },
	  { 160 * KIB, 0 }, { 100 * KIB, 0 } }, 5000 },
	{ "a step of Apache's at 20 KB a second", { { 4 * MIB, 70000 } },
	  196000 },
	{ "at 10 KB a second", { { 4 * MIB, 140000 } }, 126000 },
	{ "the step buys it all again", { { 4 * MIB, 140000 },
	  { 5 * MIB, 0 } }, 300000 },
	{ "never more than 300 s", { { (uint64_t)1 << 62, 0 } }, 300000 },
	{ "and then no more", { { UINT64_MAX, 300000 } }, 0 },
	{ "1 KiB a second gets along", { { 20 * KIB, 11250 },
	  { 21 * KIB, 1000 }, { 22 * KIB, 1000 } }, 500 },
	{ "half a KiB does not", { { 20 * KIB, 11250 }, { 21 * KIB, 2000 } },
	  0 },
};

/* As talk.c does. */
static void
wait_ms(struct patience *p, int ms)
{
	p->left_ms = ms < p->left_ms ? p->left_ms - ms : 0;
}

static void
time_for_bytes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct patience p;

		patience_begin(&p, 10000);
		for (size_t j = 0; j < STEPS_MAX; j++) {
			patience_taken(&p, rows[i].step[j].ntaken);
			wait_ms(&p, rows[i].step[j].waited_ms);
		}
		if (p.left_ms != rows[i].left_ms)
			print_error("row %s\n", rows[i].what);
		assert_int_equal(p.left_ms, rows[i].left_ms);
	}
}

/* The whole of 12 MiB, in steps of a third of 4 MiB, at so many bytes a second:
 * what Apache does to us for a client of that pace. */
static bool
gets_it(uint64_t pace)
{
	const uint64_t all = 12 * MIB, held = 4 * MIB, some = held / 3;
	struct patience p;

	patience_begin(&p, 10000);
	for (uint64_t n = held; n < all; n += some) {
		patience_taken(&p, n);
		wait_ms(&p, (int)(some * 1000 / pace));
		if (p.left_ms == 0)
			return false;
	}
	return true;
}

static void
a_long_answer_and_a_telephone(void **state)
{
	(void)state;
	assert_true(gets_it(60000));
	assert_true(gets_it(10000));
	assert_true(gets_it(5300));
	assert_false(gets_it(4500));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_for_bytes),
		cmocka_unit_test(a_long_answer_and_a_telephone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
