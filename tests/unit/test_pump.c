/*
 * test_pump.c - the guard's loop with an application and a client that both
 * take their time: whose time it is that runs.
 */
#include "tests.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/io.h"
#include "guard/pump.h"

struct app {
	struct pump pump;
	int fds[2];      /* a pipe: what it says */
	unsigned takes_ms, nheard;
	bool again;      /* it says as much again each time */
	bool gone;       /* the client, from the first byte on */
};

static bool
nothing(void *arg, struct idem_span *bytes)
{
	(void)arg; /* as pump.h has it */
	(void)bytes;
	return false;
}

static enum pump_step
heard(void *arg, struct idem_span bytes)
{
	struct app *a = arg;

	a->nheard++;
	(void)usleep(a->takes_ms * 1000);
	a->pump.hurry = a->gone;
	if (a->again)
		assert_int_equal(write(a->fds[1], bytes.p, bytes.n), bytes.n);
	return PUMP_ON;
}

/* One byte is there from the beginning.  *ms: how long it took. */
static enum pump_end
run(struct app *a, int64_t timeout_ms, int64_t *ms)
{
	enum pump_end end;

	assert_int_equal(pipe2(a->fds, O_NONBLOCK), 0);
	assert_int_equal(write(a->fds[1], "x", 1), 1);
	a->pump = (struct pump){ .to_fd = -1, .from_fd = a->fds[0],
		.timeout_ms = timeout_ms, .next = nothing, .heard = heard,
		.arg = a };
	*ms = -io_steady_ms();
	end = pump_run(&a->pump);
	*ms += io_steady_ms();
	assert_int_equal(close(a->fds[0]), 0);
	assert_int_equal(close(a->fds[1]), 0);
	return end;
}

/* It has 200 ms of its own, whatever a client took before it went. */
static void
a_client_that_was_slow_before_it_went(void **state)
{
	struct app a = { .takes_ms = 300, .gone = true };
	int64_t ms;

	(void)state;
	assert_int_equal(run(&a, 200, &ms), PUMP_LATE);
	assert_int_equal(a.nheard, 1);
	assert_true(ms >= 500);
}

static void
an_application_without_end_and_nobody_to_hear_it(void **state)
{
	struct app a = { .again = true, .gone = true };
	int64_t ms;

	(void)state;
	assert_int_equal(run(&a, 100, &ms), PUMP_LATE);
	assert_true(a.nheard > 1);
	assert_true(ms >= 100);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_client_that_was_slow_before_it_went),
		cmocka_unit_test(
		    an_application_without_end_and_nobody_to_hear_it),
	};

	(void)alarm(60); /* one that waits for ever has failed, too */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
