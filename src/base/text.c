/*
 * text.c - spans of text by ASCII rules: comparing, trimming, splitting,
 * decimal numbers, formatting.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

struct idem_span
span_of(const char *cstr)
{
	return (struct idem_span){ cstr, cstr == NULL ? 0 : strlen(cstr) };
}

struct idem_span
span_from(struct idem_span s, size_t at)
{
	return (struct idem_span){ s.p == NULL ? NULL : s.p + at, s.n - at };
}

struct idem_span
span_first(struct idem_span s, size_t n)
{
	return (struct idem_span){ s.p, n };
}

bool
span_eq(struct idem_span a, struct idem_span b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool
span_eq_nocase(struct idem_span a, struct idem_span b)
{
	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		if (ascii_lower(a.p[i]) != ascii_lower(b.p[i]))
			return false;
	return true;
}

bool
span_starts(struct idem_span s, struct idem_span prefix)
{
	return s.n >= prefix.n && span_eq(span_first(s, prefix.n), prefix);
}

bool
span_starts_nocase(struct idem_span s, struct idem_span prefix)
{
	return s.n >= prefix.n &&
	    span_eq_nocase(span_first(s, prefix.n), prefix);
}

size_t
span_find(struct idem_span s, char c)
{
	const char *at = s.n == 0 ? NULL : memchr(s.p, c, s.n);

	return at == NULL ? s.n : (size_t)(at - s.p);
}

static bool
is_ows(char c)
{
	return c == ' ' || c == '\t';
}

struct idem_span
span_trim(struct idem_span s)
{
	while (s.n > 0 && is_ows(s.p[0]))
		s = span_from(s, 1);
	while (s.n > 0 && is_ows(s.p[s.n - 1]))
		s.n--;
	return s;
}

bool
span_next(struct idem_span *rest, char sep, struct idem_span *field)
{
	size_t at;

	if (rest->p == NULL)
		return false;
	at = span_find(*rest, sep);
	*field = span_first(*rest, at);
	*rest = at == rest->n ? IDEM_ABSENT : span_from(*rest, at + 1);
	return true;
}

char
ascii_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool
ascii_alpha(char c)
{
	return ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z';
}

bool
ascii_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_tchar(char c)
{
	return ascii_alpha(c) || ascii_digit(c) ||
	    (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

bool
is_token(struct idem_span s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_tchar(s.p[i]))
			return false;
	return s.n > 0;
}

bool
is_visible(struct idem_span s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < 0x21 || s.p[i] > 0x7e)
			return false;
	return true;
}

enum idem_err
parse_u64(struct idem_span s, uint64_t max, uint64_t *out)
{
	uint64_t v = 0;
	bool big = false;

	if (s.n == 0)
		return IDEM_ESYNTAX;
	for (size_t i = 0; i < s.n; i++) {
		uint64_t d;

		if (!ascii_digit(s.p[i]))
			return IDEM_ESYNTAX;
		d = (uint64_t)(s.p[i] - '0');
		big = big || v > max / 10 || d > max - v * 10;
		v = big ? 0 : v * 10 + d;
	}
	if (big)
		return IDEM_ETOOBIG;
	*out = v;
	return IDEM_OK;
}

enum idem_err
text_format(char *dst, size_t cap, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(dst, cap, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < cap)
		return IDEM_OK;
	dst[0] = '\0';
	return IDEM_ETOOBIG;
}
