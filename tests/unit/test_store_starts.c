/*
 * test_store_starts.c - many processes open, make and close one store at once,
 * or die while they make it.
 */
#include "scene.h"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"

/* Opening and closing beside others that work: nobody is disturbed. */
static int
open_and_close(struct scene *s)
{
	struct step step = { .what = ONCE, .key = 'a', .token = '1',
		.max_keys = 1000, .input = "x" };
	struct idem_op op;

	for (int i = 0; i < 40; i++) {
		if (kit_reopen(&s->kit, i % 2 == 0) != IDEM_OK)
			return 1;
		kit_op(&s->kit, &step, &op);
		if (io_random(op.id, sizeof op.id) != IDEM_OK ||
		    io_random(op.token, sizeof op.token) != IDEM_OK)
			return 2;
		if (idem_store_submit(s->kit.store, &op) != IDEM_OK ||
		    op.verdict != IDEM_STORED)
			return 3;
	}
	idem_store_close(&s->kit.store);
	return s->kit.lines.n == 0 ? 0 : 4;
}

static void
many_open_and_close(void **state)
{
	struct scene *s = *state;
	struct idem_room room;
	pid_t pids[8];
	int status;

	for (size_t i = 0; i < COUNT(pids); i++)
		pids[i] = scene_child(s, open_and_close);
	for (size_t i = 0; i < COUNT(pids); i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(idem_store_room(s->kit.store, &room), IDEM_OK);
	assert_int_equal(room.nrecords, 8 * 40);
}

/* Eight processes make the same store at once. */
static int
make_and_claim(struct scene *s)
{
	static const struct step step = { ONCE, 'a', '1', .input = "x",
	    .verdict = IDEM_STORED };
	struct idem_op op;

	scene_hear(s->to_child);
	if (kit_reopen(&s->kit, true) != IDEM_OK)
		return 1;
	kit_op(&s->kit, &step, &op);
	if (io_random(op.token, sizeof op.token) != IDEM_OK ||
	    idem_store_submit(s->kit.store, &op) != IDEM_OK)
		return 2;
	if (s->kit.lines.n > 0)
		return 3;
	return op.verdict == IDEM_STORED ? 10 :
	    op.verdict == IDEM_REPLAY ? 11 : 4;
}

static void
many_make_one_store(void **state)
{
	struct scene *s = *state;
	unsigned nstored = 0, nreplayed = 0;
	pid_t pids[8];
	int status;

	idem_store_close(&s->kit.store);
	kit_remove(&s->kit, "store");
	for (size_t i = 0; i < COUNT(pids); i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0)
			_exit(make_and_claim(s));
	}
	for (size_t i = 0; i < COUNT(pids); i++)
		scene_tell(s->to_child);
	for (size_t i = 0; i < COUNT(pids); i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_true(WIFEXITED(status));
		assert_in_range(WEXITSTATUS(status), 10, 11);
		nstored += WEXITSTATUS(status) == 10;
		nreplayed += WEXITSTATUS(status) == 11;
	}
	assert_int_equal(nstored, 1);
	assert_int_equal(nreplayed, 7);
}

/* Whoever makes the store is killed at any moment: the next one makes it. */
static void
a_maker_may_be_killed(void **state)
{
	static const struct step steps[] = {
		{ CLAIM, 'a', '1', .verdict = IDEM_CLAIMED, .walk = "1aR" },
		{ LEAVE, .token = '1' },
	};
	struct scene *s = *state;
	unsigned char dice;

	for (int i = 0; i < 60; i++) {
		pid_t pid;

		idem_store_close(&s->kit.store);
		kit_remove(&s->kit, "store");
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			if (kit_reopen(&s->kit, true) != IDEM_OK)
				_exit(1);
			for (;;)
				pause();
		}
		assert_int_equal(io_random(&dice, 1), IDEM_OK);
		(void)nanosleep(&(struct timespec){ 0, dice * 12000 }, NULL);
		scene_kill(pid);
		assert_int_equal(kit_reopen(&s->kit, true), IDEM_OK);
		KIT_RUN(&s->kit, steps);
	}
	assert_int_equal(s->kit.lines.n, 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		SCENE(many_open_and_close),
		SCENE(many_make_one_store),
		SCENE(a_maker_may_be_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
