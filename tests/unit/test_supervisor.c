/*
 * test_supervisor.c - real processes: who is started, replaced, asked, killed.
 */
#include "tests.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "process/front_log.h"
#include "process/legacy.h"
#include "process/signals.h"
#include "process/supervisor.h"

#define WORKERS 3
#define HEAR_MS 10000 /* no word for so long: the test fails */

/* What a process tells the test: 'W'orker started, asked to leave by SIG'T'ERM
 * or SIG'U'SR1, 'R'ehearsal, re'N'ewal. */
struct word {
	char what;
	pid_t pid;
};

enum manner { POLITE, STUBBORN, CRASHING };

struct fixture {
	int say, hear;
	int log_fd;
	char log_path[64];
	struct front_log front_log;
	struct idem_log log;
	struct supervisor s;
	enum manner manner;
	int rehearsal_status;
	int renewed_stop_ms; /* the renewed one's; 0: as before */
	pid_t pid; /* of the supervisor; 0: none */
};

static void
say(const struct fixture *f, char what)
{
	struct word w;

	memset(&w, 0, sizeof w); /* between its members, too */
	w.what = what;
	w.pid = getpid();
	if (io_write(f->say, &w, sizeof w) != IDEM_OK)
		_exit(99);
}

static int
work(void *arg, pid_t parent)
{
	const struct fixture *f = arg;
	struct pollfd fd = { .events = POLLIN };
	int sig;

	if (parent != getppid() || signals_open(false, &fd.fd) != IDEM_OK)
		return 98;
	say(f, 'W');
	if (f->manner == CRASHING)
		return 3;
	for (;;) {
		(void)poll(&fd, 1, -1);
		sig = signals_take(fd.fd);
		say(f, sig == SIGUSR1 ? 'U' : 'T');
		if (f->manner == POLITE)
			return 0;
	}
}

static int
rehearse(void *arg)
{
	const struct fixture *f = arg;

	say(f, 'R');
	return f->rehearsal_status;
}

/* As after an exec(): the same process, and a supervisor that knows nothing. */
static void
renew(void *arg)
{
	struct fixture *f = arg;

	say(f, 'N');
	f->manner = POLITE;
	if (f->renewed_stop_ms != 0)
		f->s.stop_ms = f->renewed_stop_ms;
	_exit(supervisor_run(&f->s));
}

/* As after an exec() that failed.  Each time all workers are left, and none
 * twice. */
static void
renew_in_vain(void *arg)
{
	struct idem_span rest = span_of(getenv("FRONT_WORKERS")), one;
	int n = 0;

	while (span_next(&rest, ',', &one))
		n++;
	say(arg, n == WORKERS ? 'N' : '!');
}

static int
setup(void **state)
{
	struct fixture *f = test_calloc(1, sizeof *f);
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	f->hear = fds[0];
	f->say = fds[1];
	memcpy(f->log_path, "/tmp/idem-supervisor-XXXXXX", 28);
	f->log_fd = mkstemp(f->log_path);
	assert_true(f->log_fd >= 0);
	assert_int_equal(fcntl(f->log_fd, F_SETFL, O_APPEND), 0);
	f->front_log = (struct front_log){ .program = "t", .fd = f->log_fd };
	f->log = front_log_sink(&f->front_log);
	f->s = (struct supervisor){ .nworkers = WORKERS, .log = &f->log,
		.work = work, .rehearse = rehearse, .renew = renew, .arg = f,
		.pause_ms = 10, .max_pause_ms = 80, .stable_ms = 3600000,
		.stop_ms = 10000, .old_ms = 60000 };
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	if (f->pid != 0) { /* the test failed: its workers follow it */
		assert_int_equal(kill(f->pid, SIGKILL), 0);
		assert_int_equal(waitpid(f->pid, NULL, 0), f->pid);
	}
	assert_int_equal(close(f->hear) | close(f->say) | close(f->log_fd), 0);
	assert_int_equal(unlink(f->log_path), 0);
	test_free(f);
	return 0;
}

static struct word
hear_any(const struct fixture *f)
{
	struct pollfd fd = { .fd = f->hear, .events = POLLIN };
	struct word w;

	assert_int_equal(poll(&fd, 1, HEAR_MS), 1);
	assert_int_equal(io_read(f->hear, &w, sizeof w), (long)sizeof w);
	return w;
}

static pid_t
hear(const struct fixture *f, char want)
{
	struct word w = hear_any(f);

	assert_int_equal(w.what, want);
	return w.pid;
}

/* Whatever that process, which does not leave, says meanwhile. */
static pid_t
hear_beside(const struct fixture *f, pid_t stubborn, char want)
{
	struct word w;

	do
		w = hear_any(f);
	while (w.pid == stubborn);
	assert_int_equal(w.what, want);
	return w.pid;
}

static void
start(struct fixture *f, pid_t workers[], size_t n)
{
	f->pid = fork();
	assert_true(f->pid >= 0);
	if (f->pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(supervisor_run(&f->s));
	}
	for (size_t i = 0; i < n; i++)
		workers[i] = hear(f, 'W');
}

/* One worker, of whom it is known that it does not leave. */
static pid_t
start_stubborn(struct fixture *f)
{
	pid_t worker;

	f->manner = STUBBORN;
	f->s.nworkers = 1;
	start(f, &worker, 1);
	assert_int_equal(kill(worker, SIGTERM), 0);
	assert_int_equal(hear(f, 'T'), worker);
	return worker;
}

static void
expect_end(struct fixture *f)
{
	int status;

	assert_int_equal(waitpid(f->pid, &status, 0), f->pid);
	f->pid = 0;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* It has ended, and somebody has taken note of it. */
static void
expect_gone(pid_t pid)
{
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
}

/* The messages of the log so far, without program and pid. */
static void
read_log(const struct fixture *f, char got[4096])
{
	char log[4096] = "";
	struct idem_span rest, line;
	size_t n = 0;

	assert_true(pread(f->log_fd, log, sizeof log - 1, 0) >= 0);
	rest = span_of(log);
	while (span_next(&rest, '\n', &line) && line.n > 0) {
		line = span_from(line, span_find(line, ' ') + 1);
		memcpy(got + n, line.p, line.n);
		got[n + line.n] = '\n';
		n += line.n + 1;
	}
	got[n] = '\0';
}

static void
expect_log(const struct fixture *f, const char *want)
{
	char got[4096];

	read_log(f, got);
	assert_string_equal(got, want);
}

/* --- stopping ------------------------------------------------------------ */

static void
signals_are_passed_on(void **state)
{
	static const struct {
		int sent;
		char heard;
	} rows[] = { { SIGTERM, 'T' }, { SIGUSR1, 'U' }, { SIGINT, 'T' } };
	struct fixture *f = *state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		pid_t workers[WORKERS];

		start(f, workers, WORKERS);
		assert_int_equal(kill(f->pid, rows[i].sent), 0);
		for (size_t w = 0; w < WORKERS; w++)
			(void)hear(f, rows[i].heard);
		expect_end(f);
		for (size_t w = 0; w < WORKERS; w++)
			expect_gone(workers[w]);
		expect_log(f, "");
	}
}

static void
who_does_not_leave_is_killed(void **state)
{
	struct fixture *f = *state;
	pid_t worker;
	char want[200];

	f->s.stop_ms = 50;
	worker = start_stubborn(f);
	assert_int_equal(kill(f->pid, SIGTERM), 0);
	expect_end(f);
	expect_gone(worker);
	assert_int_equal(text_format(want, sizeof want, "error: killing "
	    "process %ld: it did not leave in time\n", (long)worker),
	    IDEM_OK);
	expect_log(f, want);
}

/* Nobody tells the workers but the kernel. */
static void
workers_do_not_outlive_their_supervisor(void **state)
{
	struct fixture *f = *state;
	pid_t workers[WORKERS];

	start(f, workers, WORKERS);
	assert_int_equal(kill(f->pid, SIGKILL), 0);
	assert_int_equal(waitpid(f->pid, NULL, 0), f->pid);
	f->pid = 0;
	for (size_t w = 0; w < WORKERS; w++)
		(void)hear(f, 'T');
}

/* --- replacing ----------------------------------------------------------- */

static void
the_dead_are_replaced(void **state)
{
	struct fixture *f = *state;
	pid_t workers[WORKERS], next;
	char want[200];

	start(f, workers, WORKERS);
	assert_int_equal(kill(workers[1], SIGKILL), 0);
	next = hear(f, 'W');
	assert_true(next != workers[0] && next != workers[1] &&
	    next != workers[2]);
	expect_gone(workers[1]);
	assert_int_equal(text_format(want, sizeof want, "warning: worker %ld "
	    "was killed by signal 9; the next one starts in 10 ms\n",
	    (long)workers[1]), IDEM_OK);
	expect_log(f, want);
	assert_int_equal(kill(f->pid, SIGTERM), 0);
	for (size_t w = 0; w < WORKERS; w++)
		(void)hear(f, 'T');
	expect_end(f);
}

static void
pauses(struct fixture *f, const int *want_ms, size_t n)
{
	char want[1000] = "", got[4096];
	size_t at = 0;

	f->manner = CRASHING;
	f->s.nworkers = 1;
	start(f, NULL, 0);
	for (size_t i = 0; i < n; i++) {
		pid_t worker = hear(f, 'W');

		assert_int_equal(text_format(want + at, sizeof want - at,
		    "warning: worker %ld ended with status 3; the next one "
		    "starts in %d ms\n", (long)worker, want_ms[i]), IDEM_OK);
		at += strlen(want + at);
	}
	(void)hear(f, 'W'); /* the last line above was written before it */
	read_log(f, got);
	got[at] = '\0'; /* its own end may be there already */
	assert_string_equal(got, want);
}

static void
the_pause_grows(void **state)
{
	static const int want_ms[] = { 10, 20, 40, 80, 80, 80 };

	pauses(*state, want_ms, COUNT(want_ms));
}

/* Who leaves with status 0 was asked to, or asked for a new process. */
static void
leaving_is_no_failure(void **state)
{
	struct fixture *f = *state;
	pid_t worker;
	char want[1000] = "";
	size_t at = 0;

	f->s.nworkers = 1;
	start(f, &worker, 1);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(kill(worker, SIGTERM), 0);
		assert_int_equal(hear(f, 'T'), worker);
		assert_int_equal(text_format(want + at, sizeof want - at,
		    "info: worker %ld ended with status 0; the next one starts "
		    "in 10 ms\n", (long)worker), IDEM_OK);
		at += strlen(want + at);
		worker = hear(f, 'W');
	}
	expect_log(f, want);
	assert_int_equal(kill(f->pid, SIGTERM), 0);
	assert_int_equal(hear(f, 'T'), worker);
	expect_end(f);
}

static void
who_lived_long_is_replaced_soon(void **state)
{
	static const int want_ms[] = { 40, 40, 40 };
	struct fixture *f = *state;

	f->s.stable_ms = 0;
	f->s.pause_ms = 40;
	pauses(f, want_ms, COUNT(want_ms));
}

/* --- renewing ------------------------------------------------------------ */

static void
a_bad_rehearsal_changes_nothing(void **state)
{
	struct fixture *f = *state;
	pid_t workers[WORKERS];

	f->rehearsal_status = 78;
	start(f, workers, WORKERS);
	assert_int_equal(kill(f->pid, SIGHUP), 0);
	(void)hear(f, 'R');
	assert_int_equal(kill(f->pid, SIGHUP), 0); /* perhaps still in it */
	(void)hear(f, 'R');
	assert_int_equal(kill(f->pid, SIGTERM), 0);
	for (size_t w = 0; w < WORKERS; w++)
		(void)hear(f, 'T');
	expect_end(f);
}

static void
a_bad_rehearsal_is_logged(void **state)
{
	struct fixture *f = *state;
	char got[200] = "", want[200];
	struct pollfd fd;
	pid_t workers[WORKERS];
	int log[2];

	f->rehearsal_status = 78;
	assert_int_equal(pipe(log), 0);
	f->front_log.fd = log[1];
	start(f, workers, WORKERS);
	assert_int_equal(kill(f->pid, SIGHUP), 0);
	(void)hear(f, 'R');
	fd = (struct pollfd){ .fd = log[0], .events = POLLIN };
	assert_int_equal(poll(&fd, 1, HEAR_MS), 1); /* the line is whole */
	assert_true(io_read(log[0], got, sizeof got - 1) > 0);
	assert_int_equal(text_format(want, sizeof want, "t[%ld] error: not "
	    "renewed: the program does not start as it is now; the running "
	    "one goes on\n", (long)f->pid), IDEM_OK);
	assert_string_equal(got, want);
	assert_int_equal(close(log[0]) | close(log[1]), 0);
}

static void
an_exec_that_fails_changes_nothing(void **state)
{
	struct fixture *f = *state;
	pid_t workers[WORKERS];

	f->s.renew = renew_in_vain;
	start(f, workers, WORKERS);
	assert_int_equal(kill(f->pid, SIGHUP), 0);
	(void)hear(f, 'R');
	assert_int_equal(hear(f, 'N'), f->pid);
	assert_int_equal(kill(f->pid, SIGHUP), 0);
	(void)hear(f, 'R');
	assert_int_equal(hear(f, 'N'), f->pid);
	assert_int_equal(kill(workers[0], SIGKILL), 0);
	(void)hear(f, 'W'); /* it still replaces the dead */
	assert_int_equal(kill(f->pid, SIGTERM), 0);
	for (size_t w = 0; w < WORKERS; w++)
		(void)hear(f, 'T');
	expect_end(f);
}

/* The same process goes on; its workers change, the new ones before the old. */
static void
a_renewed_supervisor_takes_the_old_workers_over(void **state)
{
	struct fixture *f = *state;
	pid_t workers[WORKERS], asked[WORKERS];
	size_t nnew = 0, nasked = 0;

	start(f, workers, WORKERS);
	assert_int_equal(kill(f->pid, SIGHUP), 0);
	(void)hear(f, 'R');
	assert_int_equal(hear(f, 'N'), f->pid);
	while (nnew < WORKERS || nasked < WORKERS) {
		struct word w = hear_any(f);

		if (w.what == 'T' && nasked < WORKERS)
			asked[nasked++] = w.pid;
		else
			nnew += w.what == 'W';
	}
	for (size_t i = 0; i < WORKERS; i++) {
		bool old = false;

		for (size_t j = 0; j < WORKERS; j++)
			old = old || asked[i] == workers[j];
		assert_true(old);
	}
	assert_int_equal(kill(f->pid, SIGTERM), 0);
	for (size_t w = 0; w < WORKERS; w++)
		(void)hear(f, 'T');
	expect_end(f);
	for (size_t w = 0; w < WORKERS; w++)
		expect_gone(workers[w]);
}

static void
an_old_worker_that_does_not_leave_is_killed(void **state)
{
	struct fixture *f = *state;
	pid_t old, worker;

	f->s.old_ms = 100;
	old = start_stubborn(f);
	assert_int_equal(kill(f->pid, SIGHUP), 0);
	(void)hear(f, 'R');
	assert_int_equal(hear(f, 'N'), f->pid);
	worker = hear_beside(f, old, 'W');
	assert_int_equal(kill(worker, 0), 0);
	for (int i = 0; i < 10000 && kill(old, 0) == 0; i++)
		(void)poll(NULL, 0, 1); /* it is no child of ours */
	expect_gone(old);
	assert_int_equal(kill(f->pid, SIGTERM), 0);
	assert_int_equal(hear_beside(f, old, 'T'), worker);
	expect_end(f);
}

/* Who stops the new program does not wait for the old one's workers either. */
static void
stopping_counts_for_old_workers_too(void **state)
{
	struct fixture *f = *state;
	pid_t old;

	f->renewed_stop_ms = 100;
	f->s.old_ms = 3600000;
	old = start_stubborn(f);
	assert_int_equal(kill(f->pid, SIGHUP), 0);
	(void)hear(f, 'R');
	assert_int_equal(hear(f, 'N'), f->pid);
	(void)hear_beside(f, old, 'W');
	assert_int_equal(kill(f->pid, SIGTERM), 0);
	expect_end(f);
	expect_gone(old);
}

static void
only_running_children_are_believed(void **state)
{
	int fds[2], status;
	pid_t running, ended;
	char list[200];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	running = fork();
	if (running == 0) {
		char c;

		(void)close(fds[1]);
		_exit((int)io_read(fds[0], &c, 1));
	}
	ended = fork();
	if (ended == 0)
		_exit(0);
	assert_int_equal(waitpid(ended, &status, 0), ended);
	legacy_add(ended);
	legacy_add(running);
	assert_int_equal(legacy_next(), running);
	assert_int_equal(legacy_next(), 0);

	assert_int_equal(text_format(list, sizeof list, "1,x,,-1,%ld,%ld,0",
	    (long)getppid(), (long)running), IDEM_OK);
	assert_int_equal(setenv("FRONT_WORKERS", list, 1), 0);
	assert_int_equal(legacy_next(), running);
	assert_int_equal(legacy_next(), 0);
	legacy_add(running);
	legacy_clear();
	assert_int_equal(legacy_next(), 0);

	assert_int_equal(close(fds[0]) | close(fds[1]), 0);
	assert_int_equal(waitpid(running, &status, 0), running);
}

#define WITH_PIPES(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_PIPES(signals_are_passed_on),
		WITH_PIPES(who_does_not_leave_is_killed),
		WITH_PIPES(workers_do_not_outlive_their_supervisor),
		WITH_PIPES(the_dead_are_replaced),
		WITH_PIPES(the_pause_grows),
		WITH_PIPES(leaving_is_no_failure),
		WITH_PIPES(who_lived_long_is_replaced_soon),
		WITH_PIPES(a_bad_rehearsal_changes_nothing),
		WITH_PIPES(a_bad_rehearsal_is_logged),
		WITH_PIPES(an_exec_that_fails_changes_nothing),
		WITH_PIPES(a_renewed_supervisor_takes_the_old_workers_over),
		WITH_PIPES(an_old_worker_that_does_not_leave_is_killed),
		WITH_PIPES(stopping_counts_for_old_workers_too),
		cmocka_unit_test(only_running_children_are_believed),
	};

	(void)alarm(300); /* one that waits for ever has failed, too */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
