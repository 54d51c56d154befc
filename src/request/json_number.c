/*
 * json_number.c - the grammar of JSON numbers, and those that are copied.
 */
#include "request/json_scan.h"

static inline struct json_pos
copy_digits(struct json_pos at, const unsigned char *end)
{
	while (end - at.p >= 8) {
		uint64_t others = json_non_digits(json_word(at.p));

		memcpy(at.o, at.p, 8);
		if (others != 0) {
			unsigned n = json_lowest(others) / 8;
			at.p += n;
			at.o += n;
			return at;
		}
		at.p += 8;
		at.o += 8;
	}
	while (at.p < end && *at.p >= '0' && *at.p <= '9')
		*at.o++ = *at.p++;
	return at;
}

static unsigned char *
drop_zeros(unsigned char *o)
{
	while (o[-1] == '0')
		o--;
	return o[-1] == '.' ? o - 1 : o;
}

/* Is 0.ddd zero, or too small to stand like that?  Its fraction is n long. */
static bool
is_tiny(const unsigned char *fraction, size_t n)
{
	size_t zeros = 0;

	while (zeros < n && fraction[zeros] == '0')
		zeros++;
	return zeros == n || zeros > JSON_PLAIN_ZEROS;
}

/*
 * Without an exponent most numbers stand already as they must, but for zeros at
 * the end; json_decimal() writes the others again.
 */
struct json_pos
json_number(struct json_scan *s, struct json_pos at)
{
	struct json_pos from = at;
	const unsigned char *whole, *point = NULL;
	bool odd;

	if (*at.p == '-')
		*at.o++ = *at.p++;
	whole = at.p;
	at = copy_digits(at, s->end);
	if (at.p == whole)
		return json_fail(s, IDEM_ESYNTAX, whole);
	odd = at.p - whole > JSON_PLAIN_DIGITS;
	if (*whole == '0') {
		if (at.p - whole > 1)
			return json_fail(s, IDEM_ESYNTAX, whole + 1);
		odd = whole > from.p; /* minus zero */
	}
	if (json_peek(s, at.p) == '.') {
		point = at.p;
		*at.o++ = *at.p++;
		at = copy_digits(at, s->end);
		if (at.p == point + 1)
			return json_fail(s, IDEM_ESYNTAX, at.p);
		if (*whole == '0')
			odd = is_tiny(point + 1, (size_t)(at.p - point) - 1);
		if (at.p[-1] == '0')
			at.o = drop_zeros(at.o);
	}
	if (odd || (json_peek(s, at.p) | 0x20) == 'e')
		return json_decimal(s, from, point, at.p);
	return at;
}
