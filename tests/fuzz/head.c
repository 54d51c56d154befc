/*
 * head.c - an answer of a CGI program, head and body: cut anywhere it says the
 * same, and what a reader line by line finds in it.
 */
#include "guard/reply.h"
#include "kit.h"

#define NAME "[A-Za-z0-9!#$%&'*+.^_`|~-]+"

/* What an answer says. */
struct said {
	enum idem_err err;
	bool has_head;
	unsigned status;
	struct idem_buf *fields; /* "Name: value\r\n" */
	bool has_length;
	uint64_t length_bytes;
	struct idem_buf *body;
	bool whole;
};

static bool
named(struct idem_span name, const char *wanted)
{
	return span_eq_nocase(name, span_of(wanted));
}

/* RFC 3875 6.3.3: three digits, and a reason behind a space. */
static bool
slow_status(struct idem_span value, unsigned *status)
{
	static regex_t *status_line;

	if (!kit_matches(&status_line, "^[2-5][0-9][0-9]( [^\n]*)?$", value))
		return false;
	*status = (unsigned)((value.p[0] - '0') * 100 + (value.p[1] - '0') *
	    10 + value.p[2] - '0');
	return true;
}

static bool
slow_length(struct idem_span value, struct said *s)
{
	uint64_t n = 0;

	if (value.n == 0)
		return false;
	for (size_t i = 0; i < value.n; i++) {
		uint64_t digit = (uint64_t)(value.p[i] - '0');

		if (value.p[i] < '0' || value.p[i] > '9' ||
		    n > (UINT64_MAX - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	if (s->has_length && s->length_bytes != n)
		return false;
	s->has_length = true;
	s->length_bytes = n;
	return true;
}

static bool
slow_field(struct idem_span line, struct said *s, bool *located)
{
	static const char *const dropped[] = { "connection", "keep-alive",
	    "proxy-connection", "te", "trailer", "transfer-encoding",
	    "upgrade" };
	static regex_t *field;
	struct idem_span part[3];

	if (!kit_parts(&field, "^(" NAME "):([^\n]*)$", line, part, 3))
		return false;
	part[2] = span_trim(part[2]);
	if (named(part[1], "status"))
		return slow_status(part[2], &s->status);
	if (named(part[1], "content-length"))
		return slow_length(part[2], s);
	*located = *located || named(part[1], "location");
	for (size_t i = 0; i < sizeof dropped / sizeof dropped[0]; i++)
		if (named(part[1], dropped[i]))
			return true;
	if (span_find(part[2], '\r') < part[2].n ||
	    span_find(part[2], '\0') < part[2].n)
		return false;
	idem_buf_puts(s->fields, part[1]);
	idem_buf_puts(s->fields, IDEM_LIT(": "));
	idem_buf_puts(s->fields, part[2]);
	idem_buf_puts(s->fields, IDEM_LIT("\r\n"));
	return true;
}

/* Take a line with its LF off the front; without LF, and one CR before it. */
static bool
slow_line(struct idem_span *rest, struct idem_span *line)
{
	if (span_find(*rest, '\n') == rest->n)
		return false;
	*line = kit_line(rest);
	if (line->n > 0 && line->p[line->n - 1] == '\r')
		line->n--;
	return true;
}

/* head ends in its empty line. */
static bool
slow_head(struct idem_span head, struct said *s)
{
	static regex_t *server;
	struct idem_span line, part[2];
	bool located = false, first = true;

	for (; slow_line(&head, &line) && line.n > 0; first = false) {
		if (first && span_starts(line, IDEM_LIT("HTTP/"))) {
			if (!kit_parts(&server, "^[^ ]* ([^\n]*)$", line, part,
			    2) || !slow_status(span_trim(part[1]),
			    &s->status))
				return false;
		} else if (!slow_field(line, s, &located))
			return false;
	}
	if (first)
		return false;
	if (s->status == 0)
		s->status = located ? 302 : 200;
	return true;
}

static void
slow_answer(struct idem_span answer, bool head_only, struct said *s)
{
	struct idem_span rest = answer, line;
	bool no_body;

	do
		if (!slow_line(&rest, &line))
			return;
	while (line.n > 0);
	if (!slow_head(span_first(answer, answer.n - rest.n), s)) {
		s->err = IDEM_ESYNTAX;
		return;
	}
	s->has_head = true;
	no_body = head_only || s->status == 204 || s->status == 304;
	if (s->has_length && rest.n > s->length_bytes)
		rest.n = (size_t)s->length_bytes;
	if (!no_body)
		idem_buf_puts(s->body, rest);
	s->whole = no_body || !s->has_length || rest.n == s->length_bytes;
}

static enum idem_err
put(void *arg, const void *p, size_t n)
{
	must(n > 0);
	idem_buf_put(arg, p, n);
	return IDEM_OK;
}

/* dice == NULL: in one piece. */
static void
must_say(struct idem_span answer, bool head_only, struct kit_dice *dice,
    const struct said *want)
{
	struct idem_span piece = answer;
	struct idem_buf *body = kit_buf();
	struct idem_response res;
	struct reply r;

	idem_response_init(&res, CGI_HEAD_MAX);
	reply_init(&r, &res);
	r.head_only = head_only;
	r.put = put;
	r.arg = body;
	if (dice == NULL)
		must(reply_take(&r, piece) == (r.err == IDEM_OK));
	else
		while ((piece = kit_piece(dice, &answer)).p != NULL)
			must(reply_take(&r, piece) == (r.err == IDEM_OK));
	must(r.err == want->err);
	must(r.has_head == want->has_head);
	must(reply_is_whole(&r) == want->whole);
	if (want->has_head) {
		must(res.status == want->status);
		must(span_eq(idem_buf_span(&res.fields),
		    idem_buf_span(want->fields)));
		must(r.head.has_length == want->has_length);
		must(r.head.length_bytes == want->length_bytes);
	}
	must(span_eq(idem_buf_span(body), idem_buf_span(want->body)));
	must(r.nbody == body->n);
	reply_free(&r);
	idem_response_free(&res);
}

/* The end of the head is found where it is, however it comes. */
static void
end_is_found(struct idem_span answer, struct kit_dice *dice)
{
	size_t from = 0, none = 0, n = 0;
	size_t end = cgi_head_end(answer, &none);

	while (n < answer.n && cgi_head_end(kit_copy(span_first(answer, n)),
	    &from) == 0)
		n += 1 + kit_below(dice, answer.n - n);
	must(n >= answer.n || end > 0);
	must(cgi_head_end(answer, &from) == end);
}

void
fuzz_head(struct idem_span input)
{
	struct kit_dice dice = kit_dice_of(input);
	struct said want = { .fields = kit_buf(), .body = kit_buf() };
	bool head_only = kit_below(&dice, 4) == 0;

	if (input.n > CGI_HEAD_MAX)
		return;
	slow_answer(input, head_only, &want);
	must_say(input, head_only, NULL, &want);
	must_say(input, head_only, &dice, &want);
	end_is_found(input, &dice);
}
