/*
 * cgi.c - one plain CGI request (RFC 3875).
 */
#include "base/io.h"
#include "base/text.h"
#include "cgi.h"

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

struct exchange
cgi_exchange(const char *const *vars, struct cgi_fds *fds)
{
	return (struct exchange){ .vars = vars, .read = read_in,
		.write = write_out, .arg = fds };
}

static struct idem_span
announced(const char *const *vars)
{
	const struct idem_span name = IDEM_LIT("CONTENT_LENGTH=");

	for (; *vars != NULL; vars++)
		if (span_starts(span_of(*vars), name))
			return span_from(span_of(*vars), name.n);
	return IDEM_ABSENT;
}

void
cgi_drain(const char *const *vars, struct cgi_fds *fds)
{
	char rest[DRAIN_BYTES];
	uint64_t n;

	if (parse_u64(announced(vars), UINT64_MAX, &n) != IDEM_OK)
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
