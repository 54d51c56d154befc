/*
 * json_decimal.c - a number by its exact decimal value, laid out as
 * ECMAScript's Number::toString does; never by way of a binary double.
 */
#include "request/json_scan.h"

#define EXPONENT_MAX INT64_C(999999999)
#define GROWTH_MAX 32 /* bytes a number can gain: 1e20 gains 17 */

static bool
is_digit(unsigned c)
{
	return c >= '0' && c <= '9';
}

/* A number as it is written. */
struct decimal {
	const unsigned char *whole, *fraction; /* their digits */
	size_t nwhole, nfraction;
	bool negative;
	bool far; /* the exponent is beyond EXPONENT_MAX */
	int64_t exponent;
};

/* From behind the "e"; NULL with s->err set: no digits. */
static const unsigned char *
read_exponent(struct json_scan *s, const unsigned char *p, struct decimal *d)
{
	bool negative = json_peek(s, p) == '-';

	if (negative || json_peek(s, p) == '+')
		p++;
	if (!is_digit(json_peek(s, p)))
		return json_fail(s, IDEM_ESYNTAX, p).p;
	for (; is_digit(json_peek(s, p)); p++) {
		if (!d->far)
			d->exponent = d->exponent * 10 + (*p - '0');
		d->far = d->exponent > EXPONENT_MAX;
	}
	if (negative)
		d->exponent = -d->exponent;
	return p;
}

static unsigned char
digit_at(const struct decimal *d, size_t i)
{
	return i < d->nwhole ? d->whole[i] : d->fraction[i - d->nwhole];
}

/* Write n digits of d, from the one with index i, without the point. */
static unsigned char *
put_digits(unsigned char *o, const struct decimal *d, size_t i, size_t n)
{
	size_t whole = i >= d->nwhole ? 0 : d->nwhole - i;

	if (whole > n)
		whole = n;
	if (whole > 0)
		memcpy(o, d->whole + i, whole);
	if (n > whole)
		memcpy(o + whole, d->fraction + (i + whole - d->nwhole),
		    n - whole);
	return o + n;
}

static unsigned char *
put_zeros(unsigned char *o, size_t n)
{
	memset(o, '0', n);
	return o + n;
}

static unsigned char *
put_exponent(unsigned char *o, int64_t exponent)
{
	unsigned char reversed[20];
	size_t n = 0;
	uint64_t v = (uint64_t)(exponent < 0 ? -exponent : exponent);

	do
		reversed[n++] = (unsigned char)('0' + v % 10);
	while ((v /= 10) > 0);
	*o++ = 'e';
	*o++ = exponent < 0 ? '-' : '+';
	while (n > 0)
		*o++ = reversed[--n];
	return o;
}

/*
 * ECMA-262 Number::toString, 6.1.6.1.20: of the n significant digits from the
 * one with index i, point stand before the decimal point.
 */
static unsigned char *
put_layout(unsigned char *o, const struct decimal *d, size_t i, size_t n,
    int64_t point)
{
	if (point > JSON_PLAIN_DIGITS || point < -JSON_PLAIN_ZEROS) {
		o = put_digits(o, d, i, 1);
		if (n > 1) {
			*o++ = '.';
			o = put_digits(o, d, i + 1, n - 1);
		}
		return put_exponent(o, point - 1);
	}
	if (point <= 0) {
		memcpy(o, "0.", 2);
		o = put_zeros(o + 2, (size_t)-point);
		return put_digits(o, d, i, n);
	}
	if ((size_t)point >= n)
		return put_zeros(put_digits(o, d, i, n), (size_t)point - n);
	o = put_digits(o, d, i, (size_t)point);
	*o++ = '.';
	return put_digits(o, d, i + (size_t)point, n - (size_t)point);
}

static struct json_pos
put_decimal(struct json_scan *s, struct json_pos at, const struct decimal *d)
{
	size_t first = 0, n = d->nwhole + d->nfraction;
	int64_t point;

	while (first < n && digit_at(d, first) == '0')
		first++;
	while (n > first && digit_at(d, n - 1) == '0')
		n--;
	point = (int64_t)d->nwhole - (int64_t)first + d->exponent;
	if (d->far || (n > first &&
	    (point - 1 > EXPONENT_MAX || point - 1 < -EXPONENT_MAX))) {
		json_inexact(s, (size_t)(d->whole - s->text) - d->negative);
		return at;
	}
	at.o = json_room(s, at.o, (size_t)(s->end - at.p) + n + GROWTH_MAX +
	    JSON_CHUNK);
	if (at.o == NULL)
		return (struct json_pos){ NULL, NULL };
	if (n == first) {
		*at.o++ = '0';
		return at;
	}
	if (d->negative)
		*at.o++ = '-';
	at.o = put_layout(at.o, d, first, n - first, point);
	return at;
}

struct json_pos
json_decimal(struct json_scan *s, struct json_pos at,
    const unsigned char *point, const unsigned char *end)
{
	struct decimal d = { .negative = *at.p == '-' };

	d.whole = at.p + d.negative;
	d.nwhole = (size_t)((point == NULL ? end : point) - d.whole);
	d.fraction = point == NULL ? end : point + 1;
	d.nfraction = (size_t)(end - d.fraction);
	at.p = end;
	if ((json_peek(s, end) | 0x20) == 'e')
		at.p = read_exponent(s, end + 1, &d);
	return at.p == NULL ? at : put_decimal(s, at, &d);
}
