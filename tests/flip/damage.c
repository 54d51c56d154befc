/*
 * damage.c - breaks a data file.
 */
#include <string.h>

#include "damage.h"

#define META_BYTES (2 * (size_t)DAMAGE_PAGE)
#define META_HELD 160 /* of a meta page, where LMDB keeps something */

/* splitmix64 */
static uint64_t
next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static size_t
below(uint64_t *state, size_t n)
{
	return n == 0 ? 0 : (size_t)(next(state) % n);
}

const char *
damage_name(enum damage_kind kind)
{
	static const char *const names[] = { "a bit of a meta page",
		"a bit that a meta page uses", "a bit of another page",
		"2 to 16 bits of a page", "a page of zeros or garbage",
		"pages swapped or doubled", "a page as it was earlier",
		"a file cut short", "the whole file as it was earlier" };

	_Static_assert(sizeof names / sizeof names[0] == DAMAGE_NKINDS,
	    "one name per kind");
	return names[kind];
}

size_t
damage_all(void)
{
	return META_BYTES * DAMAGE_NKINDS;
}

static void
flip(unsigned char *p, size_t bit)
{
	p[bit / 8] ^= (unsigned char)(1u << bit % 8);
}

static void
flip_in_page(unsigned char *page, uint64_t *rng, size_t nbits)
{
	while (nbits-- > 0)
		flip(page, below(rng, (size_t)DAMAGE_PAGE * 8));
}

static void
fill(unsigned char *page, uint64_t *rng, size_t turn)
{
	memset(page, 0, DAMAGE_PAGE);
	for (size_t i = 0; turn % 2 == 1 && i < DAMAGE_PAGE; i++)
		page[i] = (unsigned char)next(rng);
}

static void
swap(unsigned char *a, unsigned char *b, size_t turn)
{
	unsigned char kept[DAMAGE_PAGE];

	memcpy(kept, a, DAMAGE_PAGE);
	memmove(a, b, DAMAGE_PAGE);
	if (turn % 2 == 0)
		memcpy(b, kept, DAMAGE_PAGE);
}

static void
take_old(const struct damage_source *s, unsigned char *out, size_t page,
    uint64_t *rng)
{
	size_t which = below(rng, s->nold);
	size_t at = page * DAMAGE_PAGE;

	if (s->nold > 0 && at + DAMAGE_PAGE <= s->nold_bytes[which])
		memcpy(out + at, s->old[which] + at, DAMAGE_PAGE);
}

static size_t
cut(const struct damage_source *s, uint64_t *rng, size_t turn)
{
	size_t npages = s->n / DAMAGE_PAGE;

	return turn % 2 == 0 ? turn / 2 % npages * DAMAGE_PAGE :
	    below(rng, s->n);
}

static void
whole_old(const struct damage_source *s, unsigned char *out, size_t *n,
    size_t turn)
{
	if (s->nold == 0)
		return;
	*n = s->nold_bytes[turn % s->nold];
	memcpy(out, s->old[turn % s->nold], *n);
}

enum damage_kind
damage_make(const struct damage_source *s, size_t i, unsigned char *out,
    size_t *n)
{
	enum damage_kind kind = (enum damage_kind)(i % DAMAGE_NKINDS);
	size_t turn = i / DAMAGE_NKINDS, npages = s->n / DAMAGE_PAGE;
	uint64_t rng = s->seed ^ i << 20;
	size_t page = 2 + turn % (npages - 2);
	unsigned char *p = out + page * DAMAGE_PAGE;

	memcpy(out, s->good, s->n);
	*n = s->n;
	switch (kind) {
	case DAMAGE_META_BYTE:
		flip(out + turn % META_BYTES, below(&rng, 8));
		break;
	case DAMAGE_META_BIT:
		flip(out + turn / (META_HELD * 8) % 2 * DAMAGE_PAGE,
		    turn % (META_HELD * 8));
		break;
	case DAMAGE_BIT:
		flip_in_page(p, &rng, 1);
		break;
	case DAMAGE_BITS:
		flip_in_page(p, &rng, 2 + below(&rng, 15));
		break;
	case DAMAGE_FILL:
		fill(p, &rng, turn / (npages - 2));
		break;
	case DAMAGE_SWAP:
		swap(p, out + (2 + below(&rng, npages - 2)) * DAMAGE_PAGE,
		    turn);
		break;
	case DAMAGE_OLD:
		take_old(s, out, page, &rng);
		break;
	case DAMAGE_CUT:
		*n = cut(s, &rng, turn);
		break;
	case DAMAGE_WHOLE_OLD:
		whole_old(s, out, n, turn);
		break;
	}
	return kind;
}
