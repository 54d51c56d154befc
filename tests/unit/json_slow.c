/*
 * json_slow.c - the canonical form by recursion, with names as arrays of
 * UTF-16 code units and numbers as strings of digits.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "idem/json.h"
#include "json_slow.h"

#define LIMIT 999999999LL
#define FOREVER (1LL << 60)

struct slow {
	struct idem_span text;
	size_t pos, depth;
	size_t inexact; /* SIZE_MAX: nothing was */
};

struct member {
	struct idem_buf name; /* code units, two bytes each */
	struct idem_buf value;
	size_t at;
};

/* Every reader returns false where the byte at s->pos cannot stand. */
static bool read_value(struct slow *s, struct idem_buf *out);

static int
peek(const struct slow *s)
{
	return s->pos < s->text.n ? (unsigned char)s->text.p[s->pos] : -1;
}

static bool
take(struct slow *s, int c)
{
	if (peek(s) != c)
		return false;
	s->pos++;
	return true;
}

static void
space(struct slow *s)
{
	while (take(s, ' ') || take(s, '\t') || take(s, '\n') || take(s, '\r'))
		;
}

static void
inexact(struct slow *s, size_t at)
{
	if (at < s->inexact)
		s->inexact = at;
}

static bool
word(struct slow *s, const char *text, struct idem_buf *out)
{
	for (; *text != '\0'; text++) {
		if (!take(s, *text))
			return false;
		idem_buf_putc(out, *text);
	}
	return true;
}

/* --- strings ------------------------------------------------------------- */

static void
put_unit(struct idem_buf *units, unsigned unit)
{
	idem_buf_putc(units, (char)(unit >> 8));
	idem_buf_putc(units, (char)(unit & 0xff));
}

static unsigned
unit_at(const struct idem_buf *units, size_t i)
{
	return (unsigned)(unsigned char)units->p[2 * i] << 8 |
	    (unsigned char)units->p[2 * i + 1];
}

static void
put_code_point(struct idem_buf *units, uint32_t cp)
{
	if (cp < 0x10000) {
		put_unit(units, cp);
		return;
	}
	put_unit(units, 0xd800 + ((cp - 0x10000) >> 10));
	put_unit(units, 0xdc00 + ((cp - 0x10000) & 0x3ff));
}

/* Can these n bytes be made a code point by some bytes behind them? */
static bool
begins_utf8(const char *p, size_t n)
{
	static const char more[] = "\x80\x90\xa0\xbf";
	char whole[4];
	uint32_t cp;

	if (utf8_decode((struct idem_span){ p, n }, &cp) == n)
		return true;
	memcpy(whole, p, n);
	for (size_t i = 0; n < 4 && i < 4; i++) {
		whole[n] = more[i];
		if (begins_utf8(whole, n + 1))
			return true;
	}
	return false;
}

static bool
read_utf8(struct slow *s, struct idem_buf *units)
{
	struct idem_span rest = span_from(s->text, s->pos);
	uint32_t cp;
	size_t n = utf8_decode(rest, &cp), ok = 0;

	if (n > 0) {
		put_code_point(units, cp);
		s->pos += n;
		return true;
	}
	while (ok < rest.n && begins_utf8(rest.p, ok + 1))
		ok++;
	s->pos += ok;
	return false;
}

static bool
read_hex4(struct slow *s, unsigned *unit)
{
	*unit = 0;
	for (int i = 0; i < 4; i++) {
		int v = peek(s) < 0 ? -1 : hex_value((char)peek(s));

		if (v < 0)
			return false;
		*unit = *unit * 16 + (unsigned)v;
		s->pos++;
	}
	return true;
}

static bool
read_escape(struct slow *s, struct idem_buf *units)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *which;
	unsigned unit;

	if (take(s, 'u')) {
		if (!read_hex4(s, &unit))
			return false;
		put_unit(units, unit);
		return true;
	}
	if (peek(s) <= 0 || (which = strchr(from, peek(s))) == NULL)
		return false;
	put_unit(units, (unsigned char)to[which - from]);
	s->pos++;
	return true;
}

/* Fill units, and note the escape of the first lone surrogate. */
static bool
read_string(struct slow *s, struct idem_buf *units)
{
	size_t high_at = SIZE_MAX; /* an escape that waits for the other */

	if (!take(s, '"'))
		return false;
	while (peek(s) >= 0x20 && peek(s) != '"') {
		size_t at = s->pos;
		unsigned unit;

		if (!(take(s, '\\') ? read_escape(s, units) :
		    read_utf8(s, units)))
			return false;
		unit = unit_at(units, units->n / 2 - 1);
		if (s->text.p[at] != '\\')
			unit = 0; /* UTF-8 has whole code points */
		if (high_at != SIZE_MAX && (unit < 0xdc00 || unit > 0xdfff))
			inexact(s, high_at);
		if (high_at == SIZE_MAX && unit >= 0xdc00 && unit <= 0xdfff)
			inexact(s, at);
		high_at = unit >= 0xd800 && unit <= 0xdbff ? at : SIZE_MAX;
	}
	if (high_at != SIZE_MAX)
		inexact(s, high_at);
	return take(s, '"');
}

static void
write_unit(struct idem_buf *out, unsigned unit)
{
	static const char *const shorts[] = { ['\b'] = "\\b", ['\t'] = "\\t",
		['\n'] = "\\n", ['\f'] = "\\f", ['\r'] = "\\r",
		['"'] = "\\\"", ['\\'] = "\\\\" };

	if (unit < sizeof shorts / sizeof shorts[0] && shorts[unit] != NULL)
		idem_buf_puts(out, span_of(shorts[unit]));
	else if (unit < 0x20)
		idem_buf_printf(out, "\\u%04x", unit);
	else
		utf8_put(out, unit);
}

static void
write_string(struct idem_buf *out, const struct idem_buf *units)
{
	idem_buf_putc(out, '"');
	for (size_t i = 0; i < units->n / 2; i++) {
		unsigned unit = unit_at(units, i);

		if (unit < 0xd800 || unit > 0xdbff || i + 1 == units->n / 2) {
			write_unit(out, unit);
			continue;
		}
		utf8_put(out, 0x10000 + (unit - 0xd800) * 0x400 +
		    (unit_at(units, ++i) - 0xdc00));
	}
	idem_buf_putc(out, '"');
}

/* --- numbers ------------------------------------------------------------- */

static bool
read_digits(struct slow *s, struct idem_buf *digits)
{
	if (!ascii_digit((char)peek(s)))
		return false;
	while (peek(s) >= 0 && ascii_digit((char)peek(s)))
		idem_buf_putc(digits, s->text.p[s->pos++]);
	return true;
}

static long long
number_of(struct idem_span digits)
{
	long long n = 0;

	for (size_t i = 0; i < digits.n && n < FOREVER / 10; i++)
		n = n * 10 + (digits.p[i] - '0');
	return n;
}

static void
write_zeros(struct idem_buf *out, long long n)
{
	while (n-- > 0)
		idem_buf_putc(out, '0');
}

/* ECMA-262 6.1.6.1.20, steps 6 to 12, with its letters: the number is the
 * digits of s, k long, times ten to the power of n - k. */
static void
write_number(struct idem_buf *out, struct idem_span s, long long n)
{
	long long k = (long long)s.n, e = n - 1;

	if (k <= n && n <= 21) {
		idem_buf_puts(out, s);
		write_zeros(out, n - k);
	} else if (0 < n && n <= 21) {
		idem_buf_puts(out, span_first(s, (size_t)n));
		idem_buf_putc(out, '.');
		idem_buf_puts(out, span_from(s, (size_t)n));
	} else if (-6 < n && n <= 0) {
		idem_buf_puts(out, IDEM_LIT("0."));
		write_zeros(out, -n);
		idem_buf_puts(out, s);
	} else {
		idem_buf_putc(out, s.p[0]);
		if (k > 1)
			idem_buf_putc(out, '.');
		idem_buf_puts(out, span_from(s, 1));
		idem_buf_printf(out, "e%c%lld", e < 0 ? '-' : '+', llabs(e));
	}
}

static void
finish_number(struct slow *s, size_t at, struct idem_span digits,
    long long exponent, struct idem_buf *out)
{
	size_t fraction_point = digits.n;

	while (digits.n > 0 && digits.p[0] == '0') {
		digits = span_from(digits, 1);
		fraction_point--;
	}
	exponent += (long long)fraction_point;
	while (digits.n > 0 && digits.p[digits.n - 1] == '0')
		digits.n--;
	if (digits.n == 0) {
		idem_buf_putc(out, '0');
		return;
	}
	if (llabs(exponent - 1) > LIMIT) {
		inexact(s, at);
		return;
	}
	if (s->text.p[at] == '-')
		idem_buf_putc(out, '-');
	write_number(out, digits, exponent);
}

/* digits and written are empty: the number's, and its exponent's. */
static bool
read_number_parts(struct slow *s, struct idem_buf *digits, size_t *nfraction,
    struct idem_buf *written, bool *negative)
{
	(void)take(s, '-'); /* may be absent */
	if (take(s, '0'))
		idem_buf_putc(digits, '0');
	else if (!read_digits(s, digits))
		return false;
	*nfraction = digits->n;
	if (take(s, '.') && !read_digits(s, digits))
		return false;
	*nfraction = digits->n - *nfraction;
	*negative = false;
	if (!take(s, 'e') && !take(s, 'E'))
		return true;
	*negative = take(s, '-');
	if (!*negative)
		(void)take(s, '+'); /* may be absent */
	return read_digits(s, written);
}

static bool
read_number(struct slow *s, struct idem_buf *out)
{
	struct idem_buf digits, written;
	size_t at = s->pos, nfraction;
	long long exponent;
	bool good, negative;

	idem_buf_init(&digits, 1 << 24);
	idem_buf_init(&written, 1 << 24);
	good = read_number_parts(s, &digits, &nfraction, &written, &negative);
	exponent = number_of(idem_buf_span(&written));
	if (good && exponent > LIMIT)
		inexact(s, at);
	else if (good)
		finish_number(s, at, idem_buf_span(&digits),
		    (negative ? -exponent : exponent) - (long long)nfraction,
		    out);
	idem_buf_free(&digits);
	idem_buf_free(&written);
	return good;
}

/* --- arrays and objects --------------------------------------------------- */

static void
open_one(struct slow *s)
{
	if (++s->depth > IDEM_JSON_DEPTH)
		inexact(s, s->pos - 1);
	space(s);
}

static bool
read_array(struct slow *s, struct idem_buf *out)
{
	bool empty;

	open_one(s);
	idem_buf_putc(out, '[');
	empty = take(s, ']');
	while (!empty) {
		if (!read_value(s, out))
			return false;
		space(s);
		if (take(s, ']'))
			break;
		if (!take(s, ','))
			return false;
		idem_buf_putc(out, ',');
	}
	idem_buf_putc(out, ']');
	s->depth--;
	return true;
}

static int
by_name(const void *a, const void *b)
{
	const struct idem_buf *x = &((const struct member *)a)->name;
	const struct idem_buf *y = &((const struct member *)b)->name;
	size_t n = x->n < y->n ? x->n : y->n;
	int order = n == 0 ? 0 : memcmp(x->p, y->p, n);

	return order != 0 ? order : (x->n > y->n) - (x->n < y->n);
}

static bool
read_member(struct slow *s, struct member *m)
{
	space(s);
	m->at = s->pos;
	if (!read_string(s, &m->name))
		return false;
	space(s);
	return take(s, ':') && read_value(s, &m->value);
}

/* Grows by one for each call; never more than one a byte of the text. */
static struct member *
next_member(struct idem_buf *members)
{
	struct member m;

	idem_buf_init(&m.name, 1 << 24);
	idem_buf_init(&m.value, 1 << 24);
	m.at = 0;
	idem_buf_put(members, &m, sizeof m);
	if (idem_buf_err(members) != IDEM_OK)
		abort();
	return (struct member *)(void *)(members->p + members->n) - 1;
}

static bool
read_members(struct slow *s, struct idem_buf *members)
{
	space(s);
	if (take(s, '}'))
		return true;
	do {
		if (!read_member(s, next_member(members)))
			return false;
		space(s);
	} while (take(s, ','));
	return take(s, '}');
}

static void
write_members(struct slow *s, struct member *m, size_t n, struct idem_buf *out)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			if (by_name(&m[i], &m[j]) == 0)
				inexact(s, m[i].at);
	if (n > 0)
		qsort(m, n, sizeof *m, by_name);
	idem_buf_putc(out, '{');
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			idem_buf_putc(out, ',');
		write_string(out, &m[i].name);
		idem_buf_putc(out, ':');
		idem_buf_puts(out, idem_buf_span(&m[i].value));
	}
	idem_buf_putc(out, '}');
}

static bool
read_object(struct slow *s, struct idem_buf *out)
{
	struct idem_buf members;
	struct member *m;
	size_t n;
	bool good;

	open_one(s);
	idem_buf_init(&members, 1 << 28);
	good = read_members(s, &members);
	m = (struct member *)(void *)members.p;
	n = members.n / sizeof *m;
	if (good)
		write_members(s, m, n, out);
	for (size_t i = 0; i < n; i++) {
		idem_buf_free(&m[i].name);
		idem_buf_free(&m[i].value);
	}
	idem_buf_free(&members);
	s->depth--;
	return good;
}

static bool
read_string_value(struct slow *s, struct idem_buf *out)
{
	struct idem_buf units;
	bool good;

	idem_buf_init(&units, 1 << 24);
	good = read_string(s, &units);
	if (good)
		write_string(out, &units);
	idem_buf_free(&units);
	return good;
}

static bool
read_value(struct slow *s, struct idem_buf *out)
{
	space(s);
	switch (peek(s)) {
	case '{':
		s->pos++;
		return read_object(s, out);
	case '[':
		s->pos++;
		return read_array(s, out);
	case '"':
		return read_string_value(s, out);
	case 't':
		return word(s, "true", out);
	case 'f':
		return word(s, "false", out);
	case 'n':
		return word(s, "null", out);
	}
	return read_number(s, out);
}

enum idem_err
json_slow(struct idem_span text, struct idem_buf *out, size_t *at)
{
	struct slow s = { .text = text, .inexact = SIZE_MAX };
	size_t before = out->n;
	enum idem_err err = IDEM_OK;

	if (!read_value(&s, out))
		err = IDEM_ESYNTAX;
	else {
		space(&s);
		if (s.pos < text.n)
			err = IDEM_ESYNTAX;
		else if (s.inexact != SIZE_MAX)
			err = IDEM_EINEXACT;
	}
	if (err != IDEM_OK) {
		idem_buf_cut(out, before);
		*at = err == IDEM_ESYNTAX ? s.pos : s.inexact;
	}
	return err;
}
