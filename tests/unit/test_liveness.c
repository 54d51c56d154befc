/*
 * test_liveness.c - claims as locks: seen dead when their process ended, and
 * only then.
 */
#include "tests.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/liveness.h"

static const unsigned char mine[IDEM_TOKEN_BYTES] = "mine............";
static const unsigned char theirs[IDEM_TOKEN_BYTES] = "theirs..........";

/* A folder, the file in it, and this process's view; posix: the fall-back. */
struct stage {
	bool posix;
	char dir[32];
	char path[48];
	struct liveness l;
	int go[2]; /* a byte from the child: it holds its token */
};

static int
setup(void **state)
{
	struct stage *s = *state;

	strcpy(s->dir, "/tmp/idem.XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	snprintf(s->path, sizeof s->path, "%s/workers", s->dir);
	assert_int_equal(liveness_open(&s->l, s->path, NULL), IDEM_OK);
	assert_false(s->l.posix); /* this kernel has the others */
	s->l.posix = s->posix;
	assert_int_equal(pipe2(s->go, O_CLOEXEC), 0);
	return 0;
}

static int
teardown(void **state)
{
	struct stage *s = *state;

	liveness_close(&s->l);
	close(s->go[0]);
	close(s->go[1]);
	assert_int_equal(unlink(s->path), 0);
	assert_int_equal(rmdir(s->dir), 0);
	return 0;
}

/* A process that opens the file by itself, holds a token and waits. */
static pid_t
holder(struct stage *s, const unsigned char token[IDEM_TOKEN_BYTES])
{
	pid_t pid = fork();
	struct liveness l;
	char c;

	assert_true(pid >= 0);
	if (pid == 0) {
		if (liveness_open(&l, s->path, NULL) != IDEM_OK)
			_exit(1);
		l.posix = s->posix;
		if (liveness_hold(&l, token) != IDEM_OK ||
		    write(s->go[1], "g", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(s->go[0], &c, 1), 1);
	return pid;
}

static void
end_of(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

static void
killed_is_dead_at_once(void **state)
{
	struct stage *s = *state;
	pid_t pid = holder(s, theirs);

	assert_true(liveness_alive(&s->l, theirs));
	assert_false(liveness_alive(&s->l, mine));
	assert_int_equal(kill(pid, SIGKILL), 0);
	end_of(pid);
	assert_false(liveness_alive(&s->l, theirs));
}

static void
stopped_is_alive(void **state)
{
	struct stage *s = *state;
	pid_t pid = holder(s, theirs);
	int status;

	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	assert_true(liveness_alive(&s->l, theirs));
	assert_int_equal(kill(pid, SIGKILL), 0);
	end_of(pid);
	assert_false(liveness_alive(&s->l, theirs));
}

static void
own_token_is_alive_until_dropped(void **state)
{
	struct stage *s = *state;

	assert_false(liveness_alive(&s->l, mine));
	assert_int_equal(liveness_hold(&s->l, mine), IDEM_OK);
	assert_int_equal(liveness_hold(&s->l, mine), IDEM_OK);
	assert_true(liveness_alive(&s->l, mine));
	assert_int_equal(s->l.nheld, 1);
	liveness_drop(&s->l, theirs); /* not ours: nothing happens */
	assert_true(liveness_alive(&s->l, mine));
	liveness_drop(&s->l, mine);
	assert_false(liveness_alive(&s->l, mine));
}

/* Exit code: what the other process sees of our token. */
static int
seen_by_another(struct stage *s, const unsigned char token[IDEM_TOKEN_BYTES])
{
	pid_t pid = fork();
	struct liveness l;
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		if (liveness_open(&l, s->path, NULL) != IDEM_OK)
			_exit(9);
		l.posix = s->posix;
		_exit(liveness_alive(&l, token) ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void
others_see_our_locks(void **state)
{
	struct stage *s = *state;

	assert_int_equal(seen_by_another(s, mine), 0);
	assert_int_equal(liveness_hold(&s->l, mine), IDEM_OK);
	assert_int_equal(seen_by_another(s, mine), 1);
	assert_int_equal(seen_by_another(s, theirs), 0);
	liveness_drop(&s->l, mine);
	assert_int_equal(seen_by_another(s, mine), 0);
}

static void
a_token_of_another_is_busy(void **state)
{
	struct stage *s = *state;
	pid_t pid = holder(s, theirs);

	assert_int_equal(liveness_hold(&s->l, theirs), IDEM_EBUSY);
	assert_int_equal(s->l.nheld, 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	end_of(pid);
	assert_int_equal(liveness_hold(&s->l, theirs), IDEM_OK);
}

/* Where every program of the store looks: a lock taken by other means. */
static void
the_offset_is_agreed(void **state)
{
	static const unsigned char token[IDEM_TOKEN_BYTES] = { 0x81, 0x02,
		0x03, 0x04, 0x05, 0x06, 0x07, 0x0b };
	static const unsigned char next[IDEM_TOKEN_BYTES] = { 0x81, 0x02,
		0x03, 0x04, 0x05, 0x06, 0x07, 0x0c };
	struct stage *s = *state;
	pid_t pid = fork();
	char c;

	assert_true(pid >= 0);
	if (pid == 0) {
		struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET,
			.l_start = 0x204080c1014181c2, .l_len = 1 };
		int fd = open(s->path, O_RDWR);

		if (fd < 0 || fcntl(fd, F_SETLK, &lock) != 0 ||
		    write(s->go[1], "g", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(s->go[0], &c, 1), 1);
	assert_true(liveness_alive(&s->l, token));
	assert_false(liveness_alive(&s->l, next));
	assert_int_equal(kill(pid, SIGKILL), 0);
	end_of(pid);
	assert_false(liveness_alive(&s->l, token));
}

/* sixteen at a time; then each can be dropped again, in any order */
static void
holds_sixteen(void **state)
{
	struct stage *s = *state;
	unsigned char token[IDEM_TOKEN_BYTES] = "0...............";

	for (int i = 0; i < 16; i++) {
		token[0] = (unsigned char)('a' + i);
		assert_int_equal(liveness_hold(&s->l, token), IDEM_OK);
	}
	assert_int_equal(liveness_hold(&s->l, mine), IDEM_EBUSY);
	for (int i = 0; i < 16; i++) {
		token[0] = (unsigned char)('a' + i * 5 % 16);
		assert_true(liveness_alive(&s->l, token));
		liveness_drop(&s->l, token);
		assert_false(liveness_alive(&s->l, token));
		assert_int_equal(seen_by_another(s, token), 0);
	}
	assert_int_equal(liveness_hold(&s->l, mine), IDEM_OK);
}

/* A worker that holds a token and starts a program, which says a line and
 * reads one. */
static pid_t
worker_with_program(struct stage *s, const int in[2], const int out[2])
{
	pid_t pid = fork();
	struct liveness l;

	assert_true(pid >= 0);
	if (pid != 0)
		return pid;
	if (liveness_open(&l, s->path, NULL) != IDEM_OK)
		_exit(1);
	l.posix = s->posix;
	if (liveness_hold(&l, theirs) != IDEM_OK)
		_exit(1);
	if (fork() == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl("/bin/sh", "sh", "-c", "echo; read x", NULL);
		_exit(127);
	}
	for (;;)
		pause();
}

/* The program that a worker started outlives it; its claim does not. */
static void
an_executed_child_holds_nothing(void **state)
{
	struct stage *s = *state;
	int in[2], out[2];
	pid_t worker;
	char c;

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	worker = worker_with_program(s, in, out);
	close(out[1]);
	assert_int_equal(read(out[0], &c, 1), 1);
	assert_true(liveness_alive(&s->l, theirs));
	assert_int_equal(kill(worker, SIGKILL), 0);
	end_of(worker);
	assert_false(liveness_alive(&s->l, theirs));
	assert_int_equal(write(in[1], "\n", 1), 1);
	assert_int_equal(read(out[0], &c, 1), 0); /* the program has ended */
	close(in[0]);
	close(in[1]);
	close(out[0]);
}

/* An error in asking means alive; in locking, that there is no lock. */
static void
in_doubt_it_is_alive(void **state)
{
	struct stage *s = *state;
	int fd = s->l.fd;

	s->l.fd = s->go[0]; /* a pipe has no locks of this kind */
	close(s->l.fd);
	assert_true(liveness_alive(&s->l, theirs));
	assert_int_equal(liveness_hold(&s->l, mine), IDEM_EBUSY);
	assert_false(liveness_alive(&(struct liveness){ .fd = -1 }, theirs));
	assert_int_equal(pipe2(s->go, O_CLOEXEC), 0);
	s->l.fd = fd;
}

static void
needs_a_place_for_its_file(void **state)
{
	struct liveness l;

	(void)state;
	assert_int_equal(liveness_open(&l, "/nowhere/workers", NULL),
	    IDEM_ESTORE);
	assert_int_equal(l.fd, -1);
}

#define BOTH(f) \
	{ #f ": open-file", f, setup, teardown, &stages[0] }, \
	{ #f ": posix", f, setup, teardown, &stages[1] }

int
main(void)
{
	static struct stage stages[2] = { { .posix = false },
		{ .posix = true } };
	static const struct CMUnitTest tests[] = {
		BOTH(killed_is_dead_at_once),
		BOTH(stopped_is_alive),
		BOTH(own_token_is_alive_until_dropped),
		BOTH(others_see_our_locks),
		BOTH(a_token_of_another_is_busy),
		BOTH(the_offset_is_agreed),
		BOTH(holds_sixteen),
		BOTH(an_executed_child_holds_nothing),
		BOTH(in_doubt_it_is_alive),
		BOTH(needs_a_place_for_its_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
