/*
 * test_store_open.c - a store that cannot be opened: its place, its owner, its
 * schema; the exact code, and a line that names the thing and says what to do.
 */
#include "harmkit.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/kv.h"

#define NOBODY 65534
#define KIB 1024

static void
no_store_there(void **state)
{
	struct kit *k = *state;

	assert_int_equal(kit_reopen(k, false), IDEM_ESTORE);
	kit_logged(k, "/store: realpath: No such file or directory: "
	    "start the web program first, it makes the store");
	assert_int_equal(mkdir(kit_path(k, "store"), 0700), 0);
	assert_int_equal(kit_reopen(k, false), IDEM_ESTORE);
	kit_logged(k, "/store/data.mdb: No such file or directory: "
	    "start the web program first, it makes the store");
	/* and looking has made nothing */
	assert_int_equal(rmdir(kit_path(k, "store")), 0);
}

/* In a process of its own, as nobody: the code, and the line is there. */
static void
as_nobody(struct kit *k, enum idem_err err, const char *line)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		struct idem_span lines;

		if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
			_exit(1);
		if (kit_reopen(k, true) != err)
			_exit(2);
		lines = idem_buf_span(&k->lines);
		_exit(lines.n > 0 && memmem(lines.p, lines.n, line,
		    strlen(line)) != NULL ? 0 : 3);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void
no_rights(void **state)
{
	struct kit *k = *state;

	if (geteuid() != 0) {
		print_message("SKIPPED: needs root to become somebody else\n");
		skip();
	}
	harm_make_store(k);
	as_nobody(k, IDEM_ESTORE, "/store: mkdir: Permission denied: make the "
	    "directory above it, and let this user write there");
	assert_int_equal(chmod(k->dir, 0755), 0);
	as_nobody(k, IDEM_ESTORE, "/store: open: Permission denied: it must "
	    "belong to the user that this program runs as");
	assert_int_equal(chmod(kit_path(k, "store"), 0755), 0);
	as_nobody(k, IDEM_EREFUSED, "/store: belongs to user 0, and this "
	    "program runs as 65534: run it as its owner");
	/* the owner's directory, but root's files */
	assert_int_equal(chown(kit_path(k, "store"), NOBODY, NOBODY), 0);
	as_nobody(k, IDEM_ESTORE, "/store/open.lock: Permission denied: it "
	    "must belong to the user that this program runs as");
	assert_int_equal(unlink(kit_path(k, "store/open.lock")), 0);
	as_nobody(k, IDEM_ESTORE, "/store: open: Permission denied: its files "
	    "must belong to the user that this program runs as");
}

static void
inside_the_document_root(void **state)
{
	struct kit *k = *state;

	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	assert_int_equal(idem_store_outside(k->store, span_of(k->dir)),
	    IDEM_EREFUSED);
	kit_logged(k, "/store: lies inside the document root ");
	kit_logged(k, "set IDEM_STORE to a directory outside");
	assert_int_equal(idem_store_outside(k->store, IDEM_LIT("/usr")),
	    IDEM_OK);
}

static void
a_newer_schema(void **state)
{
	struct kit *k = *state;

	harm_make_store(k);
	assert_in_range(harm_patch(k, IDEM_LIT("schema\0\0\0\1"),
	    IDEM_LIT("schema\0\0\0\143")), 1, 9);
	assert_int_equal(kit_reopen(k, true), IDEM_ENEWER);
	kit_logged(k, "/store: its schema is 99, this program knows up to 1: "
	    "run a newer version");
	assert_int_equal(kit_reopen(k, false), IDEM_ENEWER);
	harm_patch(k, IDEM_LIT("schema\0\0\0\143"), IDEM_LIT("schema\0\0\0\0"));
	assert_int_equal(kit_reopen(k, true), IDEM_ECORRUPT);
	kit_logged(k, "/store: its schema is damaged: put a copy of the store "
	    "in its place");
	harm_patch(k, IDEM_LIT("schema\0\0\0\0"), IDEM_LIT("schema\0\0\0\1"));
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
}

static enum idem_err
make_other(void *arg, struct kv_txn *t)
{
	bool there;

	(void)arg;
	return kv_table(t, 0, "of another program", true, &there);
}

static void
the_environment_of_another_program(void **state)
{
	struct kit *k = *state;
	struct kv *kv;

	assert_int_equal(mkdir(kit_path(k, "store"), 0700), 0);
	assert_int_equal(kv_open(&(struct kv_config){ .create = true,
	    .dir = kit_path(k, "store"), .max_bytes = 1 << 20,
	    .log = &k->log }, &kv), IDEM_OK);
	assert_int_equal(kv_write(kv, false, make_other, NULL), IDEM_OK);
	kv_close(&kv);
	assert_int_equal(kit_reopen(k, true), IDEM_EREFUSED);
	kit_logged(k, "/store: data.mdb belongs to another program: set "
	    "IDEM_STORE to a directory of its own");
}

/* Not worth a 503: the store works, and the log says what is missing. */
static void
no_room_for_sightings(void **state)
{
	static const unsigned char a[IDEM_ID_BYTES] = "aaaaaaaa";
	static const unsigned char b[IDEM_ID_BYTES] = "bbbbbbbb";
	struct kit *k = *state;

	assert_int_equal(mkdir(kit_path(k, "store"), 0700), 0);
	assert_int_equal(mkdir(kit_path(k, "store/sightings"), 0700), 0);
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	kit_logged(k, "/store/sightings: Is a directory: one key under two "
	    "users will not be noticed");
	assert_false(idem_store_other_scope(k->store, 1, a, 0));
	assert_false(idem_store_other_scope(k->store, 1, b, 0));
	harm_two_records(k);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		HARM(no_store_there),
		HARM(no_rights),
		HARM(inside_the_document_root),
		HARM(a_newer_schema),
		HARM(the_environment_of_another_program),
		HARM(no_room_for_sightings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
