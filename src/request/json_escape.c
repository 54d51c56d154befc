/*
 * json_escape.c - escapes in JSON strings: any that RFC 8259 allows are read,
 * the shortest are written (RFC 8785 3.2.2.2).
 */
#include "base/text.h"
#include "request/json_scan.h"

/* Write c, which cannot stand as it is, as the shortest escape. */
static unsigned char *
put_escape(unsigned char *o, unsigned char c)
{
	static const char letters[] = "........btn.fr..................";
	char letter = c < 0x20 ? letters[c] : (char)c;

	*o++ = '\\';
	if (letter != '.') {
		*o++ = (unsigned char)letter;
		return o;
	}
	memcpy(o, "u00", 3);
	hex_lower(&c, 1, (char *)o + 3);
	return o + 5;
}

/* The code unit of the four hex digits at p; -1: not all of them are. */
static inline int
hex4(const struct json_scan *s, const unsigned char *p)
{
	int unit = 0, bad = 0;

	if (s->end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int v = hex_value((char)p[i]);

		unit = unit * 16 + v;
		bad |= v;
	}
	return bad < 0 ? -1 : unit;
}

static struct json_pos
bad_hex(struct json_scan *s, const unsigned char *p)
{
	while (hex_value((char)json_peek(s, p)) >= 0)
		p++;
	return json_fail(s, IDEM_ESYNTAX, p);
}

/* The second half of a surrogate pair, where one begins at p; else -1. */
static int
low_surrogate(const struct json_scan *s, const unsigned char *p)
{
	int unit;

	if (json_peek(s, p) != '\\' || json_peek(s, p + 1) != 'u')
		return -1;
	unit = hex4(s, p + 2);
	return unit >= 0xdc00 && unit <= 0xdfff ? unit : -1;
}

static unsigned char *
put_code_point(unsigned char *o, int cp)
{
	if (cp < 0x20 || cp == '"' || cp == '\\')
		return put_escape(o, (unsigned char)cp);
	return o + utf8_encode((uint32_t)cp, (char *)o);
}

/*
 * A lone surrogate is written as if it were a code point: the text is inexact,
 * but names that hold one must still differ from all others.
 */
struct json_pos
json_unicode_escape(struct json_scan *s, struct json_pos at)
{
	do {
		int cp = hex4(s, at.p + 2), low;

		if (cp < 0)
			return bad_hex(s, at.p + 2);
		if (cp >= 0xd800 && cp <= 0xdbff &&
		    (low = low_surrogate(s, at.p + 6)) >= 0) {
			cp = 0x10000 + (cp - 0xd800) * 0x400 + (low - 0xdc00);
			at.p += 6;
		} else if (cp >= 0xd800 && cp <= 0xdfff)
			json_inexact(s, (size_t)(at.p - s->text));
		at.p += 6;
		at.o = put_code_point(at.o, cp);
	} while (json_peek(s, at.p) == '\\' &&
	    json_peek(s, at.p + 1) == 'u');
	return at;
}

void
idem_json_string(struct idem_buf *out, struct idem_span s)
{
	size_t from = 0;

	idem_buf_putc(out, '"');
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i], escaped[6], *end;

		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		end = put_escape(escaped, c);
		idem_buf_put(out, s.p + from, i - from);
		idem_buf_put(out, escaped, (size_t)(end - escaped));
		from = i + 1;
	}
	idem_buf_puts(out, span_from(s, from));
	idem_buf_putc(out, '"');
}
