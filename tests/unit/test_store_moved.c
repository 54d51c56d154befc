/*
 * test_store_moved.c - the store's directory or a file of it is replaced under
 * a process: it notices before it does anything else.
 */
#include "harmkit.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct step moved[] = {
	{ LOOK, 'a', .err = IDEM_EMOVED },
	{ CLAIM, 'a', '3', .err = IDEM_EMOVED },
	{ FINISH, 'b', '2', .input = "x", .err = IDEM_EMOVED },
};

static bool
not_walked(void *arg, uint64_t number, const struct idem_record *record)
{
	(void)arg;
	(void)number;
	(void)record;
	fail();
	return false;
}

static void
expect_moved(struct kit *k, const char *what)
{
	struct idem_sweep sweep = { .from = 0 };
	unsigned char token[IDEM_TOKEN_BYTES];
	uint64_t from = 0;
	bool more;

	KIT_RUN(k, moved);
	memset(token, '3', sizeof token);
	assert_false(idem_store_alive(k->store, token));
	assert_int_equal(idem_store_sweep(k->store, 0, 0, 1, &sweep),
	    IDEM_EMOVED);
	assert_int_equal(idem_store_walk(k->store, &from, 1, &more,
	    not_walked, NULL), IDEM_EMOVED);
	kit_logged(k, what);
}

static void
a_replaced_directory(void **state)
{
	struct kit *k = *state;
	char old[512];

	assert_int_equal(text_format(old, sizeof old, "%s",
	    kit_path(k, "old")), IDEM_OK);
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	harm_two_records(k);
	assert_int_equal(rename(kit_path(k, "store"), old), 0);
	expect_moved(k, "/store: data.mdb is not the file that was opened: "
	    "this process leaves");
	assert_int_equal(mkdir(kit_path(k, "store"), 0700), 0);
	KIT_RUN(k, moved);
	/* opened anew it is another store */
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	kit_run(k, &(struct step){ SEE, .walk = "" }, 1);
}

/* A replay looks at the place for itself, not for a write that comes later. */
static void
a_directory_replaced_after_a_replay(void **state)
{
	static const struct step replay[] = {
		{ LOOK, 'a', .verdict = IDEM_REPLAY, .answer = "answer of a" },
	};
	static const struct step write[] = {
		{ APPLY, .script = "put 0 x 1", .err = IDEM_EMOVED },
	};
	struct kit *k = *state;
	char old[512];

	assert_int_equal(text_format(old, sizeof old, "%s",
	    kit_path(k, "old")), IDEM_OK);
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	harm_two_records(k);
	KIT_RUN(k, replay);
	assert_int_equal(rename(kit_path(k, "store"), old), 0);
	KIT_RUN(k, write);
}

/* A lock file of its own for each half of the workers would let two write at
 * once. */
static void
a_replaced_lock_file(void **state)
{
	struct kit *k = *state;

	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	harm_two_records(k);
	assert_int_equal(unlink(kit_path(k, "store/lock.mdb")), 0);
	expect_moved(k, "/store: lock.mdb is not the file that was opened");
}

static void
a_replaced_workers_file(void **state)
{
	struct kit *k = *state;

	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	harm_two_records(k);
	assert_int_equal(unlink(kit_path(k, "store/workers")), 0);
	close(open(kit_path(k, "store/workers"), O_CREAT | O_RDWR, 0600));
	expect_moved(k, "/store: workers is not the file that was opened");
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		HARM(a_replaced_directory),
		HARM(a_directory_replaced_after_a_replay),
		HARM(a_replaced_lock_file),
		HARM(a_replaced_workers_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
