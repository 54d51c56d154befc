/*
 * census.c - the records of a store by state; it prints nothing.
 */
#include <string.h>

#include "command/census.h"
#include "engine/answer.h"

struct walker {
	struct idem_store *store;
	int64_t now_ms;
	struct census *c;
	size_t nsuspects;
	bool suspect[CENSUS_STEP]; /* row i: its worker seems gone */
};

static enum census_class
class_of(const struct walker *w, const struct idem_record *r)
{
	bool due = r != NULL && r->expires_ms <= w->now_ms;

	if (r == NULL)
		return CENSUS_DAMAGED;
	switch (r->state) {
	case IDEM_STATE_RUNNING:
		return CENSUS_RUNNING;
	case IDEM_STATE_DONE:
		return due ? CENSUS_EXPIRED : CENSUS_DONE;
	case IDEM_STATE_UNKNOWN:
		return due ? CENSUS_EXPIRED : CENSUS_UNKNOWN;
	}
	return CENSUS_DAMAGED;
}

static void
fill(const struct walker *w, struct census_row *row,
    const struct idem_record *r)
{
	struct answer_parts parts;

	memset(&row->r, 0, sizeof row->r);
	row->status = 0;
	row->class = class_of(w, r);
	if (r == NULL)
		return;
	if (r->state == IDEM_STATE_DONE &&
	    answer_open(r->answer, &parts) == IDEM_OK)
		row->status = parts.status;
	row->r = *r;
	row->r.answer = IDEM_ABSENT; /* borrowed: it ends with the walk */
}

static bool
visit(void *arg, uint64_t number, const struct idem_record *r)
{
	struct walker *w = arg;
	size_t i = w->c->n++;
	struct census_row *row = &w->c->rows[i];

	row->number = number;
	fill(w, row, r);
	w->suspect[i] = row->class == CENSUS_RUNNING &&
	    !idem_store_alive(w->store, r->token);
	w->nsuspects += w->suspect[i];
	return true;
}

static bool
visit_again(void *arg, uint64_t number, const struct idem_record *r)
{
	struct walker *w = arg;
	size_t i = 0;

	while (i < w->c->n && w->c->rows[i].number != number)
		i++;
	if (i < w->c->n && w->suspect[i]) {
		w->suspect[i] = false;
		fill(w, &w->c->rows[i], r);
		if (w->c->rows[i].class == CENSUS_RUNNING)
			w->c->rows[i].class = CENSUS_ORPHANED;
	}
	return number < w->c->from;
}

/*
 * A worker stores its answer and then unlocks.  A record that a snapshot shows
 * as running, of a worker that was asked about later, may have been finished in
 * between: look at it once more.  Still running now, its worker is gone; not
 * there any more, it is no row.
 */
static enum idem_err
judge_suspects(struct walker *w, uint64_t from)
{
	struct census *c = w->c;
	enum idem_err err;
	size_t n = 0;
	bool more;

	err = idem_store_walk(w->store, &from, CENSUS_STEP, &more, visit_again,
	    w);
	for (size_t i = 0; i < c->n; i++)
		if (!w->suspect[i])
			c->rows[n++] = c->rows[i];
	c->n = n;
	return err;
}

enum idem_err
census_step(struct idem_store *s, int64_t now_ms, struct census *c)
{
	struct walker w = { .store = s, .now_ms = now_ms, .c = c };
	uint64_t here = c->from;
	enum idem_err err;

	c->n = 0;
	err = idem_store_walk(s, &c->from, CENSUS_STEP, &c->more, visit, &w);
	return err != IDEM_OK || w.nsuspects == 0 ? err :
	    judge_suspects(&w, here);
}

enum idem_err
census_take(struct idem_store *s, int64_t now_ms,
    uint64_t count[CENSUS_NCLASSES])
{
	struct census c = { .more = true };
	enum idem_err err = IDEM_OK;

	memset(count, 0, CENSUS_NCLASSES * sizeof count[0]);
	while (err == IDEM_OK && c.more) {
		err = census_step(s, now_ms, &c);
		for (size_t i = 0; err == IDEM_OK && i < c.n; i++)
			count[c.rows[i].class]++;
	}
	return err;
}
