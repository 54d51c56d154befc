/*
 * server.c - the application's side of FastCGI: a connection cut anywhere gives
 * one request, and answers, as a reader of whole records finds them.
 */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "exchange/fastcgi.h"
#include "kit.h"

#define NOTE_MAX 1024 /* bytes: of what is not the request's own */
#define ANSWER "Status: 200\r\n\r\n"

/* What came of a connection. */
struct outcome {
	enum fastcgi_end end;
	bool served;
	bool body_ended;
	struct idem_buf *vars; /* each with its NUL */
	struct idem_buf *body;
	struct idem_buf *answer; /* bytes that went out */
};

static void
serve(void *arg, struct exchange *x)
{
	struct outcome *o = arg;
	char piece[100];
	long n;

	o->served = true;
	for (const char *const *v = x->vars; *v != NULL; v++)
		idem_buf_put(o->vars, *v, strlen(*v) + 1);
	while ((n = x->read(x->arg, piece, sizeof piece)) > 0)
		idem_buf_put(o->body, piece, (size_t)n);
	o->body_ended = n == 0;
	if (o->body->n > 0)
		x->complain(x->arg, "note\n");
	must(x->write(x->arg, ANSWER, sizeof ANSWER - 1) == IDEM_OK);
	must(x->write(x->arg, o->body->p, o->body->n) == IDEM_OK);
}

/* dice == NULL: all at once. */
static void
connect_and_send(struct idem_span input, struct kit_dice *dice,
    struct outcome *o)
{
	struct idem_span piece;
	char some[4096];
	int fd[2];
	ssize_t n;

	must(socketpair(AF_UNIX, (dice == NULL ? SOCK_STREAM :
	    SOCK_SEQPACKET) | SOCK_CLOEXEC, 0, fd) == 0);
	if (dice == NULL)
		must(input.n == 0 || send(fd[0], input.p, input.n,
		    MSG_DONTWAIT) == (ssize_t)input.n);
	for (size_t i = 0; dice != NULL && input.n > 0; i++) {
		piece = i < 100 ? kit_piece(dice, &input) : input;
		must(send(fd[0], piece.p, piece.n, MSG_DONTWAIT) ==
		    (ssize_t)piece.n);
		if (i == 100)
			break;
	}
	must(shutdown(fd[0], SHUT_WR) == 0);
	o->end = fastcgi_serve(fd[1], 2000, serve, o);
	/* where bytes were left unread, that comes first, and once */
	while ((n = recv(fd[0], some, sizeof some, MSG_DONTWAIT)) > 0 ||
	    (n < 0 && errno == ECONNRESET))
		if (n > 0)
			idem_buf_put(o->answer, some, (size_t)n);
	(void)close(fd[0]);
}

/* --- the same, from records as wholes --------------------------------------*/

struct slow {
	struct idem_span rest;
	unsigned type, id;
	struct idem_span content;
	bool whole, broken, begun, params_ended, body_ended;
	unsigned role, mine;
	struct idem_buf *params, *body, *answer;
};

static void
say(struct idem_buf *out, unsigned type, unsigned id, struct idem_span content)
{
	const char head[8] = { 1, (char)type, (char)(id >> 8), (char)id,
		(char)(content.n >> 8), (char)content.n, 0, 0 };

	idem_buf_put(out, head, sizeof head);
	idem_buf_puts(out, content);
}

/* Take a record off the front; false: there is no other that begins. */
static bool
next_record(struct slow *s)
{
	const unsigned char *p = (const unsigned char *)s->rest.p;
	size_t length, there;

	if (s->rest.n < 8 || p[0] != 1)
		return false;
	s->type = p[1];
	s->id = (unsigned)p[2] << 8 | p[3];
	length = (size_t)p[4] << 8 | p[5];
	there = s->rest.n - 8 < length ? s->rest.n - 8 : length;
	s->content = span_first(span_from(s->rest, 8), there);
	s->whole = there == length;
	length += 8 + (size_t)p[6];
	s->rest = span_from(s->rest, length < s->rest.n ? length : s->rest.n);
	return true;
}

static bool
take_length(struct idem_span *s, size_t *n)
{
	const unsigned char *p = (const unsigned char *)s->p;

	if (s->n == 0 || (p[0] > 127 && s->n < 4))
		return false;
	*n = p[0] <= 127 ? p[0] : (size_t)(p[0] & 127) << 24 |
	    (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
	*s = span_from(*s, p[0] <= 127 ? 1 : 4);
	return true;
}

static bool
take_pair(struct idem_span *s, struct idem_span *name,
    struct idem_span *value)
{
	size_t nname, nvalue;

	if (!take_length(s, &nname) || !take_length(s, &nvalue) ||
	    nname > s->n || nvalue > s->n - nname)
		return false;
	*name = span_first(*s, nname);
	*value = span_first(span_from(*s, nname), nvalue);
	*s = span_from(*s, nname + nvalue);
	return true;
}

static bool
slow_values(struct idem_span asked, struct idem_buf *answer)
{
	static const char *const known[][2] = { { "FCGI_MAX_CONNS", "1" },
		{ "FCGI_MAX_REQS", "1" }, { "FCGI_MPXS_CONNS", "0" } };
	struct idem_buf *values = kit_buf();
	struct idem_span name, value;

	while (asked.n > 0) {
		if (!take_pair(&asked, &name, &value))
			return false;
		for (size_t i = 0; i < 3; i++) {
			if (!span_eq(name, span_of(known[i][0])))
				continue;
			idem_buf_putc(values, (char)name.n);
			idem_buf_putc(values, 1);
			idem_buf_puts(values, name);
			idem_buf_puts(values, span_of(known[i][1]));
		}
	}
	if (values->n > NOTE_MAX)
		return false;
	say(answer, 10, 0, idem_buf_span(values));
	return true;
}

static void
slow_management(struct slow *s)
{
	const char unknown[8] = { (char)s->type };

	if (s->content.n > NOTE_MAX)
		s->broken = true;
	else if (!s->whole)
		return;
	else if (s->type == 9)
		s->broken = !slow_values(s->content, s->answer);
	else
		say(s->answer, 11, 0, (struct idem_span){ unknown, 8 });
}

/* One record of the application's. */
static void
slow_record(struct slow *s)
{
	static const char busy[8] = { 0, 0, 0, 0, 1 };

	if (s->id == 0) {
		slow_management(s);
	} else if (!s->begun) {
		s->broken = s->type != 1 || s->content.n != 8 || !s->whole;
		s->begun = !s->broken;
		s->mine = s->id;
		if (s->begun)
			s->role = (unsigned)(unsigned char)s->content.p[0] <<
			    8 | (unsigned char)s->content.p[1];
	} else if (s->id != s->mine) {
		if (s->type == 1)
			say(s->answer, 3, s->id, (struct idem_span){ busy,
			    8 });
	} else if (s->type == 4 && !s->params_ended) {
		idem_buf_puts(s->params, s->content);
		s->params_ended = s->whole && s->content.n == 0;
	} else if (s->type == 5 && s->params_ended) {
		idem_buf_puts(s->body, s->content);
		s->body_ended = s->whole && s->content.n == 0;
	} else {
		s->broken = true;
	}
}

static bool
slow_vars(struct idem_span pairs, struct idem_buf *vars)
{
	struct idem_span name, value;

	while (pairs.n > 0) {
		if (!take_pair(&pairs, &name, &value) || name.n == 0 ||
		    span_find(name, '=') < name.n ||
		    span_find(name, '\0') < name.n ||
		    span_find(value, '\0') < value.n)
			return false;
		idem_buf_puts(vars, name);
		idem_buf_putc(vars, '=');
		idem_buf_puts(vars, value);
		idem_buf_putc(vars, '\0');
	}
	return true;
}

/* The answer's records, as the handler above writes. */
static void
slow_answer(struct slow *s)
{
	static const char end[8] = { 0 };
	struct idem_buf *text = kit_buf();

	if (s->body->n > 0)
		say(s->answer, 7, s->mine, IDEM_LIT("note\n"));
	idem_buf_puts(text, IDEM_LIT(ANSWER));
	idem_buf_puts(text, idem_buf_span(s->body));
	say(s->answer, 6, s->mine, idem_buf_span(text));
	if (s->body->n > 0)
		say(s->answer, 7, s->mine, IDEM_LIT(""));
	say(s->answer, 6, s->mine, IDEM_LIT(""));
	say(s->answer, 3, s->mine, (struct idem_span){ end, 8 });
}

static void
slow_serve(struct idem_span input, struct outcome *o)
{
	struct slow s = { .rest = input, .params = kit_buf(),
		.body = o->body, .answer = o->answer };

	while (!s.params_ended && !s.broken && (!s.begun || s.role == 1) &&
	    next_record(&s))
		slow_record(&s);
	o->end = !s.begun ? FASTCGI_NOTHING : s.role != 1 ? FASTCGI_ROLE :
	    !s.params_ended || !slow_vars(idem_buf_span(s.params), o->vars) ?
	    FASTCGI_CUT : FASTCGI_SERVED;
	o->served = o->end == FASTCGI_SERVED;
	if (!o->served)
		return;
	while (!s.body_ended && !s.broken && next_record(&s))
		slow_record(&s);
	o->body_ended = s.body_ended;
	slow_answer(&s);
}

static void
must_come_out(const struct outcome *got, const struct outcome *want)
{
	must(got->end == want->end);
	must(got->served == want->served);
	if (!want->served) {
		/* what was not sent by then is not sent at all */
		must(span_starts(idem_buf_span(want->answer),
		    idem_buf_span(got->answer)));
		return;
	}
	must_be(idem_buf_span(got->vars), idem_buf_span(want->vars));
	must_be(idem_buf_span(got->body), idem_buf_span(want->body));
	must(got->body_ended == want->body_ended);
	must_be(idem_buf_span(got->answer), idem_buf_span(want->answer));
}

static struct outcome
nothing_yet(void)
{
	return (struct outcome){ .vars = kit_buf(), .body = kit_buf(),
		.answer = kit_buf() };
}

void
fuzz_server(struct idem_span input)
{
	struct outcome want = nothing_yet(), whole = nothing_yet();
	struct outcome cut = nothing_yet();
	struct kit_dice dice = kit_dice_of(input);

	if (input.n > 16000)
		return;
	slow_serve(input, &want);
	connect_and_send(input, NULL, &whole);
	must_come_out(&whole, &want);
	connect_and_send(input, &dice, &cut);
	must_come_out(&cut, &want);
}
