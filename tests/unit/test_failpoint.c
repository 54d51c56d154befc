/*
 * test_failpoint.c - places where a test may break the process: what arms one,
 * and what it does then.
 */
#include "tests.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "puppet.h"
#include "store/failpoint.h"

static void
words_that_arm(void **state)
{
	static const struct { const char *spec; bool good; } rows[] = {
		{ "group-open:kill", true },
		{ "group-open:stop:1", true },
		{ "group-open:delay=0", true },
		{ "group-open:delay=3600000:18446744073709551615", true },
		{ "*:kill:1/400/7", true },
		{ "*:delay=5:1/1/0", true },
		{ "", false },
		{ "group-open", false },
		{ "group-open:", false },
		{ "group-open:die", false },
		{ "group-opening:kill", false },
		{ "group-open:delay", false },
		{ "group-open:delay=", false },
		{ "group-open:delay=3600001", false },
		{ "group-open:delay=1s", false },
		{ "group-open:kill:0", false },
		{ "group-open:kill:x", false },
		{ "group-open:kill:", false },
		{ "group-open:kill:2/5/1", false },
		{ "group-open:kill:1/0/1", false },
		{ "group-open:kill:1/5", false },
		{ "group-open:kill:1/5/1/", false },
		{ "group-open:kill:1:1", false },
		{ "group-open:kill:1                                        "
		    "                                                       "
		    "                                   ", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (failpoint_arm(rows[i].spec) != rows[i].good)
			print_error("\"%s\"\n", rows[i].spec);
		assert_int_equal(failpoint_arm(rows[i].spec), rows[i].good);
	}
	assert_true(failpoint_arm(NULL));
	for (unsigned i = 0; i < 100; i++)
		failpoint("group-open");
}

static void
names_stand_once(void **state)
{
	unsigned n = 0;

	(void)state;
	while (failpoint_name(n) != NULL)
		n++;
	assert_true(n > 40);
	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(failpoint_name(i),
			    failpoint_name(j));
}

struct walk {
	const char *environment; /* or NULL */
	const char *spec;        /* or NULL */
	const char *name;        /* passed ten times, after one other */
};

static int64_t slept_ms;

/* Stands before the C library's: no time passes. */
int
nanosleep(const struct timespec *pause, struct timespec *left)
{
	(void)left;
	slept_ms += (int64_t)pause->tv_sec * 1000 + pause->tv_nsec / 1000000;
	return 0;
}

static int
walk(void *arg)
{
	const struct walk *w = arg;

	if (w->environment != NULL &&
	    setenv("IDEM_FAILPOINT", w->environment, 1) != 0)
		return 99;
	if (w->spec != NULL && !failpoint_arm(w->spec))
		return 98;
	failpoint("group-idle");
	for (int i = 0; i < 10; i++)
		failpoint(w->name);
	return (int)slept_ms;
}

static void
what_it_does(void **state)
{
	static const struct {
		struct walk walk;
		int signal; /* it ends by, or */
		int code;   /* ms that it was to sleep */
	} rows[] = {
		{ { NULL, NULL, "group-open" }, 0, 0 },
		{ { NULL, "group-open:kill", "group-open" }, SIGKILL, 0 },
		{ { NULL, "group-open:kill:10", "group-open" }, SIGKILL, 0 },
		{ { NULL, "group-open:kill:11", "group-open" }, 0, 0 },
		{ { NULL, "group-open:kill", "group-close" }, 0, 0 },
		{ { "group-open:kill", NULL, "group-open" }, SIGKILL, 0 },
		{ { "group-open:kill", NULL, "group-close" }, 0, 0 },
		{ { "nonsense", NULL, "group-open" }, SIGABRT, 0 },
		{ { NULL, NULL, "no-such-place" }, SIGABRT, 0 },
		{ { NULL, "group-open:delay=20", "group-open" }, 0, 20 },
		{ { NULL, "group-open:delay=2:1/1/5", "group-open" }, 0, 20 },
		{ { NULL, "*:delay=20:11", "group-open" }, 0, 20 },
		{ { NULL, "*:kill:1/1/5", "group-open" }, SIGKILL, 0 },
		{ { NULL, "*:kill:1/1000000000000/5", "group-open" }, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct walk w = rows[i].walk;
		int status = proc_wait(proc_start(walk, &w), false);

		if (rows[i].signal != 0) {
			assert_true(WIFSIGNALED(status));
			assert_int_equal(WTERMSIG(status), rows[i].signal);
		} else {
			assert_true(WIFEXITED(status));
			assert_int_equal(WEXITSTATUS(status), rows[i].code);
		}
	}
}

static void
it_stops_and_goes_on(void **state)
{
	struct walk w = { NULL, "group-open:stop:2", "group-open" };
	pid_t pid = proc_start(walk, &w);

	(void)state;
	assert_true(WIFSTOPPED(proc_wait(pid, true)));
	assert_int_equal(kill(pid, SIGCONT), 0);
	assert_true(WIFEXITED(proc_wait(pid, false)));
}

static int
count_to_death(void *arg)
{
	_Atomic uint32_t *n = arg;

	if (!failpoint_arm("group-open:kill:1/20/3"))
		return 98;
	while (++*n < 100000)
		failpoint("group-open");
	return 0;
}

/* One in twenty: not always at once, not never, and not in step. */
static void
chance_is_each_process_own(void **state)
{
	struct fake *f = fake_make(); /* for its shared memory */
	uint32_t n[40], all = 0, same = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(n); i++) {
		f->nflushes = 0;
		assert_int_equal(proc_wait(proc_start(count_to_death,
		    &f->nflushes), false), SIGKILL);
		n[i] = f->nflushes;
		all += n[i];
		same += i > 0 && n[i] == n[i - 1];
	}
	assert_in_range(all, 40 * 8, 40 * 50);
	assert_in_range(same, 0, 15);
	fake_free(f);
}

int
main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(what_it_does), /* first: nobody armed yet */
		cmocka_unit_test(words_that_arm),
		cmocka_unit_test(names_stand_once),
		cmocka_unit_test(it_stops_and_goes_on),
		cmocka_unit_test(chance_is_each_process_own),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
