/*
 * request.c - a FastCGI request as a worker reads it off a socket: whatever
 * comes, and in whatever pieces, it is served with what a reader of the whole
 * finds in it, or not at all.
 */
#include <sys/socket.h>
#include <unistd.h>

#include "exchange/fastcgi.h"
#include "kit.h"

#define INPUT_MAX 60000 /* what a socket holds */
#define NOTE_MAX 1024

/* What was served. */
struct said {
	enum fastcgi_end end;
	struct idem_buf *vars; /* each with its NUL */
	struct idem_buf *body;
	bool whole;
};

/* --- a second implementation ---------------------------------------------- */

struct slow {
	bool begun, ended, over;
	unsigned id, role;
	struct idem_buf *pairs;
	struct said *said;
};

static size_t
big(const char *p, size_t n)
{
	size_t v = 0;

	for (size_t i = 0; i < n; i++)
		v = v * 256 + (unsigned char)p[i];
	return v;
}

/* One length; false: it is not whole. */
static bool
slow_length(struct idem_span *rest, size_t *n)
{
	size_t size = rest->n > 0 && (rest->p[0] & 0x80) != 0 ? 4 : 1;

	if (rest->n < size)
		return false;
	*n = big(rest->p, size);
	if (size == 4)
		*n -= 0x80000000;
	*rest = span_from(*rest, size);
	return true;
}

/* All pairs; vars NULL: only whether they are whole. */
static bool
slow_pairs(struct idem_span rest, struct idem_buf *vars)
{
	size_t nname, nvalue;

	while (rest.n > 0) {
		struct idem_span name, value;

		if (!slow_length(&rest, &nname) ||
		    !slow_length(&rest, &nvalue) || nname + nvalue > rest.n)
			return false;
		name = span_first(rest, nname);
		value = span_first(span_from(rest, nname), nvalue);
		rest = span_from(rest, nname + nvalue);
		if (vars == NULL)
			continue;
		if (nname == 0 || span_find(name, '=') < nname ||
		    span_find(name, '\0') < nname ||
		    span_find(value, '\0') < nvalue)
			return false;
		idem_buf_puts(vars, name);
		idem_buf_putc(vars, '=');
		idem_buf_puts(vars, value);
		idem_buf_putc(vars, '\0');
	}
	return true;
}

/* A record of ours behind BEGIN_REQUEST; false: no more is read. */
static bool
slow_ours(struct slow *s, unsigned type, size_t n, struct idem_span content)
{
	if (type == 4 && !s->ended) {
		idem_buf_puts(s->pairs, content);
		s->ended = n == 0;
		return true;
	}
	if (type != 5 || !s->ended)
		return false;
	idem_buf_puts(s->said->body, content);
	s->said->whole = n == 0;
	return n > 0;
}

/* One record, of which content came, of n bytes. */
static bool
slow_record(struct slow *s, const char *head, size_t n,
    struct idem_span content)
{
	unsigned type = (unsigned char)head[1];
	unsigned id = (unsigned)big(head + 2, 2);

	if (id == 0)
		return content.n <= NOTE_MAX && (content.n < n || type != 9 ||
		    slow_pairs(content, NULL));
	if (!s->begun) {
		if (type != 1 || n != 8 || content.n < 8)
			return false;
		s->begun = true;
		s->id = id;
		s->role = (unsigned)big(content.p, 2);
		return s->role == 1;
	}
	return id != s->id || slow_ours(s, type, n, content);
}

static void
slow_read(struct idem_span rest, struct slow *s)
{
	while (rest.n >= 8 && rest.p[0] == 1) {
		size_t n = big(rest.p + 4, 2);
		size_t padding = (unsigned char)rest.p[6];
		const char *head = rest.p;
		struct idem_span content;

		rest = span_from(rest, 8);
		content = span_first(rest, n < rest.n ? n : rest.n);
		rest = span_from(rest, content.n);
		rest = span_from(rest, padding < rest.n ? padding : rest.n);
		if (!slow_record(s, head, n, content))
			break;
		if (s->ended && !s->over) {
			s->over = true;
			if (!slow_pairs(idem_buf_span(s->pairs),
			    s->said->vars))
				break;
			s->said->end = FASTCGI_SERVED;
		}
	}
}

static void
slow_request(struct idem_span input, struct said *said)
{
	struct slow s = { .pairs = kit_buf(), .said = said };

	said->end = FASTCGI_CUT;
	slow_read(input, &s);
	if (!s.begun)
		said->end = FASTCGI_NOTHING;
	else if (s.role != 1)
		said->end = FASTCGI_ROLE;
}

/* --- the worker's --------------------------------------------------------- */

struct serving {
	struct said said;
	struct kit_dice dice;
};

static void
serve(void *arg, struct exchange *x)
{
	struct serving *s = arg;
	char piece[300];
	long n;

	for (size_t i = 0; x->vars[i] != NULL; i++)
		idem_buf_put(s->said.vars, x->vars[i],
		    strlen(x->vars[i]) + 1);
	while ((n = x->read(x->arg, piece, 1 + kit_below(&s->dice,
	    sizeof piece - 1))) > 0)
		idem_buf_put(s->said.body, piece, (size_t)n);
	s->said.whole = n == 0;
	x->complain(x->arg, "a line\n");
	must(x->write(x->arg, "ok", 2) == IDEM_OK);
}

static void
send_all(int fd, struct idem_span input, struct kit_dice *dice)
{
	struct idem_span piece;

	while ((piece = kit_piece(dice, &input)).p != NULL)
		must(write(fd, piece.p, piece.n) == (ssize_t)piece.n);
	must(shutdown(fd, SHUT_WR) == 0);
}

void
fuzz_request(struct idem_span input)
{
	struct serving s = { { .vars = kit_buf(), .body = kit_buf() },
		kit_dice_of(input) };
	struct said want = { .vars = kit_buf(), .body = kit_buf() };
	int fds[2];

	if (input.n > INPUT_MAX)
		return;
	slow_request(input, &want);
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
	send_all(fds[0], input, &s.dice);
	s.said.end = fastcgi_serve(fds[1], 1000, serve, &s);
	must(close(fds[0]) == 0);
	must(s.said.end == want.end);
	if (want.end != FASTCGI_SERVED)
		must(s.said.vars->n == 0);
	else {
		must_be(idem_buf_span(s.said.vars), idem_buf_span(want.vars));
		must_be(idem_buf_span(s.said.body), idem_buf_span(want.body));
		must(s.said.whole == want.whole);
	}
}
