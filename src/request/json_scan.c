/*
 * json_scan.c - what all parts of the scan ask for: room for more output, and a
 * place to say what is wrong with the text.
 */
#include "request/json_scan.h"

struct json_pos
json_fail(struct json_scan *s, enum idem_err err, const unsigned char *p)
{
	s->err = err;
	s->at = (size_t)(p - s->text);
	return (struct json_pos){ NULL, NULL };
}

/* The first in the text counts; objects report theirs when they end. */
void
json_inexact(struct json_scan *s, size_t at)
{
	if (at < s->inexact_at)
		s->inexact_at = at;
}

unsigned char *
json_room(struct json_scan *s, unsigned char *o, size_t n)
{
	char *room;

	idem_buf_grew(s->out, (size_t)(o - s->base) - s->out->n);
	if ((room = idem_buf_room(s->out, n)) == NULL) {
		s->err = idem_buf_err(s->out);
		return NULL;
	}
	s->base = (unsigned char *)s->out->p;
	return (unsigned char *)room;
}
