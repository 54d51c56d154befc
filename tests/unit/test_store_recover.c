/*
 * test_store_recover.c - a process that dies within the group commit, over a
 * real store: what it asked for is done once, or not at all where it had not
 * asked yet, whoever comes next.
 */
#include "storekit.h"

#include <sys/wait.h>
#include <unistd.h>

#include "puppet.h"
#include "store/failpoint.h"

/* One more in table 0: done twice, it would show. */
static enum idem_err
count_up(void *arg, struct idem_tables *t, const struct idem_op *op,
    struct idem_buf *answer, struct idem_applied *out)
{
	struct idem_span key = IDEM_LIT("n"), value;
	enum idem_err err = idem_tables_get(t, 0, key, &value);
	char n = (char)(value.p == NULL ? '1' : value.p[0] + 1);

	(void)arg;
	(void)op;
	(void)answer;
	*out = (struct idem_applied){ .effect = IDEM_DONE };
	return err != IDEM_OK ? err : idem_tables_put(t, 0, key,
	    (struct idem_span){ &n, 1 });
}

struct death {
	struct kit *kit;
	const char *name;
	int go[2]; /* the other one is attached */
};

/* 0: it lived; its process asks for nothing else. */
static int
ask_and_die(void *arg)
{
	const struct death *d = arg;
	const struct step s = { APPLY, .script = "" };
	char spec[64], c;
	struct idem_op op;

	if (read(d->go[0], &c, 1) != 1 ||
	    text_format(spec, sizeof spec, "%s:kill", d->name) != IDEM_OK ||
	    kit_reopen(d->kit, false) != IDEM_OK || !failpoint_arm(spec))
		return 9;
	kit_op(d->kit, &s, &op);
	return idem_store_submit(d->kit->store, &op) == IDEM_OK ? 0 : 8;
}

static int
setup(void **state)
{
	static struct kit kit;

	kit_make(&kit, false);
	kit.durable = true;
	kit.apply = count_up;
	*state = &kit;
	return kit_reopen(&kit, true) == IDEM_OK ? 0 : -1;
}

static int
teardown(void **state)
{
	kit_close(*state);
	return 0;
}

/* Did the child die there?  Another one is attached meanwhile; it comes with a
 * claim before and after. */
static bool
dies_at(struct kit *k, const char *name)
{
	static const struct step before[] = {
		{ CLAIM, 'a', '1', .verdict = IDEM_CLAIMED },
	};
	static const struct step after[] = {
		{ CLAIM, 'b', '2', .verdict = IDEM_CLAIMED },
	};
	struct death d = { k, name, { -1, -1 } };
	pid_t pid;
	int status;

	idem_store_close(&k->store);
	assert_int_equal(pipe(d.go), 0);
	pid = proc_start(ask_and_die, &d);
	assert_int_equal(kit_reopen(k, false), IDEM_OK);
	KIT_RUN(k, before);
	assert_int_equal(write(d.go[1], "x", 1), 1);
	status = proc_wait(pid, false);
	(void)close(d.go[0]);
	(void)close(d.go[1]);
	assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL :
	    status == 0);
	KIT_RUN(k, after);
	return WIFSIGNALED(status);
}

static void
assert_table(struct kit *k, const char *want)
{
	const struct step see[] = { { SEE, .walk = "1aR 2bR", .table = want } };
	uint64_t nbad;

	KIT_RUN(k, see);
	assert_int_equal(idem_store_check(k->store, &nbad), IDEM_OK);
	assert_int_equal(nbad, 0);
}

static void
what_was_asked_is_done_once(void **state)
{
	static const struct {
		const char *name;
		const char *table;
	} rows[] = {
		{ "group-written", "" }, /* it had not asked yet */
		{ "group-pending", "n=1" },
		{ "group-locked", "n=1" },
		{ "group-begun", "n=1" },
		{ "group-ran", "n=1" },
		{ "group-marked", "n=1" },
		{ "group-opened", "n=1" },    /* not committed: done now */
		{ "group-committed", "n=1" }, /* was committed: not again */
		{ "group-published", "n=1" },
		{ "group-closed", "n=1" },
		{ "group-verdict", "n=1" },
		{ "group-idle", "n=1" },
	};
	struct kit *k = *state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		print_message("  %s\n", rows[i].name);
		assert_true(dies_at(k, rows[i].name));
		assert_table(k, rows[i].table);
		assert_int_equal(teardown(state), 0);
		assert_int_equal(setup(state), 0);
	}
}

/* At every place that one process alone passes: never more than once. */
static void
nothing_is_done_twice(void **state)
{
	struct kit *k = *state;
	size_t ndeaths = 0;
	const char *name;

	for (unsigned i = 0; (name = failpoint_name(i)) != NULL; i++) {
		const struct step apply[] = { { APPLY, .script = "",
			.verdict = IDEM_STORED } };
		bool died = dies_at(k, name);
		struct idem_buf got;

		KIT_RUN(k, apply);
		idem_buf_init(&got, 1 << 16);
		kit_dump(k->store, &got);
		print_message("  %s: %s, %s\n", name,
		    died ? "died" : "not passed", memmem(got.p, got.n,
		    "n=2", 3) != NULL ? "done" : "not asked");
		assert_non_null(memmem(got.p, got.n,
		    died && memmem(got.p, got.n, "n=2", 3) == NULL ?
		    "n=1" : "n=2", 3));
		idem_buf_free(&got);
		ndeaths += died;
		assert_int_equal(teardown(state), 0);
		assert_int_equal(setup(state), 0);
	}
	assert_in_range(ndeaths, 25, 60);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_asked_is_done_once,
		    setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_is_done_twice, setup,
		    teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
