/*
 * test_store_processes.c - several processes on one store: one grows it, one
 * dies in the middle, one starts a program.
 */
#include "storekit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"

#define MIB (1024 * 1024)

struct scene {
	struct kit kit;
	int to_child[2];
	int to_parent[2];
};

static int
setup(void **state)
{
	static struct scene s;

	kit_open(&s.kit, false);
	assert_int_equal(pipe2(s.to_child, O_CLOEXEC), 0);
	assert_int_equal(pipe2(s.to_parent, O_CLOEXEC), 0);
	*state = &s;
	return 0;
}

static int
teardown(void **state)
{
	struct scene *s = *state;

	for (int i = 0; i < 2; i++) {
		close(s->to_child[i]);
		close(s->to_parent[i]);
	}
	kit_close(&s->kit);
	return 0;
}

static void
tell(const int fds[2])
{
	if (write(fds[1], "x", 1) != 1)
		_exit(9);
}

static void
hear(const int fds[2])
{
	char c;

	if (read(fds[0], &c, 1) != 1)
		_exit(8);
}

/* A process that opens the store by itself and runs fn; it ends with the code
 * of fn. */
static pid_t
child(struct scene *s, int (*fn)(struct scene *s))
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

static void
kill_and_wait(pid_t pid)
{
	int status;

	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

/* A table entry of n bytes. */
static enum idem_err
put_big(struct kit *k, const char *key, size_t n)
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

	tell(s->to_parent);
	hear(s->to_child);
	if (idem_store_read(s->kit.store, sizes_of, &z) != IDEM_OK)
		return 1;
	if (z.n != 5 || z.bytes != 5 * 8 * MIB)
		return 2;
	tell(s->to_parent);
	hear(s->to_child);
	if (put_big(&s->kit, "child", 8 * MIB) != IDEM_OK)
		return 3;
	return s->kit.lines.n == 0 ? 0 : 4;
}

static void
a_grown_map_is_adopted(void **state)
{
	struct scene *s = *state;
	pid_t pid = child(s, small_map);
	struct sizes z = { 0, 0 };
	char key[2] = "a";
	int status;

	hear(s->to_parent);
	for (; key[0] <= 'e'; key[0]++)
		assert_int_equal(put_big(&s->kit, key, 8 * MIB), IDEM_OK);
	tell(s->to_child);
	hear(s->to_parent);
	assert_int_equal(put_big(&s->kit, "f", MIB), IDEM_OK);
	tell(s->to_child);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(idem_store_read(s->kit.store, sizes_of, &z), IDEM_OK);
	assert_int_equal(z.n, 7);
	assert_int_equal(z.bytes, 6 * 8 * MIB + MIB);
	/* the limit of 64 MiB holds for all of them */
	assert_int_equal(put_big(&s->kit, "g", 16 * MIB), IDEM_EFULL);
	assert_int_equal(put_big(&s->kit, "g", 1), IDEM_OK);
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
	tell(hanging->to_parent);
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
	pid_t pid = child(s, hang_in_handler);

	hear(s->to_parent);
	kill_and_wait(pid);
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
	tell(s->to_parent);
	hear(s->to_child); /* killed here */
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
	pid_t pid = child(s, claim_and_wait);

	hear(s->to_parent);
	KIT_RUN(&s->kit, alive);
	kill_and_wait(pid);
	KIT_RUN(&s->kit, dead);
}

static enum idem_err
read_and_wait(void *arg, struct idem_tables *t)
{
	struct scene *s = arg;
	struct idem_span value;

	if (idem_tables_get(t, 0, IDEM_LIT("k"), &value) != IDEM_OK)
		_exit(1);
	tell(s->to_parent);
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
		assert_int_equal(put_big(&s->kit, "k", 100000), IDEM_OK);
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
	pid_t pid = child(s, hang_in_read);

	hear(s->to_parent);
	kill_and_wait(pid);
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
		tell(z->s->to_parent);
		hear(z->s->to_child);
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
	pid_t pid = child(s, take_most_slots);

	hear(s->to_parent);
	kill_and_wait(pid);
	tell(s->to_child);
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
	tell(hanging->to_parent);
	hear(hanging->to_child); /* from here on it sleeps for our lock only */
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
	pid = child(s, resolve_slowly);
	hear(s->to_parent);
	tell(s->to_child);
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
		pids[i] = child(s, open_and_close);
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

	hear(s->to_child);
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
		tell(s->to_child);
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
		kill_and_wait(pid);
		assert_int_equal(kit_reopen(&s->kit, true), IDEM_OK);
		KIT_RUN(&s->kit, steps);
	}
	assert_int_equal(s->kit.lines.n, 0);
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

	assert_int_equal(waitpid(child(s, see_one), &status, 0) > 0, 1);
	assert_int_equal(status, 0);
	assert_true(idem_store_other_scope(s->kit.store, 0xfeedabcd, id,
	    2000));
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

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(a_grown_map_is_adopted),
		TEST(a_handler_may_ignore_a_full_map),
		TEST(a_writer_killed_in_the_middle_has_done_nothing),
		TEST(a_claim_ends_with_its_process),
		TEST(the_sweep_clears_dead_readers),
		TEST(slots_of_dead_readers_are_found),
		TEST(the_sweep_judges_again),
		TEST(a_program_inherits_nothing),
		TEST(many_open_and_close),
		TEST(many_make_one_store),
		TEST(a_maker_may_be_killed),
		TEST(sightings_are_shared),
		TEST(the_lock_file_has_no_holes),
		TEST(durable_works_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
