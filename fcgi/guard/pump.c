/*
 * pump.c - poll, write what fits, hand on what came.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "guard/pump.h"

#define CHUNK_BYTES 65536

static void
stop_writing(struct pump *p)
{
	if (p->to_fd != p->from_fd)
		(void)close(p->to_fd); /* what counts is what comes back */
	p->to_fd = -1;
}

static bool
is_for_later(int number)
{
	return number == EAGAIN || number == EWOULDBLOCK || number == EINTR;
}

/* Write once; *rest is what is left.  false: no more for now. */
static bool
write_some(struct pump *p, struct idem_span *rest)
{
	ssize_t n = write(p->to_fd, rest->p, rest->n);

	if (n > 0) {
		p->nwritten += (uint64_t)n;
		*rest = span_from(*rest, (size_t)n);
	} else if (n < 0 && !is_for_later(errno)) {
		stop_writing(p);
	}
	return n > 0;
}

/* Write what the other side takes now. */
static void
write_on(struct pump *p, struct idem_span *rest)
{
	for (;;) {
		while (p->to_fd >= 0 && rest->n == 0)
			if (!p->next(p->arg, rest))
				stop_writing(p);
		if (p->to_fd < 0 || !write_some(p, rest))
			return;
	}
}

/* Read once and hand it on.  false: *end says how it ended. */
static bool
read_some(struct pump *p, enum pump_end *end)
{
	char chunk[CHUNK_BYTES];
	long n = io_read(p->from_fd, chunk, sizeof chunk);

	if (n < 0 && is_for_later(errno))
		return true;
	*end = PUMP_ENDED;
	if (n <= 0)
		return false;
	*end = PUMP_STOPPED;
	return p->heard(p->arg, (struct idem_span){ chunk, (size_t)n }) ==
	    PUMP_ON;
}

static int
left_ms(int64_t until_ms)
{
	int64_t left = until_ms - io_steady_ms();

	return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

/* Hear what came and give the time for it.  What heard() took of it, a client
 * that takes the answer slowly, was not the application's. */
static bool
hear(struct pump *p, int64_t *until_ms, enum pump_end *end)
{
	int64_t from_ms = io_steady_ms();

	if (!read_some(p, end))
		return false;
	if (p->hurry)
		*until_ms += io_steady_ms() - from_ms;
	*end = PUMP_LATE; /* also where more is there to be read */
	return !p->hurry || left_ms(*until_ms) > 0;
}

enum pump_end
pump_run(struct pump *p)
{
	struct idem_span rest = IDEM_LIT("");
	int64_t until_ms = io_steady_ms() + p->timeout_ms;
	enum pump_end end;

	for (;;) {
		struct pollfd fds[2];
		int n;

		write_on(p, &rest);
		fds[0] = (struct pollfd){ .fd = p->from_fd, .events = POLLIN };
		fds[1] = (struct pollfd){ .fd = p->to_fd, .events = POLLOUT };
		n = poll(fds, 2, left_ms(until_ms));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0 ? PUMP_LATE : PUMP_ENDED;
		if (fds[0].revents != 0 && !hear(p, &until_ms, &end))
			return end;
		if (!p->hurry)
			until_ms = io_steady_ms() + p->timeout_ms;
	}
}
