/*
 * state.c - chooses one disk of all that a cut may leave.
 */
#include <stdlib.h>
#include <string.h>

#include "deed.h"
#include "state.h"

#define FEW_PAGES 6 /* of these every subset is tried */

static void
add(struct state *s, size_t file, size_t op, uint64_t at, uint64_t n)
{
	struct state_piece *last;

	s->piece = realloc(s->piece, (s->npieces + 1) * sizeof *s->piece);
	if (s->piece == NULL)
		abort();
	last = s->npieces > 0 ? &s->piece[s->npieces - 1] : NULL;
	if (last == NULL || last->file != file || last->op != op || n == 0 ||
	    last->at / DISK_PAGE != at / DISK_PAGE)
		s->npages++;
	s->piece[s->npieces++] = (struct state_piece){ (uint32_t)file,
		(uint32_t)op, at, n, s->npages - 1, false };
}

static void
add_op(struct state *s, size_t file, size_t i, const struct disk_op *op)
{
	uint64_t at = op->at, end = op->at + op->n;

	if (op->is_size)
		add(s, file, i, op->at, 0);
	while (at < end) {
		uint64_t next = at - at % DISK_SECTOR + DISK_SECTOR;

		next = next < end ? next : end;
		add(s, file, i, at, next - at);
		at = next;
	}
}

void
state_begin(struct state *s, const struct disk *d)
{
	s->npieces = s->npages = 0;
	for (size_t i = 0; i < d->nfiles; i++)
		for (size_t j = 0; !d->file[i].mapped && j < d->file[i].nops;
		    j++)
			add_op(s, i, j, &d->file[i].ops[j]);
}

bool
state_open(const struct state *s, const struct disk *d)
{
	if (s->npieces > 0 || (d->made && !d->made_safe))
		return true;
	for (size_t i = 0; i < d->nfiles; i++)
		if (d->file[i].there && !d->file[i].safe &&
		    !d->file[i].mapped)
			return true;
	return false;
}

static void
choose_names(struct state *s, const struct disk *d, uint64_t *seed, int all)
{
	s->dir = d->made && (d->made_safe || all == 1 ||
	    (all < 0 && deed_random(seed) % 8 != 0));
	for (size_t i = 0; i < d->nfiles; i++) {
		const struct disk_file *f = &d->file[i];

		s->named[i] = s->dir && f->there && (f->safe || all == 1 ||
		    (all < 0 && deed_random(seed) % 3 != 0));
		s->memory[i] = (enum state_memory)(deed_random(seed) %
		    STATE_MEMORIES);
	}
}

static void
choose_size(struct state *s, const struct disk *d, uint64_t *seed)
{
	uint64_t longest = 0;

	for (size_t i = 0; i < d->nfiles; i++)
		if (!d->file[i].mapped && d->file[i].visible > longest)
			longest = d->file[i].visible;
	s->size = (enum state_size)(deed_random(seed) % 3);
	s->cut = deed_random(seed) % (longest / DISK_SECTOR + 1) *
	    DISK_SECTOR;
	s->garbage = deed_random(seed) % 2 == 0;
}

/* Ways of losing a part; each says which pieces stay. */
static void
choose_some(struct state *s, uint64_t *seed)
{
	size_t one = deed_random(seed) % s->npieces;
	size_t page = s->piece[one].page;
	uint64_t share = deed_random(seed) % 7 + 1, pages = deed_random(seed);
	unsigned way = (unsigned)(deed_random(seed) % 5);
	static const char *const ways[] = { "some sectors", "some pages",
		"in order up to a sector", "all but one page",
		"one page alone" };

	s->how = ways[way];
	for (size_t i = 0; i < s->npieces; i++) {
		size_t at = s->piece[i].page;

		s->piece[i].there =
		    way == 0 ? deed_random(seed) % 8 < share :
		    way == 1 ? (pages >> at % 64 & 1) != 0 :
		    way == 2 ? i < one :
		    way == 3 ? at != page : at == page;
	}
}

static void
choose_subset(struct state *s, uint64_t set)
{
	s->how = "a subset of few pages";
	for (size_t i = 0; i < s->npieces; i++)
		s->piece[i].there = (set >> s->piece[i].page & 1) != 0;
}

void
state_choose(struct state *s, const struct disk *d, uint64_t number,
    uint64_t seed)
{
	uint64_t subsets = s->npages <= FEW_PAGES ?
	    (UINT64_C(1) << s->npages) - 1 : 0;

	s->seed = seed;
	s->size = SIZE_AS_DATA;
	s->garbage = false;
	s->how = number == 0 ? "all dropped" : "all kept";
	choose_names(s, d, &seed, number < 2 ? (int)number : -1);
	for (size_t i = 0; i < s->npieces; i++)
		s->piece[i].there = number == 1;
	if (number < 2 || s->npieces == 0)
		return;
	if (number - 1 < subsets)
		choose_subset(s, number - 1);
	else
		choose_some(s, &seed);
	choose_size(s, d, &seed);
}

uint64_t
state_hash(const struct state *s)
{
	uint64_t h = (uint64_t)s->dir << 1 | s->garbage;

	h = h * 31 + (uint64_t)s->size;
	if (s->size == SIZE_SHORT)
		h = h * 31 + s->cut;
	(void)deed_random(&h);
	for (size_t i = 0; i < DISK_FILES; i++)
		h = h * 31 + (uint64_t)s->named[i] * 8 +
		    (uint64_t)s->memory[i];
	for (size_t i = 0; i < s->npieces; i++) {
		h = h * 2 + s->piece[i].there;
		h = deed_random(&h);
	}
	return h;
}
