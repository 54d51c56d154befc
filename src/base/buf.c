/*
 * buf.c - the growable byte buffer: the one place that grows memory.
 */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "idem/buf.h"

#define FIRST_BYTES 256

void
idem_buf_init(struct idem_buf *b, size_t max_bytes)
{
	assert(max_bytes > 0);
	*b = (struct idem_buf){ .max_bytes = max_bytes };
}

void
idem_buf_over(struct idem_buf *b, char *memory, size_t nbytes)
{
	assert(nbytes > 0);
	*b = (struct idem_buf){ .p = memory, .cap = nbytes,
		.max_bytes = nbytes };
}

void
idem_buf_reset(struct idem_buf *b)
{
	b->n = 0;
	b->err = IDEM_OK;
}

void
idem_buf_free(struct idem_buf *b)
{
	size_t max_bytes = b->max_bytes;

	free(b->p);
	*b = (struct idem_buf){ .max_bytes = max_bytes };
}

void
idem_buf_trim(struct idem_buf *b, size_t keep_bytes)
{
	if (b->cap > keep_bytes)
		idem_buf_free(b);
}

/* Twice the need, so that appending byte by byte stays linear. */
static bool
grow(struct idem_buf *b, size_t need)
{
	size_t cap = need > b->max_bytes / 2 ? b->max_bytes : need * 2;
	char *p;

	if (cap < FIRST_BYTES && b->max_bytes >= FIRST_BYTES)
		cap = FIRST_BYTES;
	if ((p = realloc(b->p, cap)) == NULL) {
		b->err = IDEM_ENOMEM;
		return false;
	}
	b->p = p;
	b->cap = cap;
	return true;
}

char *
idem_buf_room(struct idem_buf *b, size_t n)
{
	if (b->err != IDEM_OK)
		return NULL;
	if (n > b->max_bytes - b->n) {
		b->err = IDEM_ETOOBIG;
		return NULL;
	}
	if ((b->p == NULL || n > b->cap - b->n) && !grow(b, b->n + n))
		return NULL;
	return b->p + b->n;
}

void
idem_buf_grew(struct idem_buf *b, size_t n)
{
	assert(n <= b->cap - b->n);
	b->n += n;
}

void
idem_buf_put(struct idem_buf *b, const void *p, size_t n)
{
	char *room = n > 0 ? idem_buf_room(b, n) : NULL;

	if (room == NULL)
		return;
	memcpy(room, p, n);
	b->n += n;
}

void
idem_buf_putc(struct idem_buf *b, char c)
{
	idem_buf_put(b, &c, 1);
}

void
idem_buf_puts(struct idem_buf *b, struct idem_span s)
{
	idem_buf_put(b, s.p, s.n);
}

void
idem_buf_decimal(struct idem_buf *b, uint64_t n)
{
	char digits[20];
	size_t at = sizeof digits;

	do
		digits[--at] = (char)('0' + n % 10);
	while ((n /= 10) > 0);
	idem_buf_put(b, digits + at, sizeof digits - at);
}

void
idem_buf_printf(struct idem_buf *b, const char *fmt, ...)
{
	char text[IDEM_BUF_PRINTF_MAX + 1];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof text)
		idem_buf_put(b, text, (size_t)n);
	else if (b->err == IDEM_OK)
		b->err = IDEM_ETOOBIG;
}

void
idem_buf_cut(struct idem_buf *b, size_t n)
{
	assert(n <= b->n);
	b->n = n;
}

enum idem_err
idem_buf_err(const struct idem_buf *b)
{
	return b->err;
}

struct idem_span
idem_buf_span(const struct idem_buf *b)
{
	return (struct idem_span){ b->p == NULL ? "" : b->p, b->n };
}
