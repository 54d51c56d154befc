/*
 * place.h - the directory of a store: where one may lie, and whether it is
 * still the one that was opened.  It knows nothing of what lies in it.
 */
#ifndef STORE_PLACE_H
#define STORE_PLACE_H

#include <limits.h>
#include <sys/stat.h>

#include "idem/store.h"

#define PLACE_FILES_MAX 4
#define PLACE_NAME_BYTES 16 /* "/sightings", the longest name in it, fits */

/* Type of the file system that fd lies on, as statfs(2) says; -1 with errno. */
typedef long (*place_fs_fn)(int fd);
long place_fs_type(int fd);

struct place {
	char path[PATH_MAX];  /* absolute, without symbolic links */
	bool made;            /* the directory was made just now */
	struct {
		const char *name; /* static */
		char path[PATH_MAX];
		dev_t dev;
		ino_t ino;
	} files[PLACE_FILES_MAX];
	size_t nfiles;
	char outside[PATH_MAX]; /* the document root that was looked at last
	                         * and lies elsewhere; "": none */
	const struct idem_log *log;
};

struct place_wanted {
	struct idem_span path;
	struct idem_span document_root; /* it must lie outside; absent: of the
	                                 * web server nothing is known */
	bool create;                    /* make the directory (0700) */
	place_fs_fn fs_type;            /* place_fs_type but in tests */
};

/*
 * Find the directory, or make it, and judge it; nothing is made inside the
 * document root.
 * IDEM_EREFUSED: no directory, of another user, others may write there, with a
 * symbolic link in it, on a file system of the network, in the document root,
 * or with so long a name that its files could have none; IDEM_ESTORE: it is not
 * there or cannot be looked at; IDEM_ENOMEM.  Logged, but for the last.
 */
IDEM_MUST_CHECK enum idem_err
place_open(struct place *p, const struct place_wanted *wanted,
    const struct idem_log *log);

/* The last part of a path without slashes at its end, and what stands before
 * it: "." where nothing does. */
struct idem_span
place_last_part(struct idem_span path, struct idem_span *before);

/* May a store lie there?  The part of place_open() that looks at a directory.
 * IDEM_EREFUSED, IDEM_ESTORE, logged. */
IDEM_MUST_CHECK enum idem_err
place_judge(const struct place *p, place_fs_fn fs_type);

/* Log that what failed with this errno, and what to do.  IDEM_ENOMEM for
 * ENOMEM, else IDEM_ESTORE. */
enum idem_err place_fail(const struct place *p, const char *what, int err,
    const char *advice);

/* What to do where a file or directory of the store failed with this errno. */
const char *place_advice(int err);

/* Does this errno say that there is no room for more bytes? */
bool place_is_full(int err);

/* Make the names in the directory that fd has open last on disk.  0 or
 * errno. */
int place_sync_names(int fd);

/* path of a file in it.  IDEM_EREFUSED with a log line: too long. */
IDEM_MUST_CHECK enum idem_err
place_file(const struct place *p, const char *name, char path[PATH_MAX]);

/* Does path, a real one, lie in it, or is it it? */
bool place_holds(const struct place *p, const char *path);

/* Is there a file of this name in it? */
bool place_has(const struct place *p, const char *name);

/* Make the names of its files, and its own, last on disk. */
IDEM_MUST_CHECK enum idem_err place_sync(const struct place *p);

/*
 * Remember this file, which is open as fd (-1: go by its name, for a file that
 * may not be opened twice).  name is static.  IDEM_EMOVED with a log line
 * where the name no longer means what is open.
 */
IDEM_MUST_CHECK enum idem_err
place_remember(struct place *p, const char *name, int fd);

/* IDEM_EMOVED with a log line: a remembered file is gone or another one. */
IDEM_MUST_CHECK enum idem_err place_same(const struct place *p);

/* As idem_store_outside(). */
IDEM_MUST_CHECK enum idem_err
place_outside(struct place *p, struct idem_span document_root);

#endif
