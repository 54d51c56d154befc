/*
 * scene.c - a store and the processes on it.
 */
#include "scene.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

int
scene_set(void **state)
{
	static struct scene s;

	kit_open(&s.kit, false);
	assert_int_equal(pipe2(s.to_child, O_CLOEXEC), 0);
	assert_int_equal(pipe2(s.to_parent, O_CLOEXEC), 0);
	*state = &s;
	return 0;
}

int
scene_strike(void **state)
{
	struct scene *s = *state;

	for (int i = 0; i < 2; i++) {
		close(s->to_child[i]);
		close(s->to_parent[i]);
	}
	kit_close(&s->kit);
	return 0;
}

void
scene_tell(const int fds[2])
{
	if (write(fds[1], "x", 1) != 1)
		_exit(9);
}

void
scene_hear(const int fds[2])
{
	char c;

	if (read(fds[0], &c, 1) != 1)
		_exit(8);
}

pid_t
scene_child(struct scene *s, int (*fn)(struct scene *s))
{
	pid_t pid;

	/* nobody may inherit an open environment */
	idem_store_close(&s->kit.store);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (kit_reopen(&s->kit, false) != IDEM_OK)
			_exit(7);
		_exit(fn(s));
	}
	assert_int_equal(kit_reopen(&s->kit, false), IDEM_OK);
	return pid;
}

void
scene_kill(pid_t pid)
{
	int status;

	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

enum idem_err
scene_put_big(struct kit *k, const char *key, size_t n)
{
	struct step s = { .what = APPLY };
	struct idem_buf script;
	struct idem_op op;
	enum idem_err err;

	idem_buf_init(&script, n + 100);
	idem_buf_printf(&script, "put 0 %s ", key);
	memset(idem_buf_room(&script, n), 'x', n);
	idem_buf_grew(&script, n);
	kit_op(k, &s, &op);
	op.apply = 1;
	op.input = idem_buf_span(&script);
	err = idem_store_submit(k->store, &op);
	idem_buf_free(&script);
	return err;
}
