/*
 * json_sort.c - puts the members of an object in the order of their names,
 * without recursion and never in quadratic time.
 */
#include "request/json_scan.h"

#define FEW 16     /* members that are ranked, each against each */
#define SHORT 1024 /* bytes of members that are copied on the stack */
#define RUN 8      /* sorted by insertion before runs are merged */
#define MANY 256   /* members that are worth counting bytes */

/* A member's place: what is moved while sorting. */
struct key {
	uint64_t head;
	size_t index; /* of the member, as it stands in the text */
};

/* The members of one object, and where it ends in the output. */
struct object {
	const struct json_member *m;
	size_t n, end;
};

/*
 * Most objects are small and their names differ early: then each one's place is
 * the number of names before it, and no branch depends on the names.  false:
 * two heads are equal.
 */
static bool
rank_few(const struct object *o, struct key *keys)
{
	size_t rank[FEW];
	bool equal = false;

	for (size_t i = 0; i < o->n; i++) {
		uint64_t head = o->m[i].head;
		size_t mine = i;

		for (size_t j = 0; j < i; j++) {
			size_t before = head < o->m[j].head;

			equal |= head == o->m[j].head;
			mine -= before;
			rank[j] += before;
		}
		rank[i] = mine;
	}
	for (size_t i = 0; i < o->n; i++)
		keys[rank[i]] = (struct key){ o->m[i].head, i };
	return !equal;
}

static inline bool
before(struct json_scan *s, const struct object *o, const struct key *a,
    const struct key *b)
{
	if (a->head != b->head)
		return a->head < b->head;
	return json_name_before(s, &o->m[a->index], &o->m[b->index]);
}

static void
sort_run(struct json_scan *s, const struct object *o, struct key *k, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct key one = k[i];
		size_t to = i;

		for (; to > 0 && before(s, o, &one, &k[to - 1]); to--)
			k[to] = k[to - 1];
		k[to] = one;
	}
}

/* Merge the sorted runs k[0..half) and k[half..n) into to. */
static void
merge(struct json_scan *s, const struct object *o, const struct key *k,
    size_t half, size_t n, struct key *to)
{
	size_t a = 0, b = half;

	while (a < half && b < n) {
		bool second = before(s, o, &k[b], &k[a]);

		*to++ = k[second ? b : a];
		a += !second;
		b += second;
	}
	memcpy(to, k + a, (half - a) * sizeof *k);
	memcpy(to + (half - a), k + b, (n - b) * sizeof *k);
}

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Sort k by runs that double, to and fro between k and spare. */
static void
merge_sort(struct json_scan *s, const struct object *o, struct key *k,
    size_t n, struct key *spare)
{
	struct key *from = k, *to = spare;

	for (size_t i = 0; i < n; i += RUN)
		sort_run(s, o, k + i, least(RUN, n - i));
	for (size_t width = RUN; width < n; width *= 2) {
		struct key *sorted = to;

		for (size_t i = 0; i < n; i += 2 * width)
			merge(s, o, from + i, least(width, n - i),
			    least(2 * width, n - i), to + i);
		to = from;
		from = sorted;
	}
	if (from != k)
		memcpy(k, from, n * sizeof *k);
}

/* Turn the numbers of keys with each byte into where the first of them goes. */
static void
counts_to_places(size_t counts[256])
{
	size_t place = 0;

	for (size_t i = 0; i < 256; i++) {
		size_t n = counts[i];

		counts[i] = place;
		place += n;
	}
}

/* Sort k by heads alone, byte by byte from the last. */
static void
radix_sort(struct key *k, size_t n, struct key *spare)
{
	size_t counts[8][256] = { { 0 } };
	struct key *from = k, *to = spare;

	for (size_t i = 0; i < n; i++)
		for (size_t b = 0; b < 8; b++)
			counts[b][k[i].head >> 8 * b & 0xff]++;
	for (size_t b = 0; b < 8; b++) {
		struct key *sorted = to;

		if (counts[b][k->head >> 8 * b & 0xff] == n)
			continue; /* all have the same byte there */
		counts_to_places(counts[b]);
		for (size_t i = 0; i < n; i++)
			to[counts[b][from[i].head >> 8 * b & 0xff]++] = from[i];
		to = from;
		from = sorted;
	}
	if (from != k)
		memcpy(k, from, n * sizeof *k);
}

static void
sort_many(struct json_scan *s, const struct object *o, struct key *k,
    struct key *spare)
{
	size_t to;

	if (o->n < MANY) {
		merge_sort(s, o, k, o->n, spare);
		return;
	}
	radix_sort(k, o->n, spare);
	for (size_t i = 0; i < o->n; i = to) {
		for (to = i + 1; to < o->n && k[to].head == k[i].head;)
			to++;
		if (to - i > 1)
			merge_sort(s, o, k + i, to - i, spare);
	}
}

static const unsigned char *
name_of(const struct json_scan *s, const struct json_member *m)
{
	return s->base + m->start + 1;
}

/* What all names begin with, up to the first escape. */
static size_t
common_prefix(const struct json_scan *s, const struct object *o)
{
	const unsigned char *first = name_of(s, o->m);
	size_t n = 0;

	while (first[n] != '"' && first[n] != '\\')
		n++;
	for (size_t i = 1; i < o->n && n > 0; i++) {
		const unsigned char *name = name_of(s, &o->m[i]);
		size_t same = 0;

		while (same < n && name[same] == first[same])
			same++;
		n = same;
	}
	return n;
}

/* Heads that begin where the names begin to differ. */
static void
fill_keys(const struct json_scan *s, const struct object *o, struct key *k)
{
	size_t prefix = common_prefix(s, o);

	for (size_t i = 0; i < o->n; i++)
		k[i] = (struct key){ prefix == 0 ? o->m[i].head :
			json_name_head(name_of(s, &o->m[i]) + prefix), i };
}

/* May read and write up to JSON_CHUNK bytes too many. */
static inline void
copy_chunks(unsigned char *to, const unsigned char *from, size_t n)
{
	for (size_t i = 0; i < n; i += JSON_CHUNK)
		memcpy(to + i, from + i, JSON_CHUNK);
}

/* Write the members anew in the order of k, by way of a copy. */
static void
put_members(struct json_scan *s, const struct object *o, const struct key *k,
    unsigned char *copy)
{
	size_t start = o->m[0].start;
	unsigned char *to = s->base + start;

	copy_chunks(copy, to, o->end - start);
	for (size_t i = 0; i < o->n; i++) {
		const struct json_member *m = &o->m[k[i].index];
		size_t end = k[i].index + 1 < o->n ? m[1].start - 1 : o->end;

		if (i > 0)
			*to++ = ',';
		copy_chunks(to, copy + (m->start - start), end - m->start);
		to += end - m->start;
	}
}

/* The rare case: many members, long ones, or names that differ late. */
static bool
sort_any(struct json_scan *s, const struct object *o)
{
	struct idem_buf *moved = &s->work->moved;
	size_t nbytes = o->end - o->m[0].start + JSON_CHUNK;
	struct key *k;

	idem_buf_reset(moved);
	k = (void *)idem_buf_room(moved, 2 * o->n * sizeof *k + nbytes);
	if (k == NULL)
		return false;
	fill_keys(s, o, k);
	sort_many(s, o, k, k + o->n);
	put_members(s, o, k, (void *)(k + 2 * o->n));
	return true;
}

bool
json_members_sort(struct json_scan *s, const struct json_level *in,
    const unsigned char *end)
{
	struct object o = { s->members + in->first, s->nmembers - in->first,
		(size_t)(end - s->base) };
	unsigned char copy[SHORT + JSON_CHUNK];
	struct key k[FEW];

	if (o.n > FEW || o.end - o.m[0].start > SHORT || !rank_few(&o, k))
		return sort_any(s, &o);
	put_members(s, &o, k, copy);
	return true;
}
