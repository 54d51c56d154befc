/*
 * spelling.c - bytes behind their spellings.  Does not know whose name or value
 * it reads.
 */
#include <string.h>

#include "base/text.h"
#include "request/spelling.h"

#define END (-1)

/* The byte behind a '%' that was taken, or END: it has no two hex digits. */
static int
hex_of(struct idem_span *s)
{
	int high = s->n < 2 ? -1 : hex_value(s->p[0]);
	int low = s->n < 2 ? -1 : hex_value(s->p[1]);

	if (high < 0 || low < 0)
		return END;
	*s = span_from(*s, 2);
	return high << 4 | low;
}

static int
percent(struct idem_span *s, int c)
{
	int byte = c == '%' ? hex_of(s) : END;

	return byte == END ? c : byte;
}

/* Canonical form escapes nothing that it need not (RFC 8785 3.2.2.2). */
static int
json_escape(struct idem_span *s)
{
	static const char letters[] = "btnfr\"\\", values[] = "\b\t\n\f\r\"\\";
	char c = s->p[0];

	*s = span_from(*s, 1);
	if (c != 'u')
		return values[strchr(letters, c) - letters];
	*s = span_from(*s, 2); /* below U+0020: two zeros first */
	return hex_of(s);
}

int
spelled_next(struct spelled *t)
{
	struct idem_span *s = &t->s;
	int c;

	if (s->n == 0)
		return END;
	c = (unsigned char)s->p[0];
	*s = span_from(*s, 1);
	switch (t->by) {
	case SPELLED_PLAIN:
		return c;
	case SPELLED_PERCENT:
		return percent(s, c);
	case SPELLED_FORM:
		return c == '+' ? ' ' : percent(s, c);
	case SPELLED_POINTER:
		if (c != '~' || s->n == 0)
			return percent(s, c);
		c = s->p[0] == '1' ? '/' : '~';
		*s = span_from(*s, 1);
		return c;
	case SPELLED_QUOTED:
		if (c == '\\' && s->n > 0 && s->p[0] == '"') {
			*s = span_from(*s, 1);
			return '"';
		}
		return c;
	case SPELLED_JSON:
		return c == '\\' ? json_escape(s) : c;
	}
	return c;
}

bool
spelled_same(struct spelled a, struct spelled b)
{
	int x, y;

	do {
		x = spelled_next(&a);
		y = spelled_next(&b);
	} while (x == y && x != END);
	return x == y;
}

void
spelled_put(struct spelled s, struct idem_buf *out)
{
	int c;

	if (s.by == SPELLED_PLAIN) {
		idem_buf_puts(out, s.s);
		return;
	}
	while ((c = spelled_next(&s)) != END)
		idem_buf_putc(out, (char)c);
}

bool
spelled_is_percent(struct idem_span s)
{
	while (s.n > 0) {
		unsigned char c = (unsigned char)s.p[0];

		s = span_from(s, 1);
		if (c <= ' ' || c == 0x7f || (c == '%' && hex_of(&s) == END))
			return false;
	}
	return true;
}

bool
spelled_is_pointer(struct idem_span s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '~' && (i + 1 == s.n ||
		    (s.p[i + 1] != '0' && s.p[i + 1] != '1')))
			return false;
	return spelled_is_percent(s);
}
