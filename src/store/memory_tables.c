/*
 * memory_tables.c - the application's tables in memory.  Simple rather than
 * fast: what the other back ends are compared with.
 */
#include <stdlib.h>
#include <string.h>

#include "store/memory.h"

/* NOLINTNEXTLINE(bugprone-sizeof-expression): a table holds pointers */
static const size_t slot_bytes = sizeof(struct mem_entry *);

enum idem_err
mem_grow(void **block, size_t n, size_t *cap, size_t size)
{
	size_t wanted = *cap == 0 ? 16 : *cap * 2;
	void *p;

	if (n < *cap)
		return IDEM_OK;
	if (wanted > SIZE_MAX / size || (p = realloc(*block, wanted * size)) ==
	    NULL)
		return IDEM_ENOMEM;
	*block = p;
	*cap = wanted;
	return IDEM_OK;
}

static struct idem_span
key_of(const struct mem_entry *e)
{
	return (struct idem_span){ e->bytes, e->nkey };
}

static struct idem_span
value_of(const struct mem_entry *e)
{
	return (struct idem_span){ e->bytes + e->nkey, e->nvalue };
}

static int
compare(struct idem_span a, struct idem_span b)
{
	int c = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);

	return c != 0 ? c : (a.n > b.n) - (a.n < b.n);
}

/* Index of the first entry whose key is not below key. */
static size_t
lower_bound(const struct mem_table *t, struct idem_span key)
{
	size_t lo = 0, hi = t->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (compare(key_of(t->entries[mid]), key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool
stands_at(const struct mem_table *t, size_t at, struct idem_span key)
{
	return at < t->n && compare(key_of(t->entries[at]), key) == 0;
}

/* Put e where its key belongs, in place of the entry that stands there; the
 * array has room. */
static void
place_entry(struct mem_table *t, struct mem_entry *e)
{
	size_t at = lower_bound(t, key_of(e));

	if (!stands_at(t, at, key_of(e))) {
		memmove(&t->entries[at + 1], &t->entries[at],
		    (t->n - at) * slot_bytes);
		t->n++;
	}
	t->entries[at] = e;
}

static void
take_entry(struct mem_table *t, struct idem_span key)
{
	size_t at = lower_bound(t, key);

	memmove(&t->entries[at], &t->entries[at + 1],
	    (t->n - at - 1) * slot_bytes);
	t->n--;
}

static enum idem_err
room_for_change(struct mem_tables *t, unsigned table)
{
	struct mem_table *m = &t->table[table];
	void *entries = m->entries, *changes = t->changes;
	enum idem_err err;

	err = mem_grow(&entries, m->n, &m->cap, slot_bytes);
	m->entries = entries;
	if (err != IDEM_OK)
		return err;
	err = mem_grow(&changes, t->nchanges, &t->changes_cap,
	    sizeof *t->changes);
	t->changes = changes;
	return err;
}

static struct mem_entry *
found(const struct mem_table *t, struct idem_span key)
{
	size_t at = lower_bound(t, key);

	return stands_at(t, at, key) ? t->entries[at] : NULL;
}

static enum idem_err
get(void *self, unsigned table, struct idem_span key, struct idem_span *value)
{
	const struct mem_tables *t = self;
	const struct mem_entry *e = found(&t->table[table], key);

	*value = e != NULL ? value_of(e) : IDEM_ABSENT;
	return IDEM_OK;
}

static enum idem_err
put(void *self, unsigned table, struct idem_span key, struct idem_span value)
{
	struct mem_tables *t = self;
	struct mem_table *m = &t->table[table];
	struct mem_entry *e;

	if (room_for_change(t, table) != IDEM_OK ||
	    (e = malloc(sizeof *e + key.n + value.n)) == NULL)
		return IDEM_ENOMEM;
	e->nkey = key.n;
	e->nvalue = value.n;
	memcpy(e->bytes, key.p, key.n);
	if (value.n > 0)
		memcpy(e->bytes + key.n, value.p, value.n);
	t->changes[t->nchanges++] =
	    (struct mem_change){ table, found(m, key), e };
	place_entry(m, e);
	return IDEM_OK;
}

static enum idem_err
del(void *self, unsigned table, struct idem_span key)
{
	struct mem_tables *t = self;
	struct mem_table *m = &t->table[table];
	struct mem_entry *e = found(m, key);

	if (e == NULL)
		return IDEM_OK;
	if (room_for_change(t, table) != IDEM_OK)
		return IDEM_ENOMEM;
	t->changes[t->nchanges++] = (struct mem_change){ table, e, NULL };
	take_entry(m, key);
	return IDEM_OK;
}

static enum idem_err
last(void *self, unsigned table, struct idem_span *key, struct idem_span *value)
{
	const struct mem_tables *t = self;
	const struct mem_table *m = &t->table[table];

	*key = m->n > 0 ? key_of(m->entries[m->n - 1]) : IDEM_ABSENT;
	*value = m->n > 0 ? value_of(m->entries[m->n - 1]) : IDEM_ABSENT;
	return IDEM_OK;
}

static enum idem_err
each(void *self, unsigned table, struct idem_span from, idem_entry_fn fn,
    void *arg)
{
	const struct mem_tables *t = self;
	const struct mem_table *m = &t->table[table];

	size_t i = from.p == NULL ? 0 : lower_bound(m, from);

	for (; i < m->n; i++)
		if (!fn(arg, key_of(m->entries[i]), value_of(m->entries[i])))
			break;
	return IDEM_OK;
}

const struct tables_verbs mem_tables_verbs = { get, put, del, last, each };

void
mem_tables_keep(struct mem_tables *t)
{
	while (t->nchanges > 0)
		free(t->changes[--t->nchanges].before);
}

void
mem_tables_undo(struct mem_tables *t)
{
	while (t->nchanges > 0) {
		struct mem_change *c = &t->changes[--t->nchanges];
		struct mem_table *m = &t->table[c->table];

		if (c->before != NULL)
			place_entry(m, c->before);
		else
			take_entry(m, key_of(c->now));
		free(c->now);
	}
}

void
mem_tables_free(struct mem_tables *t)
{
	mem_tables_keep(t);
	for (size_t i = 0; i < IDEM_TABLES_MAX; i++) {
		for (size_t j = 0; j < t->table[i].n; j++)
			free(t->table[i].entries[j]);
		free(t->table[i].entries);
	}
	free(t->changes);
}
