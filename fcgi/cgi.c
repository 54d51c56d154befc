/*
 * cgi.c - one plain CGI request (RFC 3875).
 */
#include "base/io.h"
#include "base/text.h"
#include "cgi.h"

static long
read_in(void *arg, void *p, size_t n)
{
	const struct cgi_fds *fds = arg;

	return io_read(fds->in, p, n);
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
