/*
 * json_chunk.h - looks at 16 bytes of a text at once: how far a string or a
 * number goes.  With vectors where the compiler says that they are there, else
 * with 64-bit words; both give the same.
 */
#ifndef REQUEST_JSON_CHUNK_H
#define REQUEST_JSON_CHUNK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__) && defined(__GNUC__)
#include <emmintrin.h>
#define JSON_VECTORS 1
#else
#define JSON_VECTORS 0
#endif

/* Strings and digits are copied in chunks; the last one may hang over. */
#define JSON_CHUNK 16

/* Eight bytes as a number, the first of them lowest. */
static inline uint64_t
json_word(const unsigned char *p)
{
	uint64_t w;

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(&w, p, sizeof w);
#else
	w = 0;
	for (unsigned i = 0; i < 8; i++)
		w |= (uint64_t)p[i] << 8 * i;
#endif
	return w;
}

#define JSON_EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Does w hold the byte c? */
static inline bool
json_has(uint64_t w, unsigned char c)
{
	uint64_t zeros = w ^ JSON_EACH(c);

	return ((zeros - JSON_EACH(1)) & ~zeros & JSON_EACH(0x80)) != 0;
}

/* Does w hold a byte of EE and above? */
static inline bool
json_has_high(uint64_t w)
{
	return (((w & JSON_EACH(0x7f)) + JSON_EACH(0x12)) & w &
	    JSON_EACH(0x80)) != 0;
}

/* The bytes of w, the first of them highest: orders as they do. */
static inline uint64_t
json_big_endian(uint64_t w)
{
	w = w >> 32 | w << 32;
	w = (w & UINT64_C(0xffff0000ffff0000)) >> 16 |
	    (w & UINT64_C(0x0000ffff0000ffff)) << 16;
	return (w & UINT64_C(0xff00ff00ff00ff00)) >> 8 |
	    (w & UINT64_C(0x00ff00ff00ff00ff)) << 8;
}

/*
 * What the 8 bytes at p hold of a name that ends at a quote, as a number that
 * orders as names do; zeros stand behind the end.  false: an escape or a code
 * point of U+E000 and above makes that harder.
 */
static inline bool
json_plain_head(const unsigned char *p, uint64_t *head)
{
	uint64_t w = json_word(p), quote = w ^ JSON_EACH('"');
	uint64_t ends = (quote - JSON_EACH(1)) & ~quote & JSON_EACH(0x80);

	w &= ((ends & (0 - ends)) >> 7) - 1; /* all of it where none ends */
	*head = json_big_endian(w);
	return !json_has(w, '\\') && !json_has_high(w);
}

/* Index of the lowest bit of mask, which is not 0. */
static inline unsigned
json_lowest(uint64_t mask)
{
#if defined(__GNUC__)
	return (unsigned)__builtin_ctzll(mask);
#else
	unsigned n = 0;

	for (; (mask & 1) == 0; mask >>= 1)
		n++;
	return n;
#endif
}

/* A flag in the top bit of each byte that is no digit. */
static inline uint64_t
json_non_digits(uint64_t w)
{
	uint64_t value = w ^ JSON_EACH('0');

	return (((value & JSON_EACH(0x7f)) + JSON_EACH(0x76)) | value) &
	    JSON_EACH(0x80);
}

/* The JSON_CHUNK bytes of a string at p. */
struct json_chunk {
	size_t n;    /* before the first quote, backslash or control */
	bool beyond; /* ASCII: one of these n is */
};

/* A flag in the top bit of each quote, backslash and control; right up to the
 * first of them. */
static inline uint64_t
json_end_flags(uint64_t w)
{
	uint64_t quote = w ^ JSON_EACH('"'), slash = w ^ JSON_EACH('\\');

	return ((w - JSON_EACH(0x20)) | (quote - JSON_EACH(1)) |
	    (slash - JSON_EACH(1))) & ~w & JSON_EACH(0x80);
}

static inline struct json_chunk
json_chunk_by_words(const unsigned char *p)
{
	struct json_chunk c = { 0, false };
	size_t n = 8;

	for (size_t i = 0; i < JSON_CHUNK && n == 8; i += 8) {
		uint64_t w = json_word(p + i), ends = json_end_flags(w);
		uint64_t run = UINT64_MAX;

		if (ends != 0) {
			n = json_lowest(ends) / 8;
			run = (UINT64_C(1) << 8 * n) - 1;
		}
		c.beyond = c.beyond || (w & run & JSON_EACH(0x80)) != 0;
		c.n += n;
	}
	return c;
}

static inline struct json_chunk
json_chunk_at(const unsigned char *p)
{
#if JSON_VECTORS
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i ends = _mm_or_si128(
	    _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1f)), v),
	    _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')),
	    _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'))));
	unsigned end = 1u << JSON_CHUNK | (unsigned)_mm_movemask_epi8(ends);
	unsigned beyond = (unsigned)_mm_movemask_epi8(v);

	/* end ^ (end - 1) has the bits up to the lowest one of end */
	return (struct json_chunk){ json_lowest(end),
		(beyond & (end ^ (end - 1))) != 0 };
#else
	return json_chunk_by_words(p);
#endif
}

#endif
