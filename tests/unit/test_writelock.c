/*
 * test_writelock.c - the lock that every writer takes first: how long somebody
 * waits for it, and who goes first.  The pause and the clock here stand before
 * the C library's: no time passes.
 */
#include "storekit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "store/writelock.h"

#define WRITER ((off_t)1 << 40)
#define NEXT (WRITER + 1)
#define START_MS 5000

struct scene {
	struct kit kit;
	int fd;
	pid_t other; /* does what is written to orders, and answers */
	int orders;
	int answers;
};

static struct {
	int64_t ns;
	struct scene *s;
	int64_t at_ms; /* when order is given; 0: never */
	char order;
	char answer;
} now;

/* W, N: take a byte; w, n: give it. */
static char
obey(int fd, char order)
{
	struct flock lock = { .l_whence = SEEK_SET, .l_len = 1,
		.l_start = order == 'W' || order == 'w' ? WRITER : NEXT,
		.l_type = order == 'W' || order == 'N' ? F_WRLCK : F_UNLCK };

	return fcntl(fd, F_SETLK, &lock) == 0 ? 'y' : 'n';
}

static void
be_another(const char *path, int orders, int answers)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	char c;

	while (read(orders, &c, 1) == 1) {
		c = obey(fd, c);
		if (write(answers, &c, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static char
tell(struct scene *s, char order)
{
	char answer;

	assert_int_equal(write(s->orders, &order, 1), 1);
	assert_int_equal(read(s->answers, &answer, 1), 1);
	return answer;
}

int
clock_gettime(clockid_t id, struct timespec *t)
{
	(void)id; /* there is one here */
	*t = (struct timespec){ .tv_sec = now.ns / 1000000000,
		.tv_nsec = now.ns % 1000000000 };
	return 0;
}

int
nanosleep(const struct timespec *pause, struct timespec *left)
{
	(void)left;
	assert_int_equal(pause->tv_sec, 0);
	assert_in_range(pause->tv_nsec, 50000, 3200000);
	now.ns += pause->tv_nsec;
	if (now.at_ms != 0 && now.ns / 1000000 - START_MS >= now.at_ms) {
		now.answer = tell(now.s, now.order);
		now.at_ms = 0;
	}
	return 0;
}

static int
setup(void **state)
{
	static struct scene s;
	int to[2], from[2];
	const char *path;

	kit_make(&s.kit, false);
	path = kit_path(&s.kit, "lock");
	s.fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(s.fd >= 0);
	assert_int_equal(pipe(to), 0);
	assert_int_equal(pipe(from), 0);
	s.other = fork();
	assert_true(s.other >= 0);
	if (s.other == 0) {
		(void)close(to[1]);
		be_another(path, to[0], from[1]);
	}
	(void)close(to[0]);
	(void)close(from[1]);
	s.orders = to[1];
	s.answers = from[0];
	*state = &s;
	return 0;
}

static int
teardown(void **state)
{
	struct scene *s = *state;

	(void)close(s->orders); /* the other one ends */
	(void)waitpid(s->other, NULL, 0);
	(void)close(s->answers);
	(void)close(s->fd);
	kit_close(&s->kit);
	return 0;
}

/* What the other one has when we come, what he does then, and how long it took
 * us; the wait is 100 ms. */
static const struct {
	const char *has;
	int64_t at_ms;
	char order;
	enum idem_err err;
	char answer;
	int64_t least_ms, most_ms;
} rows[] = {
	{ "", 0, 0, IDEM_OK, 0, 0, 0 },
	{ "W", 10, 'w', IDEM_OK, 'y', 10, 13 },
	{ "W", 0, 0, IDEM_EBUSY, 0, 100, 103 },
	{ "W", 99, 'w', IDEM_OK, 'y', 99, 103 },
	/* he has waited for long, and stands still: courtesy has an end */
	{ "N", 0, 0, IDEM_OK, 0, 20, 23 },
	{ "N", 10, 'n', IDEM_OK, 'y', 10, 13 },
	{ "N", 10, 'W', IDEM_EBUSY, 'y', 100, 103 },
	/* we have waited for long: he cannot be next as well */
	{ "W", 20, 'N', IDEM_EBUSY, 'y', 100, 103 },
	{ "W", 40, 'N', IDEM_EBUSY, 'n', 100, 103 },
	/* and ask often */
	{ "W", 40, 'w', IDEM_OK, 'y', 40, 40 },
};

static void
one_row(struct scene *s, size_t i)
{
	int64_t took_ms;

	print_message("    row %zu\n", i);
	for (const char *c = rows[i].has; *c != '\0'; c++)
		assert_int_equal(tell(s, *c), 'y');
	now.ns = (int64_t)START_MS * 1000000;
	now.s = s;
	now.at_ms = rows[i].at_ms;
	now.order = rows[i].order;
	now.answer = 0;
	assert_int_equal(writelock_take(s->fd, START_MS + 100), rows[i].err);
	took_ms = now.ns / 1000000 - START_MS;
	assert_in_range(took_ms, rows[i].least_ms, rows[i].most_ms);
	assert_int_equal(now.answer, rows[i].answer);
	assert_int_equal(tell(s, 'n'), 'y');
	assert_int_equal(tell(s, 'N'), 'y'); /* whatever we did, it is free */
	assert_int_equal(tell(s, 'n'), 'y');
	if (rows[i].err == IDEM_OK) {
		assert_int_equal(tell(s, 'W'), 'n');
		writelock_give(s->fd);
		assert_int_equal(tell(s, 'W'), 'y');
	}
	assert_int_equal(tell(s, 'w'), 'y');
}

static void
who_waits_and_for_how_long(void **state)
{
	for (size_t i = 0; i < COUNT(rows); i++)
		one_row(*state, i);
}

/* Time that is up before we come: asked for once all the same. */
static void
no_time_at_all(void **state)
{
	struct scene *s = *state;

	now.ns = (int64_t)START_MS * 1000000;
	assert_int_equal(writelock_take(s->fd, START_MS - 1), IDEM_OK);
	writelock_give(s->fd);
	assert_int_equal(tell(s, 'W'), 'y');
	assert_int_equal(writelock_take(s->fd, START_MS - 1), IDEM_EBUSY);
	assert_int_equal(now.ns, (int64_t)START_MS * 1000000);
}

/* Who is next stands still, and we have less time than courtesy takes. */
static void
little_time(void **state)
{
	struct scene *s = *state;

	assert_int_equal(tell(s, 'N'), 'y');
	now.ns = (int64_t)START_MS * 1000000;
	now.at_ms = 0;
	assert_int_equal(writelock_take(s->fd, START_MS), IDEM_OK);
	assert_int_equal(now.ns, (int64_t)START_MS * 1000000);
	writelock_give(s->fd);
	assert_int_equal(writelock_take(s->fd, START_MS + 5), IDEM_OK);
	assert_in_range(now.ns / 1000000 - START_MS, 5, 8);
	writelock_give(s->fd);
}

static void
its_holder_is_known(void **state)
{
	struct scene *s = *state;

	assert_int_equal(writelock_holder(s->fd), 0);
	assert_int_equal(tell(s, 'W'), 'y');
	assert_int_equal(writelock_holder(s->fd), s->other);
	assert_int_equal(tell(s, 'w'), 'y');
	assert_int_equal(writelock_take(s->fd, 0), IDEM_OK);
	assert_int_equal(writelock_holder(s->fd), 0); /* it is we */
	writelock_give(s->fd);
}

static void
the_dead_hold_nothing(void **state)
{
	struct scene *s = *state;

	assert_int_equal(tell(s, 'W'), 'y');
	assert_int_equal(tell(s, 'N'), 'y');
	assert_int_equal(kill(s->other, SIGKILL), 0);
	assert_int_equal(waitpid(s->other, NULL, 0), s->other);
	now.ns = (int64_t)START_MS * 1000000;
	assert_int_equal(writelock_take(s->fd, START_MS + 100), IDEM_OK);
	assert_int_equal(now.ns, (int64_t)START_MS * 1000000);
	writelock_give(s->fd);
}

/* LMDB's lock orders writers in any case. */
static void
where_no_lock_can_be_had(void **state)
{
	(void)state;
	assert_int_equal(writelock_take(-1, 0), IDEM_OK);
	assert_int_equal(writelock_holder(-1), 0);
	writelock_give(-1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(who_waits_and_for_how_long),
		TEST(no_time_at_all),
		TEST(little_time),
		TEST(its_holder_is_known),
		TEST(the_dead_hold_nothing),
		TEST(where_no_lock_can_be_had),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
