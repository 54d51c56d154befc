/*
 * front_log.h - the programs' log: one line an event on descriptor 2, with
 * program, pid and level before it, each by one write(2).
 */
#ifndef FRONT_LOG_H
#define FRONT_LOG_H

#include "exchange/exchange.h"

#include "idem/log.h"

/* A warning or error that was written, so that the same text is not again. */
struct front_log_said {
	uint64_t hash;      /* of the text; 0: free */
	int64_t at_ms;
	unsigned nmore;     /* since then */
};

#define FRONT_LOG_AGAIN_MS 60000 /* the same text at most this often: a full
                                  * disk is not to be filled with lines that
                                  * say so */

struct front_log {
	const char *program;
	int fd;
	struct exchange *x; /* being served: its web server is told of warnings
	                     * and errors too (lighttpd drops descriptor 2) */
	int64_t (*now_ms)(void); /* NULL: the steady clock */
	struct front_log_said said[8];
};

/* A sink over f, which must live as long as it is used. */
struct idem_log front_log_sink(struct front_log *f);

/* What the log says about one protected request. */
struct front_log_request {
	const char *outcome;        /* one word */
	unsigned status;
	struct idem_span route;     /* "POST /vazifalar" */
	int64_t ms;                 /* from the first byte to the answer */
	const unsigned char *id;    /* of the record; NULL: none */
	const char *request_id;
};

/*
 * One logfmt line:
 *   outcome=replayed status=201 route="POST /vazifalar" ms=3 id=ab12cd34
 *   request_id=...
 * id is the first 8 hex digits, or "-"; quotes in route become '?'.
 */
void front_log_request(const struct idem_log *log,
    const struct front_log_request *r);

#endif
