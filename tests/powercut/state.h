/*
 * state.h - one of the disks that a power cut may leave: which of the pending
 * names, sizes, pages and sectors are there, and what shared memory became.
 */
#ifndef STATE_H
#define STATE_H

#include "disk.h"

/* A piece of what is pending: one sector of one write, or a size. */
struct state_piece {
	uint32_t file, op;
	uint64_t at, n;
	size_t page; /* counted over all that is pending */
	bool there;
};

/* What a file of shared memory holds. */
enum state_memory {
	MEMORY_EMPTY, MEMORY_ZEROES, MEMORY_IMAGE, MEMORY_TORN, MEMORY_GARBAGE
};
#define STATE_MEMORIES 5

enum state_size {
	SIZE_AS_DATA, /* as far as the data that are there reach */
	SIZE_LONG,    /* as programs saw it: the rest is zeroes or garbage */
	SIZE_SHORT    /* data behind it were written in vain */
};

struct state {
	bool dir;
	bool named[DISK_FILES];
	enum state_memory memory[DISK_FILES];
	enum state_size size;
	uint64_t cut;  /* SHORT: where */
	bool garbage;  /* what was never written is not zero */
	uint64_t seed;
	struct state_piece *piece;
	size_t npieces, npages;
	const char *how; /* for people */
};

/* List what is pending; it is all dropped. */
void state_begin(struct state *s, const struct disk *d);
/* Choose: number 0: all dropped; 1: all kept; from 2 on every subset of pages
 * where there are few, then by the seed. */
void state_choose(struct state *s, const struct disk *d, uint64_t number,
    uint64_t seed);
/* Is anything pending at all? */
bool state_open(const struct state *s, const struct disk *d);
uint64_t state_hash(const struct state *s);

/* Write it down as the directory dir, which is not there yet.  images: where
 * "IMAGES.NAME" are, of shared memory. */
void state_write(const struct state *s, const struct disk *d, const char *dir,
    const char *images);

#endif
