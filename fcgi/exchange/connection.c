/*
 * connection.c - one connection off a listening socket.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"
#include "exchange/connection.h"

/* An IPv4 peer of an IPv6 socket comes as ::ffff:a.b.c.d. */
static struct idem_span
without_mapping(struct idem_span address)
{
	const struct idem_span mapped = IDEM_LIT("::ffff:");

	return span_starts(address, mapped) &&
	    span_find(address, '.') < address.n ?
	    span_from(address, mapped.n) : address;
}

static bool
is_allowed(const struct sockaddr_storage *peer, socklen_t n,
    const char *servers)
{
	char host[NI_MAXHOST];
	struct idem_span rest = span_of(servers), one;

	if (servers == NULL || servers[0] == '\0' ||
	    peer->ss_family == AF_UNIX)
		return true;
	if (getnameinfo((const struct sockaddr *)peer, n, host, sizeof host,
	    NULL, 0, NI_NUMERICHOST) != 0)
		return false;
	while (span_next(&rest, ',', &one))
		if (span_eq_nocase(span_trim(one),
		    without_mapping(span_of(host))))
			return true;
	return false;
}

static enum idem_err
accept_error(int number)
{
	switch (number) {
	case EBADF:
	case EINVAL:
	case ENOTSOCK:
	case EOPNOTSUPP:
		return IDEM_EIO;
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
		return IDEM_ENOMEM;
	default: /* the network's own errors pass with the connection */
		return IDEM_EBUSY;
	}
}

enum idem_err
connection_accept(int listen_fd, const char *servers, int *conn)
{
	struct sockaddr_storage peer = { .ss_family = AF_UNIX };
	socklen_t n = sizeof peer;
	const int on = 1;
	int fd = accept4(listen_fd, (struct sockaddr *)&peer, &n,
	    SOCK_CLOEXEC);

	if (fd < 0)
		return accept_error(errno);
	if (!is_allowed(&peer, n, servers)) {
		(void)close(fd);
		return IDEM_EBUSY;
	}
	if (peer.ss_family != AF_UNIX) /* fails: slower, no more */
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	*conn = fd;
	return IDEM_OK;
}

bool
connection_speaks(int conn, int receive_ms)
{
	struct pollfd fd = { .fd = conn, .events = POLLIN };
	int rc;

	do
		rc = poll(&fd, 1, receive_ms);
	while (rc < 0 && errno == EINTR);
	return rc > 0;
}
