/*
 * test_store_grown.c - the map grows: others adopt its size, and a handler that
 * ignores a full one is run again.
 */
#include "scene.h"

#include <sys/wait.h>

struct sizes {
	size_t n, bytes;
};

static bool
add_size(void *arg, struct idem_span key, struct idem_span value)
{
	struct sizes *z = arg;

	(void)key;
	z->n++;
	z->bytes += value.n;
	return value.p[0] == 'x' && value.p[value.n - 1] == 'x';
}

static enum idem_err
sizes_of(void *arg, struct idem_tables *t)
{
	return idem_tables_each(t, 0, IDEM_ABSENT, add_size, arg);
}

/* Opened while the store was small; reads and writes after it has grown. */
static int
small_map(struct scene *s)
{
	struct sizes z = { 0, 0 };

	scene_tell(s->to_parent);
	scene_hear(s->to_child);
	if (idem_store_read(s->kit.store, sizes_of, &z) != IDEM_OK)
		return 1;
	if (z.n != 5 || z.bytes != 5 * 8 * MIB)
		return 2;
	scene_tell(s->to_parent);
	scene_hear(s->to_child);
	if (scene_put_big(&s->kit, "child", 8 * MIB) != IDEM_OK)
		return 3;
	return s->kit.lines.n == 0 ? 0 : 4;
}

static void
a_grown_map_is_adopted(void **state)
{
	struct scene *s = *state;
	pid_t pid = scene_child(s, small_map);
	struct sizes z = { 0, 0 };
	char key[2] = "a";
	int status;

	scene_hear(s->to_parent);
	for (; key[0] <= 'e'; key[0]++)
		assert_int_equal(scene_put_big(&s->kit, key, 8 * MIB), IDEM_OK);
	scene_tell(s->to_child);
	scene_hear(s->to_parent);
	assert_int_equal(scene_put_big(&s->kit, "f", MIB), IDEM_OK);
	scene_tell(s->to_child);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(idem_store_read(s->kit.store, sizes_of, &z), IDEM_OK);
	assert_int_equal(z.n, 7);
	assert_int_equal(z.bytes, 6 * 8 * MIB + MIB);
	/* the limit of 64 MiB holds for all of them */
	assert_int_equal(scene_put_big(&s->kit, "g", 16 * MIB), IDEM_EFULL);
	assert_int_equal(scene_put_big(&s->kit, "g", 1), IDEM_OK);
}

/* A handler that thinks nothing of a full map: it is run again all the same. */
static enum idem_err
careless(void *arg, struct idem_tables *t, const struct idem_op *op,
    struct idem_buf *answer, struct idem_applied *out)
{
	static char big[20 * MIB];
	struct idem_span value = { big, sizeof big };
	bool failed;

	(void)arg;
	(void)op;
	failed = idem_tables_put(t, 0, IDEM_LIT("k"), value) != IDEM_OK;
	idem_buf_printf(answer, "%s", failed ? "failed" : "fine");
	*out = (struct idem_applied){ .effect = IDEM_DONE,
		.kept_bytes = answer->n };
	return IDEM_OK;
}

/* The same, and its writes are undone. */
static enum idem_err
careless_and_undone(void *arg, struct idem_tables *t, const struct idem_op *op,
    struct idem_buf *answer, struct idem_applied *out)
{
	enum idem_err err = careless(arg, t, op, answer, out);

	out->undo = true;
	return err;
}

static void
a_handler_may_ignore_a_full_map(void **state)
{
	static const struct step steps[] = {
		{ ONCE, 'a', '1', .script = "x", .verdict = IDEM_STORED,
		    .answer = "fine" },
		{ LOOK, 'a', .verdict = IDEM_REPLAY, .answer = "fine" },
	};
	static const struct step undone[] = {
		{ ONCE, 'u', '1', .script = "x", .verdict = IDEM_STORED,
		    .answer = "fine", .table = "" },
	};
	struct scene *s = *state;

	s->kit.apply = careless_and_undone;
	KIT_RUN(&s->kit, undone);
	s->kit.apply = careless;
	KIT_RUN(&s->kit, steps);
	s->kit.apply = NULL;
	assert_int_equal(s->kit.lines.n, 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		SCENE(a_grown_map_is_adopted),
		SCENE(a_handler_may_ignore_a_full_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
