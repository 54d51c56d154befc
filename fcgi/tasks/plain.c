/*
 * plain.c - one walk over the tokens of a canonical JSON text.
 */
#include "tasks/plain.h"

#include <string.h>

#include "base/text.h"

struct walk {
	struct idem_span rest;
	struct idem_span member;
	size_t depth;
	bool name_next; /* the next string at depth 1 is a member's name */
	bool watched;   /* inside the watched member */
};

/* Length of the string at the front, quotes included. */
static size_t
string_length(struct idem_span s, bool *nul)
{
	size_t n = 1;

	while (s.p[n] != '"') {
		if (s.p[n] != '\\') {
			n++;
			continue;
		}
		if (span_starts(span_from(s, n), IDEM_LIT("\\u0000")))
			*nul = true;
		n += 2;
	}
	return n + 1;
}

static void
take_string(struct plain *p, struct walk *w)
{
	bool nul = false, name = w->depth == 1 && w->name_next;
	size_t n = string_length(w->rest, &nul);
	struct idem_span text = { w->rest.p + 1, n - 2 };

	if (name)
		w->watched = span_eq(text, w->member);
	w->name_next = false;
	if (nul && w->watched)
		p->nul_in_member = true;
	if (nul && !w->watched)
		p->nul_elsewhere = true;
	idem_buf_put(p->json, w->rest.p, n);
	w->rest = span_from(w->rest, n);
}

static void
take_number(struct plain *p, struct walk *w)
{
	size_t n = 0;

	while (n < w->rest.n && strchr("+-.eE0123456789", w->rest.p[n]) != NULL)
		n++;
	idem_buf_puts(p->json, n > PLAIN_NUMBER_MAX ? IDEM_LIT("0") :
	    span_first(w->rest, n));
	w->rest = span_from(w->rest, n);
}

static void
take_other(struct plain *p, struct walk *w)
{
	char c = w->rest.p[0];

	if (c == '{' || c == '[')
		w->depth++;
	if (c == '}' || c == ']')
		w->depth--;
	w->name_next = c == '{' || c == ',';
	idem_buf_putc(p->json, c);
	w->rest = span_from(w->rest, 1);
}

void
plain_make(struct plain *p, struct idem_span json, struct idem_span member,
    struct idem_buf *out)
{
	struct walk w = { .rest = json, .member = member };

	*p = (struct plain){ .json = out };
	idem_buf_reset(out);
	while (w.rest.n > 0) {
		if (w.rest.p[0] == '"')
			take_string(p, &w);
		else if (w.rest.p[0] == '-' || ascii_digit(w.rest.p[0]))
			take_number(p, &w);
		else
			take_other(p, &w);
	}
}
