/*
 * answer.h - a response as bytes: what the store keeps and gives back.
 *
 *   u16 status | run kept fields | u32 body length | body | run other fields
 *
 * The record keeps a prefix: all but the other fields or, where the body is
 * over the limit, only up to the body's length.  So one reader serves the first
 * answer and every replay.
 */
#ifndef ENGINE_ANSWER_H
#define ENGINE_ANSWER_H

#include "idem/http.h"

/* What of an answer is kept. */
struct answer_rules {
	struct idem_span keep_headers; /* IDEM_KEEP_HEADERS */
	size_t max_body_bytes;         /* IDEM_MAX_RESPONSE */
	bool keep_cors; /* Access-Control-* too, for the same Origin only */
	struct idem_span origin;       /* of this request; absent: none */
};

/*
 * Append res to out, without an application's own Idempotency-* fields.
 * *kept_bytes is how much of that a record keeps: without the body where it is
 * over max_body_bytes or elsewhere.  A page's Cache-Control is kept with it.
 * IDEM_OK, or the error of res or out.
 */
IDEM_MUST_CHECK enum idem_err
answer_encode(const struct idem_response *res,
    const struct answer_rules *rules, struct idem_buf *out,
    size_t *kept_bytes);

/* Take an application's own Idempotency-* fields out: those names are ours. */
void answer_drop_own_fields(struct idem_response *res);

/* The first answer again: every field but those.  IDEM_ECORRUPT; IDEM_ENOMEM;
 * IDEM_ETOOBIG past the ceiling of res. */
IDEM_MUST_CHECK enum idem_err
answer_first(struct idem_span bytes, struct idem_response *res);

/* What a record keeps, borrowed from its bytes. */
struct answer_parts {
	unsigned status;
	struct idem_span fields; /* lines, as in struct idem_response */
	struct idem_span body;   /* empty where it was omitted */
	size_t body_bytes;       /* its length, also where it was omitted */
	bool omitted;            /* it was over the limit */
};
/* IDEM_ECORRUPT. */
IDEM_MUST_CHECK enum idem_err
answer_open(struct idem_span bytes, struct answer_parts *out);

/* Who gets a replay. */
struct answer_reader {
	bool person;
	struct idem_span keep_headers;
	struct idem_span origin; /* absent: none */
};

/*
 * A replay: kept fields, Cache-Control and Idempotency-Replayed: true; with
 * Idempotency-Body: omitted in the place of Content-Type, Content-Encoding and
 * body where the body was not kept.
 *
 * Cache-Control: the stored one where IDEM_KEEP_HEADERS names it, and of a page
 * for a person; else private, no-cache for such a page, and no-store for all
 * else.  Access-Control-* that were kept: where the reader's Origin equals the
 * first one's.
 * Codes as above.
 */
IDEM_MUST_CHECK enum idem_err
answer_replay(struct idem_span bytes, const struct answer_reader *reader,
    struct idem_response *res);

#endif
