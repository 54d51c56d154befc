/*
 * test_store_disk.c - no room on the disk or in a file: what is stored is given
 * back, and what ran ends when there is room again.
 */
#include "harmkit.h"

#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void
limit_files(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* One answer that finds no room is enough: no other work begins, though a
 * running record would still find some. */
static void
an_end_without_room(void **state)
{
	static const struct step before[] = {
		{ CLAIM, 'a', '1', .verdict = IDEM_CLAIMED },
		{ CLAIM, 'b', '2', .verdict = IDEM_CLAIMED },
		{ ONCE, 'e', '3', .input = "e", .verdict = IDEM_STORED },
	};
	static const struct step full[] = {
		{ CLAIM, 'c', '4', .err = IDEM_EFULL },
		{ LOOK, 'e', .verdict = IDEM_REPLAY, .answer = "e" },
		{ CLAIM, 'c', '4', .err = IDEM_EFULL },
	};
	static const struct step room[] = {
		{ CLAIM, 'c', '4', .verdict = IDEM_CLAIMED },
		{ FINISH, 'b', '2', .input = "b", .verdict = IDEM_STORED },
		{ FINISH, 'c', '4', .input = "c", .verdict = IDEM_STORED },
	};
	static char large[1024 * KIB];
	struct step s = { FINISH, 'a', '1', .err = IDEM_ESTORE };
	struct kit *k = *state;
	struct stat st;
	struct idem_op op;

	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	KIT_RUN(k, before);
	assert_int_equal(stat(kit_path(k, "store/data.mdb"), &st), 0);
	limit_files((rlim_t)st.st_size + 16 * 4096);
	kit_op(k, &s, &op);
	op.input = (struct idem_span){ large, sizeof large };
	op.kept_bytes = sizeof large;
	assert_int_equal(idem_store_submit(k->store, &op), IDEM_ESTORE);
	KIT_RUN(k, full);
	kit_logged(k, "/store: commit: File too large: raise the limit on the "
	    "size of files");
	kit_logged(k, "/store: there is still no room for the answer of "
	    "finished work: no other work begins");
	limit_files(RLIM_INFINITY);
	KIT_RUN(k, room);
	/* the one that was stored has cleared it */
	limit_files((rlim_t)st.st_size + 256 * KIB);
	kit_run(k, &(struct step){ CLAIM, 'd', '5',
	    .verdict = IDEM_CLAIMED }, 1);
	limit_files(RLIM_INFINITY);
}

static void
a_full_disk(void **state)
{
	static const struct step before[] = {
		{ CLAIM, 'a', '1', .verdict = IDEM_CLAIMED },
		{ ONCE, 'b', '2', .input = "b", .verdict = IDEM_STORED },
	};
	static const struct step full[] = {
		{ LOOK, 'b', .verdict = IDEM_REPLAY, .answer = "b" },
		{ CLAIM, 'a', '3', .verdict = IDEM_RUNNING },
		{ CLAIM, 'b', '3', 'x', .verdict = IDEM_MISMATCH },
	};
	static const struct step after[] = {
		{ FINISH, 'a', '1', .now = 3000, .input = "a",
		    .verdict = IDEM_STORED },
		{ CLAIM, 'd', '4', .now = 3000, .verdict = IDEM_CLAIMED },
	};
	struct kit *k = *state;
	uint64_t nbad;
	size_t n;

	assert_int_equal(mkdir(kit_path(k, "store"), 0700), 0);
	if (mount("tmpfs", kit_path(k, "store"), "tmpfs", 0,
	    "size=2m,mode=0700") != 0) {
		print_message("SKIPPED: a small disk cannot be mounted here\n");
		skip();
	}
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	KIT_RUN(k, before);
	n = harm_fill(k, IDEM_EFULL);
	assert_in_range(n, 100, 170);
	kit_logged(k, "/store: commit: No space left on device: make room on "
	    "the disk");
	KIT_RUN(k, full);
	assert_int_equal(idem_store_check(k->store, &nbad), IDEM_OK);
	assert_int_equal(nbad, 0);
	/* somebody makes room */
	assert_int_equal(mount("tmpfs", kit_path(k, "store"), "tmpfs",
	    MS_REMOUNT, "size=3m"), 0);
	harm_sweep_all(k, 2000, n + 1);
	KIT_RUN(k, after);
	idem_store_close(&k->store);
	assert_int_equal(umount(kit_path(k, "store")), 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		HARM(an_end_without_room),
		HARM(a_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
