/*
 * cgi_head.c - the head of a CGI program's answer, line by line.
 */
#include "base/text.h"
#include "request/cgi_head.h"

#define STATUS_MIN 200 /* an interim answer (1xx) is the web server's own */
#define STATUS_MAX 599

size_t
cgi_head_end(struct idem_span bytes, size_t *from)
{
	for (size_t i = *from; i < bytes.n; i++) {
		size_t line = i; /* where the line that ends here has its end */

		if (bytes.p[i] != '\n')
			continue;
		if (line > 0 && bytes.p[line - 1] == '\r')
			line--;
		if (line == 0 || bytes.p[line - 1] == '\n') {
			*from = i;
			return i + 1;
		}
	}
	*from = bytes.n;
	return 0;
}

/* Take a line off the front, without its end. */
static struct idem_span
next_line(struct idem_span *rest)
{
	size_t end = span_find(*rest, '\n');
	struct idem_span line = span_first(*rest, end);

	*rest = span_from(*rest, end < rest->n ? end + 1 : end);
	if (line.n > 0 && line.p[line.n - 1] == '\r')
		line.n--;
	return line;
}

/* Three digits, alone or before a space: RFC 3875 6.3.3. */
static enum idem_err
parse_status(struct idem_span value, unsigned *status)
{
	uint64_t n;

	if (value.n < 3 || (value.n > 3 && value.p[3] != ' ') ||
	    parse_u64(span_first(value, 3), STATUS_MAX, &n) != IDEM_OK ||
	    n < STATUS_MIN)
		return IDEM_ESYNTAX;
	*status = (unsigned)n;
	return IDEM_OK;
}

static enum idem_err
parse_length(struct idem_span value, struct cgi_head *out)
{
	uint64_t n;

	if (parse_u64(value, UINT64_MAX, &n) != IDEM_OK ||
	    (out->has_length && n != out->length_bytes))
		return IDEM_ESYNTAX;
	out->has_length = true;
	out->length_bytes = n;
	return IDEM_OK;
}

static bool
is_of_connection(struct idem_span name)
{
	static const struct idem_span names[] = {
		IDEM_LIT_INIT("Connection"), IDEM_LIT_INIT("Keep-Alive"),
		IDEM_LIT_INIT("Proxy-Connection"), IDEM_LIT_INIT("TE"),
		IDEM_LIT_INIT("Trailer"), IDEM_LIT_INIT("Transfer-Encoding"),
		IDEM_LIT_INIT("Upgrade"),
	};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (span_eq_nocase(names[i], name))
			return true;
	return false;
}

/* One field; *located: it was a Location. */
static enum idem_err
take_field(struct idem_span line, struct idem_response *res,
    struct cgi_head *out, bool *located)
{
	size_t colon = span_find(line, ':');
	struct idem_span name = span_first(line, colon), value;

	if (colon == line.n || !is_token(name))
		return IDEM_ESYNTAX;
	value = span_trim(span_from(line, colon + 1));
	if (span_eq_nocase(name, IDEM_LIT("Status")))
		return parse_status(value, &res->status);
	if (span_eq_nocase(name, IDEM_LIT("Content-Length")))
		return parse_length(value, out);
	if (span_eq_nocase(name, IDEM_LIT("Location")))
		*located = true;
	if (!is_of_connection(name))
		idem_response_field(res, name, value);
	return res->err;
}

/* Some programs begin as if they were the server: "HTTP/1.1 404 Not Found". */
static enum idem_err
take_first_line(struct idem_span *head, struct idem_response *res)
{
	struct idem_span line = *head;

	if (!span_starts(line, IDEM_LIT("HTTP/")))
		return IDEM_OK;
	line = next_line(head);
	line = span_from(line, span_find(line, ' '));
	return line.n == 0 ? IDEM_ESYNTAX :
	    parse_status(span_trim(line), &res->status);
}

enum idem_err
cgi_head_parse(struct idem_span head, struct idem_response *res,
    struct cgi_head *out)
{
	struct idem_span line;
	enum idem_err err;
	bool located = false;

	idem_response_reset(res);
	*out = (struct cgi_head){ .has_length = false };
	if ((err = take_first_line(&head, res)) != IDEM_OK)
		return err;
	if ((line = next_line(&head)).n == 0 && res->status == 0)
		return IDEM_ESYNTAX;
	for (; line.n > 0; line = next_line(&head))
		if ((err = take_field(line, res, out, &located)) != IDEM_OK)
			return err;
	if (res->status == 0)
		res->status = located ? 302 : 200;
	return idem_response_err(res);
}
