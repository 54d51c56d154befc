/*
 * text.h - spans of text: comparing, trimming, splitting, numbers, UTF-8,
 * base64url and hex.  ASCII rules only; no locale.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <assert.h>

#include "idem/buf.h"

struct idem_span span_of(const char *cstr); /* NULL gives absent */
struct idem_span span_from(struct idem_span s, size_t at); /* at <= s.n */
struct idem_span span_first(struct idem_span s, size_t n); /* n <= s.n */
bool span_eq(struct idem_span a, struct idem_span b);
bool span_eq_nocase(struct idem_span a, struct idem_span b);
bool span_starts(struct idem_span s, struct idem_span prefix);
bool span_starts_nocase(struct idem_span s, struct idem_span prefix);
/* Offset of the first c, or s.n. */
size_t span_find(struct idem_span s, char c);

/* Without space and tab at both ends (OWS, RFC 9110 5.6.3). */
struct idem_span span_trim(struct idem_span s);

/*
 * Take the text before the next sep off the front of *rest, and the separator
 * with it.  false when *rest is absent: the last field was taken before.
 * "a,,b" gives "a", "", "b".
 */
bool span_next(struct idem_span *rest, char sep, struct idem_span *field);

char ascii_lower(char c);
bool ascii_alpha(char c);
bool ascii_digit(char c);
/* RFC 9110 5.6.2: one or more tchar. */
bool is_token(struct idem_span s);
/* All bytes are 0x21 to 0x7E. */
bool is_visible(struct idem_span s);

/*
 * A decimal number: digits only, no sign, no space.
 * IDEM_ESYNTAX: something else, or empty.  IDEM_ETOOBIG: over max.
 */
IDEM_MUST_CHECK enum idem_err
parse_u64(struct idem_span s, uint64_t max, uint64_t *out);

/*
 * Decode the code point at the front of s (s.n > 0).  Returns its length in
 * bytes, 1 to 4; 0 where the bytes are no UTF-8 (overlong, surrogate, above
 * U+10FFFF, cut short).
 */
size_t utf8_decode(struct idem_span s, uint32_t *cp);
bool utf8_is_all(struct idem_span s); /* nothing else is in s */
/* Write cp (up to 0x10FFFF) to out; returns the length, 1 to 4. */
size_t utf8_encode(uint32_t cp, char out[4]);
/* Append cp, which is a Unicode scalar value. */
void utf8_put(struct idem_buf *b, uint32_t cp);

/* Percent-decode s into b; '+' becomes a space where plus is true.
 * IDEM_ESYNTAX: a '%' without two hex digits; b then holds a part. */
IDEM_MUST_CHECK enum idem_err
percent_decode(struct idem_span s, bool plus, struct idem_buf *b);

/* RFC 4648 5, no padding: 32 bytes give 43 characters.  No NUL is written. */
#define BASE64URL_BYTES(n) (((n) * 4 + 2) / 3)
void base64url(const unsigned char *p, size_t n, char *out);
/* Lower case, 2 * n characters, no NUL. */
void hex_lower(const unsigned char *p, size_t n, char *out);

/* Value of a hex digit of either case, or -1. */
static inline int
hex_value(char c)
{
	unsigned digit = (unsigned char)c - '0';
	unsigned letter = ((unsigned char)c | 0x20u) - 'a';

	return digit < 10 ? (int)digit : letter < 6 ? (int)letter + 10 : -1;
}

/* Of two digits that the caller has looked at. */
static inline unsigned char
hex_byte(char high, char low)
{
	int h = hex_value(high), l = hex_value(low);

	assert(h >= 0 && l >= 0);
	return (unsigned char)(h << 4 | l);
}

/*
 * snprintf into dst that says when it did not fit: IDEM_ETOOBIG, and dst then
 * holds "" .  cap must not be 0.
 */
IDEM_MUST_CHECK enum idem_err
text_format(char *dst, size_t cap, const char *fmt, ...) IDEM_PRINTF(3, 4);

#endif
