/*
 * backend.h - the application behind the guard: one request to it, and what is
 * known of how it ended.  Never is anything sent twice.
 */
#ifndef GUARD_BACKEND_H
#define GUARD_BACKEND_H

#include <sys/socket.h>
#include <sys/un.h>

#include "guard/reply.h"
#include "idem/log.h"

/*
 * Who sends no answer, or one that cannot be taken, is heard to its end all the
 * same: to hang up on it could stop its work in the middle.
 */
enum backend_end {
	BACKEND_WHOLE,   /* a whole answer */
	BACKEND_NOTHING, /* it did not run: nobody there, or refused before a
	                  * byte went out, or END_REQUEST says so */
	BACKEND_BROKEN,  /* it may have run: broke off, garbage, a short answer,
	                  * or reply->err says what failed here */
	BACKEND_LATE     /* it may have run, and said nothing for timeout_ms */
};

struct backend_job {
	const char *const *vars; /* of the application: "NAME=value", NULL */
	struct idem_span body;   /* of the request */
	int64_t timeout_ms;      /* with nothing going either way */
	bool *hurry;             /* true: bytes give no more time; see pump.h */
	bool die_with_us;        /* a program ends when this process does */
	struct reply *reply;     /* ready; its head and body go there */
	const struct idem_log *log;
	const char *request_id;
};

/*
 * Run program (a path) for one request (RFC 3875): in a process group of its
 * own, in its own folder, with these variables and no others, no descriptors
 * but 0 to 2 and no signal blocked or ignored.  SIGCHLD must be blocked, with
 * its default action.  It is over when its output has ended and it has; who
 * does not end is asked to, then killed.
 */
enum backend_end backend_cgi(const char *program,
    const struct backend_job *job);

/* Where a FastCGI application listens. */
struct backend_place {
	int family;
	unsigned length_bytes; /* of the address */
	union {
		struct sockaddr any;
		struct sockaddr_un local;
		unsigned char room[sizeof(struct sockaddr_un)];
	} address;
	char name[128];        /* for log lines */
};

/* "unix:/path", "127.0.0.1:9000" or "[::1]:9000".  IDEM_ESYNTAX: another text;
 * IDEM_ETOOBIG: the path is too long for a socket. */
IDEM_MUST_CHECK enum idem_err
backend_place_parse(struct idem_span text, struct backend_place *out);

/* One request on a connection of its own (FastCGI 1.0, responder). */
enum backend_end backend_fcgi(const struct backend_place *place,
    const struct backend_job *job);

#endif
