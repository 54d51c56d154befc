/*
 * test_store_still.c - a process that stands still inside a transaction: who
 * writes waits no longer than he was told to, and the log names the process.
 */
#include "storekit.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "store/failpoint.h"

#define WAIT_MS 30

/* How the process that stands still commits, and how the other one does. */
struct pair {
	bool still_durable;
	bool durable;
};

struct scene {
	struct kit kit;
	pid_t pid;
};

/* In the middle of a transaction. */
static enum idem_err
stand_still(void *arg, struct idem_tables *t, const struct idem_op *op,
    struct idem_buf *answer, struct idem_applied *out)
{
	(void)arg;
	(void)op;
	if (idem_tables_put(t, 0, IDEM_LIT("x"), IDEM_LIT("y")) != IDEM_OK)
		_exit(1);
	(void)raise(SIGSTOP);
	idem_buf_puts(answer, IDEM_LIT("late"));
	*out = (struct idem_applied){ .effect = IDEM_DONE, .kept_bytes = 4 };
	return IDEM_OK;
}

static void
write_and_stop(struct kit *k)
{
	static const struct step slow = { ONCE, 's', '5', .script = "x" };
	struct idem_op op;

	k->apply = stand_still;
	if (kit_reopen(k, false) != IDEM_OK)
		_exit(2);
	kit_op(k, &slow, &op);
	_exit(idem_store_submit(k->store, &op) != IDEM_OK ? 3 :
	    op.verdict == IDEM_STORED ? 0 : 4);
}

static const struct step before[] = {
	{ ONCE, 'a', '1', .input = "a", .verdict = IDEM_STORED },
	{ CLAIM, 'b', '2', .verdict = IDEM_CLAIMED },
};

/* A store with two records, and a process that stands still in it. */
static void
begin(struct scene *s, struct pair how)
{
	int status;

	kit_make(&s->kit, false);
	s->kit.wait_ms = WAIT_MS;
	s->kit.durable = how.still_durable;
	assert_int_equal(kit_reopen(&s->kit, true), IDEM_OK);
	KIT_RUN(&s->kit, before);
	idem_store_close(&s->kit.store);
	s->pid = fork();
	assert_true(s->pid >= 0);
	if (s->pid == 0)
		write_and_stop(&s->kit);
	assert_int_equal(waitpid(s->pid, &status, WUNTRACED), s->pid);
	assert_true(WIFSTOPPED(status));
	s->kit.durable = how.durable;
	assert_int_equal(kit_reopen(&s->kit, false), IDEM_OK);
}

/* Let it go on, or end it; what waitpid() says of its end. */
static int
send_off(const struct scene *s, int signal_number)
{
	int status;

	assert_int_equal(kill(s->pid, signal_number), 0);
	assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
	return status;
}

static void
named(const struct scene *s)
{
	char line[160];

	assert_int_equal(text_format(line, sizeof line, "/store: nobody has "
	    "committed for IDEM_STORE_WAIT: process %d writes: if it was "
	    "stopped, let it go on (kill -CONT %d), or end it", (int)s->pid,
	    (int)s->pid), IDEM_OK);
	kit_logged(&s->kit, line);
}

static const struct pair pairs[] = {
	{ false, false }, { false, true }, { true, false }, { true, true },
};

/* Nothing happened, and nobody is left to wonder. */
static void
writers_are_told(void **state)
{
	static const struct step still[] = {
		{ CLAIM, 'c', '3', .err = IDEM_EBUSY, .walk = "1aD 2bR" },
		{ FINISH, 'b', '2', .input = "b", .err = IDEM_EBUSY },
		{ ONCE, 'd', '4', .script = "put 0 d 1", .err = IDEM_EBUSY,
		    .table = "" },
		{ LOOK, 'a', .verdict = IDEM_REPLAY, .answer = "a" },
	};
	static const struct step after[] = {
		{ LOOK, 's', .verdict = IDEM_REPLAY, .answer = "late" },
		{ CLAIM, 'c', '3', .verdict = IDEM_CLAIMED,
		    .walk = "1aD 2bR 3sD 4cR", .table = "x=y" },
	};
	struct scene s;

	(void)state;
	for (size_t i = 0; i < COUNT(pairs); i++) {
		print_message("  pair %zu\n", i);
		begin(&s, pairs[i]);
		KIT_RUN(&s.kit, still);
		named(&s);
		assert_false(idem_store_stuck(s.kit.store));
		assert_int_equal(send_off(&s, SIGCONT), 0);
		KIT_RUN(&s.kit, after);
		kit_close(&s.kit);
	}
}

static void
until_it_is_ended(void **state)
{
	static const struct step still[] = {
		{ CLAIM, 's', '3', .err = IDEM_EBUSY },
	};
	static const struct step after[] = {
		{ CLAIM, 's', '3', .verdict = IDEM_CLAIMED,
		    .walk = "1aD 2bR 3sR", .table = "" },
	};
	struct scene s;

	(void)state;
	for (size_t i = 0; i < COUNT(pairs); i++) {
		print_message("  pair %zu\n", i);
		begin(&s, pairs[i]);
		KIT_RUN(&s.kit, still);
		assert_int_equal(send_off(&s, SIGKILL), SIGKILL);
		KIT_RUN(&s.kit, after);
		kit_close(&s.kit);
	}
}

/* What an operator's command does with the whole store. */
static void
a_sweep_and_a_copy_are_told(void **state)
{
	struct idem_copied copied;
	struct scene s;

	(void)state;
	for (size_t i = 0; i < COUNT(pairs); i++) {
		struct idem_sweep sweep = { .from = 0 };

		begin(&s, pairs[i]);
		assert_int_equal(idem_store_sweep(s.kit.store, 1000000, 0, 10,
		    &sweep), IDEM_EBUSY);
		named(&s);
		idem_buf_reset(&s.kit.lines);
		assert_int_equal(idem_store_copy(s.kit.store,
		    &(struct idem_copy){ .to = span_of(kit_path(&s.kit,
		    "copy")) }, &copied), IDEM_EBUSY);
		named(&s);
		assert_int_equal(send_off(&s, SIGKILL), SIGKILL);
		assert_int_equal(idem_store_copy(s.kit.store,
		    &(struct idem_copy){ .to = span_of(kit_path(&s.kit,
		    "copy")) }, &copied), IDEM_OK);
		assert_int_equal(copied.nrecords, 2);
		kit_close(&s.kit);
	}
}

/* Between the intent and the commit. */
static pid_t
stop_while_it_commits(struct kit *k)
{
	static const struct step one[] = {
		{ CLAIM, 'c', '3', .verdict = IDEM_CLAIMED },
	};
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		(void)signal(SIGBUS, SIG_DFL); /* not cmocka's */
		if (kit_reopen(k, false) != IDEM_OK ||
		    !failpoint_arm("group-opened:stop"))
			_exit(2);
		KIT_RUN(k, one);
		_exit(0);
	}
	return pid;
}

/*
 * Its leader dies when it looks at the file again, and that is not while it
 * gives LMDB's lock: we, who came before and so keep that lock as it is, would
 * wait for it for ever.
 */
static void
a_group_file_cut_short_under_its_leader(void **state)
{
	static const struct step after[] = {
		{ CLAIM, 'c', '4', .verdict = IDEM_ORPHAN },
		{ CLAIM, 'd', '4', .verdict = IDEM_CLAIMED,
		    .walk = "1cU 2dR" },
	};
	struct kit k;
	pid_t pid;
	int status;

	(void)state;
	kit_make(&k, false);
	k.durable = true;
	assert_int_equal(kit_reopen(&k, true), IDEM_OK);
	idem_store_close(&k.store);
	pid = stop_while_it_commits(&k);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(kit_reopen(&k, false), IDEM_OK);
	assert_int_equal(truncate(kit_path(&k, "store/group.2"), 0), 0);
	assert_int_equal(kill(pid, SIGCONT), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGBUS);
	KIT_RUN(&k, after);
	kit_close(&k);
}

/* What waits without a limit is ended by the alarm. */
int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(writers_are_told),
		cmocka_unit_test(until_it_is_ended),
		cmocka_unit_test(a_sweep_and_a_copy_are_told),
		cmocka_unit_test(a_group_file_cut_short_under_its_leader),
	};

	(void)alarm(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
