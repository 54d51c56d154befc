/*
 * talk.c - bytes to and from a peer, within limits of time.
 */
#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/io.h"
#include "base/text.h"
#include "exchange/talk.h"

#define SEND_AGAIN_MS 500

void
talk_open(struct talk *t, int fd, int receive_ms, int send_ms)
{
	t->fd = fd;
	t->receive_ms = receive_ms;
	t->nsent = 0;
	patience_begin(&t->patience, send_ms);
	t->unread = IDEM_LIT("");
	idem_buf_over(&t->out, t->memory, sizeof t->memory);
	talk_pace(t, 0, receive_ms);
}

void
talk_pace(struct talk *t, size_t pace_bytes, int pace_ms)
{
	t->left_ms = t->pace_ms = pace_ms;
	t->pace_bytes = pace_bytes;
	t->npaced = 0;
}

/* Wait for events, most_ms and what is left at most.  false: there was none. */
static bool
wait_for(int fd, short events, int most_ms, int *left_ms)
{
	struct pollfd p = { .fd = fd, .events = events };
	int64_t began = io_steady_ms(), took;
	int rc;

	if (*left_ms <= 0)
		return false;
	rc = poll(&p, 1, most_ms < *left_ms ? most_ms : *left_ms);
	if (rc < 0 && errno != EINTR) {
		*left_ms = 0;
		return false;
	}
	took = io_steady_ms() - began;
	*left_ms = took < *left_ms ? *left_ms - (int)took : 0;
	return rc != 0;
}

static void
pace(struct talk *t, size_t n)
{
	t->npaced += n;
	if (t->pace_bytes > 0 && t->npaced >= t->pace_bytes)
		talk_pace(t, t->pace_bytes, t->pace_ms);
}

bool
talk_receive(struct talk *t)
{
	ssize_t n;

	while ((n = recv(t->fd, t->in, sizeof t->in, MSG_DONTWAIT)) < 0)
		if ((errno != EAGAIN && errno != EINTR) ||
		    !wait_for(t->fd, POLLIN, t->receive_ms, &t->left_ms))
			return false;
	t->unread = (struct idem_span){ t->in, (size_t)n };
	pace(t, (size_t)n);
	return n > 0;
}

/* Of what was sent, the peer has taken what the socket no longer holds. */
static uint64_t
taken(const struct talk *t)
{
	int nheld;

	if (ioctl(t->fd, SIOCOUTQ, &nheld) != 0 || nheld < 0)
		return 0; /* nobody knows */
	return t->nsent > (uint64_t)nheld ? t->nsent - (uint64_t)nheld : 0;
}

/*
 * A unix socket is told to have room when three quarters of it are empty, but
 * takes more long before: who only waited for the word would give a slow reader
 * up while he reads.
 */
static bool
wait_for_room(struct talk *t)
{
	struct patience *p = &t->patience;

	patience_taken(p, taken(t));
	return wait_for(t->fd, POLLOUT, SEND_AGAIN_MS, &p->left_ms) ||
	    p->left_ms > 0;
}

bool
talk_send(struct talk *t)
{
	struct idem_span rest = idem_buf_span(&t->out);

	while (rest.n > 0) {
		ssize_t n = send(t->fd, rest.p, rest.n,
		    MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n >= 0) {
			t->nsent += (uint64_t)n;
			rest = span_from(rest, (size_t)n);
		} else if ((errno != EAGAIN && errno != EINTR) ||
		    !wait_for_room(t)) {
			return false;
		}
	}
	idem_buf_reset(&t->out);
	return true;
}
