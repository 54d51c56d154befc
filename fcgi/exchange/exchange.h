/*
 * exchange.h - one request and its answer, whatever carries them: FastCGI or
 * plain CGI.  A program knows this and neither protocol.
 */
#ifndef FRONT_EXCHANGE_H
#define FRONT_EXCHANGE_H

#include "idem/http.h"

/* Made by the worker's loop; all of it lives until serve() returns. */
struct exchange {
	const char *const *vars; /* "NAME=value", ended by NULL */
	/* Up to n > 0 bytes of the body: 0 at its end, -1: it broke off. */
	long (*read)(void *arg, void *p, size_t n);
	/* All n bytes of the answer.  IDEM_EIO: the peer is gone. */
	enum idem_err (*write)(void *arg, const void *p, size_t n);
	/* One line, with its end, for the web server's own error log, which
	 * makes lines of its own of each call; NULL where descriptor 2 is that
	 * already. */
	void (*complain)(void *arg, const char *line);
	void *arg;
	/* What was written goes out now; NULL: it has already. */
	void (*flush)(void *arg);
	/* Is this process asked to stop?  NULL: nobody can say. */
	bool (*stopping)(void *arg);
	void *stopping_arg;
	/* A chunked body that broke off looks as one that is whole. */
	bool end_is_unproved;
	/* Set by serve(): the answer broke off behind its head and must not
	 * look whole.  Plain CGI has no way to say so. */
	bool broke_off;
};

/*
 * Read the whole body into *body (reset first) and set req->body, which is
 * borrowed from it and never absent afterwards.  The body is CONTENT_LENGTH
 * bytes long or, where that is absent or empty, what there is up to its end
 * (chunked requests).  IDEM_LENGTH, what the client announced before the web
 * server counted, is held against it too.
 *
 * IDEM_ETOOBIG: over max_bytes; a length announced as such is not read.
 * IDEM_ESHORT: less than announced.  IDEM_ESYNTAX: an announced length is no
 * number, CONTENT_LENGTH stands twice, or there is none and the end of the body
 * proves nothing.  IDEM_ENOMEM.  req->body is then left as it was.
 */
IDEM_MUST_CHECK enum idem_err
exchange_read_body(struct exchange *x, struct idem_request *req,
    size_t max_bytes, struct idem_buf *body);

/*
 * Give the whole body to put, piece by piece, whatever its length; *nbytes is
 * what came.  An end that proves nothing is taken for the end: only for what is
 * not protected.  IDEM_ESHORT, IDEM_ESYNTAX as above, or what put returned: the
 * rest is then not read.
 */
typedef enum idem_err (*exchange_put)(void *arg, const void *p, size_t n);
IDEM_MUST_CHECK enum idem_err
exchange_pass_body(struct exchange *x, const struct idem_request *req,
    exchange_put put, void *arg, uint64_t *nbytes);

/* All header lines of an answer, with Status and the empty line behind them:
 * the least that any of the servers takes. */
#define EXCHANGE_HEAD_MAX 4096 /* bytes */

/*
 * Write res as the whole answer: Status (always, or Apache takes a Location for
 * an internal redirect), its fields, Content-Length, body.  No body goes out
 * for HEAD, 204, 205 and 304, and for 204 and 304 no Content-Length either.
 * Status and Content-Length among res's fields are passed over.
 *
 * Nothing was written: the error of res; IDEM_ETOOBIG past EXCHANGE_HEAD_MAX;
 * IDEM_ENOMEM.  IDEM_EIO: the peer is gone.
 */
IDEM_MUST_CHECK enum idem_err
exchange_answer(struct exchange *x, const struct idem_request *req,
    const struct idem_response *res);

/*
 * Write the head alone, for a body that the caller writes himself: as above,
 * but of any length up to max_bytes, and with Content-Length where length_bytes
 * is not NULL.
 */
IDEM_MUST_CHECK enum idem_err
exchange_head(struct exchange *x, const struct idem_response *res,
    size_t max_bytes, const uint64_t *length_bytes);

/*
 * A response on memory of the caller's own: a problem in it can be made and
 * sent where there is no other memory.  res must not be freed.
 */
struct exchange_last {
	struct idem_response res;
	char fields[EXCHANGE_HEAD_MAX], body[4096];
};
void exchange_last_init(struct exchange_last *last);

/* May a body follow the head of this answer? */
bool exchange_has_body(const struct idem_request *req, unsigned status);

#endif
