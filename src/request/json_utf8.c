/*
 * json_utf8.c - UTF-8 (RFC 3629 4) as a machine: the class of a byte picks a
 * row, and the row shifted by the state begins with the next state.  So no
 * branch depends on the text.
 */
#include "request/json_chunk.h"
#include "request/json_utf8.h"

enum utf8_state {
	BETWEEN, /* two code points */
	BROKEN,  /* and nothing mends it */
	ONE,     /* continuation byte must come */
	TWO,
	THREE,
	AFTER_E0, /* A0 to BF, then one */
	AFTER_ED, /* 80 to 9F, then one: no surrogates */
	AFTER_F0, /* 90 to BF, then two */
	AFTER_F4  /* 80 to 8F, then two */
};
#define STATE_BITS 6
#define NEXT(from, to) ((uint64_t)(to) * STATE_BITS << (from) * STATE_BITS)
#define BREAKS(from) NEXT(from, BROKEN)
/* A byte that begins a code point. */
#define FIRST(to) (NEXT(BETWEEN, to) | BREAKS(BROKEN) | BREAKS(ONE) | \
	BREAKS(TWO) | BREAKS(THREE) | BREAKS(AFTER_E0) | BREAKS(AFTER_ED) | \
	BREAKS(AFTER_F0) | BREAKS(AFTER_F4))
/* A continuation byte. */
#define MORE(e0, ed, f0, f4) (BREAKS(BETWEEN) | BREAKS(BROKEN) | \
	NEXT(ONE, BETWEEN) | NEXT(TWO, ONE) | NEXT(THREE, TWO) | \
	NEXT(AFTER_E0, e0) | NEXT(AFTER_ED, ed) | NEXT(AFTER_F0, f0) | \
	NEXT(AFTER_F4, f4))

static const uint64_t utf8_rows[] = {
	FIRST(BETWEEN), FIRST(BROKEN), FIRST(ONE), FIRST(TWO), FIRST(THREE),
	FIRST(AFTER_E0), FIRST(AFTER_ED), FIRST(AFTER_F0), FIRST(AFTER_F4),
	MORE(BROKEN, ONE, BROKEN, TWO),
	MORE(BROKEN, ONE, TWO, BROKEN),
	MORE(ONE, BROKEN, TWO, BROKEN)
};

/* The row of each byte; ASCII has row 0. */
static const unsigned char utf8_classes[256] = {
	[0x80] = 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9,
	10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10,
	11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11,
	11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11,
	1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
	2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
	5, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 6, 3, 3,
	7, 4, 4, 4, 8, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
};

/* A state is kept as the number of bits to shift by, and more above them. */
#define MASK 63

_Static_assert(BETWEEN * STATE_BITS == JSON_UTF8_START, "where runs begin");

static inline uint64_t
step(uint64_t state, uint64_t c)
{
	return utf8_rows[utf8_classes[c & 0xff]] >> (state & MASK);
}

/* The lowest n bytes of w; zeros stand for the others, and zeros within a code
 * point break it. */
static inline uint64_t
word(uint64_t state, uint64_t w, size_t n)
{
	w &= n == 0 ? 0 : UINT64_MAX >> (64 - 8 * n);
	for (unsigned i = 0; i < 64; i += 8)
		state = step(state, w >> i);
	return state;
}

uint64_t
json_utf8_chunk(uint64_t state, const unsigned char *p, size_t n)
{
	state = word(state, json_word(p), n < 8 ? n : 8);
	if (n > 8)
		state = word(state, json_word(p + 8), n - 8);
	return state & MASK;
}

size_t
json_utf8_broken(const unsigned char *p, size_t n)
{
	uint64_t state = JSON_UTF8_START;
	size_t i = 0;

	while (i < n && (state = step(state, p[i]) & MASK) !=
	    BROKEN * STATE_BITS)
		i++;
	return i;
}
