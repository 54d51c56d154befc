/*
 * talk.c - bytes to and from a peer, within limits of time.
 */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/io.h"
#include "base/text.h"
#include "exchange/talk.h"

void
talk_open(struct talk *t, int fd, int receive_ms, int send_ms)
{
	t->fd = fd;
	t->receive_ms = receive_ms;
	t->send_ms = send_ms;
	t->unread = IDEM_LIT("");
	idem_buf_over(&t->out, t->memory, sizeof t->memory);
	talk_pace(t, 0);
}

void
talk_pace(struct talk *t, size_t pace_bytes)
{
	t->left_ms = t->receive_ms;
	t->pace_bytes = pace_bytes;
	t->npaced = 0;
}

/* Wait for events out of what is left.  false: nothing is. */
static bool
wait_for(int fd, short events, int *left_ms)
{
	struct pollfd p = { .fd = fd, .events = events };
	int64_t began = io_steady_ms(), took;

	if (*left_ms <= 0 ||
	    (poll(&p, 1, *left_ms) < 0 && errno != EINTR))
		return false;
	took = io_steady_ms() - began;
	*left_ms = took < *left_ms ? *left_ms - (int)took : 0;
	return p.revents != 0 || *left_ms > 0;
}

static void
pace(struct talk *t, size_t n)
{
	t->npaced += n;
	if (t->pace_bytes > 0 && t->npaced >= t->pace_bytes)
		talk_pace(t, t->pace_bytes);
}

bool
talk_receive(struct talk *t)
{
	ssize_t n;

	while ((n = recv(t->fd, t->in, sizeof t->in, MSG_DONTWAIT)) < 0)
		if ((errno != EAGAIN && errno != EINTR) ||
		    !wait_for(t->fd, POLLIN, &t->left_ms))
			return false;
	t->unread = (struct idem_span){ t->in, (size_t)n };
	pace(t, (size_t)n);
	return n > 0;
}

bool
talk_send(struct talk *t)
{
	struct idem_span rest = idem_buf_span(&t->out);
	int left_ms = t->send_ms;

	while (rest.n > 0) {
		ssize_t n = send(t->fd, rest.p, rest.n,
		    MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n >= 0)
			rest = span_from(rest, (size_t)n);
		else if ((errno != EAGAIN && errno != EINTR) ||
		    !wait_for(t->fd, POLLOUT, &left_ms))
			return false;
	}
	idem_buf_reset(&t->out);
	return true;
}
