/*
 * cgi.c - one plain CGI request (RFC 3875).
 */
#include "base/io.h"
#include "base/text.h"
#include "exchange/cgi.h"

#define DRAIN_BYTES 16384

static long
read_in(void *arg, void *p, size_t n)
{
	struct cgi_fds *fds = arg;
	long got = io_read(fds->in, p, n);

	if (got > 0)
		fds->nread += (uint64_t)got;
	return got;
}

static enum idem_err
write_out(void *arg, const void *p, size_t n)
{
	const struct cgi_fds *fds = arg;

	return io_write(fds->out, p, n);
}

static struct idem_span
value(const char *const *vars, struct idem_span name)
{
	for (; *vars != NULL; vars++)
		if (span_starts(span_of(*vars), name))
			return span_from(span_of(*vars), name.n);
	return IDEM_ABSENT;
}

/* mod_cgid sends a chunked body without a length, and where the client left in
 * the middle it closes the descriptor as it does behind the last chunk. */
static bool
is_chunked(const char *const *vars)
{
	return span_trim(value(vars, IDEM_LIT("CONTENT_LENGTH="))).n == 0 &&
	    value(vars, IDEM_LIT("HTTP_TRANSFER_ENCODING=")).n > 0;
}

struct exchange
cgi_exchange(const char *const *vars, struct cgi_fds *fds)
{
	return (struct exchange){ .vars = vars, .read = read_in,
		.write = write_out, .arg = fds,
		.end_is_unproved = is_chunked(vars) };
}

void
cgi_drain(const char *const *vars, struct cgi_fds *fds)
{
	char rest[DRAIN_BYTES];
	uint64_t n = UINT64_MAX;

	if (!is_chunked(vars) && parse_u64(value(vars,
	    IDEM_LIT("CONTENT_LENGTH=")), UINT64_MAX, &n) != IDEM_OK)
		return;
	/* a server need not show an end behind the announced bytes
	 * (RFC 3875 4.2), so no read may go past them */
	while (fds->nread < n) {
		uint64_t left = n - fds->nread;

		if (read_in(fds, rest, left < sizeof rest ? (size_t)left :
		    sizeof rest) <= 0)
			return;
	}
}

bool
cgi_is_request(const char *const *vars)
{
	for (; *vars != NULL; vars++) {
		struct idem_span v = span_of(*vars);

		if (span_starts(v, IDEM_LIT("REQUEST_METHOD=")) ||
		    span_starts(v, IDEM_LIT("GATEWAY_INTERFACE=")))
			return true;
	}
	return false;
}
