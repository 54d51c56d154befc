/*
 * test_place.c - where a store may lie, and what is said about other places.
 */
#include "storekit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "store/place.h"

#define EXT4 0xef53L

static long
local(int fd)
{
	(void)fd;
	return EXT4;
}

static long
unknown_to_the_kernel(int fd)
{
	(void)fd;
	errno = EIO;
	return -1;
}

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
	kit_close(*state);
	return 0;
}

static enum idem_err
open_beside(struct kit *k, struct place *p, const char *path, bool create,
    const char *root)
{
	const struct place_wanted wanted = { .path = span_of(path),
		.document_root = root != NULL ? span_of(root) : IDEM_ABSENT,
		.create = create, .fs_type = local };

	idem_buf_reset(&k->lines);
	return place_open(p, &wanted, &k->log);
}

static enum idem_err
open_at(struct kit *k, struct place *p, const char *path, bool create)
{
	return open_beside(k, p, path, create, NULL);
}

static void
makes_a_directory_of_its_own(void **state)
{
	struct kit *k = *state;
	struct place p;
	struct stat st;

	assert_int_equal(open_at(k, &p, kit_path(k, "store"), true), IDEM_OK);
	assert_true(p.made);
	assert_int_equal(stat(kit_path(k, "store"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(place_sync(&p), IDEM_OK);
	/* the second time it is there */
	assert_int_equal(open_at(k, &p, kit_path(k, "store"), true), IDEM_OK);
	assert_false(p.made);
	assert_int_equal(open_at(k, &p, kit_path(k, "store"), false), IDEM_OK);
	assert_span(span_of(p.path), span_of(kit_path(k, "store")));
	assert_int_equal(k->lines.n, 0);
}

static void
a_link_and_a_relative_path_become_real(void **state)
{
	struct kit *k = *state;
	struct place p;
	char here[PATH_MAX], real[512];

	assert_int_equal(mkdir(kit_path(k, "store"), 0700), 0);
	assert_int_equal(symlink("store", kit_path(k, "link")), 0);
	assert_int_equal(open_at(k, &p, kit_path(k, "link"), false), IDEM_OK);
	assert_span(span_of(p.path), span_of(kit_path(k, "store")));
	assert_non_null(getcwd(here, sizeof here));
	assert_int_equal(text_format(real, sizeof real, "%s",
	    kit_path(k, "store")), IDEM_OK);
	assert_int_equal(chdir(k->dir), 0);
	assert_int_equal(open_at(k, &p, "store", false), IDEM_OK);
	assert_int_equal(chdir(here), 0);
	assert_span(span_of(p.path), span_of(real));
}

static void
names_that_are_no_directory(void **state)
{
	static const struct place_wanted nul = { .path = { "/tmp\0x", 6 },
		.create = true, .fs_type = local };
	struct kit *k = *state;
	struct place p;
	char name[PATH_MAX + 10];
	int fd;

	fd = open(kit_path(k, "file"), O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(open_at(k, &p, kit_path(k, "file"), true),
	    IDEM_EREFUSED);
	kit_logged(k, "/file: is not a directory: set IDEM_STORE to one");
	assert_int_equal(open_at(k, &p, "", true), IDEM_EREFUSED);
	kit_logged(k, "IDEM_STORE is not the name of a directory, set it "
	    "to one: \"\"");
	idem_buf_reset(&k->lines);
	assert_int_equal(place_open(&p, &nul, &k->log), IDEM_EREFUSED);
	kit_logged(k, "IDEM_STORE is not the name of a directory");
	memset(name, 'x', sizeof name);
	name[0] = '/';
	name[sizeof name - 1] = '\0';
	assert_int_equal(open_at(k, &p, name, true), IDEM_EREFUSED);
	kit_logged(k, "IDEM_STORE is not the name of a directory");
	assert_int_equal(open_at(k, &p, kit_path(k, "none"), false),
	    IDEM_ESTORE);
	kit_logged(k, "/none: realpath: No such file or directory: "
	    "start the web program first, it makes the store");
	assert_int_equal(open_at(k, &p, kit_path(k, "none/store"), true),
	    IDEM_ESTORE);
	kit_logged(k, "/none/store: mkdir: No such file or directory: "
	    "make the directory above it, and let this user write there");
	assert_int_equal(symlink("nothing", kit_path(k, "led")), 0);
	assert_int_equal(open_at(k, &p, kit_path(k, "led"), true),
	    IDEM_ESTORE);
	kit_logged(k, "/led: realpath: No such file or directory: it is a "
	    "symbolic link to nothing: make the directory that it leads to, "
	    "or remove it");
	assert_int_equal(access(kit_path(k, "nothing"), F_OK), -1);
}

/* Folders below one another, each with a name of 199 bytes at the most, until
 * the path of the innermost is n bytes long; then without them again. */
static void
make_deep(const char *top, char path[PATH_MAX], size_t n)
{
	size_t at = strlen(top);

	memcpy(path, top, at);
	while (at < n) {
		size_t more = n - at < 400 ? (n - at + 1) / 2 : 200;

		if (n - at <= 200)
			more = n - at;
		memset(path + at, 'd', more);
		path[at] = '/';
		at += more;
		path[at] = '\0';
		assert_int_equal(mkdir(path, 0700), 0);
	}
}

static void
remove_deep(const char *top, char path[PATH_MAX])
{
	while (strlen(path) > strlen(top)) {
		assert_int_equal(rmdir(path), 0);
		*strrchr(path, '/') = '\0';
	}
}

/* Said where the place is judged: LMDB and the locks have names in it, too. */
static void
a_path_without_room_for_its_files(void **state)
{
	struct kit *k = *state;
	struct place p;
	char path[PATH_MAX], file[PATH_MAX];

	make_deep(k->dir, path, PATH_MAX - 17);
	assert_int_equal(open_at(k, &p, path, false), IDEM_OK);
	assert_int_equal(place_file(&p, "sightings", file), IDEM_OK);
	remove_deep(k->dir, path);
	make_deep(k->dir, path, PATH_MAX - 16);
	assert_int_equal(open_at(k, &p, path, false), IDEM_EREFUSED);
	kit_logged(k, "ddd...: its name is too long: set IDEM_STORE to a "
	    "shorter one");
	remove_deep(k->dir, path);
}

static long type_for_test; /* what statfs says in the next test */

static long
as_told(int fd)
{
	(void)fd;
	return type_for_test;
}

static void
network_file_systems_are_refused(void **state)
{
	static const struct {
		long type;
		const char *name; /* NULL: fine */
	} rows[] = {
		{ 0x6969, "NFS" }, { 0x517b, "SMB" }, { 0xff534d42, "CIFS" },
		{ 0xfe534d42, "SMB2" }, { 0x65735546, "FUSE" },
		{ 0x01021997, "9P" }, { 0x00c36400, "Ceph" },
		{ EXT4, NULL }, { 0x58465342, NULL } /* XFS */,
		{ 0x9123683e, NULL } /* btrfs */, { 0x01021994, NULL },
		{ 0x794c7630, NULL } /* overlayfs */,
	};
	struct kit *k = *state;
	struct place_wanted wanted = { .fs_type = as_told };
	struct place p;
	char line[200];

	assert_int_equal(mkdir(kit_path(k, "store"), 0700), 0);
	wanted.path = span_of(kit_path(k, "store"));
	for (size_t i = 0; i < COUNT(rows); i++) {
		type_for_test = rows[i].type;
		idem_buf_reset(&k->lines);
		assert_int_equal(place_open(&p, &wanted, &k->log),
		    rows[i].name == NULL ? IDEM_OK : IDEM_EREFUSED);
		if (rows[i].name == NULL)
			continue;
		assert_int_equal(text_format(line, sizeof line,
		    "%s: lies on a network file system (%s), where locks do "
		    "not hold: set IDEM_STORE to a directory on a local disk\n",
		    kit_path(k, "store"), rows[i].name), IDEM_OK);
		kit_logged(k, line);
	}
	wanted.fs_type = unknown_to_the_kernel;
	assert_int_equal(place_open(&p, &wanted, &k->log), IDEM_ESTORE);
	kit_logged(k, "/store: statfs: Input/output error: look at the disk");
}

static void
the_kernel_knows_this_file_system(void **state)
{
	int fd = open("/proc", O_RDONLY | O_DIRECTORY);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(place_fs_type(fd), 0x9fa0); /* PROC_SUPER_MAGIC */
	close(fd);
	assert_int_equal(place_fs_type(-1), -1);
}

static void
another_owner_is_refused(void **state)
{
	struct kit *k = *state;
	struct place p;

	if (geteuid() != 0) {
		print_message("SKIPPED: needs root to give a directory away\n");
		skip();
	}
	assert_int_equal(mkdir(kit_path(k, "store"), 0777), 0);
	assert_int_equal(chown(kit_path(k, "store"), 65534, 65534), 0);
	assert_int_equal(open_at(k, &p, kit_path(k, "store"), true),
	    IDEM_EREFUSED);
	kit_logged(k, "/store: belongs to user 65534, and this program runs "
	    "as 0: run it as its owner");
}

static void
nobody_else_may_write_there(void **state)
{
	static const struct {
		mode_t mode;
		const char *want; /* NULL: fine */
	} rows[] = {
		{ 0700, NULL }, { 0750, NULL }, { 0755, NULL },
		{ 02700, NULL },
		{ 0770, "(mode 0770): chmod 700 it" },
		{ 0720, "(mode 0720): chmod 700 it" },
		{ 0702, "(mode 0702): chmod 700 it" },
		{ 01777, "(mode 1777): chmod 700 it" },
	};
	struct kit *k = *state;
	struct place p;

	assert_int_equal(mkdir(kit_path(k, "store"), 0700), 0);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		bool fine = rows[i].want == NULL;

		assert_int_equal(chmod(kit_path(k, "store"), rows[i].mode), 0);
		assert_int_equal(open_at(k, &p, kit_path(k, "store"), true),
		    fine ? IDEM_OK : IDEM_EREFUSED);
		if (!fine) {
			kit_logged(k, "/store: other users may write in it");
			kit_logged(k, rows[i].want);
		}
	}
}

static void
no_file_in_it_is_a_link(void **state)
{
	static const char *const names[] = {
		"data.mdb", "lock.mdb", "workers", "waiting", "sightings",
		"group.2", "open.lock", "what"
	};
	struct kit *k = *state;
	struct place p;
	char name[64], want[128];

	assert_int_equal(mkdir(kit_path(k, "store"), 0700), 0);
	close(open(kit_path(k, "elsewhere"), O_CREAT | O_RDWR, 0600));
	for (size_t i = 0; i < COUNT(names); i++) {
		assert_int_equal(text_format(name, sizeof name, "store/%s",
		    names[i]), IDEM_OK);
		assert_int_equal(text_format(want, sizeof want, "/store: %s "
		    "in it is a symbolic link: put the file itself there, or "
		    "remove the link", names[i]), IDEM_OK);
		assert_int_equal(symlink("../elsewhere", kit_path(k, name)), 0);
		assert_int_equal(open_at(k, &p, kit_path(k, "store"), true),
		    IDEM_EREFUSED);
		kit_logged(k, want);
		assert_int_equal(unlink(kit_path(k, name)), 0);
		assert_int_equal(open_at(k, &p, kit_path(k, "store"), true),
		    IDEM_OK);
	}
}

static void
a_replaced_file_is_noticed(void **state)
{
	struct kit *k = *state;
	struct place p;
	char old[512];
	int fd;

	assert_int_equal(text_format(old, sizeof old, "%s",
	    kit_path(k, "old")), IDEM_OK);
	assert_int_equal(open_at(k, &p, kit_path(k, "store"), true), IDEM_OK);
	fd = open(kit_path(k, "store/data.mdb"), O_CREAT | O_RDWR, 0600);
	assert_true(fd >= 0);
	assert_int_equal(place_remember(&p, "data.mdb", fd), IDEM_OK);
	assert_int_equal(place_remember(&p, "lock.mdb", -1), IDEM_EMOVED);
	kit_logged(k, "/store: lock.mdb is not the file that was opened");
	assert_int_equal(place_same(&p), IDEM_OK);
	assert_int_equal(link(kit_path(k, "store/data.mdb"), old), 0);
	assert_int_equal(unlink(kit_path(k, "store/data.mdb")), 0);
	idem_buf_reset(&k->lines);
	assert_int_equal(place_same(&p), IDEM_EMOVED);
	kit_logged(k, "/store: data.mdb is not the file that was opened: "
	    "this process leaves; never replace a store while programs use it");
	close(open(kit_path(k, "store/data.mdb"), O_CREAT | O_RDWR, 0600));
	assert_int_equal(place_same(&p), IDEM_EMOVED);
	/* opened before it was replaced, remembered after */
	assert_int_equal(place_remember(&p, "data.mdb", fd), IDEM_EMOVED);
	close(fd);
}

static void
advice_follows_the_error(void **state)
{
	static const struct {
		int err;
		const char *want;
	} rows[] = {
		{ EACCES, "it must belong to the user that this program runs "
		    "as" },
		{ ENOENT, "the store's directory is gone or was replaced" },
		{ ENOSPC, "make room on the disk" },
		{ ENOTDIR, "set IDEM_STORE to a directory" },
		{ ELOOP, "remove the symbolic links" },
		{ EDQUOT, "raise the quota of this user on the disk" },
		{ EFBIG, "raise the limit on the size of files" },
		{ EMFILE, "raise the limit on open files" },
		{ ENFILE, "raise the system's limit on open files, "
		    "fs.file-max" },
		{ ENOMEM, "raise the limit on memory, or run fewer workers" },
		{ ENOLCK, "the system has no more file locks: run fewer "
		    "workers" },
		{ EAGAIN, "another process holds a lock on it: end it" },
		{ EIO, "look at the disk" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_string_equal(place_advice(rows[i].err), rows[i].want);
}

static void
a_store_lies_outside_the_document_root(void **state)
{
	static const struct {
		const char *root; /* below the folder of the test */
		enum idem_err err;
	} rows[] = {
		{ "www/a/store", IDEM_EREFUSED },
		{ "www/a/store/", IDEM_EREFUSED },
		{ "www/a", IDEM_EREFUSED },
		{ "www/link", IDEM_EREFUSED },  /* to www/a */
		{ "www/a/st", IDEM_OK },
		{ "www/a/store/below", IDEM_OK },
		{ "www/none", IDEM_OK },
		{ "", IDEM_EREFUSED },
	};
	struct kit *k = *state;
	struct place p;

	assert_int_equal(mkdir(kit_path(k, "www"), 0700), 0);
	assert_int_equal(mkdir(kit_path(k, "www/a"), 0700), 0);
	assert_int_equal(mkdir(kit_path(k, "www/a/st"), 0700), 0);
	assert_int_equal(symlink("a", kit_path(k, "www/link")), 0);
	assert_int_equal(open_at(k, &p, kit_path(k, "www/a/store"), true),
	    IDEM_OK);
	for (size_t i = 0; i < COUNT(rows); i++) {
		idem_buf_reset(&k->lines);
		for (int twice = 0; twice < 2; twice++)
			assert_int_equal(place_outside(&p,
			    span_of(kit_path(k, rows[i].root))), rows[i].err);
		if (rows[i].err != IDEM_OK)
			kit_logged(k, "/www/a/store: lies inside the document "
			    "root /");
	}
	assert_int_equal(place_outside(&p, IDEM_LIT("/")), IDEM_EREFUSED);
	assert_int_equal(place_outside(&p, IDEM_LIT("//")), IDEM_EREFUSED);
	assert_int_equal(place_outside(&p, IDEM_LIT("")), IDEM_OK);
	assert_int_equal(place_outside(&p, IDEM_ABSENT), IDEM_OK);
	assert_int_equal(place_outside(&p, IDEM_LIT("/\0x")), IDEM_EREFUSED);
}

/* A place is judged before anything is made there: what was refused has left
 * nothing behind. */
static void
nothing_is_made_in_the_document_root(void **state)
{
	static const struct {
		const char *path; /* below the folder of the test */
		enum idem_err err;
		const char *made; /* where it then lies; NULL: nowhere */
	} rows[] = {
		{ "www/store", IDEM_EREFUSED, NULL },
		{ "www/store//", IDEM_EREFUSED, NULL },
		{ "www/a/../store", IDEM_EREFUSED, NULL },
		{ "b/store", IDEM_EREFUSED, NULL },  /* a link to www */
		{ "www/out/store", IDEM_OK, "c/store" }, /* a link to c */
		{ "wwwstore", IDEM_OK, "wwwstore" },
		{ "c/fresh/", IDEM_OK, "c/fresh" },
		{ "www/none/store", IDEM_EREFUSED, NULL },
		{ "none/store", IDEM_ESTORE, NULL },
	};
	struct kit *k = *state;
	struct place p;
	struct stat st;
	char root[512];

	assert_int_equal(text_format(root, sizeof root, "%s",
	    kit_path(k, "www")), IDEM_OK);
	assert_int_equal(mkdir(root, 0700), 0);
	assert_int_equal(mkdir(kit_path(k, "www/a"), 0700), 0);
	assert_int_equal(mkdir(kit_path(k, "c"), 0700), 0);
	assert_int_equal(symlink("www", kit_path(k, "b")), 0);
	assert_int_equal(symlink("../c", kit_path(k, "www/out")), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(open_beside(k, &p, kit_path(k, rows[i].path),
		    true, root), rows[i].err);
		if (rows[i].made != NULL) {
			assert_true(p.made);
			assert_span(span_of(p.path),
			    span_of(kit_path(k, rows[i].made)));
			assert_int_equal(rmdir(p.path), 0);
			continue;
		}
		if (rows[i].err == IDEM_EREFUSED)
			kit_logged(k, "/store: lies inside the document root "
			    "/");
		assert_int_equal(lstat(kit_path(k, "www/store"), &st), -1);
		assert_int_equal(errno, ENOENT);
	}
	/* one that is there already is refused as well */
	assert_int_equal(mkdir(kit_path(k, "www/store"), 0700), 0);
	assert_int_equal(open_beside(k, &p, kit_path(k, "www/store"), true,
	    root), IDEM_EREFUSED);
	assert_int_equal(open_beside(k, &p, kit_path(k, "www/store"), false,
	    root), IDEM_EREFUSED);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(makes_a_directory_of_its_own),
		TEST(a_link_and_a_relative_path_become_real),
		TEST(names_that_are_no_directory),
		TEST(a_path_without_room_for_its_files),
		TEST(network_file_systems_are_refused),
		TEST(the_kernel_knows_this_file_system),
		TEST(another_owner_is_refused),
		TEST(nobody_else_may_write_there),
		TEST(no_file_in_it_is_a_link),
		TEST(advice_follows_the_error),
		TEST(a_replaced_file_is_noticed),
		TEST(a_store_lies_outside_the_document_root),
		TEST(nothing_is_made_in_the_document_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
