/*
 * place.c - where a store may lie: own directory, local disk, not where a web
 * server would serve it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "store/place.h"

#include "base/text.h"

/* File systems on which locks or shared mappings are not those of one kernel.
 * Numbers: statfs(2) and linux/magic.h. */
static const struct {
	unsigned long type;
	const char *name;
} remote[] = {
	{ 0x6969, "NFS" },
	{ 0x517b, "SMB" },
	{ 0xff534d42, "CIFS" },
	{ 0xfe534d42, "SMB2" },
	{ 0x65735546, "FUSE" },
	{ 0x01021997, "9P" },
	{ 0x5346414f, "AFS" },
	{ 0x73757245, "Coda" },
	{ 0x564c, "NCP" },
	{ 0x00c36400, "Ceph" },
	{ 0x0bd00bd0, "Lustre" },
	{ 0x7461636f, "OCFS2" },
	{ 0x01161970, "GFS2" },
};

long
place_fs_type(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) != 0)
		return -1;
	/* The type is a 32-bit number, whatever the width and sign of its
	 * field. */
	return (long)((unsigned long)fs.f_type & 0xffffffff);
}

static const char *
remote_name(long type)
{
	for (size_t i = 0; i < sizeof remote / sizeof remote[0]; i++)
		if (remote[i].type == (unsigned long)type)
			return remote[i].name;
	return NULL;
}

const char *
place_advice(int err)
{
	static const struct {
		int err;
		const char *advice;
	} rows[] = {
		{ EACCES, "it must belong to the user that this program runs "
		    "as" },
		{ EPERM, "it must belong to the user that this program runs "
		    "as" },
		{ ENOENT, "the store's directory is gone or was replaced" },
		{ ENOSPC, "make room on the disk" },
		{ EDQUOT, "raise the quota of this user on the disk" },
		{ EROFS, "look at the disk, or set IDEM_STORE to a place that "
		    "can be written" },
		{ EMFILE, "raise the limit on open files" },
		{ ENFILE, "raise the limit on open files" },
		{ ENOMEM, "raise the limit on memory, or run fewer workers" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].err == err)
			return rows[i].advice;
	return "look at the disk";
}

static enum idem_err
fail(const struct place *p, const char *what, int err, const char *advice)
{
	idem_log(p->log, IDEM_ERROR, "store %s: %s: %s: %s", p->path, what,
	    strerror(err), advice);
	return err == ENOMEM ? IDEM_ENOMEM : IDEM_ESTORE;
}

static enum idem_err
judge_owner(const struct place *p, int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return fail(p, "fstat", errno, "look at the disk");
	if (st.st_uid != geteuid()) {
		idem_log(p->log, IDEM_ERROR, "store %s: belongs to user %u, "
		    "and this program runs as %u: run it as its owner",
		    p->path, (unsigned)st.st_uid, (unsigned)geteuid());
		return IDEM_EREFUSED;
	}
	/* Whoever writes there can put another file in the place of one. */
	if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
		idem_log(p->log, IDEM_ERROR, "store %s: other users may write "
		    "in it (mode %04o): chmod 700 it", p->path,
		    (unsigned)st.st_mode & 07777);
		return IDEM_EREFUSED;
	}
	return IDEM_OK;
}

static bool
is_link(int dirfd, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_LNK;
	return fstatat(dirfd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISLNK(st.st_mode);
}

/*
 * No file of a store is a symbolic link: it would lie where nothing of this was
 * judged, and LMDB follows it.
 */
static enum idem_err
judge_links(const struct place *p)
{
	DIR *dir = opendir(p->path);
	enum idem_err err = IDEM_OK;
	struct dirent *entry;

	if (dir == NULL)
		return fail(p, "opendir", errno, place_advice(errno));
	while (err == IDEM_OK && (entry = readdir(dir)) != NULL)
		if (is_link(dirfd(dir), entry)) {
			idem_log(p->log, IDEM_ERROR, "store %s: %s in it is a "
			    "symbolic link: put the file itself there, or "
			    "remove the link", p->path, entry->d_name);
			err = IDEM_EREFUSED;
		}
	(void)closedir(dir);
	return err;
}

static enum idem_err
judge_file_system(const struct place *p, int fd, place_fs_fn fs_type)
{
	long type = fs_type(fd);
	const char *name;

	if (type < 0)
		return fail(p, "statfs", errno, "look at the disk");
	if ((name = remote_name(type)) == NULL)
		return IDEM_OK;
	idem_log(p->log, IDEM_ERROR, "store %s: lies on a network file system "
	    "(%s), where locks do not hold: set IDEM_STORE to a directory on a "
	    "local disk", p->path, name);
	return IDEM_EREFUSED;
}

static enum idem_err
judge(const struct place *p, place_fs_fn fs_type)
{
	int fd = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	enum idem_err err;

	if (fd < 0 && errno == ENOTDIR) {
		idem_log(p->log, IDEM_ERROR, "store %s: is not a directory: "
		    "set IDEM_STORE to one", p->path);
		return IDEM_EREFUSED;
	}
	if (fd < 0)
		return fail(p, "open", errno, errno == ENOENT ?
		    "start the web program first, it makes the store" :
		    place_advice(errno));
	if ((err = judge_owner(p, fd)) == IDEM_OK)
		err = judge_file_system(p, fd, fs_type);
	(void)close(fd);
	return err != IDEM_OK ? err : judge_links(p);
}

/* The name is cut here, so that the advice behind it fits. */
static enum idem_err
too_long(const struct place *p, const char *path)
{
	idem_log(p->log, IDEM_ERROR, "store %.200s...: its name is too long: "
	    "set IDEM_STORE to a shorter one", path);
	return IDEM_EREFUSED;
}

/* Replace p->path by what it means, so that neither chdir() nor a moved link
 * changes it. */
static enum idem_err
make_real(struct place *p)
{
	char real[PATH_MAX];

	if (realpath(p->path, real) == NULL)
		return errno == ENOMEM ? IDEM_ENOMEM :
		    fail(p, "realpath", errno, errno == ENOENT ?
		    "start the web program first, it makes the store" :
		    "every directory above it must let this user pass");
	if (strlen(real) >= sizeof p->path - PLACE_NAME_BYTES)
		return too_long(p, real);
	memcpy(p->path, real, strlen(real) + 1);
	return IDEM_OK;
}

enum idem_err
place_open(struct place *p, struct idem_span path, bool create,
    place_fs_fn fs_type, const struct idem_log *log)
{
	enum idem_err err;

	*p = (struct place){ .log = log };
	if (path.n == 0 || memchr(path.p, '\0', path.n) != NULL ||
	    text_format(p->path, sizeof p->path, "%.*s", IDEM_FMT(path)) !=
	    IDEM_OK) {
		idem_log(log, IDEM_ERROR, "IDEM_STORE is not the name of a "
		    "directory, set it to one: \"%.*s\"", IDEM_FMT(path));
		return IDEM_EREFUSED;
	}
	if (create && mkdir(p->path, 0700) == 0)
		p->made = true;
	else if (create && errno != EEXIST)
		return fail(p, "mkdir", errno, "make the directory above it, "
		    "and let this user write there");
	if ((err = make_real(p)) != IDEM_OK)
		return err;
	return judge(p, fs_type);
}

enum idem_err
place_file(const struct place *p, const char *name, char path[PATH_MAX])
{
	return text_format(path, PATH_MAX, "%s/%s", p->path, name) == IDEM_OK ?
	    IDEM_OK : too_long(p, p->path);
}

bool
place_has(const struct place *p, const char *name)
{
	char path[PATH_MAX];

	return place_file(p, name, path) == IDEM_OK && access(path, F_OK) == 0;
}

/* Not to be read by this user, but for one that he made, it is somebody else's
 * to keep. */
static enum idem_err
sync_directory(const struct place *p, const char *path, bool ours)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err = fd < 0 || fsync(fd) != 0 ? errno : 0;

	if (fd >= 0)
		(void)close(fd);
	/* Some file systems keep names by themselves and refuse. */
	if (err != 0 && err != EINVAL && (ours || err != EACCES))
		return fail(p, "fsync of a directory", err, "look at the disk");
	return IDEM_OK;
}

enum idem_err
place_sync(const struct place *p)
{
	char above[PATH_MAX];
	enum idem_err err;

	if ((err = sync_directory(p, p->path, true)) != IDEM_OK ||
	    (err = place_file(p, "..", above)) != IDEM_OK)
		return err;
	return sync_directory(p, above, p->made);
}

static enum idem_err
moved(const struct place *p, const char *name)
{
	idem_log(p->log, IDEM_ERROR, "store %s: %s is not the file that was "
	    "opened: this process leaves; never replace a store while "
	    "programs use it", p->path, name);
	return IDEM_EMOVED;
}

enum idem_err
place_remember(struct place *p, const char *name, int fd)
{
	char *path = p->files[p->nfiles].path;
	struct stat by_name, open_one;
	enum idem_err err;

	if ((err = place_file(p, name, path)) != IDEM_OK)
		return err;
	if (stat(path, &by_name) != 0)
		return moved(p, name);
	if (fd >= 0 && (fstat(fd, &open_one) != 0 ||
	    open_one.st_dev != by_name.st_dev ||
	    open_one.st_ino != by_name.st_ino))
		return moved(p, name);
	p->files[p->nfiles].name = name;
	p->files[p->nfiles].dev = by_name.st_dev;
	p->files[p->nfiles].ino = by_name.st_ino;
	p->nfiles++;
	return IDEM_OK;
}

/* Nothing was replaced where only the way there is closed. */
static enum idem_err
unseen(const struct place *p, const char *name, int err)
{
	if (err != EACCES)
		return moved(p, name);
	(void)fail(p, name, err, "let this user enter the directory and those "
	    "above it; this process leaves");
	return IDEM_EMOVED;
}

enum idem_err
place_same(const struct place *p)
{
	struct stat st;

	for (size_t i = 0; i < p->nfiles; i++) {
		if (stat(p->files[i].path, &st) != 0)
			return unseen(p, p->files[i].name, errno);
		if (st.st_dev != p->files[i].dev ||
		    st.st_ino != p->files[i].ino)
			return moved(p, p->files[i].name);
	}
	return IDEM_OK;
}

/* Does path lie in the directory root, or is it it?  Both are real paths. */
static bool
lies_in(const char *path, struct idem_span root)
{
	while (root.n > 0 && root.p[root.n - 1] == '/')
		root.n--;
	return span_starts(span_of(path), root) &&
	    (path[root.n] == '/' || path[root.n] == '\0');
}

bool
place_holds(const struct place *p, const char *path)
{
	return lies_in(path, span_of(p->path));
}

enum idem_err
place_outside(struct place *p, struct idem_span document_root)
{
	char root[PATH_MAX], real[PATH_MAX];
	const char *meant;

	if (document_root.n == 0 ||
	    span_eq(document_root, span_of(p->outside)))
		return IDEM_OK;
	if (memchr(document_root.p, '\0', document_root.n) != NULL ||
	    text_format(root, sizeof root, "%.*s", IDEM_FMT(document_root)) !=
	    IDEM_OK) {
		idem_log(p->log, IDEM_ERROR, "DOCUMENT_ROOT is not the name of "
		    "a directory: \"%.*s\"", IDEM_FMT(document_root));
		return IDEM_EREFUSED;
	}
	meant = realpath(root, real);
	if (meant == NULL && errno == ENOMEM)
		return IDEM_ENOMEM;
	/* What this user cannot look at is compared as it is written. */
	if (!lies_in(p->path, span_of(meant != NULL ? meant : root))) {
		memcpy(p->outside, root, document_root.n + 1);
		return IDEM_OK;
	}
	idem_log(p->log, IDEM_ERROR, "store %s: lies inside the document root "
	    "%s, where the web server might serve it: set IDEM_STORE to a "
	    "directory outside", p->path, root);
	return IDEM_EREFUSED;
}
