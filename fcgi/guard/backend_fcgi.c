/*
 * backend_fcgi.c - one request to a FastCGI application, on a connection of its
 * own.
 */
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/text.h"
#include "guard/backend.h"
#include "guard/pump.h"
#include "guard/wire.h"

#define HOST_BYTES 64
#define SAID_BYTES 400 /* of the application's errors, in one log line */

static enum idem_err
parse_local(struct idem_span path, struct backend_place *out)
{
	struct sockaddr_un *local = &out->address.local;

	if (path.n == 0 || path.p[0] != '/')
		return IDEM_ESYNTAX;
	local->sun_family = AF_UNIX;
	out->family = AF_UNIX;
	out->length_bytes = sizeof *local;
	return text_format(local->sun_path, sizeof local->sun_path, "%.*s",
	    IDEM_FMT(path));
}

/* Names are not looked up: that would be a second program's doing. */
static enum idem_err
parse_number(struct idem_span host, uint16_t port, struct backend_place *out)
{
	bool six = host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']';
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6,
		.sin6_port = htons(port) };
	struct sockaddr_in in = { .sin_family = AF_INET,
		.sin_port = htons(port) };
	char text[HOST_BYTES];

	if (six)
		host = span_first(span_from(host, 1), host.n - 2);
	if (text_format(text, sizeof text, "%.*s", IDEM_FMT(host)) != IDEM_OK ||
	    inet_pton(six ? AF_INET6 : AF_INET, text, six ?
	    (void *)&in6.sin6_addr : (void *)&in.sin_addr) != 1)
		return IDEM_ESYNTAX;
	out->family = six ? AF_INET6 : AF_INET;
	out->length_bytes = six ? sizeof in6 : sizeof in;
	memcpy(out->address.room, six ? (void *)&in6 : (void *)&in,
	    out->length_bytes);
	return IDEM_OK;
}

enum idem_err
backend_place_parse(struct idem_span text, struct backend_place *out)
{
	const struct idem_span local = IDEM_LIT("unix:");
	size_t colon = text.n;
	uint64_t port;

	memset(out, 0, sizeof *out);
	if (text_format(out->name, sizeof out->name, "%.*s", IDEM_FMT(text)) !=
	    IDEM_OK)
		return IDEM_ETOOBIG;
	if (span_starts(text, local))
		return parse_local(span_from(text, local.n), out);
	while (colon > 0 && text.p[colon - 1] != ':')
		colon--;
	if (colon == 0 || parse_u64(span_from(text, colon), UINT16_MAX,
	    &port) != IDEM_OK || port == 0)
		return IDEM_ESYNTAX;
	return parse_number(span_first(text, colon - 1), (uint16_t)port, out);
}

struct talk {
	const struct backend_job *job;
	struct pump pump;
	struct idem_buf out; /* what is being written */
	struct idem_span body; /* what is not written yet */
	bool said;           /* all of it */
	struct wire wire;
	bool ended;          /* END_REQUEST came */
};

/* Append the next piece of the body, and its end behind the last one: a small
 * request is then one write. */
static void
put_body(struct talk *t)
{
	struct idem_span some = span_first(t->body,
	    t->body.n < WIRE_BODY_MAX ? t->body.n : WIRE_BODY_MAX);

	t->body = span_from(t->body, some.n);
	if (some.n > 0)
		wire_put_body(&t->out, some);
	t->said = t->body.n == 0;
	if (t->said)
		wire_put_body(&t->out, IDEM_LIT(""));
}

/* The variables stand in t->out at first. */
static bool
next(void *arg, struct idem_span *bytes)
{
	struct talk *t = arg;

	if (t->said)
		return false;
	if (t->pump.nwritten > 0)
		idem_buf_reset(&t->out);
	put_body(t);
	assert(idem_buf_err(&t->out) == IDEM_OK); /* make_begin() made room */
	*bytes = idem_buf_span(&t->out);
	return true;
}

static void
pass_error_on(const struct talk *t, struct idem_span piece)
{
	while (piece.n > 0) {
		size_t end = span_find(piece, '\n');
		struct idem_span line = span_first(piece, end);

		piece = span_from(piece, end < piece.n ? end + 1 : end);
		if (line.n > 0)
			idem_log(t->job->log, IDEM_WARN, "request=%s: the "
			    "application says: %.*s", t->job->request_id,
			    line.n < SAID_BYTES ? (int)line.n : SAID_BYTES,
			    line.p);
	}
}

static enum pump_step
heard(void *arg, struct idem_span bytes)
{
	struct talk *t = arg;
	struct idem_span piece;

	for (;;) {
		switch (wire_next(&t->wire, &bytes, &piece)) {
		case WIRE_MORE:
			reply_pause(t->job->reply);
			return PUMP_ON;
		case WIRE_OUT:
			t->pump.hurry = !reply_take(t->job->reply, piece) ||
			    *t->job->hurry;
			break;
		case WIRE_ERR:
			pass_error_on(t, piece);
			break;
		case WIRE_END:
			t->ended = true;
			return PUMP_STOP;
		case WIRE_BAD:
			return PUMP_STOP;
		}
	}
}

/* A blocking connect() waits for room in the listener's queue, for timeout_ms
 * at most, which nobody can poll for. */
static int
open_connection(const struct backend_place *place, int64_t timeout_ms)
{
	const struct timeval t = { .tv_sec = timeout_ms / 1000,
		.tv_usec = timeout_ms % 1000 * 1000 };
	const int on = 1;
	int fd = socket(place->family, SOCK_STREAM | SOCK_CLOEXEC, 0), saved;

	if (fd < 0)
		return -1;
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof t);
	if (place->family != AF_UNIX) /* fails: slower, no more */
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	if (connect(fd, &place->address.any, place->length_bytes) != 0 ||
	    fcntl(fd, F_SETFL, O_NONBLOCK) != 0) {
		saved = errno;
		(void)close(fd);
		errno = saved;
		return -1;
	}
	return fd;
}

static enum backend_end
end_of(const struct talk *t, enum pump_end end)
{
	const struct reply *reply = t->job->reply;

	if (t->pump.nwritten == 0)
		return BACKEND_NOTHING;
	if (end == PUMP_LATE)
		return BACKEND_LATE;
	if (t->ended && reply->empty &&
	    (t->wire.protocol_status == WIRE_OVERLOADED ||
	    t->wire.protocol_status == WIRE_CANT_MPX_CONN))
		return BACKEND_NOTHING;
	return t->ended && t->wire.protocol_status == WIRE_REQUEST_COMPLETE &&
	    reply_is_whole(reply) ? BACKEND_WHOLE : BACKEND_BROKEN;
}

/* All memory for the request is had before its first byte goes out: where the
 * body broke off, the application would wait for its rest. */
static enum idem_err
make_begin(struct talk *t)
{
	size_t some = t->body.n < WIRE_BODY_MAX ? t->body.n : WIRE_BODY_MAX;

	idem_buf_init(&t->out, 2 * WIRE_PARAMS_MAX);
	wire_put_begin(&t->out, t->job->vars);
	(void)idem_buf_room(&t->out, some + 2 * RECORD_HEAD_BYTES);
	return idem_buf_err(&t->out);
}

enum backend_end
backend_fcgi(const struct backend_place *place, const struct backend_job *job)
{
	struct talk t = { .job = job, .body = job->body };
	enum backend_end end = BACKEND_NOTHING;
	enum idem_err err;
	int fd = -1;

	if ((err = make_begin(&t)) != IDEM_OK) {
		idem_log(job->log, IDEM_ERROR, "request=%s: its variables do "
		    "not fit: %s", job->request_id, idem_strerror(err));
		job->reply->err = err;
	} else if ((fd = open_connection(place, job->timeout_ms)) < 0) {
		idem_log(job->log, IDEM_ERROR, "request=%s: connect to %s: %s",
		    job->request_id, place->name, strerror(errno));
	} else {
		t.pump = (struct pump){ .to_fd = fd, .from_fd = fd,
			.timeout_ms = job->timeout_ms, .next = next,
			.heard = heard, .arg = &t };
		end = end_of(&t, pump_run(&t.pump));
		(void)close(fd); /* all is said */
	}
	idem_buf_free(&t.out);
	return end;
}
