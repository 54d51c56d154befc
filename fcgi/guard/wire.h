/*
 * wire.h - FastCGI 1.0 as a web server speaks it: the records of one request,
 * and those of its answer taken apart.  Knows no descriptors.
 */
#ifndef GUARD_WIRE_H
#define GUARD_WIRE_H

#include "exchange/records.h"

#define WIRE_PARAMS_MAX (4 * 1024 * 1024) /* bytes, all variables */
#define WIRE_BODY_MAX 32768 /* bytes of the body in one record */

/* Append BEGIN_REQUEST for a responder and all PARAMS.  Variables without "="
 * are passed over. */
void wire_put_begin(struct idem_buf *out, const char *const *vars);

/* Append one STDIN record, at most WIRE_BODY_MAX bytes; of none: the end. */
void wire_put_body(struct idem_buf *out, struct idem_span bytes);

/* How an answer's END_REQUEST ends (FastCGI 1.0, 5.5). */
enum {
	WIRE_REQUEST_COMPLETE = 0,
	WIRE_CANT_MPX_CONN = 1,
	WIRE_OVERLOADED = 2
};

/* Reads an answer; zero-initialise. */
struct wire {
	struct records records;
	unsigned char end[8]; /* content of END_REQUEST */
	size_t nend;
	unsigned protocol_status; /* after WIRE_END */
};

enum wire_event {
	WIRE_MORE, /* all bytes were read */
	WIRE_OUT,  /* *piece: of STDOUT, not empty */
	WIRE_ERR,  /* *piece: of STDERR, not empty */
	WIRE_END,  /* END_REQUEST is complete */
	WIRE_BAD   /* no FastCGI 1.0 */
};

/*
 * Read on from the front of *bytes up to the next event; *piece is borrowed
 * from them.  Records of other requests and of management are passed over.
 */
enum wire_event wire_next(struct wire *w, struct idem_span *bytes,
    struct idem_span *piece);

#endif
