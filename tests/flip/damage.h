/*
 * damage.h - what is broken in a data file; the number of a damage and the
 * run's seed say exactly how.  Knows no store.
 */
#ifndef FLIP_DAMAGE_H
#define FLIP_DAMAGE_H

#include <stddef.h>
#include <stdint.h>

#define DAMAGE_PAGE 4096
#define DAMAGE_OLD_MAX 8

enum damage_kind {
	DAMAGE_META_BYTE, /* one bit of each byte of the meta pages, in order */
	DAMAGE_META_BIT,  /* every bit of what they hold, in order */
	DAMAGE_BIT,       /* one bit behind them */
	DAMAGE_BITS,      /* several of one page */
	DAMAGE_FILL,      /* a page of zeros or of garbage */
	DAMAGE_SWAP,      /* two pages in each other's place, or one twice */
	DAMAGE_OLD,       /* a page as it was earlier */
	DAMAGE_CUT,       /* the file ends at a page or anywhere */
	DAMAGE_WHOLE_OLD  /* the whole file as it was earlier */
};
#define DAMAGE_NKINDS ((size_t)DAMAGE_WHOLE_OLD + 1)

/* A good file and earlier states of it; borrowed. */
struct damage_source {
	const unsigned char *good;
	size_t n;
	const unsigned char *old[DAMAGE_OLD_MAX];
	size_t nold_bytes[DAMAGE_OLD_MAX];
	size_t nold;
	uint64_t seed;
};

const char *damage_name(enum damage_kind kind);

/* How many numbers make each kind come as often as its meta bytes. */
size_t damage_all(void);

/*
 * Write the damaged file number i to out, which has room for the good file and
 * for each old one; *n is its length.  Nothing may have changed (the same old
 * page, a bit of nothing); that is a damage, too.
 */
enum damage_kind
damage_make(const struct damage_source *s, size_t i, unsigned char *out,
    size_t *n);

#endif
