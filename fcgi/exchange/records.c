/*
 * records.c - the records of FastCGI 1.0, written and taken apart.
 */
#include <string.h>

#include "base/text.h"
#include "exchange/records.h"

#define VERSION 1
#define LONG_LENGTH UINT32_C(0x80000000)

/* --- reading --------------------------------------------------------------*/

/* Take at most want bytes off the front. */
static struct idem_span
take(struct idem_span *bytes, size_t want)
{
	struct idem_span some = span_first(*bytes,
	    want < bytes->n ? want : bytes->n);

	*bytes = span_from(*bytes, some.n);
	return some;
}

static enum record_event
take_head(struct records *r, struct idem_span *bytes)
{
	struct idem_span some = take(bytes, sizeof r->head - r->nhead);
	struct reader rest;

	memcpy(r->head + r->nhead, some.p, some.n);
	r->nhead += some.n;
	if (r->head[0] != VERSION)
		return RECORD_BAD;
	if (r->nhead < sizeof r->head)
		return RECORD_MORE;
	rest = reader_of((struct idem_span){ (const char *)r->head + 1,
		sizeof r->head - 1 });
	r->type = rd_u8(&rest);
	r->id = rd_u16(&rest);
	r->content_left = rd_u16(&rest);
	r->padding_left = rd_u8(&rest);
	return RECORD_HEAD;
}

static bool
is_over(const struct records *r)
{
	return r->nhead == sizeof r->head && r->content_left == 0 &&
	    r->padding_left == 0;
}

enum record_event
records_next(struct records *r, struct idem_span *bytes,
    struct idem_span *part)
{
	enum record_event event = RECORD_MORE;

	while (event == RECORD_MORE && bytes->n > 0) {
		if (is_over(r))
			r->nhead = 0;
		if (r->nhead < sizeof r->head) {
			event = take_head(r, bytes);
		} else if (r->content_left > 0) {
			*part = take(bytes, r->content_left);
			r->content_left -= part->n;
			event = RECORD_PART;
		} else {
			r->padding_left -= take(bytes, r->padding_left).n;
		}
	}
	return event;
}

/* One byte below 128, else four with the first bit set. */
static size_t
rd_length(struct reader *r)
{
	if (r->rest.n > 0 && (unsigned char)r->rest.p[0] < 128)
		return rd_u8(r);
	return rd_u32(r) & ~LONG_LENGTH;
}

bool
pair_next(struct reader *r, struct idem_span *name, struct idem_span *value)
{
	size_t nname, nvalue;

	if (r->rest.n == 0 || r->bad)
		return false;
	nname = rd_length(r);
	nvalue = rd_length(r);
	*name = rd_bytes(r, nname);
	*value = rd_bytes(r, nvalue);
	return !r->bad;
}

/* --- writing --------------------------------------------------------------*/

void
record_put_head(struct idem_buf *out, unsigned type, uint16_t id,
    size_t ncontent)
{
	wr_u8(out, VERSION);
	wr_u8(out, (uint8_t)type);
	wr_u16(out, id);
	wr_u16(out, (uint16_t)ncontent);
	wr_u16(out, 0); /* no padding; reserved */
}

void
record_put(struct idem_buf *out, unsigned type, uint16_t id,
    struct idem_span content)
{
	record_put_head(out, type, id, content.n);
	idem_buf_puts(out, content);
}

void
record_set_length(struct idem_buf *out, size_t at, size_t ncontent)
{
	wr_u32_at(out, at + 4, (uint32_t)ncontent << 16);
}

static void
put_length(struct idem_buf *out, size_t n)
{
	if (n < 128)
		wr_u8(out, (uint8_t)n);
	else
		wr_u32(out, (uint32_t)n | LONG_LENGTH);
}

void
pair_put(struct idem_buf *out, struct idem_span name, struct idem_span value)
{
	put_length(out, name.n);
	put_length(out, value.n);
	idem_buf_puts(out, name);
	idem_buf_puts(out, value);
}
