/*
 * test_command_store.c - the operator's command on a store: who may open it,
 * what is counted and what is swept.
 */
#include "commandkit.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "rawkit.h"

/* --- the store ----------------------------------------------------------- */
static void
submit(struct kit *k, const struct step *s, enum idem_verdict want)
{
	struct idem_op op;

	kit_op(k, s, &op);
	assert_int_equal(idem_store_submit(k->store, &op), IDEM_OK);
	assert_int_equal(op.verdict, want);
}

/* One record of each class but running, then the store is closed. */
static void
fill(struct kit *k)
{
	const struct step old = { ONCE, 'a', '1', .input = "old" };
	const struct step young = { ONCE, 'b', '2', .now = COMMAND_NOW_MS,
		.input = "young" };
	const struct step claim = { CLAIM, 'c', '3', .now = COMMAND_NOW_MS };
	const struct step hold = { HOLD, 'c', '3', .now = COMMAND_NOW_MS };
	const struct step orphan = { CLAIM, 'd', '4', .now = COMMAND_NOW_MS };
	const struct step again = { CLAIM, 'e', '5', .now = COMMAND_NOW_MS,
		.retry = true };

	kit_open(k, false);
	submit(k, &old, IDEM_STORED);
	submit(k, &young, IDEM_STORED);
	submit(k, &claim, IDEM_CLAIMED);
	submit(k, &hold, IDEM_HELD);
	kit_leave(k, '3');
	submit(k, &orphan, IDEM_CLAIMED);
	kit_leave(k, '4');
	submit(k, &again, IDEM_CLAIMED);
	kit_leave(k, '5');
	idem_store_close(&k->store);
}

/* A process that holds a claim until the pipe is closed. */
static pid_t
worker(struct kit *k, int *pipe_end)
{
	const struct step claim = { CLAIM, 'f', '6', .now = COMMAND_NOW_MS };
	int up[2], down[2];
	char byte = 'x';
	pid_t pid;

	assert_int_equal(pipe2(up, O_CLOEXEC), 0);
	assert_int_equal(pipe2(down, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct idem_op op;
		bool well = kit_reopen(k, false) == IDEM_OK;

		close(down[1]);
		kit_op(k, &claim, &op);
		well = well && idem_store_submit(k->store, &op) == IDEM_OK &&
		    io_write(up[1], &byte, 1) == IDEM_OK &&
		    io_read(down[0], &byte, 1) == 0;
		_exit(well ? 0 : 1);
	}
	close(up[1]);
	close(down[0]);
	assert_int_equal(io_read(up[0], &byte, 1), 1);
	close(up[0]);
	*pipe_end = down[1];
	return pid;
}

static void
end_worker(pid_t pid, int pipe_end)
{
	int status;

	close(pipe_end);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Run on the store of k; out is what it prints, or how that begins. */
static void
on_store(struct kit *k, const char *const *words, int rc, const char *out)
{
	const char *all[COMMAND_WORDS + 1] = { words[0], "--store",
		kit_path(k, "store") };
	struct result r;
	size_t n = strlen(out);

	for (size_t i = 1; words[i] != NULL; i++)
		all[i + 2] = words[i];
	command_run(&r, all, IDEM_LIT(""), no_env);
	assert_span(idem_buf_span(&r.err), IDEM_LIT(""));
	if (n > 0 && out[n - 1] != '\n' && r.out.n > n)
		r.out.n = n;
	assert_span(idem_buf_span(&r.out), span_of(out));
	assert_int_equal(r.rc, rc);
	result_free(&r);
}

static void
records_are_counted_and_swept(void **state)
{
	struct kit k;
	int pipe_end;
	pid_t pid;

	(void)state;
	fill(&k);
	pid = worker(&k, &pipe_end);
	on_store(&k, WORDS("stats", "--json"), 0,
	    "{\"running\":1,\"orphaned\":2,\"done\":1,\"unknown\":1,"
	    "\"expired\":1,\"damaged\":0,\"records\":6,"
	    "\"max_records\":10000,\"used_bytes\":");
	on_store(&k, WORDS("stats", "--max-keys=7"), 0,
	    "running                    1\n"
	    "orphaned                   2\n"
	    "done                       1\n"
	    "unknown                    1\n"
	    "expired                    1\n"
	    "damaged                    0\n"
	    "records                    6\n"
	    "max_records                7\n"
	    "used_bytes ");
	on_store(&k, WORDS("check"), 0, "records=6 damaged=0\n");
	on_store(&k, WORDS("sweep"), 0, "seen=6 expired=1 unknown_expired=0 "
	    "held=1 released=1 ms=0 more=no\n");
	on_store(&k, WORDS("sweep", "--json"), 0,
	    "{\"seen\":4,\"expired\":0,\"unknown_expired\":0,\"held\":0,"
	    "\"released\":0,\"ms\":0,\"more\":false,\"busy\":false}\n");
	end_worker(pid, pipe_end);
	on_store(&k, WORDS("stats", "--json"), 0,
	    "{\"running\":0,\"orphaned\":1,\"done\":1,\"unknown\":2,"
	    "\"expired\":0,\"damaged\":0,\"records\":4,");
	on_store(&k, WORDS("check", "--json"), 0,
	    "{\"records\":4,\"damaged\":0}\n");
	on_store(&k, WORDS("check", "--quiet"), 0, "");
	on_store(&k, WORDS("sweep", "--quiet", "--json"), 0, "");
	kit_close(&k);
}

/* Overwrite the first record, and take another one out of the index, where
 * check counts. */
static void
damage(const struct kit *k)
{
	MDB_cursor *cursor;
	struct raw raw;
	MDB_val key;

	raw_begin(k, &raw);
	raw_spoil_first(&raw, raw_table(&raw, "log"));
	assert_int_equal(mdb_cursor_open(raw.txn, raw_table(&raw, "records"),
	    &cursor), 0);
	assert_int_equal(mdb_cursor_get(cursor, &key, NULL, MDB_LAST), 0);
	assert_int_equal(mdb_cursor_del(cursor, 0), 0);
	mdb_cursor_close(cursor);
	raw_end(&raw);
}

static void
damage_is_found(void **state)
{
	char path[100], err[400];
	struct kit k;

	(void)state;
	fill(&k);
	damage(&k);
	assert_int_equal(text_format(path, sizeof path, "%s",
	    kit_path(&k, "store")), IDEM_OK);
	assert_int_equal(text_format(err, sizeof err, "idem: store %s: record "
	    "1: does not decode\nidem: store %s: record 5: the index does not "
	    "lead to it\n", path, path), IDEM_OK);
	on_store(&k, WORDS("stats", "--json"), 0,
	    "{\"running\":0,\"orphaned\":2,\"done\":1,\"unknown\":1,"
	    "\"expired\":0,\"damaged\":1,\"records\":5,");
	command_expect(WORDS("check", "--store", path), "", 1,
	    "records=4 damaged=2\n", err);
	command_expect(WORDS("check", "--quiet", "--json", "--store", path), "",
	    1, "{\"records\":4,\"damaged\":2}\n", err);
	kit_close(&k);
}

static void
one_sweep_at_a_time(void **state)
{
	struct kit k;
	int fd;

	(void)state;
	fill(&k);
	fd = open(kit_path(&k, "store/sweep.lock"),
	    O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	on_store(&k, WORDS("sweep"), 0,
	    "another sweep is at work: nothing was done\n");
	on_store(&k, WORDS("sweep", "--json"), 0,
	    "{\"seen\":0,\"expired\":0,\"unknown_expired\":0,\"held\":0,"
	    "\"released\":0,\"ms\":0,\"more\":false,\"busy\":true}\n");
	on_store(&k, WORDS("sweep", "--quiet"), 0, "");
	close(fd);
	on_store(&k, WORDS("sweep"), 0, "seen=5 expired=1 unknown_expired=0 "
	    "held=1 released=1 ms=0 more=no\n");
	kit_close(&k);
}

#define LINK_REFUSED ": sweep.lock in it is a symbolic link"

/* A lock file that is a link leads nowhere: its target is not made. */
static void
a_lock_that_is_a_link_is_refused(void **state)
{
	char lock[100], target[100];
	struct kit k;
	struct result r;

	(void)state;
	fill(&k);
	assert_int_equal(text_format(lock, sizeof lock, "%s/sweep.lock",
	    kit_path(&k, "store")), IDEM_OK);
	assert_int_equal(text_format(target, sizeof target, "%s",
	    kit_path(&k, "elsewhere")), IDEM_OK);
	assert_int_equal(symlink(target, lock), 0);
	command_run(&r, WORDS("sweep", "--store", kit_path(&k, "store")),
	    IDEM_LIT(""), no_env);
	assert_int_equal(r.rc, 1);
	assert_span(idem_buf_span(&r.out), IDEM_LIT(""));
	assert_one_line(&r.err, "idem: store ");
	assert_non_null(memmem(r.err.p, r.err.n, LINK_REFUSED,
	    sizeof LINK_REFUSED - 1));
	assert_int_equal(access(target, F_OK), -1);
	result_free(&r);
	kit_close(&k);
}

static int64_t clock_ms;

/* A clock that takes 600 ms from look to look. */
static int64_t
slow_clock(void)
{
	return clock_ms += 600;
}

/* 1,200 records of the same time, all expired, then the store is closed. */
static void
fill_with_expired(struct kit *k)
{
	const struct step s = { ONCE, 'a', '1', .input = "x" };
	struct idem_op op;

	kit_open(k, false);
	for (int i = 0; i < 1200; i++) {
		kit_op(k, &s, &op);
		op.id[0] = (unsigned char)(i >> 8);
		op.id[1] = (unsigned char)i;
		op.max_keys = 10000;
		assert_int_equal(idem_store_submit(k->store, &op), IDEM_OK);
		assert_int_equal(op.verdict, IDEM_STORED);
	}
	idem_store_close(&k->store);
}

static void
a_sweep_ends_in_time(void **state)
{
	static const char *const left[] = { "more=yes\n", "more=yes\n",
		"more=no\n" };
	struct command_world world = command_world_still();
	struct kit k;
	struct result r;

	(void)state;
	world.steady_ms = slow_clock;
	fill_with_expired(&k);
	for (size_t i = 0; i < COUNT(left); i++) {
		command_run_in(&r, &world, WORDS("sweep", "--max-seconds", "1",
		    "--store", kit_path(&k, "store")), IDEM_LIT(""));
		assert_int_equal(r.rc, 0);
		assert_span(span_from(idem_buf_span(&r.out),
		    r.out.n - strlen(left[i])), span_of(left[i]));
		result_free(&r);
	}
	kit_close(&k);
}

static int64_t clock_step_ms;
static int nlooks; /* at the clock */

static int64_t
counted_clock(void)
{
	nlooks++;
	return clock_ms += clock_step_ms;
}

/* One look at the start, two a step. */
static void
slow_steps_become_smaller(void **state)
{
	static const struct {
		int64_t step_ms;
		int nsteps;
	} rows[] = {
		{ 0, 3 },  /* 480, 480, 240 records */
		{ 6, 3 },  /* neither slow nor quick */
		{ 20, 13 } /* 480, 250, 125, 62, and 9 of 32 */
	};
	struct command_world world = command_world_still();

	(void)state;
	world.steady_ms = counted_clock;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct kit k;
		struct result r;

		clock_step_ms = rows[i].step_ms;
		nlooks = 0;
		fill_with_expired(&k);
		command_run_in(&r, &world, WORDS("sweep", "--json", "--store",
		    kit_path(&k, "store")), IDEM_LIT(""));
		assert_int_equal(r.rc, 0);
		assert_non_null(memmem(r.out.p, r.out.n, "\"expired\":1200,",
		    15));
		assert_int_equal(nlooks, 1 + 2 * rows[i].nsteps);
		result_free(&r);
		kit_close(&k);
	}
}

static void
places_without_a_store(void **state)
{
	char file[100], err[400];
	struct kit k;

	(void)state;
	command_expect(WORDS("stats", "--store", "memory:"), "", 1, "",
	    "idem: IDEM_STORE=memory: lives inside one web program and ends "
	    "with it: nothing to open\n");
	command_expect(WORDS("sweep", "--store", "/nonexistent/store"), "", 1,
	    "",
	    "idem: /nonexistent/store does not exist: the web program makes "
	    "the store when it starts; is IDEM_STORE what it uses? (idem "
	    "--check-config)\n");
	kit_make(&k, false);
	assert_int_equal(text_format(file, sizeof file, "%s",
	    kit_path(&k, "file")), IDEM_OK);
	close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	assert_int_equal(text_format(err, sizeof err, "idem: %s is not a "
	    "directory: IDEM_STORE names the directory that the store lies "
	    "in\n", file), IDEM_OK);
	command_expect(WORDS("check", "--store", file), "", 1, "", err);
	kit_close(&k);
}

static size_t
count_files(const char *path)
{
	DIR *d = opendir(path);
	size_t n = 0;

	assert_non_null(d);
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n - 2; /* "." and ".." */
}

/* A directory without a store stays as it is. */
static void
an_empty_directory_stays_empty(void **state)
{
	static const char *const commands[] = { "sweep", "stats", "check" };
	struct kit k;
	struct result r;

	(void)state;
	kit_make(&k, false);
	for (size_t i = 0; i < COUNT(commands); i++) {
		command_run(&r, WORDS(commands[i], "--store", k.dir),
		    IDEM_LIT(""), no_env);
		assert_int_equal(r.rc, 1);
		assert_one_line(&r.err, "idem: ");
		assert_int_equal(count_files(k.dir), 0);
		result_free(&r);
	}
	kit_close(&k);
}

/* --- who may open it ----------------------------------------------------- */
#define OWNER 54321

/* In a process of its own, as root: has it become the owner for good? */
static bool
became_owner(const char *dir)
{
	const struct idem_log log = { .line = NULL };
	struct command c = { .log = &log };
	gid_t more[] = { 0, 4 }, g[3];
	uid_t u[3];

	return setgroups(2, more) == 0 && command_become_owner(&c, dir) &&
	    getresuid(&u[0], &u[1], &u[2]) == 0 &&
	    getresgid(&g[0], &g[1], &g[2]) == 0 && u[0] == OWNER &&
	    u[1] == OWNER && u[2] == OWNER && g[0] == OWNER + 1 &&
	    g[1] == OWNER + 1 && g[2] == OWNER + 1 &&
	    getgroups(0, NULL) == 0 && setuid(0) == -1 && setgid(0) == -1 &&
	    access("/etc/shadow", R_OK) == -1;
}

static void
root_becomes_the_owner(void **state)
{
	struct kit k;
	int status;
	pid_t pid;

	(void)state;
	if (geteuid() != 0)
		skip();
	kit_make(&k, false);
	assert_int_equal(chown(k.dir, OWNER, OWNER + 1), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(became_owner(k.dir) ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	kit_close(&k);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_counted_and_swept),
		cmocka_unit_test(damage_is_found),
		cmocka_unit_test(one_sweep_at_a_time),
		cmocka_unit_test(a_lock_that_is_a_link_is_refused),
		cmocka_unit_test(a_sweep_ends_in_time),
		cmocka_unit_test(slow_steps_become_smaller),
		cmocka_unit_test(places_without_a_store),
		cmocka_unit_test(an_empty_directory_stays_empty),
		cmocka_unit_test(root_becomes_the_owner),
	};

	return cmocka_run_group_tests_name("command_store", tests, NULL, NULL);
}
