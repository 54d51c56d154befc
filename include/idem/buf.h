/*
 * buf.h - growable byte buffer with a hard ceiling and a sticky error.
 *
 * Appends return nothing.  The first failure (no memory, or past max_bytes)
 * is kept; later appends do nothing.  Ask once, at the end, with
 * idem_buf_err().  A buffer is never silently cut short.
 */
#ifndef IDEM_BUF_H
#define IDEM_BUF_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct idem_buf {
	char *p;          /* owned; NULL until the first byte is appended */
	size_t n;         /* bytes used */
	size_t cap;       /* bytes allocated */
	size_t max_bytes; /* ceiling for n */
	enum idem_err err;
};

/* Cannot fail and does not allocate.  max_bytes must not be 0. */
void idem_buf_init(struct idem_buf *b, size_t max_bytes);

/* The same on the caller's own memory, which bounds it: it does not allocate
 * and must not be given to idem_buf_free() or idem_buf_trim(). */
void idem_buf_over(struct idem_buf *b, char *memory, size_t nbytes);

/* Forget content and error, keep the memory: ready for the next use. */
void idem_buf_reset(struct idem_buf *b);

/* Release the memory and make b empty again, ready for reuse. */
void idem_buf_free(struct idem_buf *b);

/* idem_buf_free(), but only where it holds more memory than keep_bytes. */
void idem_buf_trim(struct idem_buf *b, size_t keep_bytes);

void idem_buf_put(struct idem_buf *b, const void *p, size_t n);
void idem_buf_putc(struct idem_buf *b, char c);
void idem_buf_puts(struct idem_buf *b, struct idem_span s);
void idem_buf_decimal(struct idem_buf *b, uint64_t n); /* its digits */
/* For short texts: over IDEM_BUF_PRINTF_MAX bytes is IDEM_ETOOBIG. */
#define IDEM_BUF_PRINTF_MAX 511
void idem_buf_printf(struct idem_buf *b, const char *fmt, ...)
    IDEM_PRINTF(2, 3);

/* Cut back to the first n bytes; n must not exceed b->n. */
void idem_buf_cut(struct idem_buf *b, size_t n);

/*
 * Make room for n more bytes and return where they go, or NULL with the sticky
 * error set.  The caller writes at most n bytes there and then says how many
 * with idem_buf_grew().
 */
char *idem_buf_room(struct idem_buf *b, size_t n);
void idem_buf_grew(struct idem_buf *b, size_t n);

/* IDEM_OK, IDEM_ENOMEM or IDEM_ETOOBIG. */
IDEM_MUST_CHECK enum idem_err idem_buf_err(const struct idem_buf *b);

/* The content so far.  Borrowed: dead after the next append or free. */
struct idem_span idem_buf_span(const struct idem_buf *b);

#ifdef __cplusplus
}
#endif
#endif
