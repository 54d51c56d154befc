/*
 * served.h - tasks.fcgi on a memory store, asked without a server.
 */
#ifndef SERVED_H
#define SERVED_H

#include "tests.h"

#include "settings/settings.h"
#include "tasks/service.h"

#define SERVED_NOW_MS 1796050800000 /* 2026-11-30T15:00:00.000Z */

struct served {
	struct settings settings;
	struct idem_log log;
	struct idem_buf said;   /* every line of the log, with line ends */
	struct service *service;
	struct idem_buf answer; /* of the last request, as it went out */
	int64_t now_ms;         /* SERVED_NOW_MS until a test moves it */
	unsigned nrandom;       /* times that random bytes were drawn */
};

/* options: settings as on the command line, "--max-keys=5", ended by NULL;
 * NULL: none. */
void served_open(struct served *s, const char *const *options);
void served_close(struct served *s);

/*
 * Ask: "METHOD TARGET\n", then lines NAME=value with more variables, then an
 * empty line and the body.  CONTENT_LENGTH is the body's unless a line says so;
 * a body needs no line for it.  X-Request-Id is r1 unless a line says so.
 * Returns the answer, borrowed until the next one.
 */
struct idem_span served_ask(struct served *s, const char *request);

/*
 * Requests and the whole answers to them, in order on one service.  Where a
 * body came, its length is written "Content-Length: #", and held against it.
 */
struct served_step {
	const char *request;
	const char *want;
};
void served_steps(const char *const *options, const struct served_step *steps,
    size_t nsteps);

#endif
