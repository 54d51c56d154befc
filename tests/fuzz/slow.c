/*
 * slow.c - percent-encoding and lists, the obvious way.
 */
#include <stdio.h>

#include "kit.h"
#include "slow.h"

bool
slow_percent(struct idem_span s, bool plus, struct idem_buf *out)
{
	static const char digits[] = "0123456789abcdef";
	bool good = true;

	for (size_t i = 0; i < s.n; i++) {
		const char *high = NULL, *low = NULL;

		if (s.p[i] == '%' && i + 2 < s.n && s.p[i + 1] != '\0' &&
		    s.p[i + 2] != '\0') {
			high = strchr(digits, ascii_lower(s.p[i + 1]));
			low = strchr(digits, ascii_lower(s.p[i + 2]));
		}
		if (high != NULL && low != NULL) {
			idem_buf_putc(out, (char)((high - digits) * 16 +
			    (low - digits)));
			i += 2;
			continue;
		}
		good = good && s.p[i] != '%';
		idem_buf_putc(out, plus && s.p[i] == '+' ? ' ' : s.p[i]);
	}
	return good;
}

void
slow_netstring(struct idem_span s, struct idem_buf *out)
{
	char length[24];

	if (s.p == NULL) {
		idem_buf_puts(out, IDEM_LIT("-,"));
		return;
	}
	must(text_format(length, sizeof length, "%zu:", s.n) == IDEM_OK);
	idem_buf_puts(out, span_of(length));
	idem_buf_puts(out, s);
	idem_buf_putc(out, ',');
}

bool
slow_split(struct idem_span *rest, char sep, struct idem_span *part)
{
	size_t n = 0;

	if (rest->p == NULL)
		return false;
	while (n < rest->n && rest->p[n] != sep)
		n++;
	*part = (struct idem_span){ rest->p, n };
	*rest = n == rest->n ? IDEM_ABSENT :
	    (struct idem_span){ rest->p + n + 1, rest->n - n - 1 };
	return true;
}
