/*
 * test_openlock.c - the lock around opening: how long somebody waits for it.
 * The pause here stands before the C library's: no time passes.
 */
#include "storekit.h"

#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "store/openlock.h"

static struct {
	int npauses;
	int give_at; /* at which one the other gives it up; 0: never */
	int other;
} wait;

int
nanosleep(const struct timespec *pause, struct timespec *left)
{
	(void)left;
	assert_int_equal(pause->tv_sec, 0);
	assert_int_equal(pause->tv_nsec, 20000000);
	if (++wait.npauses == wait.give_at)
		assert_int_equal(flock(wait.other, LOCK_UN), 0);
	return 0;
}

static void
waits_ten_seconds_and_says_so(void **state)
{
	static const struct {
		int give_at;
		enum idem_err err;
		int npauses;
		const char *line;
	} rows[] = {
		{ 0, IDEM_ESTORE, 500, "/open.lock: Resource temporarily "
		    "unavailable: whoever opens the store hangs: end it" },
		{ 3, IDEM_OK, 3, "" },
		{ 500, IDEM_OK, 500, "" },
	};
	struct kit k;

	(void)state;
	kit_make(&k, false);
	for (size_t i = 0; i < COUNT(rows); i++) {
		int fd = -1;

		wait.npauses = 0;
		wait.give_at = rows[i].give_at;
		wait.other = open(kit_path(&k, "open.lock"), O_RDWR | O_CREAT,
		    0600);
		assert_int_equal(flock(wait.other, LOCK_EX), 0);
		assert_int_equal(openlock_take(k.dir, &k.log, &fd),
		    rows[i].err);
		assert_int_equal(wait.npauses, rows[i].npauses);
		if (rows[i].err == IDEM_OK) {
			assert_int_equal(flock(wait.other, LOCK_EX | LOCK_NB),
			    -1); /* it is really held */
			openlock_give(fd);
		}
		assert_int_equal(flock(wait.other, LOCK_EX | LOCK_NB), 0);
		(void)close(wait.other);
		kit_logged(&k, rows[i].line);
		idem_buf_reset(&k.lines);
		idem_buf_puts(&k.lines, IDEM_LIT("\n"));
	}
	kit_close(&k);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_ten_seconds_and_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
