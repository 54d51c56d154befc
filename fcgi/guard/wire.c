/*
 * wire.c - FastCGI 1.0 records, written and read.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/text.h"
#include "guard/wire.h"

#define VERSION 1
#define REQUEST_ID 1
#define RESPONDER 1
#define RECORD_MAX 65535
#define LONG_LENGTH UINT32_C(0x80000000)

enum {
	BEGIN_REQUEST = 1,
	END_REQUEST = 3,
	PARAMS = 4,
	STDIN = 5,
	STDOUT = 6,
	STDERR = 7
};

static void
put_record(struct idem_buf *out, unsigned type, struct idem_span content)
{
	wr_u8(out, VERSION);
	wr_u8(out, (uint8_t)type);
	wr_u16(out, REQUEST_ID);
	wr_u16(out, (uint16_t)content.n);
	wr_u16(out, 0); /* no padding; reserved */
	idem_buf_puts(out, content);
}

static void
put_length(struct idem_buf *out, size_t n)
{
	if (n < 128)
		wr_u8(out, (uint8_t)n);
	else
		wr_u32(out, (uint32_t)n | LONG_LENGTH);
}

static void
put_pairs(struct idem_buf *out, const char *const *vars)
{
	for (; *vars != NULL; vars++) {
		struct idem_span var = span_of(*vars);
		size_t at = span_find(var, '=');

		if (at == var.n || var.n > WIRE_PARAMS_MAX)
			continue;
		put_length(out, at);
		put_length(out, var.n - at - 1);
		idem_buf_puts(out, span_first(var, at));
		idem_buf_puts(out, span_from(var, at + 1));
	}
}

void
wire_put_begin(struct idem_buf *out, const char *const *vars)
{
	static const char begin[8] = { 0, RESPONDER };
	struct idem_buf pairs;
	struct idem_span rest;

	put_record(out, BEGIN_REQUEST, (struct idem_span){ begin,
	    sizeof begin });
	idem_buf_init(&pairs, WIRE_PARAMS_MAX);
	put_pairs(&pairs, vars);
	rest = idem_buf_span(&pairs);
	while (rest.n > 0) {
		size_t n = rest.n < RECORD_MAX ? rest.n : RECORD_MAX;

		put_record(out, PARAMS, span_first(rest, n));
		rest = span_from(rest, n);
	}
	put_record(out, PARAMS, IDEM_LIT(""));
	if (out->err == IDEM_OK)
		out->err = idem_buf_err(&pairs);
	idem_buf_free(&pairs);
}

void
wire_put_body(struct idem_buf *out, struct idem_span bytes)
{
	put_record(out, STDIN, bytes);
}

/* Take at most want bytes off the front. */
static struct idem_span
take(struct idem_span *bytes, size_t want)
{
	struct idem_span some = span_first(*bytes,
	    want < bytes->n ? want : bytes->n);

	*bytes = span_from(*bytes, some.n);
	return some;
}

/* Gather the 8 bytes of a header.  false: not one of FastCGI 1.0. */
static bool
take_header(struct wire *w, struct idem_span *bytes)
{
	struct idem_span some = take(bytes, sizeof w->head - w->nhead);
	struct reader r;

	memcpy(w->head + w->nhead, some.p, some.n);
	w->nhead += some.n;
	if (w->head[0] != VERSION)
		return false;
	if (w->nhead < sizeof w->head)
		return true;
	r = reader_of((struct idem_span){ (const char *)w->head + 4, 4 });
	w->content_left = rd_u16(&r);
	w->padding_left = rd_u8(&r);
	w->nend = 0;
	return w->head[1] != END_REQUEST ||
	    w->content_left == sizeof w->end;
}

static bool
is_ours(const struct wire *w)
{
	return w->head[2] == 0 && w->head[3] == REQUEST_ID;
}

static enum wire_event
take_content(struct wire *w, struct idem_span *bytes,
    struct idem_span *piece)
{
	*piece = take(bytes, w->content_left);
	w->content_left -= piece->n;
	if (!is_ours(w) || piece->n == 0)
		return WIRE_MORE;
	if (w->head[1] == STDOUT)
		return WIRE_OUT;
	if (w->head[1] == STDERR)
		return WIRE_ERR;
	if (w->head[1] != END_REQUEST)
		return WIRE_MORE;
	memcpy(w->end + w->nend, piece->p, piece->n);
	w->nend += piece->n;
	w->protocol_status = w->end[4];
	return w->content_left == 0 ? WIRE_END : WIRE_MORE;
}

enum wire_event
wire_next(struct wire *w, struct idem_span *bytes, struct idem_span *piece)
{
	enum wire_event event = WIRE_MORE;

	while (event == WIRE_MORE && bytes->n > 0) {
		if (w->nhead < sizeof w->head) {
			if (!take_header(w, bytes))
				return WIRE_BAD;
		} else if (w->content_left > 0) {
			event = take_content(w, bytes, piece);
		} else {
			w->padding_left -= take(bytes, w->padding_left).n;
		}
		if (w->nhead == sizeof w->head && w->content_left == 0 &&
		    w->padding_left == 0)
			w->nhead = 0;
	}
	return event;
}
