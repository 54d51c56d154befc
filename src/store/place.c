/*
 * place.c - where a store lies: found, made, and looked at again; never where a
 * web server would serve it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/place.h"

#include "base/text.h"

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
		{ ENOTDIR, "set IDEM_STORE to a directory" },
		{ ELOOP, "remove the symbolic links" },
		{ ENAMETOOLONG, "set IDEM_STORE to a shorter one" },
		{ ENOSPC, "make room on the disk" },
		{ EDQUOT, "raise the quota of this user on the disk" },
		{ EFBIG, "raise the limit on the size of files" },
		{ EROFS, "look at the disk, or set IDEM_STORE to a place that "
		    "can be written" },
		{ EMFILE, "raise the limit on open files" },
		{ ENFILE, "raise the system's limit on open files, fs.file-max"
		},
		{ ENOMEM, "raise the limit on memory, or run fewer workers" },
		{ ENOLCK, "the system has no more file locks: run fewer "
		    "workers" },
		{ EAGAIN, "another process holds a lock on it: end it" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].err == err)
			return rows[i].advice;
	return "look at the disk";
}

bool
place_is_full(int err)
{
	return err == ENOSPC || err == EDQUOT || err == EFBIG;
}

/* What only a directory's way there can lack. */
static const char *
advice_on_way(int err, const char *advice)
{
	return err == EACCES || err == EPERM || err == ENOENT ? advice :
	    place_advice(err);
}

enum idem_err
place_fail(const struct place *p, const char *what, int err,
    const char *advice)
{
	idem_log(p->log, IDEM_ERROR, "store %s: %s: %s: %s", p->path, what,
	    strerror(err), advice);
	return err == ENOMEM ? IDEM_ENOMEM : IDEM_ESTORE;
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
 * changes it.  Who makes stores finds none where a link leads to nothing. */
static enum idem_err
make_real(struct place *p, bool create)
{
	char real[PATH_MAX];

	if (realpath(p->path, real) == NULL)
		return errno == ENOMEM ? IDEM_ENOMEM :
		    place_fail(p, "realpath", errno, errno == ENOENT ? (create ?
		    "it is a symbolic link to nothing: make the directory that "
		    "it leads to, or remove it" :
		    "start the web program first, it makes the store") :
		    advice_on_way(errno, "every directory above it must let "
		    "this user pass"));
	if (strlen(real) >= sizeof p->path - PLACE_NAME_BYTES)
		return too_long(p, real);
	memcpy(p->path, real, strlen(real) + 1);
	return IDEM_OK;
}

struct idem_span
place_last_part(struct idem_span path, struct idem_span *before)
{
	size_t at = path.n;

	while (at > 0 && path.p[at - 1] != '/')
		at--;
	*before = at == 0 ? IDEM_LIT(".") : span_first(path, at);
	return span_from(path, at);
}

/* Replace p->path by what it will mean once it is made.  Where that cannot be
 * told, it cannot be made either. */
static void
foresee(struct place *p)
{
	struct idem_span path = span_of(p->path), above, name;
	char written[PATH_MAX], real[PATH_MAX], whole[PATH_MAX];

	while (path.n > 1 && path.p[path.n - 1] == '/')
		path.n--;
	name = place_last_part(path, &above);
	if (text_format(written, sizeof written, "%.*s", IDEM_FMT(above)) ==
	    IDEM_OK && realpath(written, real) != NULL &&
	    text_format(whole, sizeof whole, "%s/%.*s", real[1] == '\0' ?
	    "" : real, IDEM_FMT(name)) == IDEM_OK)
		memcpy(p->path, whole, sizeof whole);
}

static enum idem_err
make(struct place *p, struct idem_span document_root)
{
	enum idem_err err;

	foresee(p);
	if ((err = place_outside(p, document_root)) != IDEM_OK)
		return err;
	p->outside[0] = '\0'; /* a link may lie there now */
	if (mkdir(p->path, 0700) == 0)
		p->made = true;
	else if (errno != EEXIST)
		return place_fail(p, "mkdir", errno, advice_on_way(errno,
		    "make the directory above it, and let this user write "
		    "there"));
	return IDEM_OK;
}

enum idem_err
place_open(struct place *p, const struct place_wanted *w,
    const struct idem_log *log)
{
	enum idem_err err;

	*p = (struct place){ .log = log };
	if (w->path.n == 0 || memchr(w->path.p, '\0', w->path.n) != NULL ||
	    text_format(p->path, sizeof p->path, "%.*s",
	    IDEM_FMT(w->path)) != IDEM_OK) {
		idem_log(log, IDEM_ERROR, "IDEM_STORE is not the name of a "
		    "directory, set it to one: \"%.*s\"", IDEM_FMT(w->path));
		return IDEM_EREFUSED;
	}
	if (w->create && access(p->path, F_OK) != 0 &&
	    (err = make(p, w->document_root)) != IDEM_OK)
		return err;
	if ((err = make_real(p, w->create)) != IDEM_OK ||
	    (err = place_outside(p, w->document_root)) != IDEM_OK)
		return err;
	return place_judge(p, w->fs_type);
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

int
place_sync_names(int fd)
{
	/* Some file systems keep names by themselves and refuse. */
	return fsync(fd) == 0 || errno == EINVAL ? 0 : errno;
}

/* Not to be read by this user, but for one that he made, it is somebody else's
 * to keep. */
static enum idem_err
sync_directory(const struct place *p, const char *path, bool ours)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err = fd < 0 ? errno : place_sync_names(fd);

	if (fd >= 0)
		(void)close(fd);
	if (err != 0 && (ours || err != EACCES))
		return place_fail(p, "fsync of a directory", err,
		    place_advice(err));
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

/* Nothing was replaced where the way there is closed, or nobody can say. */
static enum idem_err
unseen(const struct place *p, const char *name, int err)
{
	if (err == ENOENT || err == ENOTDIR)
		return moved(p, name);
	(void)place_fail(p, name, err, advice_on_way(err, "let this user enter "
	    "the directory and those above it; this process leaves"));
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
		return unseen(p, name, errno);
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
