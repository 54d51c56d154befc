/*
 * memory_records.c - the records in memory: finding, dropping, and what goes
 * when they are too many.
 */
#include <stdlib.h>
#include <string.h>

#include "store/memory.h"

static bool
same(const unsigned char *a, const unsigned char *b, size_t n)
{
	return memcmp(a, b, n) == 0;
}

size_t
mem_find(const struct mem_store *m, const unsigned char id[IDEM_ID_BYTES])
{
	size_t i = 0;

	while (i < m->n && !same(m->records[i].r.id, id, IDEM_ID_BYTES))
		i++;
	return i;
}

struct idem_record *
mem_standing(struct mem_store *m, const struct idem_op *op)
{
	size_t at = mem_find(m, op->id);

	if (at == m->n || record_expired(&m->records[at].r, op->now_ms))
		return NULL;
	return &m->records[at].r;
}

void
mem_drop(struct mem_store *m, size_t at)
{
	free((void *)m->records[at].r.answer.p);
	m->n--;
	memmove(&m->records[at], &m->records[at + 1],
	    (m->n - at) * sizeof *m->records);
}

void
mem_become_unknown(struct idem_record *r, int64_t now_ms, int64_t ttl_ms)
{
	r->state = IDEM_STATE_UNKNOWN;
	r->stored_ms = now_ms;
	r->expires_ms = store_expiry(now_ms, ttl_ms);
}

enum idem_err
mem_replay(const struct idem_record *r, struct idem_op *op)
{
	op->verdict = IDEM_REPLAY;
	if (op->answer == NULL)
		return IDEM_OK;
	idem_buf_puts(op->answer, r->answer);
	return idem_buf_err(op->answer);
}

static void
add_victim(struct mem_victims *v, uint64_t number)
{
	if (v->n < ROOM_DROPS_MAX)
		v->number[v->n++] = number;
}

/* From the oldest on: which records are expired, and which might be evicted. */
static void
find_victims(const struct mem_store *m, const struct idem_op *op,
    struct mem_victims *gone, struct mem_victims *old,
    struct store_full *full)
{
	size_t looked = 0;

	for (size_t i = 0; i < m->n && looked < ROOM_LOOKED_AT; i++) {
		const struct idem_record *r = &m->records[i].r;

		if (same(r->id, op->id, IDEM_ID_BYTES))
			continue; /* it is being replaced */
		full->nlooked++;
		full->nheld += r->state == IDEM_STATE_UNKNOWN;
		if (record_expired(r, op->now_ms))
			add_victim(gone, m->records[i].number);
		else if (r->state != IDEM_STATE_DONE)
			continue;
		else if (op->now_ms - r->stored_ms >= op->min_keep_ms)
			add_victim(old, m->records[i].number);
		looked++;
		if (gone->n == ROOM_DROPS_MAX)
			break;
	}
}

enum idem_err
mem_make_room(struct mem_store *m, const struct idem_op *op,
    struct mem_victims *gone)
{
	size_t others = m->n - (mem_find(m, op->id) < m->n ? 1 : 0);
	struct mem_victims old = { .n = 0 };
	struct store_full full = { .name = "IDEM_MAX_KEYS",
		.limit = op->max_keys, .nrecords = m->n };
	size_t want, nexpired;

	if (others < op->max_keys)
		return IDEM_OK;
	want = others - (size_t)op->max_keys + 1;
	find_victims(m, op, gone, &old, &full);
	nexpired = gone->n;
	for (size_t i = 0; op->evict && i < old.n && gone->n < want; i++)
		add_victim(gone, old.number[i]);
	if (gone->n > 0 && gone->n == nexpired)
		return IDEM_OK;
	full.evicts = gone->n > 0;
	store_tell_full(m->base, op->now_ms, &full);
	return gone->n > 0 ? IDEM_OK : IDEM_EFULL;
}

void
mem_drop_victims(struct mem_store *m, const struct mem_victims *v)
{
	for (size_t i = 0; i < v->n; i++)
		for (size_t at = 0; at < m->n; at++)
			if (m->records[at].number == v->number[i]) {
				mem_drop(m, at);
				break;
			}
}
