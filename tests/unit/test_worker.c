/*
 * test_worker.c - when a worker leaves: signals at every point of a request,
 * and what it sees by itself.
 */
#include "tests.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/io.h"
#include "fcgi_client.h"
#include "one_worker.h"

/* --- signals -------------------------------------------------------------- */

static void
each_signal_ends_an_idle_worker(void **state)
{
	static const int signals[] = { SIGTERM, SIGUSR1, SIGINT, SIGHUP };
	struct one_worker *o = *state;

	for (size_t i = 0; i < COUNT(signals); i++) {
		one_worker_start(o);
		assert_int_equal(kill(o->pid, signals[i]), 0);
		one_worker_hear(o, 'C');
		assert_int_equal(one_worker_end(o), 0);
	}
}

/* Wait until the worker has read everything that was sent to it. */
static void
wait_read(int fd)
{
	int left = 1;

	for (int i = 0; i < 10000 && left > 0; i++) {
		assert_int_equal(ioctl(fd, SIOCOUTQ, &left), 0);
		if (left > 0)
			(void)poll(NULL, 0, 1); /* nobody tells us */
	}
	assert_int_equal(left, 0);
}

static void
a_signal_in_the_parameters(void **state)
{
	struct one_worker *o = *state;
	struct idem_buf out;
	int fd;

	one_worker_start(o);
	fd = one_worker_dial(o);
	idem_buf_init(&out, 10000);
	fcgi_begin(&out, FCGI_RESPONDER_ROLE, false);
	fcgi_params(&out, get_a);
	send_all(fd, &out);
	wait_read(fd);
	assert_int_equal(kill(o->pid, SIGTERM), 0);
	fcgi_params_end(&out);
	fcgi_stdin_end(&out);
	send_all(fd, &out);
	one_worker_hear(o, 'S');
	expect_answer(fd, ANSWER_A);
	one_worker_hear(o, 'C');
	assert_int_equal(one_worker_end(o), 0);
}

static void
a_signal_in_the_body(void **state)
{
	static const char *const vars[] = { "REQUEST_METHOD=POST",
	    "REQUEST_URI=/b", "CONTENT_LENGTH=10", NULL };
	struct one_worker *o = *state;
	struct idem_buf out;
	int fd;

	one_worker_start(o);
	fd = one_worker_dial(o);
	idem_buf_init(&out, 10000);
	fcgi_begin(&out, FCGI_RESPONDER_ROLE, false);
	fcgi_params(&out, vars);
	fcgi_params_end(&out);
	fcgi_stdin(&out, IDEM_LIT("hello"));
	send_all(fd, &out);
	one_worker_hear(o, 'S');
	wait_read(fd);
	assert_int_equal(kill(o->pid, SIGTERM), 0);
	fcgi_stdin(&out, IDEM_LIT("there"));
	fcgi_stdin_end(&out);
	send_all(fd, &out);
	expect_answer(fd, HEAD("15") "0 /b hellothere");
	one_worker_hear(o, 'C');
	assert_int_equal(one_worker_end(o), 0);
}

static void
a_signal_in_a_big_answer(void **state)
{
	static const char *const vars[] = { "REQUEST_URI=/big", NULL };
	struct one_worker *o = *state;
	struct fcgi_answer a;
	struct pollfd readable;
	int fd;

	one_worker_start(o);
	fd = one_worker_dial(o);
	send_request(fd, vars, IDEM_LIT(""));
	one_worker_hear(o, 'S');
	readable = (struct pollfd){ .fd = fd, .events = POLLIN };
	assert_int_equal(poll(&readable, 1, 10000), 1);
	assert_int_equal(kill(o->pid, SIGTERM), 0); /* it writes, and waits */
	fcgi_read_answer(fd, &a);
	assert_true(a.ended);
	assert_int_equal(a.text.n, BIG_BYTES + 43);
	assert_memory_equal(a.text.p, HEAD("3000000"), 43);
	assert_int_equal(a.text.p[a.text.n - 1], 'b');
	fcgi_answer_free(&a);
	assert_int_equal(close(fd), 0);
	one_worker_hear(o, 'C');
	assert_int_equal(one_worker_end(o), 0);
}

/* However many wait, a worker that was asked to leave takes no more; they stay
 * in the queue for the others. */
static void
a_signal_counts_before_the_next_request(void **state)
{
	static const char *const vars[] = { "REQUEST_URI=/wait", NULL };
	struct one_worker *o = *state;
	int fd, queued[3];

	one_worker_start(o);
	fd = one_worker_dial(o);
	send_request(fd, vars, IDEM_LIT(""));
	one_worker_hear(o, 'S');
	for (size_t i = 0; i < COUNT(queued); i++) {
		queued[i] = one_worker_dial(o);
		send_request(queued[i], get_a, IDEM_LIT(""));
	}
	assert_int_equal(kill(o->pid, SIGTERM), 0);
	one_worker_go(o);
	expect_answer(fd, HEAD("8") "0 /wait ");
	one_worker_hear(o, 'C');
	assert_int_equal(one_worker_end(o), 0);

	one_worker_start(o);
	for (size_t i = 0; i < COUNT(queued); i++) {
		one_worker_hear(o, 'S');
		expect_answer(queued[i], ANSWER_A);
	}
	one_worker_stop(o);
}

/* --- leaving by itself ---------------------------------------------------- */

static void
the_program_may_leave(void **state)
{
	static const char *const vars[] = { "REQUEST_URI=/leave", NULL };
	struct one_worker *o = *state;
	int fd;

	one_worker_start(o);
	fd = one_worker_dial(o);
	send_request(fd, vars, IDEM_LIT(""));
	one_worker_hear(o, 'S');
	expect_answer(fd, HEAD("9") "0 /leave ");
	one_worker_hear(o, 'C');
	assert_int_equal(one_worker_end(o), 0);
	expect_logged(o, "leaving: the program asked for a new process");
}

static void
house_keeping_comes_between_requests(void **state)
{
	struct one_worker *o = *state;

	o->say_idle = true;
	o->w.idle_ms = 1;
	one_worker_start(o);
	one_worker_hear(o, 'I');
	one_worker_hear(o, 'I');
}

static void
a_worker_leaves_when_its_supervisor_has_gone(void **state)
{
	struct one_worker *o = *state;

	o->w.idle_ms = 1;
	o->w.parent = getpid() + 1; /* not the one that it will find */
	one_worker_start(o);
	one_worker_hear(o, 'C');
	assert_int_equal(one_worker_end(o), 0);
	expect_logged(o, "leaving: the supervisor is gone");
}

static void
a_worker_leaves_when_its_program_was_replaced(void **state)
{
	struct one_worker *o = *state;
	struct exe exe;

	exe_find(&exe);
	assert_true(exe.path[0] == '/');
	assert_false(exe_replaced(&exe));
	assert_int_equal(text_format(exe.path, sizeof exe.path, "%s/none",
	    o->dir), IDEM_OK);
	assert_false(exe_replaced(&exe)); /* a missing one does not count */
	assert_int_equal(text_format(exe.path, sizeof exe.path, "%s/log",
	    o->dir), IDEM_OK);
	o->w.exe = &exe;
	o->w.idle_ms = 1;
	one_worker_start(o);
	one_worker_hear(o, 'C');
	assert_int_equal(one_worker_end(o), 0);
	expect_logged(o, "/log was replaced");
}

/* How often a process went to sleep. */
static int64_t
nsleeps(pid_t pid)
{
	static const char name[] = "\nvoluntary_ctxt_switches:\t";
	char path[64], status[4096] = "";
	struct idem_span rest;
	uint64_t n;
	int fd;

	assert_int_equal(text_format(path, sizeof path, "/proc/%ld/status",
	    (long)pid), IDEM_OK);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(io_read(fd, status, sizeof status - 1) > 0);
	assert_int_equal(close(fd), 0);
	assert_non_null(strstr(status, name));
	rest = span_of(strstr(status, name) + sizeof name - 1);
	assert_int_equal(parse_u64(span_first(rest, span_find(rest, '\n')),
	    INT64_MAX, &n), IDEM_OK);
	return (int64_t)n;
}

/* Of many idle workers one is woken for a connection; it may go to sleep again
 * until the request is there, and when it is answered. */
static void
others_sleep_on(void **state)
{
	enum { NWORKERS = 9, NREQUESTS = 20 };
	struct one_worker *o = *state;
	pid_t pids[NWORKERS];
	int64_t woken = 0;

	o->w.idle_ms = 60000;
	for (int i = 0; i < NWORKERS; i++) {
		one_worker_start(o);
		pids[i] = o->pid;
	}
	for (int i = 0; i < NWORKERS; i++)
		woken -= nsleeps(pids[i]);
	for (int i = 0; i < NREQUESTS; i++)
		expect_served(o);
	for (int i = 0; i < NWORKERS; i++)
		woken += nsleeps(pids[i]);
	assert_in_range(woken, 1, 4 * NREQUESTS);
	for (int i = 0; i < NWORKERS; i++) {
		o->pid = pids[i];
		one_worker_stop(o);
	}
}

static void
a_socket_that_is_none(void **state)
{
	struct one_worker *o = *state;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(io_write(fds[1], "x", 1), IDEM_OK);
	o->w.listen_fd = fds[0]; /* readable, but not to be accepted from */
	one_worker_start(o);
	one_worker_hear(o, 'C');
	assert_int_equal(one_worker_end(o), 71);
	expect_logged(o, "Socket operation on non-socket");
	assert_int_equal(close(fds[0]) | close(fds[1]), 0);
}

#define WITH_WORKER(test) cmocka_unit_test_setup_teardown(test, \
	one_worker_setup, one_worker_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORKER(each_signal_ends_an_idle_worker),
		WITH_WORKER(a_signal_in_the_parameters),
		WITH_WORKER(a_signal_in_the_body),
		WITH_WORKER(a_signal_in_a_big_answer),
		WITH_WORKER(a_signal_counts_before_the_next_request),
		WITH_WORKER(the_program_may_leave),
		WITH_WORKER(house_keeping_comes_between_requests),
		WITH_WORKER(a_worker_leaves_when_its_supervisor_has_gone),
		WITH_WORKER(a_worker_leaves_when_its_program_was_replaced),
		WITH_WORKER(others_sleep_on),
		WITH_WORKER(a_socket_that_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
