/*
 * service.h - what a worker of guard.fcgi keeps between requests: settings,
 * routes, engine, store, the application's place, buffers.  The calls of struct
 * program.
 */
#ifndef GUARD_SERVICE_H
#define GUARD_SERVICE_H

#include <limits.h>

#include "exchange/exchange.h"
#include "exchange/keeper.h"
#include "exchange/spool.h"
#include "guard/backend.h"
#include "guard/variables.h"
#include "process/exe.h"
#include "settings/routes_file.h"

#include "idem/wrap.h"

/* How the application is reached. */
enum guard_way {
	GUARD_NAMED,   /* "cgi:": the file that the web server names */
	GUARD_PROGRAM, /* "cgi:/path": one program for all requests */
	GUARD_FASTCGI  /* "fcgi:...": a server */
};

struct guard {
	const struct settings *settings;
	const struct idem_log *log;
	struct keeper keeper;
	struct idem_engine engine;
	struct routes routes;
	struct exe exe;

	enum guard_way way;
	bool judges;               /* the web server names the script, and
	                            * access.h says which ones may run */
	char program[PATH_MAX];    /* of GUARD_PROGRAM */
	struct backend_place place; /* of GUARD_FASTCGI */

	/* of the request being served */
	struct idem_buf target, path;
	struct idem_response res;
	struct variables variables;
	struct spool body, answer;
};

/* Routes file and application, as struct program's check() says. */
enum idem_err guard_check(const struct settings *settings,
    const struct idem_log *log, const char *exe);

/* As struct program says: *app is the guard. */
enum idem_err guard_open(const struct settings *settings,
    const struct idem_log *log, struct idem_span document_root, void **app);
void guard_serve(void *app, struct exchange *x);
void guard_idle(void *app);
bool guard_leave(void *app);
void guard_close(void *app);

/* After a request: give back what a large one took. */
void guard_rest(struct guard *g);

#endif
