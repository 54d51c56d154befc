/*
 * access.h - which file a request may run where the web server names it.
 * Without this rule "/guard.fcgi/admin/x.php" would walk around the web
 * server's own rules for /admin/.
 */
#ifndef GUARD_ACCESS_H
#define GUARD_ACCESS_H

#include <limits.h>

#include "process/exe.h"
#include "idem/http.h"

/* What is to run. */
struct access_script {
	char file[PATH_MAX];   /* as named, not resolved */
	bool moved;            /* the web server named the guard: SCRIPT_NAME
	                        * and PATH_INFO are to be these, and
	                        * SCRIPT_FILENAME the file */
	struct idem_span name; /* borrowed from PATH_INFO */
	struct idem_span rest; /* behind the file's name; absent: nothing */
};

/*
 * The file is SCRIPT_FILENAME or, where that is the guard or no script,
 * PATH_TRANSLATED (a path), else DOCUMENT_ROOT and PATH_INFO, as far as there
 * is a file.
 * It runs where REDIRECT_STATUS came, it is a regular file under DOCUMENT_ROOT
 * after realpath(), not the guard itself, and its name and the resolved one end
 * in one of scripts (".php", by commas).
 * NULL: it may, and *out is set.  Else why not, for the log.
 */
const char *access_refuses(const struct idem_request *req,
    struct idem_span scripts, const struct exe *guard,
    struct access_script *out);

#endif
