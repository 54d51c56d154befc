/*
 * test_command_copy.c - a store copied: what is in the copy, what it is good
 * for, and that there is none where something went wrong.
 */
#include "commandkit.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "rawkit.h"

#define NOW COMMAND_NOW_MS

/* Two answers, one of them with a table's entry, an unknown record, and two
 * that run: the token of one is held by nobody. */
static void
fill(struct kit *k)
{
	static const struct step steps[] = {
		{ ONCE, 'a', '1', .now = NOW, .script = "put 0 k v\nsay first",
		    .verdict = IDEM_STORED, .answer = "first" },
		{ ONCE, 'b', '2', .now = NOW, .input = "second",
		    .verdict = IDEM_STORED },
		{ CLAIM, 'c', '3', .now = NOW, .verdict = IDEM_CLAIMED },
		{ HOLD, 'c', '3', .now = NOW, .verdict = IDEM_HELD },
		{ LEAVE, .token = '3' },
		{ CLAIM, 'd', '4', .now = NOW, .verdict = IDEM_CLAIMED },
		{ LEAVE, .token = '4' },
		{ CLAIM, 'e', '5', .now = NOW, .verdict = IDEM_CLAIMED },
	};

	kit_open(k, false);
	KIT_RUN(k, steps);
}

static enum idem_err
copy_to(struct kit *k, const char *name, bool compact,
    struct idem_copied *copied)
{
	const struct idem_copy copy = { .to = span_of(kit_path(k, name)),
		.compact = compact };

	return idem_store_copy(k->store, &copy, copied);
}

/* The names in a directory, in order, with a blank behind each; and no other
 * user gets at any of them. */
static void
assert_holds(const struct kit *k, const char *name, const char *want)
{
	struct dirent **all;
	struct idem_buf got;
	char dir[200];
	int n;

	assert_int_equal(text_format(dir, sizeof dir, "%s", kit_path(k, name)),
	    IDEM_OK);
	n = scandir(dir, &all, NULL, alphasort);
	assert_true(n >= 2);
	idem_buf_init(&got, 10000);
	for (int i = 0; i < n; i++) {
		char path[500];
		struct stat st;

		assert_int_equal(text_format(path, sizeof path, "%s/%s", dir,
		    all[i]->d_name), IDEM_OK);
		assert_int_equal(lstat(path, &st), 0);
		if (strcmp(all[i]->d_name, "..") != 0)
			assert_int_equal(st.st_mode & 0777,
			    S_ISDIR(st.st_mode) ? 0700 : 0600);
		if (all[i]->d_name[0] != '.' || all[i]->d_name[1] == 'c') {
			idem_buf_puts(&got, span_of(all[i]->d_name));
			idem_buf_putc(&got, ' ');
		}
		free(all[i]);
	}
	free(all);
	if (got.n == 0)
		idem_buf_puts(&got, IDEM_LIT(""));
	assert_int_equal(got.n, strlen(want));
	assert_memory_equal(got.p, want, got.n);
	idem_buf_free(&got);
}

/* As an operator restores it: the old directory away, the copy in its place. */
static void
restore(struct kit *k, const char *name)
{
	char old[200], copy[200], store[200];

	idem_store_close(&k->store);
	assert_int_equal(text_format(store, sizeof store, "%s",
	    kit_path(k, "store")), IDEM_OK);
	assert_int_equal(text_format(old, sizeof old, "%s",
	    kit_path(k, "old")), IDEM_OK);
	assert_int_equal(text_format(copy, sizeof copy, "%s",
	    kit_path(k, name)), IDEM_OK);
	assert_int_equal(rename(store, old), 0);
	assert_int_equal(rename(copy, store), 0);
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
}

static void
the_copy_is_the_store(void **state)
{
	static const struct step after[] = {
		{ ONCE, 'g', '7', .now = NOW, .input = "after the copy",
		    .verdict = IDEM_STORED },
		{ FINISH, 'e', '5', .now = NOW, .input = "fifth",
		    .verdict = IDEM_STORED },
	};
	static const struct step restored[] = {
		{ SEE, .walk = "1aD 2bD 3cU 4dR 5eR", .table = "k=v" },
		{ ONCE, 'a', '8', .now = NOW, .verdict = IDEM_REPLAY,
		    .script = "say again", .answer = "first" },
		{ LOOK, 'b', '8', .now = NOW, .verdict = IDEM_REPLAY,
		    .answer = "second" },
		{ CLAIM, 'a', '8', 'x', .now = NOW, .verdict = IDEM_MISMATCH },
		/* What ran is of nobody here: held, or as IDEM_ON_UNKNOWN
		 * says taken over, though the old store knows its end. */
		{ CLAIM, 'e', '8', .now = NOW, .verdict = IDEM_ORPHAN },
		{ CLAIM, 'e', '8', .now = NOW, .verdict = IDEM_UNKNOWN },
		{ CLAIM, 'd', '9', .now = NOW, .retry = true,
		    .verdict = IDEM_CLAIMED, .took_over = true },
		/* its worker's answer comes too late for this store */
		{ FINISH, 'e', '5', .now = NOW, .input = "fifth",
		    .verdict = IDEM_LOST },
		{ SEE, .walk = "1aD 2bD 3cU 5eU 6dR" },
	};

	(void)state;
	for (int compact = 0; compact < 2; compact++) {
		struct idem_copied copied;
		struct kit k;
		uint64_t nbad;

		fill(&k);
		assert_int_equal(copy_to(&k, "copy", compact != 0, &copied),
		    IDEM_OK);
		assert_true(copied.nrecords == 5 && copied.nrunning == 2 &&
		    copied.nbad == 0 && copied.file_bytes >= 4096);
		assert_holds(&k, "copy", "data.mdb workers ");
		assert_holds(&k, ".", "copy store ");
		KIT_RUN(&k, after);
		restore(&k, "copy");
		KIT_RUN(&k, restored);
		assert_int_equal(idem_store_check(k.store, &nbad), IDEM_OK);
		assert_true(nbad == 0);
		assert_int_equal(k.lines.n, 0);
		kit_close(&k);
	}
}

/* A copy without its data is not the beginning of a new store. */
static void
a_copy_that_lost_its_data_is_refused(void **state)
{
	struct idem_copied copied;
	char copy[200];
	struct kit k;

	(void)state;
	fill(&k);
	assert_int_equal(copy_to(&k, "copy", false, &copied), IDEM_OK);
	idem_store_close(&k.store);
	kit_remove(&k, "store");
	assert_int_equal(unlink(kit_path(&k, "copy/data.mdb")), 0);
	assert_int_equal(text_format(copy, sizeof copy, "%s",
	    kit_path(&k, "copy")), IDEM_OK);
	assert_int_equal(rename(copy, kit_path(&k, "store")), 0);
	assert_int_equal(kit_reopen(&k, true), IDEM_ECORRUPT);
	kit_logged(&k, "data.mdb is gone or was emptied");
	kit_close(&k);
}

/* Many records that come and go leave free pages. */
static void
compact_leaves_them_out(void **state)
{
	static char big[4000];
	struct idem_copied whole, compact;
	struct idem_sweep sweep = { .from = 0 };
	struct idem_op op;
	struct kit k;

	(void)state;
	memset(big, 'x', sizeof big - 1);
	kit_open(&k, false);
	for (int i = 0; i < 200; i++) {
		const struct step s = { ONCE, 'a', '1', .input = big,
			.max_keys = 1000 };

		kit_op(&k, &s, &op);
		op.id[0] = (unsigned char)i;
		assert_int_equal(idem_store_submit(k.store, &op), IDEM_OK);
	}
	assert_int_equal(idem_store_sweep(k.store, KIT_TTL_MS, 1, 199, &sweep),
	    IDEM_OK);
	assert_int_equal(copy_to(&k, "whole", false, &whole), IDEM_OK);
	assert_int_equal(copy_to(&k, "compact", true, &compact), IDEM_OK);
	assert_true(whole.nrecords == 1 && compact.nrecords == 1);
	assert_true(whole.file_bytes > 200 * 4096);
	assert_true(compact.file_bytes < 20 * 4096);
	kit_close(&k);
}

/* --- where none is made ----------------------------------------------------*/

/* The command on the store of k, which is closed: to is a name in its folder,
 * or a whole path; err is what it says, with the folder for each "@". */
static void
refused(struct kit *k, const char *to, const char *const *env,
    const char *err)
{
	char store[200], path[400];
	struct idem_buf want;
	struct result r;

	assert_int_equal(text_format(store, sizeof store, "%s",
	    kit_path(k, "store")), IDEM_OK);
	assert_int_equal(text_format(path, sizeof path, "%s", to[0] == '/' ||
	    to[0] == '\0' || to[0] == '.' ? to : kit_path(k, to)), IDEM_OK);
	idem_buf_init(&want, 10000);
	for (; *err != '\0'; err++)
		idem_buf_puts(&want, *err == '@' ? span_of(k->dir) :
		    (struct idem_span){ err, 1 });
	command_run(&r, WORDS("copy", "--store", store, path), IDEM_LIT(""),
	    env);
	assert_span(idem_buf_span(&r.err), idem_buf_span(&want));
	assert_span(idem_buf_span(&r.out), IDEM_LIT(""));
	assert_int_equal(r.rc, 1);
	idem_buf_free(&want);
	result_free(&r);
}

#define NONE "\nidem: no copy was made: refused\n"
#define FAILED "\nidem: no copy was made: store failure\n"

static void
places_where_no_copy_may_lie(void **state)
{
	static const struct {
		const char *to, *err;
	} rows[] = {
		{ "there", "idem: copy to @/there: it is there already: give a "
		    "name that is free, or move that one away" NONE },
		{ "there/", "idem: copy to @/there: it is there already: give "
		    "a name that is free, or move that one away" NONE },
		{ "file", "idem: copy to @/file: it is there already: give a "
		    "name that is free, or move that one away" NONE },
		{ "link", "idem: copy to @/link: it is there already: give a "
		    "name that is free, or move that one away" NONE },
		{ "store", "idem: copy to @/store: it is there already: give a "
		    "name that is free, or move that one away" NONE },
		{ "store/copy", "idem: copy to @/store/copy: this lies inside "
		    "the store itself: copy to another directory" NONE },
		{ "there/../store/copy", "idem: copy to @/store/copy: this "
		    "lies inside the store itself: copy to another "
		    "directory" NONE },
		{ "gone/copy", "idem: copy to @/gone/copy: realpath: No such "
		    "file or directory: make the directory above it" FAILED },
		{ "file/copy", "idem: copy to @/file/copy: realpath: Not a "
		    "directory: what is above it is no directory" FAILED },
		{ "", "idem: copy to : the name of a new directory is wanted"
		    NONE },
		{ "/", "idem: copy to : the name of a new directory is wanted"
		    NONE },
		{ "there/..", "idem: copy to @/there/..: the name of a new "
		    "directory is wanted" NONE },
		{ ".", "idem: copy to .: the name of a new directory is wanted"
		    NONE },
	};
	struct kit k;

	(void)state;
	fill(&k);
	idem_store_close(&k.store);
	assert_int_equal(mkdir(kit_path(&k, "there"), 0700), 0);
	assert_int_equal(symlink("nowhere", kit_path(&k, "link")), 0);
	fclose(fopen(kit_path(&k, "file"), "w"));
	assert_int_equal(chmod(kit_path(&k, "file"), 0600), 0);
	for (size_t i = 0; i < COUNT(rows); i++)
		refused(&k, rows[i].to, no_env, rows[i].err);
	assert_int_equal(unlink(kit_path(&k, "link")), 0);
	assert_holds(&k, ".", "file store there ");
	assert_holds(&k, "there", "");
	kit_close(&k);
}

static void
not_where_a_web_server_serves(void **state)
{
	char root[200], store[200];
	const char *env[] = { "HOME=/x", root, NULL };
	struct result r;
	struct kit k;

	(void)state;
	fill(&k);
	idem_store_close(&k.store);
	assert_int_equal(text_format(root, sizeof root, "DOCUMENT_ROOT=%s",
	    kit_path(&k, "www")), IDEM_OK);
	assert_int_equal(mkdir(kit_path(&k, "www"), 0700), 0);
	assert_int_equal(text_format(store, sizeof store, "%s",
	    kit_path(&k, "store")), IDEM_OK);
	command_run(&r, WORDS("copy", "--store", store,
	    kit_path(&k, "www/copy")), IDEM_LIT(""), env);
	assert_int_equal(r.rc, 1);
	idem_buf_putc(&r.err, '\0');
	assert_non_null(strstr(r.err.p, ": lies inside the document root "));
	assert_non_null(strstr(r.err.p, "/www/copy: refused: a copy is a "
	    "store, and lies only where one may\nidem: no copy was made: "
	    "refused\n"));
	assert_holds(&k, "www", "");
	result_free(&r);
	kit_close(&k);
}

/* The file may not become as long as the store's. */
static void
nothing_stays_of_a_copy_that_does_not_fit(void **state)
{
	const struct rlimit little = { 8192, RLIM_INFINITY };
	struct idem_copied copied = { .nrecords = 9 };
	struct rlimit old;
	struct kit k;

	(void)state;
	for (int compact = 0; compact < 2; compact++) {
		fill(&k);
		assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
		assert_int_equal(copy_to(&k, "copy", compact != 0, &copied),
		    IDEM_EFULL);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
		kit_logged(&k, "/copy: File too large: raise the limit on the "
		    "size of files\n");
		assert_true(copied.nrecords == 0);
		assert_holds(&k, ".", "store ");
		/* and the store is none the worse */
		assert_int_equal(copy_to(&k, "copy", compact != 0, &copied),
		    IDEM_OK);
		assert_true(copied.nrecords == 5);
		kit_close(&k);
	}
}

/* Room for 8 KiB, for 24, ...: whatever it is that does not fit. */
static void
nothing_stays_on_a_full_disk(void **state)
{
	static const char *const sizes[] = { "size=4k", "size=12k", "size=28k",
		"size=44k", "size=60k" };
	struct idem_copied copied;
	struct kit k;

	(void)state;
	if (geteuid() != 0)
		skip(); /* cannot mount */
	fill(&k);
	assert_int_equal(mkdir(kit_path(&k, "disk"), 0700), 0);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		if (mount("tmpfs", kit_path(&k, "disk"), "tmpfs", 0,
		    sizes[i]) != 0)
			skip();
		assert_int_equal(chmod(kit_path(&k, "disk"), 0700), 0);
		assert_int_equal(copy_to(&k, "disk/copy", false, &copied),
		    IDEM_EFULL);
		kit_logged(&k, "No space left on device: make room on the "
		    "disk\n");
		assert_holds(&k, "disk", "");
		assert_int_equal(umount(kit_path(&k, "disk")), 0);
	}
	kit_close(&k);
}

/* --- damage ----------------------------------------------------------------*/

static void
damage(const struct kit *k)
{
	struct raw raw;

	raw_begin(k, &raw);
	raw_spoil_first(&raw, raw_table(&raw, "log"));
	raw_end(&raw);
}

/* There is a copy all the same: the other records are worth it. */
static void
a_damaged_record_is_copied_and_told(void **state)
{
	char store[200], to[200];
	struct result r;
	struct kit k;

	(void)state;
	fill(&k);
	idem_store_close(&k.store);
	damage(&k);
	assert_int_equal(text_format(store, sizeof store, "%s",
	    kit_path(&k, "store")), IDEM_OK);
	assert_int_equal(text_format(to, sizeof to, "%s",
	    kit_path(&k, "copy")), IDEM_OK);
	command_run(&r, WORDS("copy", "--quiet", "--json", "--store", store,
	    to), IDEM_LIT(""), no_env);
	assert_int_equal(r.rc, 1);
	assert_span(span_first(idem_buf_span(&r.out), 50), IDEM_LIT(
	    "{\"records\":5,\"running\":2,\"damaged\":1,\"file_bytes\":"));
	idem_buf_putc(&r.err, '\0');
	assert_non_null(strstr(r.err.p, ": record 1: does not decode\n"));
	assert_non_null(strstr(r.err.p, "idem: the copy was made, and records "
	    "in it are damaged, as they are in the store: see idem check\n"));
	result_free(&r);
	assert_holds(&k, "copy", "data.mdb workers ");
	kit_close(&k);
}

static void
the_command_says_what_it_copied(void **state)
{
	char store[200], to[200];
	struct result r;
	struct kit k;

	(void)state;
	fill(&k);
	idem_store_close(&k.store);
	assert_int_equal(text_format(store, sizeof store, "%s",
	    kit_path(&k, "store")), IDEM_OK);
	assert_int_equal(text_format(to, sizeof to, "%s/",
	    kit_path(&k, "copy")), IDEM_OK);
	command_run(&r, WORDS("copy", to, "--store", store), IDEM_LIT(""),
	    no_env);
	assert_span(idem_buf_span(&r.err), IDEM_LIT(""));
	assert_int_equal(r.rc, 0);
	assert_span(span_first(idem_buf_span(&r.out), 41),
	    IDEM_LIT("records=5 running=2 damaged=0 file_bytes="));
	assert_span(span_from(idem_buf_span(&r.out), r.out.n - 6),
	    IDEM_LIT(" ms=0\n"));
	result_free(&r);
	kit_remove(&k, "copy");
	command_run(&r, WORDS("copy", "--quiet", "--compact", "--store", store,
	    to), IDEM_LIT(""), no_env);
	assert_span(idem_buf_span(&r.err), IDEM_LIT(""));
	assert_span(idem_buf_span(&r.out), IDEM_LIT(""));
	assert_int_equal(r.rc, 0);
	assert_holds(&k, "copy", "data.mdb workers ");
	result_free(&r);
	kit_close(&k);
}

static void
a_store_in_memory_is_not_copied(void **state)
{
	struct idem_copied copied;
	const struct idem_copy copy = { .to = IDEM_LIT_INIT("/nonexistent") };
	struct kit k;

	(void)state;
	kit_open(&k, true);
	assert_int_equal(idem_store_copy(k.store, &copy, &copied),
	    IDEM_EREFUSED);
	kit_logged(&k, "a store in memory cannot be copied\n");
	kit_close(&k);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_copy_is_the_store),
		cmocka_unit_test(a_copy_that_lost_its_data_is_refused),
		cmocka_unit_test(compact_leaves_them_out),
		cmocka_unit_test(places_where_no_copy_may_lie),
		cmocka_unit_test(not_where_a_web_server_serves),
		cmocka_unit_test(nothing_stays_of_a_copy_that_does_not_fit),
		cmocka_unit_test(nothing_stays_on_a_full_disk),
		cmocka_unit_test(a_damaged_record_is_copied_and_told),
		cmocka_unit_test(the_command_says_what_it_copied),
		cmocka_unit_test(a_store_in_memory_is_not_copied),
	};

	(void)signal(SIGXFSZ, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
