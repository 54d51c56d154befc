/*
 * wire.c - FastCGI 1.0 records, written and read.
 */
#include <string.h>

#include "base/text.h"
#include "guard/wire.h"

#define REQUEST_ID 1

static void
put_pairs(struct idem_buf *out, const char *const *vars)
{
	for (; *vars != NULL; vars++) {
		struct idem_span var = span_of(*vars);
		size_t at = span_find(var, '=');

		if (at < var.n && var.n <= WIRE_PARAMS_MAX)
			pair_put(out, span_first(var, at),
			    span_from(var, at + 1));
	}
}

void
wire_put_begin(struct idem_buf *out, const char *const *vars)
{
	static const char begin[8] = { 0, RECORD_RESPONDER };
	struct idem_buf pairs;
	struct idem_span rest;

	record_put(out, RECORD_BEGIN_REQUEST, REQUEST_ID, (struct idem_span){
	    begin, sizeof begin });
	idem_buf_init(&pairs, WIRE_PARAMS_MAX);
	put_pairs(&pairs, vars);
	rest = idem_buf_span(&pairs);
	while (rest.n > 0) {
		size_t n = rest.n < RECORD_CONTENT_MAX ? rest.n :
		    RECORD_CONTENT_MAX;

		record_put(out, RECORD_PARAMS, REQUEST_ID,
		    span_first(rest, n));
		rest = span_from(rest, n);
	}
	record_put(out, RECORD_PARAMS, REQUEST_ID, IDEM_LIT(""));
	if (out->err == IDEM_OK)
		out->err = idem_buf_err(&pairs);
	idem_buf_free(&pairs);
}

void
wire_put_body(struct idem_buf *out, struct idem_span bytes)
{
	record_put(out, RECORD_STDIN, REQUEST_ID, bytes);
}

/* An END_REQUEST of another length is no FastCGI 1.0. */
static enum wire_event
begin_record(struct wire *w)
{
	w->nend = 0;
	return w->records.type == RECORD_END_REQUEST &&
	    w->records.content_left != sizeof w->end ? WIRE_BAD : WIRE_MORE;
}

static enum wire_event
take_part(struct wire *w, struct idem_span part)
{
	if (w->records.id != REQUEST_ID)
		return WIRE_MORE;
	if (w->records.type == RECORD_STDOUT)
		return WIRE_OUT;
	if (w->records.type == RECORD_STDERR)
		return WIRE_ERR;
	if (w->records.type != RECORD_END_REQUEST)
		return WIRE_MORE;
	memcpy(w->end + w->nend, part.p, part.n);
	w->nend += part.n;
	w->protocol_status = w->end[4];
	return w->records.content_left == 0 ? WIRE_END : WIRE_MORE;
}

enum wire_event
wire_next(struct wire *w, struct idem_span *bytes, struct idem_span *piece)
{
	enum wire_event event = WIRE_MORE;

	while (event == WIRE_MORE)
		switch (records_next(&w->records, bytes, piece)) {
		case RECORD_MORE:
			return WIRE_MORE;
		case RECORD_HEAD:
			event = begin_record(w);
			break;
		case RECORD_PART:
			event = take_part(w, *piece);
			break;
		case RECORD_BAD:
			return WIRE_BAD;
		}
	return event;
}
