/*
 * test_store_readers.c - LMDB's readers: what dead ones hold is freed, and
 * their file has room for all.
 */
#include "scene.h"

#include <sys/stat.h>
#include <unistd.h>

static enum idem_err
read_and_wait(void *arg, struct idem_tables *t)
{
	struct scene *s = arg;
	struct idem_span value;

	if (idem_tables_get(t, 0, IDEM_LIT("k"), &value) != IDEM_OK)
		_exit(1);
	scene_tell(s->to_parent);
	for (;;)
		pause();
}

static int
hang_in_read(struct scene *s)
{
	return idem_store_read(s->kit.store, read_and_wait, s) == IDEM_OK;
}

static uint64_t
file_bytes_after_overwriting(struct scene *s)
{
	struct idem_room room;

	for (int i = 0; i < 60; i++)
		assert_int_equal(scene_put_big(&s->kit, "k", 100000), IDEM_OK);
	assert_int_equal(idem_store_room(s->kit.store, &room), IDEM_OK);
	return room.file_bytes;
}

/* A dead reader pins every page that was in use when it began; the sweep frees
 * them. */
static void
the_sweep_clears_dead_readers(void **state)
{
	struct scene *s = *state;
	struct idem_sweep sweep = { .from = 0 };
	uint64_t before = file_bytes_after_overwriting(s), pinned, after;
	pid_t pid = scene_child(s, hang_in_read);

	scene_hear(s->to_parent);
	scene_kill(pid);
	pinned = file_bytes_after_overwriting(s);
	assert_true(pinned > before + 2 * MIB);
	assert_int_equal(idem_store_sweep(s->kit.store, 0, 0, 1, &sweep),
	    IDEM_OK);
	after = file_bytes_after_overwriting(s);
	assert_true(after < pinned + MIB);
	assert_int_equal(s->kit.lines.n, 0);
}

struct slots {
	struct scene *s;
	unsigned left;
};

/* Reads within reads: each takes a slot of LMDB's table of readers. */
static enum idem_err
take_slots(void *arg, struct idem_tables *t)
{
	struct slots *z = arg;
	struct idem_span value;
	enum idem_err err;

	if (z->left-- == 0) {
		scene_tell(z->s->to_parent);
		scene_hear(z->s->to_child);
		return IDEM_OK;
	}
	err = idem_store_read(z->s->kit.store, take_slots, z);
	return err != IDEM_OK ? err :
	    idem_tables_get(t, 0, IDEM_LIT("k"), &value);
}

static int
take_most_slots(struct scene *s)
{
	struct slots z = { s, 2000 };

	return idem_store_read(s->kit.store, take_slots, &z) == IDEM_OK;
}

static void
slots_of_dead_readers_are_found(void **state)
{
	struct scene *s = *state;
	struct slots z = { s, 100 };
	pid_t pid = scene_child(s, take_most_slots);

	scene_hear(s->to_parent);
	scene_kill(pid);
	scene_tell(s->to_child);
	assert_int_equal(idem_store_read(s->kit.store, take_slots, &z),
	    IDEM_OK);
	assert_int_equal(s->kit.lines.n, 0);
	/* all taken by the living: refused with a reason */
	z.left = 2100;
	assert_int_equal(idem_store_read(s->kit.store, take_slots, &z),
	    IDEM_ESTORE);
	kit_logged(&s->kit, "/store: begin: MDB_READERS_FULL: Environment "
	    "maxreaders limit reached: too many processes read at once: run "
	    "fewer");
}

/* LMDB maps it: a hole would be a SIGBUS on a full disk. */
static void
the_lock_file_has_no_holes(void **state)
{
	struct scene *s = *state;
	struct stat st;

	assert_int_equal(stat(kit_path(&s->kit, "store/lock.mdb"), &st), 0);
	assert_in_range(st.st_size, 2048 * 64, 2050 * 64);
	assert_true(st.st_blocks * 512 >= st.st_size);
	assert_int_equal(st.st_mode & 07777, 0600);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		SCENE(the_sweep_clears_dead_readers),
		SCENE(slots_of_dead_readers_are_found),
		SCENE(the_lock_file_has_no_holes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
