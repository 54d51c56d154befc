/*
 * test_store_processes.c - several processes on one store: one claims or
 * writes, is killed in the middle, starts a program; the others go on.
 */
#include "scene.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"

static struct scene *hanging; /* for hang(), in the child only */

/* Holds the writer's lock until the process is killed. */
static enum idem_err
hang(void *arg, struct idem_tables *t, const struct idem_op *op,
    struct idem_buf *answer, struct idem_applied *out)
{
	(void)arg;
	(void)op;
	(void)answer;
	(void)out;
	if (idem_tables_put(t, 0, IDEM_LIT("x"), IDEM_LIT("y")) != IDEM_OK)
		_exit(1);
	scene_tell(hanging->to_parent);
	for (;;)
		pause();
}

static int
hang_in_handler(struct scene *s)
{
	struct step step = { .what = ONCE, .key = 'a', .token = '1',
		.script = "x" };
	struct idem_op op;

	hanging = s;
	s->kit.apply = hang;
	kit_op(&s->kit, &step, &op);
	return idem_store_submit(s->kit.store, &op) == IDEM_OK ? 1 : 2;
}

static void
a_writer_killed_in_the_middle_has_done_nothing(void **state)
{
	static const struct step steps[] = {
		{ CLAIM, 'a', '2', .verdict = IDEM_CLAIMED, .walk = "1aR",
		    .table = "" },
	};
	struct scene *s = *state;
	pid_t pid = scene_child(s, hang_in_handler);

	scene_hear(s->to_parent);
	scene_kill(pid);
	KIT_RUN(&s->kit, steps);
	assert_int_equal(s->kit.lines.n, 0);
}

static int
claim_and_wait(struct scene *s)
{
	static const struct step steps[] = {
		{ CLAIM, 'a', '1', .verdict = IDEM_CLAIMED },
		{ CLAIM, 'b', '2', .retry = true, .verdict = IDEM_CLAIMED },
		{ CLAIM, 'c', '3', .verdict = IDEM_CLAIMED },
	};

	KIT_RUN(&s->kit, steps);
	scene_tell(s->to_parent);
	scene_hear(s->to_child); /* killed here */
	return 0;
}

static void
a_claim_ends_with_its_process(void **state)
{
	static const struct step alive[] = {
		{ CLAIM, 'a', '4', .verdict = IDEM_RUNNING },
		{ CLAIM, 'b', '4', .retry = true, .verdict = IDEM_RUNNING },
		{ RESOLVE, 'a', .verdict = IDEM_RUNNING },
		{ SWEEP, .now = 9, .swept = "0 0 0 0",
		    .walk = "1aR 2bR 3cR" },
		/* a token that another process holds */
		{ CLAIM, 'd', '1', .err = IDEM_EBUSY },
	};
	static const struct step dead[] = {
		{ CLAIM, 'a', '4', .verdict = IDEM_ORPHAN,
		    .walk = "1aU 2bR 3cR" },
		{ CLAIM, 'b', '4', .retry = true, .verdict = IDEM_CLAIMED,
		    .took_over = true, .walk = "1aU 3cR 4bR" },
		{ SWEEP, .now = 9, .swept = "0 0 1 0",
		    .walk = "1aU 3cU 4bR" },
		{ RESOLVE, 'a', .verdict = IDEM_RELEASED },
		{ RESOLVE, 'c', .input = "c", .verdict = IDEM_STORED,
		    .walk = "3cD 4bR" },
	};
	struct scene *s = *state;
	pid_t pid = scene_child(s, claim_and_wait);

	scene_hear(s->to_parent);
	KIT_RUN(&s->kit, alive);
	scene_kill(pid);
	KIT_RUN(&s->kit, dead);
}

/* Waits in the writer's lock until the other process wants it. */
static enum idem_err
until_wanted(void *arg, struct idem_tables *t, const struct idem_op *op,
    struct idem_buf *answer, struct idem_applied *out)
{
	char path[64], line[200] = "";
	const char *state;
	ssize_t n;

	(void)arg;
	(void)t;
	(void)op;
	if (text_format(path, sizeof path, "/proc/%d/stat", (int)getppid()) !=
	    IDEM_OK)
		_exit(1);
	scene_tell(hanging->to_parent);
	/* from here on it sleeps for our lock only */
	scene_hear(hanging->to_child);
	do {
		int fd = open(path, O_RDONLY);

		n = fd < 0 ? -1 : read(fd, line, sizeof line - 1);
		close(fd);
		state = n > 0 ? strrchr(line, ')') : NULL;
		if (state == NULL)
			_exit(2);
	} while (state[2] != 'S');
	idem_buf_puts(answer, IDEM_LIT("resolved"));
	*out = (struct idem_applied){ .effect = IDEM_DONE, .kept_bytes = 8 };
	return IDEM_OK;
}

static int
resolve_slowly(struct scene *s)
{
	static const struct step steps[] = {
		{ RESOLVE, 'a', .script = "x", .verdict = IDEM_STORED,
		    .answer = "resolved" },
	};

	hanging = s;
	s->kit.apply = until_wanted;
	KIT_RUN(&s->kit, steps);
	return 0;
}

/* What was due when the sweep looked and no longer is when it has the lock. */
static void
the_sweep_judges_again(void **state)
{
	static const struct step before[] = {
		{ CLAIM, 'a', '1', .verdict = IDEM_CLAIMED },
		{ LEAVE, .token = '1' },
	};
	static const struct step after[] = {
		{ LOOK, 'a', .verdict = IDEM_REPLAY, .answer = "resolved",
		    .walk = "1aD" },
	};
	struct scene *s = *state;
	struct idem_sweep sweep = { .from = 0 };
	pid_t pid;
	int status;

	KIT_RUN(&s->kit, before);
	pid = scene_child(s, resolve_slowly);
	scene_hear(s->to_parent);
	scene_tell(s->to_child);
	assert_int_equal(idem_store_sweep(s->kit.store, 0, 1000, 10, &sweep),
	    IDEM_OK);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(sweep.nseen, 1);
	assert_int_equal(sweep.nheld + sweep.nexpired + sweep.nunknown +
	    sweep.nreleased, 0);
	KIT_RUN(&s->kit, after);
}

/* A program that a worker starts gets no descriptor of the store's files. */
static void
a_program_inherits_nothing(void **state)
{
	struct scene *s = *state;
	struct idem_buf out;
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(s->to_parent[1], 1);
		execl("/bin/ls", "ls", "-l", "/proc/self/fd/", NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(s->to_parent[1]);
	idem_buf_init(&out, 100000);
	assert_int_equal(io_read_all(s->to_parent[0], &out), IDEM_OK);
	s->to_parent[1] = -1;
	assert_non_null(memmem(out.p, out.n, "pipe:", 5));
	assert_null(memmem(out.p, out.n, s->kit.dir, strlen(s->kit.dir)));
	idem_buf_free(&out);
}

static int
see_one(struct scene *s)
{
	static const unsigned char id[IDEM_ID_BYTES] = "aaaaaaaa";

	return idem_store_other_scope(s->kit.store, 0xfeedabcd, id, 1000);
}

static void
sightings_are_shared(void **state)
{
	static const unsigned char id[IDEM_ID_BYTES] = "bbbbbbbb";
	struct scene *s = *state;
	int status;

	assert_int_equal(waitpid(scene_child(s, see_one), &status, 0) > 0, 1);
	assert_int_equal(status, 0);
	assert_true(idem_store_other_scope(s->kit.store, 0xfeedabcd, id,
	    2000));
}

static void
durable_works_alike(void **state)
{
	static const struct step steps[] = {
		{ CLAIM, 'a', '1', .verdict = IDEM_CLAIMED },
		{ FINISH, 'a', '1', .input = "a", .verdict = IDEM_STORED },
		{ LOOK, 'a', .verdict = IDEM_REPLAY, .answer = "a",
		    .walk = "1aD" },
	};
	struct scene *s = *state;

	s->kit.durable = true;
	assert_int_equal(kit_reopen(&s->kit, true), IDEM_OK);
	KIT_RUN(&s->kit, steps);
	assert_int_equal(kit_reopen(&s->kit, true), IDEM_OK);
	kit_run(&s->kit, &steps[2], 1);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		SCENE(a_writer_killed_in_the_middle_has_done_nothing),
		SCENE(a_claim_ends_with_its_process),
		SCENE(the_sweep_judges_again),
		SCENE(a_program_inherits_nothing),
		SCENE(sightings_are_shared),
		SCENE(durable_works_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
