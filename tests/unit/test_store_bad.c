/*
 * test_store_bad.c - bad places, damaged files, no room: the exact code and a
 * line that names the thing and says what to do.
 */
#include "storekit.h"

#include <fcntl.h>
#include <lmdb.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "store/kv.h"

#define NOBODY 65534
#define KIB 1024

static int
setup(void **state)
{
	static struct kit kit;

	kit_make(&kit, false);
	*state = &kit;
	return 0;
}

static int
teardown(void **state)
{
	struct kit *k = *state;

	idem_store_close(&k->store);
	/* where a test failed with its disk mounted */
	(void)umount2(kit_path(k, "store"), MNT_DETACH);
	kit_close(k);
	return 0;
}

static const struct step two_records[] = {
	{ ONCE, 'a', '1', .input = "answer of a", .verdict = IDEM_STORED },
	{ CLAIM, 'b', '2', .verdict = IDEM_CLAIMED, .walk = "1aD 2bR" },
};

/* A store with two records, closed. */
static void
make_store(struct kit *k)
{
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	KIT_RUN(k, two_records);
	idem_store_close(&k->store);
}

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

#define LAST_PAGE_AT 136 /* in a page of LMDB 0.9 that begins with "meta" */

/* A flipped bit that is no page's number must not make the file that long. */
static void
a_last_page_beyond_all_room(void **state)
{
	static const int bits[] = { 30, 50, 62 }; /* 4 TiB, 4 EiB, too many */
	struct kit *k = *state;

	for (size_t i = 0; i < COUNT(bits); i++) {
		uint64_t last;
		struct stat st;
		int fd;

		make_store(k);
		fd = open(kit_path(k, "store/data.mdb"), O_RDWR | O_CLOEXEC);
		for (off_t at = LAST_PAGE_AT; at < 8192; at += 4096) {
			assert_int_equal(pread(fd, &last, 8, at), 8);
			assert_in_range(last, 1, 1000);
			last ^= UINT64_C(1) << bits[i];
			assert_int_equal(pwrite(fd, &last, 8, at), 8);
		}
		idem_buf_reset(&k->lines);
		assert_int_not_equal(kit_reopen(k, true), IDEM_OK);
		kit_logged(k, "/store: ");
		assert_int_equal(fstat(fd, &st), 0);
		assert_in_range(st.st_size, 8192, 1 << 20);
		close(fd);
		kit_remove(k, "store");
	}
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
	make_store(k);
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

/* Replace every occurrence of a run of bytes in data.mdb by another of the same
 * length; how many there were. */
static size_t
patch(struct kit *k, struct idem_span from, struct idem_span to)
{
	struct idem_buf b;
	char *at, *end;
	size_t n = 0;
	int fd;

	assert_int_equal(from.n, to.n);
	idem_buf_init(&b, 1 << 26);
	assert_int_equal(io_read_file(kit_path(k, "store/data.mdb"), &b),
	    IDEM_OK);
	end = b.p + b.n;
	for (at = b.p; (at = memmem(at, (size_t)(end - at), from.p, from.n)) !=
	    NULL; n++)
		memcpy(at, to.p, to.n);
	fd = open(kit_path(k, "store/data.mdb"), O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(io_write(fd, b.p, b.n), IDEM_OK);
	close(fd);
	idem_buf_free(&b);
	return n;
}

static void
a_newer_schema(void **state)
{
	struct kit *k = *state;

	make_store(k);
	assert_in_range(patch(k, IDEM_LIT("schema\0\0\0\1"),
	    IDEM_LIT("schema\0\0\0\143")), 1, 9);
	assert_int_equal(kit_reopen(k, true), IDEM_ENEWER);
	kit_logged(k, "/store: its schema is 99, this program knows up to 1: "
	    "run a newer version");
	assert_int_equal(kit_reopen(k, false), IDEM_ENEWER);
	patch(k, IDEM_LIT("schema\0\0\0\143"), IDEM_LIT("schema\0\0\0\0"));
	assert_int_equal(kit_reopen(k, true), IDEM_ECORRUPT);
	kit_logged(k, "/store: its schema is damaged: put a copy of the store "
	    "in its place");
	patch(k, IDEM_LIT("schema\0\0\0\0"), IDEM_LIT("schema\0\0\0\1"));
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
}

#define IDS "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define PRINTS "ffffffffffffffffffffffffffffffff"

static bool
only_b_decodes(void *arg, uint64_t number, const struct idem_record *record)
{
	size_t *n = arg;

	++*n;
	assert_int_equal(record == NULL, number == 1);
	return true;
}

/* One bit each of the record of a: its state, its fingerprint, its answer. */
static const struct {
	struct idem_span right, wrong;
} flips[] = {
	{ IDEM_LIT_INIT("\2\1\0\0" IDS), IDEM_LIT_INIT("\3\1\0\0" IDS) },
	{ IDEM_LIT_INIT(IDS "f"), IDEM_LIT_INIT(IDS "v") },
	{ IDEM_LIT_INIT("answer of a"), IDEM_LIT_INIT("answer of c") },
};

/* It is no answer, and no absent key either: nothing is run for it. */
static void
a_damaged_record(void **state)
{
	static const struct step steps[] = {
		{ LOOK, 'a', .err = IDEM_ECORRUPT },
		{ CLAIM, 'a', '3', .err = IDEM_ECORRUPT },
		{ ONCE, 'a', '3', .script = "put 0 x 1", .err = IDEM_ECORRUPT,
		    .table = "" },
		{ RESOLVE, 'a', .err = IDEM_ECORRUPT },
		{ CLAIM, 'a', '3', .retry = true, .now = 1000000,
		    .err = IDEM_ECORRUPT },
	};
	/* The others are well, and whoever makes room passes over it. */
	static const struct step others[] = {
		{ FINISH, 'b', '2', .input = "b", .verdict = IDEM_STORED },
		{ LOOK, 'b', .verdict = IDEM_REPLAY, .answer = "b" },
		{ SWEEP, .now = 1000000, .swept = "1 0 0 0" },
		{ CLAIM, 'c', '4', .max_keys = 1, .evict = true,
		    .now = 1000000, .err = IDEM_EFULL },
		{ CLAIM, 'c', '4', .verdict = IDEM_CLAIMED },
		{ LOOK, 'a', .err = IDEM_ECORRUPT },
	};
	struct kit *k = *state;

	for (size_t i = 0; i < COUNT(flips); i++) {
		uint64_t from = 0, nbad = 0;
		size_t n = 0;
		bool more;

		kit_remove(k, "store");
		idem_buf_reset(&k->lines);
		make_store(k);
		assert_in_range(patch(k, flips[i].right, flips[i].wrong), 1,
		    9);
		assert_int_equal(kit_reopen(k, true), IDEM_OK);
		KIT_RUN(k, steps);
		kit_logged(k, "/store: record 1 is damaged: see \"idem "
		    "check\", and put a copy of the store in its place");
		assert_int_equal(idem_store_walk(k->store, &from, 10, &more,
		    only_b_decodes, &n), IDEM_OK);
		assert_int_equal(n, 2);
		assert_int_equal(idem_store_check(k->store, &nbad), IDEM_OK);
		assert_int_equal(nbad, 1);
		kit_logged(k, "/store: record 1: does not decode");
		KIT_RUN(k, others);
		idem_store_close(&k->store);
	}
}

#define SUM "\x4d\x34\x21\xec\x22\x2c\x89\x6a"
#define SEALED_SUM "\xf4\xdd\x0c\x77\x92\x59\x93\x28"

static void
a_record_of_a_newer_version(void **state)
{
	static const struct step steps[] = {
		{ LOOK, 'a', .err = IDEM_ENEWER },
		{ CLAIM, 'a', '3', .err = IDEM_ENEWER },
	};
	static const struct step sealed[] = {
		{ LOOK, 'a', .err = IDEM_ENEWER },
		{ CLAIM, 'a', '3', .err = IDEM_ENEWER },
		{ LOOK, 'a', .body = 'x', .verdict = IDEM_MISMATCH },
		{ CLAIM, 'a', '3', 'x', .verdict = IDEM_MISMATCH },
	};
	struct kit *k = *state;

	make_store(k);
	assert_in_range(patch(k, IDEM_LIT("\2" SUM "\2\1\0\0" IDS),
	    IDEM_LIT("\3" SUM "\2\1\0\0" IDS)), 1, 9);
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	KIT_RUN(k, steps);
	kit_logged(k, "/store: record 1 was written by a newer version: run "
	    "that one");
	idem_store_close(&k->store);
	patch(k, IDEM_LIT("\3" SUM "\2\1\0\0" IDS),
	    IDEM_LIT("\2" SEALED_SUM "\2\1\1\0" IDS));
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	KIT_RUN(k, sealed);
	kit_logged(k, "/store: an answer is sealed: run the version that "
	    "sealed it");
}

#define OLD_TIMES "\0\0\0\0\0\0\0\0"

/* Put a value in the place of the record of this number. */
static void
put_record(const struct kit *k, unsigned char number, struct idem_span record)
{
	unsigned char digits[8] = { 0, 0, 0, 0, 0, 0, 0, number };
	MDB_val key = { sizeof digits, digits };
	MDB_val value = { record.n, (void *)(uintptr_t)record.p };
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi log;

	assert_int_equal(mdb_env_create(&env), 0);
	assert_int_equal(mdb_env_set_maxdbs(env, 8), 0);
	assert_int_equal(mdb_env_open(env, kit_path(k, "store"), 0, 0600), 0);
	assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
	assert_int_equal(mdb_dbi_open(txn, "log", 0, &log), 0);
	assert_int_equal(mdb_put(txn, log, &key, &value, 0), 0);
	assert_int_equal(mdb_txn_commit(txn), 0);
	mdb_env_close(env);
}

/* Version 1 has no sum.  It is read, and what becomes of it has one. */
static void
records_of_an_older_version(void **state)
{
	static const struct step steps[] = {
		{ SEE, .walk = "1aD 2bR" },
		{ LOOK, 'a', .verdict = IDEM_REPLAY, .answer = "old answer" },
		{ CLAIM, 'a', '3', 'x', .verdict = IDEM_MISMATCH },
		{ FINISH, 'b', '2', .input = "new answer",
		    .verdict = IDEM_STORED },
		{ LOOK, 'b', .verdict = IDEM_REPLAY, .answer = "new answer" },
		{ SEE, .walk = "1aD 2bD" },
	};
	struct kit *k = *state;
	uint64_t nbad;

	make_store(k);
	put_record(k, 1, IDEM_LIT("\1\2\1\0\0" IDS PRINTS
	    "1111111111111111" OLD_TIMES OLD_TIMES "\0\0\0\0\0\0\3\xe8"
	    "\0\0\0\12old answer"));
	put_record(k, 2, IDEM_LIT("\1\1\1\0\0"
	    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb" PRINTS "2222222222222222"
	    OLD_TIMES OLD_TIMES "\x7f\xff\xff\xff\xff\xff\xff\xff"
	    "\0\0\0\0"));
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	KIT_RUN(k, steps);
	assert_int_equal(idem_store_check(k->store, &nbad), IDEM_OK);
	assert_int_equal(nbad, 0);
	idem_store_close(&k->store);
	/* the new one is guarded, the old one as ever not */
	assert_in_range(patch(k, IDEM_LIT("new answer"),
	    IDEM_LIT("mew answer")), 1, 9);
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	assert_int_equal(idem_store_check(k->store, &nbad), IDEM_OK);
	assert_int_equal(nbad, 1);
}

/* The index leads from b to the record of a. */
static void
an_index_that_leads_astray(void **state)
{
	static const struct step steps[] = {
		{ LOOK, 'b', .err = IDEM_ECORRUPT },
		{ CLAIM, 'b', '3', .err = IDEM_ECORRUPT },
		{ LOOK, 'a', .verdict = IDEM_REPLAY, .answer = "answer of a" },
	};
	static const char to_2[] = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	    "\0\0\0\0\0\0\0\2";
	static const char to_1[] = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	    "\0\0\0\0\0\0\0\1";
	struct kit *k = *state;
	uint64_t nbad;

	make_store(k);
	assert_in_range(patch(k, (struct idem_span){ to_2, 40 },
	    (struct idem_span){ to_1, 40 }), 1, 9);
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	KIT_RUN(k, steps);
	assert_int_equal(idem_store_check(k->store, &nbad), IDEM_OK);
	assert_int_equal(nbad, 1);
	kit_logged(k, "/store: record 2: the index does not lead to it");
}

static void
overwrite(struct kit *k, off_t at, size_t n)
{
	static const char garbage[8192] = { 'g', 'a', 'r' };
	int fd = open(kit_path(k, "store/data.mdb"), O_WRONLY);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, garbage, n, at), n);
	close(fd);
}

static void
a_damaged_file(void **state)
{
	struct kit *k = *state;
	enum idem_err err;

	make_store(k);
	overwrite(k, 0, 8192);
	assert_int_equal(kit_reopen(k, true), IDEM_ECORRUPT);
	kit_logged(k, "/store: open: MDB_INVALID: File is not an LMDB file: "
	    "put a copy of the store in its place");
	/* cut off within its first pages, and anywhere behind them */
	for (off_t size = 16 * 4096; size > 0; size -= 4096) {
		idem_store_close(&k->store);
		assert_int_equal(unlink(kit_path(k, "store/data.mdb")), 0);
		assert_int_equal(unlink(kit_path(k, "store/workers")), 0);
		make_store(k);
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
	make_store(k);
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
		KIT_RUN(k, two_records);
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
	overwrite(k, 0, 8192);
	assert_int_equal(kit_reopen(k, true), IDEM_ECORRUPT);
	/* a store that was used stays as it is */
	leave_half(k, 0, 8192, 8192);
	close(open(kit_path(k, "store/workers"), O_CREAT | O_RDWR, 0600));
	assert_int_equal(kit_reopen(k, true), IDEM_ECORRUPT);
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
	KIT_RUN(k, two_records);
}

static const struct step moved[] = {
	{ LOOK, 'a', .err = IDEM_EMOVED },
	{ CLAIM, 'a', '3', .err = IDEM_EMOVED },
	{ FINISH, 'b', '2', .input = "x", .err = IDEM_EMOVED },
};

static void
expect_moved(struct kit *k, const char *what)
{
	struct idem_sweep sweep = { .from = 0 };
	unsigned char token[IDEM_TOKEN_BYTES];
	uint64_t from = 0;
	bool more;

	KIT_RUN(k, moved);
	memset(token, '3', sizeof token);
	assert_false(idem_store_alive(k->store, token));
	assert_int_equal(idem_store_sweep(k->store, 0, 0, 1, &sweep),
	    IDEM_EMOVED);
	assert_int_equal(idem_store_walk(k->store, &from, 1, &more,
	    only_b_decodes, NULL), IDEM_EMOVED);
	kit_logged(k, what);
}

static void
a_replaced_directory(void **state)
{
	struct kit *k = *state;
	char old[512];

	assert_int_equal(text_format(old, sizeof old, "%s",
	    kit_path(k, "old")), IDEM_OK);
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	KIT_RUN(k, two_records);
	assert_int_equal(rename(kit_path(k, "store"), old), 0);
	expect_moved(k, "/store: data.mdb is not the file that was opened: "
	    "this process leaves");
	assert_int_equal(mkdir(kit_path(k, "store"), 0700), 0);
	KIT_RUN(k, moved);
	/* opened anew it is another store */
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	kit_run(k, &(struct step){ SEE, .walk = "" }, 1);
}

/* A replay looks at the place for itself, not for a write that comes later. */
static void
a_directory_replaced_after_a_replay(void **state)
{
	static const struct step replay[] = {
		{ LOOK, 'a', .verdict = IDEM_REPLAY, .answer = "answer of a" },
	};
	static const struct step write[] = {
		{ APPLY, .script = "put 0 x 1", .err = IDEM_EMOVED },
	};
	struct kit *k = *state;
	char old[512];

	assert_int_equal(text_format(old, sizeof old, "%s",
	    kit_path(k, "old")), IDEM_OK);
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	KIT_RUN(k, two_records);
	KIT_RUN(k, replay);
	assert_int_equal(rename(kit_path(k, "store"), old), 0);
	KIT_RUN(k, write);
}

/* A lock file of its own for each half of the workers would let two write at
 * once. */
static void
a_replaced_lock_file(void **state)
{
	struct kit *k = *state;

	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	KIT_RUN(k, two_records);
	assert_int_equal(unlink(kit_path(k, "store/lock.mdb")), 0);
	expect_moved(k, "/store: lock.mdb is not the file that was opened");
}

static void
a_replaced_workers_file(void **state)
{
	struct kit *k = *state;

	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	KIT_RUN(k, two_records);
	assert_int_equal(unlink(kit_path(k, "store/workers")), 0);
	close(open(kit_path(k, "store/workers"), O_CREAT | O_RDWR, 0600));
	expect_moved(k, "/store: workers is not the file that was opened");
}

/* LMDB would make a new store of it, in which every key is new. */
static void
an_emptied_data_file(void **state)
{
	static const char told[] = "/store: data.mdb is gone or was emptied: "
	    "put a copy of it back; or remove the whole directory";
	struct kit *k = *state;

	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	assert_int_equal(k->lines.n, 0);
	KIT_RUN(k, two_records);
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	assert_int_equal(k->lines.n, 0);
	idem_store_close(&k->store);
	assert_int_equal(truncate(kit_path(k, "store/data.mdb"), 0), 0);
	assert_int_equal(kit_reopen(k, false), IDEM_ESTORE);
	kit_logged(k, "/store/data.mdb: is empty: start the web program first");
	assert_int_equal(kit_reopen(k, true), IDEM_ECORRUPT);
	kit_logged(k, told);
	assert_int_equal(unlink(kit_path(k, "store/data.mdb")), 0);
	assert_int_equal(kit_reopen(k, true), IDEM_ECORRUPT);
	assert_int_equal(kit_reopen(k, true), IDEM_ECORRUPT);
	assert_int_equal(unlink(kit_path(k, "store/workers")), 0);
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	kit_run(k, &(struct step){ SEE, .walk = "" }, 1);
}

/* Answers of 8 KiB under new keys until one is refused; how many stood. */
static size_t
fill(struct kit *k, enum idem_err err)
{
	static char answer[8 * KIB];
	struct step s = { ONCE, .token = '9', .max_keys = 1000000 };
	struct idem_op op;
	enum idem_err got;

	memset(answer, 'x', sizeof answer);
	for (size_t n = 0; n < 100000; n++) {
		kit_op(k, &s, &op);
		op.input = (struct idem_span){ answer, sizeof answer };
		op.kept_bytes = sizeof answer;
		op.id[0] = 1;
		op.id[1] = (unsigned char)(n >> 16);
		op.id[2] = (unsigned char)(n >> 8);
		op.id[3] = (unsigned char)n;
		got = idem_store_submit(k->store, &op);
		if (got != IDEM_OK) {
			assert_int_equal(got, err);
			return n;
		}
		assert_int_equal(op.verdict, IDEM_STORED);
	}
	fail();
	return 0;
}

static void
sweep_all(struct kit *k, int64_t now_ms, uint64_t nexpired)
{
	struct idem_sweep sweep = { .from = 0 };

	do {
		assert_int_equal(idem_store_sweep(k->store, now_ms, 0, 10,
		    &sweep), IDEM_OK);
	} while (sweep.more);
	assert_int_equal(sweep.nexpired, nexpired);
}

static void
a_full_map(void **state)
{
	static const struct step before[] = {
		{ CLAIM, 'a', '1', .verdict = IDEM_CLAIMED },
		{ CLAIM, 'b', '2', .verdict = IDEM_CLAIMED },
		{ CLAIM, 'c', '3', .verdict = IDEM_CLAIMED },
	};
	/* nothing new, but what is there goes on */
	static const struct step crowded[] = {
		{ CLAIM, 'd', '4', .err = IDEM_EFULL },
		{ ONCE, 'd', '4', .input = "", .err = IDEM_EFULL },
		{ APPLY, .script = "put 0 x 1", .err = IDEM_EFULL },
		{ CLAIM, 'a', '5', .verdict = IDEM_RUNNING },
		{ CLAIM, 'a', '5', 'x', .verdict = IDEM_MISMATCH },
		{ FINISH, 'a', '1', .script = "put 0 x 1\nsay done",
		    .verdict = IDEM_STORED, .answer = "done", .table = "x=1" },
		{ HOLD, 'b', '2', .verdict = IDEM_HELD },
		{ RELEASE, 'c', '3', .verdict = IDEM_RELEASED },
		{ RESOLVE, 'b', .input = "b", .verdict = IDEM_STORED },
		{ LOOK, 'a', .verdict = IDEM_REPLAY, .answer = "done" },
	};
	static const struct step after[] = {
		{ CLAIM, 'd', '4', .now = 2000, .verdict = IDEM_CLAIMED },
		{ APPLY, .script = "put 0 x 2", .verdict = IDEM_STORED },
	};
	struct kit *k = *state;
	struct idem_room room;
	uint64_t full_bytes;
	size_t n;

	k->max_bytes = 2048 * KIB;
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	KIT_RUN(k, before);
	n = fill(k, IDEM_EFULL);
	/* three pages and a bit for each answer, 90 percent of 512 pages */
	assert_in_range(n, 130, 155);
	kit_logged(k, "the store is full: IDEM_MAX_STORE=2097152 is met, ");
	kit_logged(k, " records are held; new keys are refused: run \"idem "
	    "sweep\", or raise it");
	KIT_RUN(k, crowded);
	assert_int_equal(idem_store_room(k->store, &room), IDEM_OK);
	assert_int_equal(room.nrecords, n + 2);
	assert_int_equal(room.max_bytes, 2048 * KIB);
	assert_in_range(room.used_bytes, 1843 * KIB, 1900 * KIB);
	assert_in_range(room.file_bytes, room.used_bytes, 2048 * KIB);
	full_bytes = room.used_bytes;
	sweep_all(k, 1000, n + 2);
	assert_int_equal(idem_store_room(k->store, &room), IDEM_OK);
	assert_int_equal(room.nrecords, 0);
	assert_in_range(room.used_bytes, 1, full_bytes / 4);
	KIT_RUN(k, after);
	assert_in_range(fill(k, IDEM_EFULL), 130, 155);
}

/* Nobody sweeps: what begins takes the place of what has expired. */
static void
a_full_map_of_expired_records(void **state)
{
	static const struct step first[] = {
		{ ONCE, 'u', '1', .script = "hold", .verdict = IDEM_HELD },
		{ CLAIM, 'r', '2', .verdict = IDEM_CLAIMED },
	};
	static const struct step crowded[] = {
		{ CLAIM, 'a', '3', .now = 999, .err = IDEM_EFULL },
		{ CLAIM, 'a', '3', .now = 1000, .verdict = IDEM_CLAIMED },
		{ APPLY, .now = 1000, .script = "put 0 x 1",
		    .verdict = IDEM_STORED, .table = "x=1" },
		{ ONCE, 'b', '4', .now = 1000, .script = "put 0 x 2\nsay b",
		    .verdict = IDEM_STORED, .answer = "b", .table = "x=2" },
		{ CLAIM, 'u', '5', .now = 1000, .verdict = IDEM_UNKNOWN },
		{ CLAIM, 'r', '5', .now = 1000, .verdict = IDEM_RUNNING },
	};
	struct kit *k = *state;
	struct idem_room room;
	uint64_t nbad;
	size_t n;

	k->max_bytes = 2048 * KIB;
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	KIT_RUN(k, first);
	n = fill(k, IDEM_EFULL);
	KIT_RUN(k, crowded);
	assert_int_equal(idem_store_room(k->store, &room), IDEM_OK);
	/* two are new, and there is room again */
	assert_in_range(room.nrecords, 2 + n - 3 * 8 + 2, 2 + n - 8 + 2);
	assert_int_equal(idem_store_check(k->store, &nbad), IDEM_OK);
	assert_int_equal(nbad, 0);
}

#define BIG 1000000

/* The expired ones lie behind more others than one claim looks at. */
static void
expired_records_far_behind(void **state)
{
	static const struct step crowded[] = {
		{ CLAIM, 'a', '3', .now = 1000, .max_keys = BIG,
		    .err = IDEM_EFULL },
		{ CLAIM, 'a', '3', .now = 1000, .max_keys = BIG,
		    .err = IDEM_EFULL },
		{ CLAIM, 'a', '3', .now = 1000, .max_keys = BIG,
		    .verdict = IDEM_CLAIMED },
		{ CLAIM, 'b', '4', .now = 1000, .max_keys = BIG,
		    .verdict = IDEM_CLAIMED },
	};
	struct step held = { ONCE, .token = '1', .script = "hold",
		.max_keys = BIG };
	struct kit *k = *state;
	struct idem_op op;

	k->max_bytes = 2048 * KIB;
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	for (unsigned i = 0; i < 2100; i++) {
		kit_op(k, &held, &op);
		op.id[0] = 2;
		op.id[1] = (unsigned char)(i >> 8);
		op.id[2] = (unsigned char)i;
		assert_int_equal(idem_store_submit(k->store, &op), IDEM_OK);
		assert_int_equal(op.verdict, IDEM_HELD);
	}
	assert_in_range(fill(k, IDEM_EFULL), 20, 140);
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	idem_buf_reset(&k->lines);
	KIT_RUN(k, crowded);
	kit_logged(k, "the store is full: IDEM_MAX_STORE=2097152 is met, ");
	kit_logged(k, " records are held; new keys are refused: most of them "
	    "are of unknown outcome, see \"idem list --state unknown\" and "
	    "\"idem resolve\", or raise it");
}

/* The same where the limit is one of records, of which all but the last ten
 * live longer. */
static void
expired_records_behind_others(void **state)
{
	static const struct step full[] = {
		{ CLAIM, 'a', '3', .now = 999, .max_keys = 210,
		    .err = IDEM_EFULL },
		{ CLAIM, 'a', '3', .now = 1000, .max_keys = 210,
		    .verdict = IDEM_CLAIMED },
	};
	struct step s = { ONCE, .token = '1', .input = "x", .max_keys = BIG };
	struct kit *k = *state;
	struct idem_room room;
	struct idem_op op;

	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	for (unsigned i = 0; i < 210; i++) {
		kit_op(k, &s, &op);
		op.id[0] = (unsigned char)i;
		op.ttl_ms = i < 200 ? 2000 : 1000;
		assert_int_equal(idem_store_submit(k->store, &op), IDEM_OK);
	}
	KIT_RUN(k, full);
	assert_int_equal(idem_store_room(k->store, &room), IDEM_OK);
	assert_int_equal(room.nrecords, 210 - 8 + 1);
}

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

/* A handler that writes more than there is: its key is as it was before. */
static void
a_handler_that_fills_the_map(void **state)
{
	static const struct step steps[] = {
		{ LOOK, 'a', .verdict = IDEM_ABSENT_KEY, .walk = "",
		    .table = "" },
		{ ONCE, 'a', '2', .script = "put 0 x 1\nsay small",
		    .verdict = IDEM_STORED, .answer = "small", .walk = "1aD",
		    .table = "x=1" },
	};
	struct step s = { ONCE, .key = 'a', .token = '1' };
	struct kit *k = *state;
	struct idem_op op;
	struct idem_buf script;

	k->max_bytes = 1024 * KIB;
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	idem_buf_init(&script, 4096 * KIB);
	idem_buf_puts(&script, IDEM_LIT("put 0 x 1\nput 0 big "));
	memset(idem_buf_room(&script, 1100 * KIB), 'x', 1100 * KIB);
	idem_buf_grew(&script, 1100 * KIB);
	kit_op(k, &s, &op);
	op.apply = 1;
	op.input = idem_buf_span(&script);
	assert_int_equal(idem_store_submit(k->store, &op), IDEM_EFULL);
	kit_logged(k, "/store: data.mdb: MDB_MAP_FULL: Environment mapsize "
	    "limit reached: sweep, or raise IDEM_MAX_STORE");
	assert_false(idem_store_alive(k->store, op.token));
	KIT_RUN(k, steps);
	idem_buf_free(&script);
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
	n = fill(k, IDEM_EFULL);
	assert_in_range(n, 100, 170);
	kit_logged(k, "/store: commit: No space left on device: make room on "
	    "the disk");
	KIT_RUN(k, full);
	assert_int_equal(idem_store_check(k->store, &nbad), IDEM_OK);
	assert_int_equal(nbad, 0);
	/* somebody makes room */
	assert_int_equal(mount("tmpfs", kit_path(k, "store"), "tmpfs",
	    MS_REMOUNT, "size=3m"), 0);
	sweep_all(k, 2000, n + 1);
	KIT_RUN(k, after);
	idem_store_close(&k->store);
	assert_int_equal(umount(kit_path(k, "store")), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(no_store_there),
		TEST(a_last_page_beyond_all_room),
		TEST(no_rights),
		TEST(inside_the_document_root),
		TEST(a_newer_schema),
		TEST(a_damaged_record),
		TEST(a_record_of_a_newer_version),
		TEST(records_of_an_older_version),
		TEST(an_index_that_leads_astray),
		TEST(a_damaged_file),
		TEST(a_data_file_that_was_never_finished),
		TEST(the_environment_of_another_program),
		TEST(no_room_for_sightings),
		TEST(a_replaced_directory),
		TEST(a_directory_replaced_after_a_replay),
		TEST(a_replaced_lock_file),
		TEST(a_replaced_workers_file),
		TEST(an_emptied_data_file),
		TEST(a_full_map),
		TEST(an_end_without_room),
		TEST(a_full_map_of_expired_records),
		TEST(expired_records_far_behind),
		TEST(expired_records_behind_others),
		TEST(a_handler_that_fills_the_map),
		TEST(a_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
