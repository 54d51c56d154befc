/*
 * netstring.c - a value in a hash behind its length, decoded without a copy of
 * the whole.
 */
#include "base/text.h"
#include "request/netstring.h"

#define CHUNK_BYTES 64

/* Decode the front of *s into one chunk; its length, 0 at the end. */
static size_t
take_chunk(struct spelled *s, char chunk[CHUNK_BYTES])
{
	size_t n = 0;
	int c;

	while (n < CHUNK_BYTES && (c = spelled_next(s)) >= 0)
		chunk[n++] = (char)c;
	return n;
}

static size_t
length(struct spelled s)
{
	size_t n = 0;

	if (s.by == SPELLED_PLAIN)
		return s.s.n;
	while (spelled_next(&s) >= 0)
		n++;
	return n;
}

void
netstring_hash(struct sha256 *h, struct spelled s)
{
	char text[24], chunk[CHUNK_BYTES];
	size_t n;

	if (s.s.p == NULL) {
		sha256_update(h, IDEM_LIT("-,"));
		return;
	}
	if (text_format(text, sizeof text, "%zu:", length(s)) == IDEM_OK)
		sha256_update(h, span_of(text)); /* it always fits */
	if (s.by == SPELLED_PLAIN)
		sha256_update(h, s.s);
	else
		while ((n = take_chunk(&s, chunk)) > 0)
			sha256_update(h, (struct idem_span){ chunk, n });
	sha256_update(h, IDEM_LIT(","));
}
