/*
 * routes_file.h - settings by route: a file of blocks, the first that fits
 * counts.
 *
 *   # a comment
 *   POST /checkout*
 *       IDEM_KEY_FROM=form:nonce
 *       IDEM_KEEP=3xx
 *
 * A block begins with methods (by commas, or "*" for any) and a path; "*" at
 * its end stands for any text.  Its settings are indented, one a line: the
 * value is the rest of the line, as it stands.
 */
#ifndef FRONT_ROUTES_FILE_H
#define FRONT_ROUTES_FILE_H

#include "settings/settings.h"

struct route {
	struct idem_span methods, path; /* as written; borrowed from the file */
	struct settings settings;       /* of the process, and the block's */
};

struct routes {
	struct idem_buf text; /* the file's name, a NUL, and its bytes */
	struct idem_buf list; /* of struct route */
};

void routes_init(struct routes *r);
void routes_free(struct routes *r);

/*
 * Read path; base is the process's settings and, like *r, lives on.  optional:
 * a file that is not there is IDEM_EBUSY, without a log line.
 * IDEM_ESYNTAX; IDEM_EIO, IDEM_ETOOBIG, IDEM_ENOMEM (unreadable): all with a
 * log line that names file and line.
 */
IDEM_MUST_CHECK enum idem_err
routes_read(struct routes *r, const struct settings *base,
    const struct idem_log *log, const char *path, bool optional);

/*
 * The file that IDEM_ROUTES names, or .htidem.routes beside exe or beside the
 * settings file, if there is one; no file is no route.  As above, but never
 * IDEM_EBUSY.
 */
IDEM_MUST_CHECK enum idem_err
routes_load(struct routes *r, const struct settings *base,
    const struct idem_log *log, const char *exe);

/* The first block for a method and a decoded path; NULL: there is none. */
const struct route *routes_find(const struct routes *r,
    struct idem_span method, struct idem_span path);

#endif
