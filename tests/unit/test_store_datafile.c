/*
 * test_store_datafile.c - data.mdb as a file: damaged, cut short, never
 * finished, emptied.
 */
#include "harmkit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/datafile.h"

static void
a_damaged_file(void **state)
{
	struct kit *k = *state;
	enum idem_err err;

	harm_make_store(k);
	harm_overwrite(k, 0, 8192);
	assert_int_equal(kit_reopen(k, true), IDEM_ECORRUPT);
	kit_logged(k, "/store: open: MDB_INVALID: File is not an LMDB file: "
	    "put a copy of the store in its place");
	/* cut off within its first pages, and anywhere behind them */
	for (off_t size = 16 * 4096; size > 0; size -= 4096) {
		idem_store_close(&k->store);
		assert_int_equal(unlink(kit_path(k, "store/data.mdb")), 0);
		assert_int_equal(unlink(kit_path(k, "store/workers")), 0);
		harm_make_store(k);
		assert_int_equal(truncate(kit_path(k, "store/data.mdb"), size),
		    0);
		idem_buf_reset(&k->lines);
		err = kit_reopen(k, true);
		if (size <= 3 * 4096) {
			assert_int_equal(err, IDEM_ECORRUPT);
			kit_logged(k, "put a copy of the store in its place");
		}
	}
}

/* A data file of which this is zero, or not there; "workers" was never made. */
static void
leave_half(struct kit *k, off_t zero_at, off_t nzero, off_t size)
{
	static const char zeroes[8192];
	int fd;

	kit_remove(k, "store");
	harm_make_store(k);
	idem_store_close(&k->store);
	assert_int_equal(unlink(kit_path(k, "store/workers")), 0);
	fd = open(kit_path(k, "store/data.mdb"), O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, zeroes, (size_t)nzero, zero_at), nzero);
	assert_int_equal(ftruncate(fd, size), 0);
	close(fd);
	idem_buf_reset(&k->lines);
}

/* A power cut while the store was made for the first time. */
static void
a_data_file_that_was_never_finished(void **state)
{
	static const struct {
		off_t zero_at, nzero, size;
	} rows[] = {
		{ 0, 8192, 8192 }, { 0, 4096, 8192 }, { 4096, 4096, 8192 },
		{ 0, 512, 8192 }, { 4096, 512, 16384 }, { 0, 512, 16384 },
		{ 0, 8192, 512 }, { 0, 8192, 16384 },
	};
	struct kit *k = *state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		leave_half(k, rows[i].zero_at, rows[i].nzero, rows[i].size);
		assert_int_equal(kit_reopen(k, true), IDEM_OK);
		kit_logged(k, "/store: data.mdb was never finished");
		assert_int_equal(access(kit_path(k,
		    "store/data.mdb.unfinished"), F_OK), 0);
		harm_two_records(k);
		idem_store_close(&k->store);
	}
	/* nobody but who makes stores makes one of it */
	leave_half(k, 0, 8192, 8192);
	assert_int_equal(kit_reopen(k, false), IDEM_ECORRUPT);
	/* a copy that was cut short, and what is no data file */
	leave_half(k, 0, 0, 4096);
	assert_int_equal(kit_reopen(k, true), IDEM_ECORRUPT);
	kit_logged(k, "/store: no worker ever used it: if data.mdb is a copy, "
	    "bring it once more, else remove it");
	leave_half(k, 0, 0, 8192);
	harm_overwrite(k, 0, 8192);
	assert_int_equal(kit_reopen(k, true), IDEM_ECORRUPT);
	/* a store that was used stays as it is */
	leave_half(k, 0, 8192, 8192);
	close(open(kit_path(k, "store/workers"), O_CREAT | O_RDWR, 0600));
	assert_int_equal(kit_reopen(k, true), IDEM_ECORRUPT);
}

/* LMDB would make a new store of it, in which every key is new. */
static void
an_emptied_data_file(void **state)
{
	static const char told[] = "/store: data.mdb is gone or was emptied: "
	    "put a copy of it back; or remove the whole directory";
	struct kit *k = *state;
	struct stat st;

	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	assert_int_equal(k->lines.n, 0);
	harm_two_records(k);
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	assert_int_equal(k->lines.n, 0);
	idem_store_close(&k->store);
	assert_int_equal(truncate(kit_path(k, "store/data.mdb"), 0), 0);
	assert_int_equal(kit_reopen(k, false), IDEM_ESTORE);
	kit_logged(k, "/store/data.mdb: is empty: start the web program first");
	assert_int_equal(kit_reopen(k, true), IDEM_ECORRUPT);
	kit_logged(k, told);
	/* Heads in it would be an empty store for who has it open. */
	assert_int_equal(stat(kit_path(k, "store/data.mdb"), &st), 0);
	assert_int_equal(st.st_size, 0);
	assert_int_equal(unlink(kit_path(k, "store/data.mdb")), 0);
	assert_int_equal(kit_reopen(k, true), IDEM_ECORRUPT);
	assert_int_equal(kit_reopen(k, true), IDEM_ECORRUPT);
	assert_int_equal(stat(kit_path(k, "store/data.mdb"), &st), -1);
	assert_int_equal(unlink(kit_path(k, "store/workers")), 0);
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	kit_run(k, &(struct step){ SEE, .walk = "" }, 1);
}

/* Longer than any path that the system takes. */
static void
a_directory_whose_name_is_too_long(void **state)
{
	struct kit *k = *state;
	char dir[2 * PATH_MAX];
	uint64_t n[3];
	bool aside = true;

	memset(dir, 'x', sizeof dir);
	dir[0] = '/';
	dir[sizeof dir - 1] = '\0';
	assert_int_equal(datafile_expect(dir, &k->log), IDEM_ESTORE);
	assert_false(datafile_last_page(dir, &n[0], &n[1], &n[2]));
	assert_int_equal(datafile_make_locks(dir, 8), ENAMETOOLONG);
	assert_int_equal(datafile_put_aside(dir, &aside), ENAMETOOLONG);
	assert_false(aside);
	datafile_take_back(dir);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		HARM(a_damaged_file),
		HARM(a_data_file_that_was_never_finished),
		HARM(an_emptied_data_file),
		HARM(a_directory_whose_name_is_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
