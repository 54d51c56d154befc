/*
 * address.c - "unix:PATH[:MODE]" or "HOST:PORT", taken apart.
 */
#include <string.h>

#include "process/address.h"
#include "base/text.h"

#define DEFAULT_MODE 0660

/* Offset of the last c, or s.n. */
static size_t
find_last(struct idem_span s, char c)
{
	size_t at = s.n;

	while (at > 0 && s.p[at - 1] != c)
		at--;
	return at == 0 ? s.n : at - 1;
}

/* Three or four octal digits up to 0777; anything else is part of the path. */
static bool
parse_mode(struct idem_span s, mode_t *out)
{
	mode_t mode = 0;

	if (s.n < 3 || s.n > 4)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '7')
			return false;
		mode = mode * 8 + (mode_t)(s.p[i] - '0');
	}
	if (mode > 0777)
		return false;
	*out = mode;
	return true;
}

static enum idem_err
parse_unix(struct idem_span s, struct address *out)
{
	size_t colon = find_last(s, ':');

	out->is_unix = true;
	out->mode = DEFAULT_MODE;
	if (colon < s.n && parse_mode(span_from(s, colon + 1), &out->mode))
		s = span_first(s, colon);
	if (s.n == 0)
		return IDEM_ESYNTAX;
	return text_format(out->path, sizeof out->path, "%.*s", IDEM_FMT(s));
}

static enum idem_err
parse_host(struct idem_span s, struct address *out)
{
	size_t colon = find_last(s, ':');
	struct idem_span host, port;
	uint64_t number;
	bool brackets;

	if (colon == s.n)
		return IDEM_ESYNTAX;
	host = span_first(s, colon);
	port = span_from(s, colon + 1);
	brackets = host.n >= 2 && host.p[0] == '[' && host.p[host.n - 1] == ']';
	if (brackets)
		host = span_first(span_from(host, 1), host.n - 2);
	if (host.n == 0 || (!brackets && span_find(host, ':') < host.n) ||
	    parse_u64(port, 65535, &number) != IDEM_OK || port.n > 5)
		return IDEM_ESYNTAX;
	if (text_format(out->port, sizeof out->port, "%.*s",
	    IDEM_FMT(port)) != IDEM_OK)
		return IDEM_ETOOBIG;
	return text_format(out->host, sizeof out->host, "%.*s",
	    IDEM_FMT(host));
}

enum idem_err
address_parse(struct idem_span text, struct address *out)
{
	memset(out, 0, sizeof *out);
	if (span_starts(text, IDEM_LIT("unix:")))
		return parse_unix(span_from(text, 5), out);
	return parse_host(text, out);
}
