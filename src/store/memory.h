/*
 * memory.h - the memory back end's own values: an array of records in the order
 * of their claims; tables as sorted arrays, with a list of what to put back
 * when a handler's writes are undone.
 */
#ifndef STORE_MEMORY_H
#define STORE_MEMORY_H

#include "store/backend.h"
#include "store/record.h"

/* One entry of a table: key, then value, in one block. */
struct mem_entry {
	size_t nkey;
	size_t nvalue;
	char bytes[];
};

struct mem_table {
	struct mem_entry **entries; /* sorted by key; owned */
	size_t n;
	size_t cap;
};

/* One write: what stood there before and what stands there now; NULL: no
 * entry. */
struct mem_change {
	unsigned table;
	struct mem_entry *before;
	struct mem_entry *now;
};

struct mem_tables {
	struct mem_table table[IDEM_TABLES_MAX];
	struct mem_change *changes; /* since the last keep or undo */
	size_t nchanges;
	size_t changes_cap;
};

extern const struct tables_verbs mem_tables_verbs; /* self: struct mem_tables */

void mem_tables_keep(struct mem_tables *t);
void mem_tables_undo(struct mem_tables *t);
void mem_tables_free(struct mem_tables *t);

struct mem_record {
	uint64_t number;
	struct idem_record r; /* r.answer is owned */
};

struct mem_store {
	struct idem_store *base;
	struct mem_record *records; /* ascending numbers; owned */
	size_t n;
	size_t cap;
	struct mem_tables tables;
	uint64_t max_bytes;
};

/* Index of the record, or m->n. */
size_t mem_find(const struct mem_store *m,
    const unsigned char id[IDEM_ID_BYTES]);
/* The record, unless it is absent or expired: NULL. */
struct idem_record *mem_standing(struct mem_store *m, const struct idem_op *op);
void mem_drop(struct mem_store *m, size_t at);
void mem_become_unknown(struct idem_record *r, int64_t now_ms, int64_t ttl_ms);
/* Verdict REPLAY, and the answer where the caller has a place for it. */
IDEM_MUST_CHECK enum idem_err
mem_replay(const struct idem_record *r, struct idem_op *op);

/*
 * What goes so that one more record fits beside all but op's own, as numbers.
 * IDEM_EFULL where nothing may go.
 */
struct mem_victims {
	uint64_t number[ROOM_DROPS_MAX];
	size_t n;
};
IDEM_MUST_CHECK enum idem_err mem_make_room(struct mem_store *m,
    const struct idem_op *op, struct mem_victims *gone);
void mem_drop_victims(struct mem_store *m, const struct mem_victims *v);

/* backend.submit; self: struct mem_store */
enum idem_err mem_submit(void *self, struct idem_op *op);

/*
 * Make room for one more element of size bytes behind the first n; *cap counts
 * elements.  The block may move.
 */
IDEM_MUST_CHECK enum idem_err
mem_grow(void **block, size_t n, size_t *cap, size_t size);

#endif
