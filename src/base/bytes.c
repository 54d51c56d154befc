/*
 * bytes.c - fixed-width integers and length-prefixed runs, big-endian.
 */
#include <string.h>

#include "base/bytes.h"

struct reader
reader_of(struct idem_span s)
{
	return (struct reader){ .rest = s };
}

struct idem_span
rd_bytes(struct reader *r, size_t n)
{
	struct idem_span out = { r->rest.p, n };

	if (r->bad || r->rest.p == NULL || n > r->rest.n) {
		r->bad = true;
		return IDEM_ABSENT;
	}
	r->rest.p += n;
	r->rest.n -= n;
	return out;
}

/* The one shift-and-or of the program. */
static uint64_t
rd_uint(struct reader *r, size_t n)
{
	struct idem_span s = rd_bytes(r, n);
	uint64_t v = 0;

	for (size_t i = 0; i < s.n; i++)
		v = v << 8 | (unsigned char)s.p[i];
	return v;
}

uint8_t
rd_u8(struct reader *r)
{
	return (uint8_t)rd_uint(r, 1);
}

uint16_t
rd_u16(struct reader *r)
{
	return (uint16_t)rd_uint(r, 2);
}

uint32_t
rd_u32(struct reader *r)
{
	return (uint32_t)rd_uint(r, 4);
}

uint64_t
rd_u64(struct reader *r)
{
	return rd_uint(r, 8);
}

int64_t
rd_i64(struct reader *r)
{
	return (int64_t)rd_uint(r, 8);
}

struct idem_span
rd_run(struct reader *r)
{
	uint32_t n = rd_u32(r);

	return rd_bytes(r, n);
}

void
rd_copy(struct reader *r, void *out, size_t n)
{
	struct idem_span s = rd_bytes(r, n);

	if (s.p == NULL)
		memset(out, 0, n);
	else
		memcpy(out, s.p, n);
}

static void
wr_uint(struct idem_buf *b, uint64_t v, size_t n)
{
	unsigned char be[8];

	u64_to_key(v, be);
	idem_buf_put(b, be + 8 - n, n);
}

void
wr_u8(struct idem_buf *b, uint8_t v)
{
	wr_uint(b, v, 1);
}

void
wr_u16(struct idem_buf *b, uint16_t v)
{
	wr_uint(b, v, 2);
}

void
wr_u32(struct idem_buf *b, uint32_t v)
{
	wr_uint(b, v, 4);
}

void
wr_u64(struct idem_buf *b, uint64_t v)
{
	wr_uint(b, v, 8);
}

void
wr_i64(struct idem_buf *b, int64_t v)
{
	wr_uint(b, (uint64_t)v, 8);
}

void
wr_u32_at(struct idem_buf *b, size_t at, uint32_t v)
{
	unsigned char be[8];

	u64_to_key(v, be);
	memcpy(b->p + at, be + 4, 4);
}

void
wr_run(struct idem_buf *b, struct idem_span s)
{
	if (s.n > UINT32_MAX) {
		b->err = b->err == IDEM_OK ? IDEM_ETOOBIG : b->err;
		return;
	}
	wr_u32(b, (uint32_t)s.n);
	idem_buf_puts(b, s);
}

void
u64_to_key(uint64_t v, unsigned char key[8])
{
	for (size_t i = 8; i-- > 0; v >>= 8)
		key[i] = (unsigned char)v;
}

uint64_t
u64_from_key(const unsigned char key[8])
{
	struct reader r = reader_of((struct idem_span){ (const char *)key, 8 });

	return rd_u64(&r);
}
