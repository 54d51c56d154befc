/*
 * test_waiting.c - who may wait, what wakes a waiter, and what ends its wait.
 * Every handle is a process to the kernel: each opened the file by itself.
 */
#include "tests.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "store/waiting.h"

static char path[] = "/tmp/idem-waiting-XXXXXX";
static const unsigned char id[IDEM_ID_BYTES] = { 7 };

/* What the processes of a test share. */
static struct scene {
	_Atomic int runs;    /* the work goes on */
	_Atomic int nasked;  /* whether it does */
	_Atomic int asleep;  /* a child is about to sleep */
	_Atomic int stop;
} *scene;

static bool
runs(void *arg, const unsigned char *which)
{
	struct scene *s = arg;

	assert_memory_equal(which, id, sizeof id);
	atomic_fetch_add(&s->nasked, 1);
	return atomic_load(&s->runs) != 0;
}

/* Said between two sleeps, so its first call says that one is near. */
static bool
stop(void *arg)
{
	struct scene *s = arg;

	atomic_store(&s->asleep, 1);
	return atomic_load(&s->stop) != 0;
}

static const struct waiting_for *
what(void)
{
	static struct waiting_for w;

	w = (struct waiting_for){ .id = id, .runs = runs, .runs_arg = scene,
		.stop = stop, .stop_arg = scene };
	return &w;
}

static int
setup(void **state)
{
	int fd;

	(void)state;
	memcpy(path + sizeof path - 7, "XXXXXX", 6);
	fd = mkstemp(path);
	if (fd < 0)
		return -1;
	(void)close(fd);
	scene = mmap(NULL, sizeof *scene, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (scene == MAP_FAILED)
		return -1;
	atomic_store(&scene->runs, 1);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	(void)munmap(scene, sizeof *scene);
	return unlink(path);
}

static void
open_many(struct waiting *w, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		waiting_open(&w[i], path, true, 1, NULL);
		assert_true(w[i].worker);
	}
}

static void
close_many(struct waiting *w, size_t n)
{
	for (size_t i = 0; i < n; i++)
		waiting_close(&w[i]);
}

static void
what_has_ended_needs_no_sleep(void **state)
{
	struct waiting w[2];
	int64_t left_ms = 60000;

	(void)state;
	open_many(w, 2);
	atomic_store(&scene->runs, 0);
	assert_true(waiting_for(&w[0], what(), &left_ms));
	assert_true(left_ms > 30000 && left_ms <= 60000);
	assert_int_equal(atomic_load(&scene->nasked), 1);
	close_many(w, 2);
}

static void
the_time_ends(void **state)
{
	struct waiting w[2];
	int64_t left_ms = 30;

	(void)state;
	open_many(w, 2);
	assert_false(waiting_for(&w[0], what(), &left_ms));
	assert_true(left_ms == 0);
	assert_false(waiting_for(&w[0], what(), &left_ms));
	close_many(w, 2);
}

static void
who_is_asked_to_stop_leaves(void **state)
{
	struct waiting w[2];
	int64_t left_ms = 60000;

	(void)state;
	open_many(w, 2);
	atomic_store(&scene->stop, 1);
	assert_false(waiting_for(&w[0], what(), &left_ms));
	assert_true(left_ms > 30000 && left_ms <= 60000);
	close_many(w, 2);
}

/* A child waits; it exits with 1 when the work had ended. */
static pid_t
start_waiter(int64_t for_ms)
{
	pid_t pid;

	atomic_store(&scene->asleep, 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct waiting mine;

		waiting_open(&mine, path, true, 1, NULL);
		_exit(waiting_for(&mine, what(), &for_ms) ? 1 : 2);
	}
	while (atomic_load(&scene->asleep) == 0)
		(void)usleep(1000);
	return pid;
}

static int
end_of(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The waiter looks because of the end of some record, nlooks times. */
static void
wake_to_look(struct waiting *w, const unsigned char *of, int nlooks)
{
	int64_t end_ms = io_steady_ms() + 20000;
	int from = atomic_load(&scene->nasked);

	while (atomic_load(&scene->nasked) - from < nlooks) {
		assert_true(io_steady_ms() < end_ms);
		waiting_ended(w, of);
		(void)usleep(1000);
	}
}

static void
the_end_wakes(void **state)
{
	struct waiting w[3];
	int64_t from_ms;
	pid_t pid;

	(void)state;
	open_many(w, 3);
	pid = start_waiter(60000);
	from_ms = io_steady_ms();
	wake_to_look(&w[0], id, 10);
	/* by itself it looks once a second */
	assert_true(io_steady_ms() - from_ms < 5000);
	atomic_store(&scene->runs, 0);
	waiting_ended(&w[0], id);
	assert_int_equal(end_of(pid), 1);
	close_many(w, 3);
}

/* Nobody wakes for one that was killed: it is seen when somebody looks. */
static void
a_silent_end_is_seen_in_time(void **state)
{
	struct waiting w[3];
	int64_t from_ms;
	pid_t pid;

	(void)state;
	open_many(w, 3);
	pid = start_waiter(60000);
	from_ms = io_steady_ms();
	atomic_store(&scene->runs, 0);
	assert_int_equal(end_of(pid), 1);
	assert_true(io_steady_ms() - from_ms < 30000);
	close_many(w, 3);
}

/* Records share a word; another one's end is not this one's. */
static void
anothers_end_is_not_the_end(void **state)
{
	unsigned char other[IDEM_ID_BYTES] = { 9 };
	struct waiting w[3];
	pid_t pid;

	(void)state;
	open_many(w, 3);
	other[7] = id[7];
	pid = start_waiter(60000);
	wake_to_look(&w[0], other, 2);
	atomic_store(&scene->runs, 0);
	waiting_ended(&w[0], id);
	assert_int_equal(end_of(pid), 1);
	close_many(w, 3);
}

static bool
may_wait(struct waiting *w)
{
	int64_t left_ms = 1;
	int before = atomic_load(&scene->nasked);

	(void)waiting_for(w, what(), &left_ms);
	return atomic_load(&scene->nasked) > before;
}

static void
half_of_the_attached_may_wait(void **state)
{
	struct waiting w[5], visitor, stranger;
	pid_t pid;

	(void)state;
	open_many(w, 1);
	assert_false(may_wait(&w[0])); /* the only one */
	waiting_open(&visitor, path, false, 1, NULL);
	assert_false(may_wait(&w[0])); /* who serves nobody does not count */
	assert_false(may_wait(&visitor));
	waiting_open(&stranger, path, true, 2, NULL);
	assert_false(may_wait(&w[0])); /* nor another program's workers */
	open_many(w + 1, 1);
	assert_true(may_wait(&w[0]));
	assert_true(may_wait(&w[1]));
	/* three attached, one of them waits: one of three it is */
	pid = start_waiter(60000);
	assert_false(may_wait(&w[0]));
	open_many(w + 2, 1);
	assert_true(may_wait(&w[0])); /* two of four */
	/* a killed waiter gives both its seats back */
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(end_of(pid), -1);
	assert_true(may_wait(&w[0])); /* one of three */
	waiting_close(&w[2]);
	waiting_close(&w[1]);
	assert_false(may_wait(&w[0]));
	assert_false(may_wait(&stranger));
	waiting_close(&stranger);
	waiting_close(&visitor);
	waiting_close(&w[0]);
}

static void
seats_in_the_middle_are_counted(void **state)
{
	struct waiting w[4];

	(void)state;
	open_many(w, 4);
	waiting_close(&w[0]);
	waiting_close(&w[2]);
	assert_true(may_wait(&w[1]));
	assert_true(may_wait(&w[3]));
	waiting_close(&w[1]);
	assert_false(may_wait(&w[3]));
	waiting_close(&w[3]);
}

static void
without_a_file_nobody_waits(void **state)
{
	struct waiting w;
	int64_t left_ms = 1000;

	(void)state;
	waiting_open(&w, NULL, true, 1, NULL);
	assert_false(waiting_for(&w, what(), &left_ms));
	assert_true(left_ms == 1000);
	waiting_ended(&w, id);
	waiting_close(&w);
	waiting_open(&w, "/nonexistent/waiting", true, 1, NULL);
	assert_false(waiting_for(&w, what(), &left_ms));
	waiting_ended(&w, id);
	waiting_close(&w);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(what_has_ended_needs_no_sleep),
		EACH(the_time_ends),
		EACH(who_is_asked_to_stop_leaves),
		EACH(the_end_wakes),
		EACH(a_silent_end_is_seen_in_time),
		EACH(anothers_end_is_not_the_end),
		EACH(half_of_the_attached_may_wait),
		EACH(seats_in_the_middle_are_counted),
		EACH(without_a_file_nobody_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
