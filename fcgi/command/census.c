/*
 * census.c - the records of a store counted by state; it prints nothing.
 */
#include <string.h>

#include "command/census.h"

#define STEP_RECORDS 256

struct suspect {
	uint64_t number;
	unsigned char token[IDEM_TOKEN_BYTES];
};

struct walker {
	struct idem_store *store;
	int64_t now_ms;
	uint64_t *count;
	uint64_t last; /* number of the last record of this step */
	size_t nsuspects;
	struct suspect suspects[STEP_RECORDS];
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

static bool
visit(void *arg, uint64_t number, const struct idem_record *r)
{
	struct walker *w = arg;
	enum census_class class = class_of(w, r);

	w->last = number;
	if (class == CENSUS_RUNNING && !idem_store_alive(w->store, r->token)) {
		struct suspect *s = &w->suspects[w->nsuspects++];

		s->number = number;
		memcpy(s->token, r->token, sizeof s->token);
	} else {
		w->count[class]++;
	}
	return true;
}

static const struct suspect *
find(const struct walker *w, uint64_t number)
{
	for (size_t i = 0; i < w->nsuspects; i++)
		if (w->suspects[i].number == number)
			return &w->suspects[i];
	return NULL;
}

static bool
visit_suspect(void *arg, uint64_t number, const struct idem_record *r)
{
	struct walker *w = arg;
	const struct suspect *s = find(w, number);
	enum census_class class = class_of(w, r);

	if (s != NULL) {
		if (class == CENSUS_RUNNING &&
		    memcmp(s->token, r->token, sizeof s->token) == 0)
			class = CENSUS_ORPHANED;
		w->count[class]++;
	}
	return number < w->last;
}

/*
 * A worker stores its answer and then unlocks.  A record that a snapshot shows
 * as running, of a worker that was asked about later, may have been finished in
 * between: look at it once more.  Still running now, its worker is gone.
 */
static enum idem_err
judge_suspects(struct walker *w, uint64_t from)
{
	bool more;

	return w->nsuspects == 0 ? IDEM_OK : idem_store_walk(w->store, &from,
	    STEP_RECORDS, &more, visit_suspect, w);
}

enum idem_err
census_take(struct idem_store *s, int64_t now_ms,
    uint64_t count[CENSUS_NCLASSES])
{
	struct walker w = { .store = s, .now_ms = now_ms, .count = count };
	enum idem_err err = IDEM_OK;
	uint64_t from = 0;
	bool more = true;

	memset(count, 0, CENSUS_NCLASSES * sizeof count[0]);
	while (err == IDEM_OK && more) {
		uint64_t here = from;

		w.nsuspects = 0;
		err = idem_store_walk(s, &from, STEP_RECORDS, &more, visit, &w);
		if (err == IDEM_OK)
			err = judge_suspects(&w, here);
	}
	return err;
}
