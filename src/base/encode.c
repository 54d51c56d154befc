/*
 * encode.c - UTF-8, percent-encoding, base64url and hex: bytes as text.
 */
#include "base/text.h"

/* Continuation bytes, smallest code point: by the length of the sequence. */
static const uint32_t utf8_least[] = { 0, 0, 0x80, 0x800, 0x10000 };

static size_t
utf8_length(unsigned char first)
{
	return first < 0x80 ? 1 : first < 0xc0 ? 0 : first < 0xe0 ? 2 :
	    first < 0xf0 ? 3 : first < 0xf8 ? 4 : 0;
}

size_t
utf8_decode(struct idem_span s, uint32_t *cp)
{
	const unsigned char *p = (const unsigned char *)s.p;
	size_t n = utf8_length(p[0]);
	uint32_t v;

	if (n == 0 || n > s.n)
		return 0;
	v = n == 1 ? p[0] : p[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		v = v << 6 | (p[i] & 0x3f);
	}
	if (v < utf8_least[n] || v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff))
		return 0;
	*cp = v;
	return n;
}

size_t
utf8_encode(uint32_t cp, char out[4])
{
	size_t n = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;

	for (size_t i = n; i-- > 1; cp >>= 6)
		out[i] = (char)(0x80 | (cp & 0x3f));
	out[0] = (char)(n == 1 ? cp : (0xf00u >> n & 0xffu) | cp);
	return n;
}

void
utf8_put(struct idem_buf *b, uint32_t cp)
{
	char out[4];
	size_t n = utf8_encode(cp, out);

	idem_buf_put(b, out, n);
}

enum idem_err
percent_decode(struct idem_span s, bool plus, struct idem_buf *b)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (c == '%') {
			int hi = i + 2 < s.n ? hex_value(s.p[i + 1]) : -1;
			int lo = i + 2 < s.n ? hex_value(s.p[i + 2]) : -1;

			if (hi < 0 || lo < 0)
				return IDEM_ESYNTAX;
			c = (char)(hi << 4 | lo);
			i += 2;
		} else if (c == '+' && plus)
			c = ' ';
		idem_buf_putc(b, c);
	}
	return idem_buf_err(b);
}

void
base64url(const unsigned char *p, size_t n, char *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789-_";
	unsigned bits = 0, nbits = 0;

	for (size_t i = 0; i < n; i++) {
		bits = (bits << 8 | p[i]) & 0xffffu;
		for (nbits += 8; nbits >= 6; nbits -= 6)
			*out++ = digits[bits >> (nbits - 6) & 63];
	}
	if (nbits > 0)
		*out = digits[bits << (6 - nbits) & 63];
}

void
hex_lower(const unsigned char *p, size_t n, char *out)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		*out++ = digits[p[i] >> 4];
		*out++ = digits[p[i] & 15];
	}
}

bool
utf8_is_all(struct idem_span s)
{
	uint32_t cp;
	size_t n;

	for (; s.n > 0; s = span_from(s, n))
		if ((n = utf8_decode(s, &cp)) == 0)
			return false;
	return true;
}
