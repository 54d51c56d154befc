/*
 * test_store_first.c - the first start of a store where there is hardly room
 * for it; and a data file that says it has more pages than it could.
 */
#include "storekit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int
setup(void **state)
{
	static struct kit kit;

	(void)signal(SIGXFSZ, SIG_IGN); /* as the programs do */
	kit_make(&kit, false);
	*state = &kit;
	return 0;
}

static int
teardown(void **state)
{
	kit_close(*state);
	return 0;
}

static const struct step two_records[] = {
	{ ONCE, 'a', '1', .input = "answer of a", .verdict = IDEM_STORED },
	{ CLAIM, 'b', '2', .verdict = IDEM_CLAIMED, .walk = "1aD 2bR" },
};

static void
make_store(struct kit *k)
{
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	KIT_RUN(k, two_records);
	idem_store_close(&k->store);
}

/* Open a store with files of at most so many bytes. */
static enum idem_err
open_limited(struct kit *k, rlim_t bytes)
{
	struct rlimit full, limit;
	enum idem_err err;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &full), 0);
	limit = (struct rlimit){ bytes, full.rlim_max };
	idem_buf_reset(&k->lines);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	err = kit_reopen(k, true);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
	return err;
}

static bool
is_there(struct kit *k, const char *name, struct stat *st)
{
	return stat(kit_path(k, name), st) == 0;
}

#define LAST_PAGE_AT 136 /* in a page of LMDB 0.9 that begins with "meta" */

/* Make a store, and flip this bit in the numbers of its last page. */
static void
flip_last_page(struct kit *k, int bit)
{
	uint64_t last;
	int fd;

	make_store(k);
	fd = open(kit_path(k, "store/data.mdb"), O_RDWR | O_CLOEXEC);
	for (off_t at = LAST_PAGE_AT; at < 8192; at += 4096) {
		assert_int_equal(pread(fd, &last, 8, at), 8);
		assert_in_range(last, 1, 31);
		last ^= UINT64_C(1) << bit;
		assert_int_equal(pwrite(fd, &last, 8, at), 8);
	}
	close(fd);
	idem_buf_reset(&k->lines);
}

/* A flipped bit that is no page's number must not make the file that long, nor
 * have LMDB map that much. */
static void
a_last_page_beyond_all_room(void **state)
{
	/* 4 TiB, what cannot be mapped, 4 EiB, what is no number of bytes */
	static const int bits[] = { 30, 36, 50, 62, 63 };
	struct kit *k = *state;
	struct stat st;

	for (size_t i = 0; i < COUNT(bits); i++) {
		flip_last_page(k, bits[i]);
		assert_int_equal(kit_reopen(k, true), IDEM_ECORRUPT);
		kit_logged(k, "/store: data.mdb: the number of its last page "
		    "is damaged, ");
		kit_logged(k, " bytes: put a copy of the store in its place");
		assert_true(is_there(k, "store/data.mdb", &st));
		assert_in_range(st.st_size, 8192, 1 << 20);
		kit_remove(k, "store");
	}
}

/* One that could be right takes room for nothing, and the check says so. */
static void
pages_that_belong_to_nothing(void **state)
{
	struct kit *k = *state;
	struct idem_copied copied;
	struct stat st;
	uint64_t nbad;

	make_store(k);
	assert_int_equal(kit_reopen(k, false), IDEM_OK);
	idem_buf_reset(&k->lines);
	assert_int_equal(idem_store_check(k->store, &nbad), IDEM_OK);
	assert_int_equal(k->lines.n, 0);
	idem_store_close(&k->store);
	kit_remove(k, "store");
	flip_last_page(k, 5);
	assert_int_equal(kit_reopen(k, false), IDEM_OK);
	assert_int_equal(idem_store_check(k->store, &nbad), IDEM_OK);
	assert_int_equal(nbad, 0);
	kit_logged(k, "/store: data.mdb: 32 of its pages belong to nothing, as "
	    "the number of its last page is damaged: no record is lost, but so "
	    "much room: raise IDEM_MAX_STORE where it is short");
	/* LMDB adds them up as well, and no part of a copy stays */
	assert_int_equal(idem_store_copy(k->store, &(struct idem_copy){
	    .to = span_of(kit_path(k, "copy")), .compact = true }, &copied),
	    IDEM_ECORRUPT);
	kit_logged(k, "/copy: the pages of data.mdb do not add up: see \"idem "
	    "check\", and copy it without --compact");
	assert_false(is_there(k, "copy", &st));
}

/* One page too few, and the next write goes over the last one; here one of the
 * application's, which nobody reads before. */
static void
more_pages_than_there_are(void **state)
{
	struct kit *k = *state;
	struct step put = { APPLY, 'c', '3', .verdict = IDEM_STORED };
	struct idem_buf script;
	uint64_t last, nbad;
	int fd;

	idem_buf_init(&script, 1 << 20);
	for (int i = 0; i < 20; i++) {
		idem_buf_printf(&script, "%sput 0 k%d ", i > 0 ? "\n" : "", i);
		for (int n = 0; n < 30; n++) /* too long for its leaf */
			idem_buf_printf(&script, "%0100d", n);
	}
	idem_buf_put(&script, "", 1);
	put.script = script.p;
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	kit_run(k, &put, 1);
	put.script = "put 1 z 9"; /* what else was at the end moves away */
	for (int i = 0; i < 4; i++)
		kit_run(k, &put, 1);
	idem_buf_free(&script);
	idem_store_close(&k->store);
	fd = open(kit_path(k, "store/data.mdb"), O_RDWR | O_CLOEXEC);
	for (off_t at = LAST_PAGE_AT; at < 8192; at += 4096) {
		assert_int_equal(pread(fd, &last, 8, at), 8);
		last--;
		assert_int_equal(pwrite(fd, &last, 8, at), 8);
	}
	close(fd);
	idem_buf_reset(&k->lines);
	assert_int_equal(kit_reopen(k, false), IDEM_OK);
	assert_int_equal(idem_store_check(k->store, &nbad), IDEM_OK);
	assert_int_equal(nbad, 1);
	kit_logged(k, "/store: data.mdb: 1 more pages are in use than there "
	    "are, as the number of its last page is damaged: stop the "
	    "programs and put a copy of the store in its place");
}

/* The first start finds room for a part of LMDB's first write: the next one
 * must not find what it left. */
static void
room_for_a_part_of_the_head(void **state)
{
	static const rlim_t limits[] = { 0, 512, 4096, 6000, 8191 };
	struct kit *k = *state;
	struct stat st;

	for (size_t i = 0; i < COUNT(limits); i++) {
		assert_int_equal(kit_reopen(k, true), IDEM_OK);
		idem_store_close(&k->store);
		assert_int_equal(unlink(kit_path(k, "store/data.mdb")), 0);
		assert_int_equal(unlink(kit_path(k, "store/workers")), 0);
		assert_int_equal(open_limited(k, limits[i]), IDEM_EFULL);
		assert_false(is_there(k, "store/data.mdb", &st));
		assert_int_equal(kit_reopen(k, true), IDEM_OK);
		idem_store_close(&k->store);
		kit_remove(k, "store");
	}
}

/* Without room for LMDB's lock file, too, which it would map all the same. */
static void
no_room_for_the_locks(void **state)
{
	static const rlim_t limits[] = { 0, 4096, 131071, 131199 };
	struct kit *k = *state;
	struct stat st;

	for (size_t i = 0; i < COUNT(limits); i++) {
		assert_int_equal(open_limited(k, limits[i]), IDEM_EFULL);
		kit_logged(k, "/store: open: File too large: raise the limit "
		    "on the size of files");
		assert_false(is_there(k, "store/data.mdb", &st));
		assert_int_equal(kit_reopen(k, true), IDEM_OK);
		idem_store_close(&k->store);
		assert_true(is_there(k, "store/lock.mdb", &st));
		assert_in_range(st.st_blocks * 512, st.st_size, 1 << 20);
		kit_remove(k, "store");
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(a_last_page_beyond_all_room),
		TEST(pages_that_belong_to_nothing),
		TEST(more_pages_than_there_are),
		TEST(room_for_a_part_of_the_head),
		TEST(no_room_for_the_locks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
