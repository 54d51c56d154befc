/*
 * bytes.h - the one reader and the one writer of fixed-width integers and
 * length-prefixed runs.  Big-endian, so that stored keys sort as numbers.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include "idem/buf.h"

/*
 * Reads from the front of a span.  The first short read sets bad; from then on
 * every read gives 0 or absent, so that a decoder is a straight line and asks
 * once, at the end.
 */
struct reader {
	struct idem_span rest;
	bool bad;
};

struct reader reader_of(struct idem_span s);
struct idem_span rd_bytes(struct reader *r, size_t n); /* borrowed */
uint8_t rd_u8(struct reader *r);
uint16_t rd_u16(struct reader *r);
uint32_t rd_u32(struct reader *r);
uint64_t rd_u64(struct reader *r);
int64_t rd_i64(struct reader *r);
struct idem_span rd_run(struct reader *r); /* u32 length, then the bytes */
/* Copy exactly n bytes to out; zeroes where the reader is bad. */
void rd_copy(struct reader *r, void *out, size_t n);

void wr_u8(struct idem_buf *b, uint8_t v);
void wr_u16(struct idem_buf *b, uint16_t v);
void wr_u32(struct idem_buf *b, uint32_t v);
void wr_u64(struct idem_buf *b, uint64_t v);
void wr_i64(struct idem_buf *b, int64_t v);
/* Over the four bytes that stand at offset at; b has no error. */
void wr_u32_at(struct idem_buf *b, size_t at, uint32_t v);
void wr_run(struct idem_buf *b, struct idem_span s);

/* A number as an 8-byte table key, and back. */
void u64_to_key(uint64_t v, unsigned char key[8]);
uint64_t u64_from_key(const unsigned char key[8]);

#endif
