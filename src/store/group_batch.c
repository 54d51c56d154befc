/*
 * group_batch.c - the leader's half of the group commit: a batch, from taking
 * what waits to the verdicts of all who were in it.
 */
#include <assert.h>
#include <string.h>

#include "store/failpoint.h"
#include "store/group_lead.h"

struct attempt {
	const struct group_own *own;
	bool alone;  /* with the leader's own request only */
	bool failed; /* at the commit itself: not to be done again */
};

struct idem_span
group_request(const struct group_shared *s, uint32_t i)
{
	size_t n = s->slot[i].nrequest;

	return (struct idem_span){ s->payload[i].request,
		n <= GROUP_REQUEST_MAX ? n : 0 };
}

static void
put_result(struct group_shared *s, uint32_t i, const struct idem_buf *result)
{
	assert(result->n <= GROUP_RESULT_MAX);
	s->slot[i].nresult = (uint32_t)result->n;
	if (result->n > 0)
		memcpy(s->payload[i].result, result->p, result->n);
}

/* One slot's request into the batch. */
static enum idem_err
run_slot(struct group *g, uint32_t i)
{
	struct group_shared *s = g->file.shared;
	struct idem_span request = group_request(s, i);
	enum idem_err err;

	idem_buf_reset(&g->scratch);
	if (s->slot[i].ncrashed >= GROUP_CRASHES_MAX) {
		g->work.failed(g->work.arg, IDEM_ESTORE, &g->scratch);
		err = IDEM_OK;
	} else {
		FAILPOINT("group-run");
		s->running = i + 1;
		FAILPOINT("group-running");
		err = g->work.run(g->work.arg, request, &g->scratch);
		s->running = 0;
		FAILPOINT("group-ran");
	}
	if (err == IDEM_OK && (err = idem_buf_err(&g->scratch)) == IDEM_OK)
		put_result(s, i, &g->scratch);
	return err;
}

static enum idem_err
run_all(struct group *g, const struct group_own *own)
{
	struct group_shared *s = g->file.shared;
	enum idem_err err = IDEM_OK;

	if (own != NULL) {
		idem_buf_reset(own->result);
		err = g->work.run(g->work.arg, own->request, own->result);
		if (err == IDEM_OK)
			err = idem_buf_err(own->result);
	}
	for (uint32_t i = 0; i < s->nlisted && err == IDEM_OK; i++)
		err = run_slot(g, s->listed[i].slot);
	return err;
}

/* Take slot i for the batch where it waits: from here on its owner cannot take
 * it back.  *taken is its word. */
static bool
take(struct group_shared *s, uint32_t i, uint32_t *taken)
{
	uint32_t w = s->slot[i].word;

	while (group_waits(w)) {
		*taken = WORD(WORD_NUMBER(w), GROUP_TAKEN);
		FAILPOINT("group-take");
		if (atomic_compare_exchange_strong(&s->slot[i].word, &w,
		    *taken)) {
			FAILPOINT("group-taken");
			return true;
		}
	}
	return false;
}

/* What waits and may be run here; alone: only what its own owner waits for. */
static void
list_waiting(struct group *g, bool alone)
{
	struct group_shared *s = g->file.shared;
	uint32_t w;

	s->nlisted = 0;
	for (uint32_t i = 0; i < s->nslots; i++) {
		bool me = i == g->file.me;

		if ((me || !alone) && take(s, i, &w) &&
		    (me || g->work.mine(g->work.arg, group_request(s, i))))
			s->listed[s->nlisted++] = (struct group_listed){ i, w };
		else
			group_put_back(&s->slot[i]); /* of an earlier attempt */
	}
}

static enum idem_err
mark(struct group *g, unsigned char batch[GROUP_BATCH_BYTES])
{
	struct group_shared *s = g->file.shared;

	s->counter++;
	memcpy(batch, &s->incarnation, 8);
	memcpy(batch + 8, &s->counter, 8);
	FAILPOINT("group-mark");
	return g->work.mark(g->work.arg, batch);
}

/* The intent, then the commit: after a crash in between the number in the store
 * tells which side of it the leader died on. */
static enum idem_err
commit(struct group *g, const unsigned char batch[GROUP_BATCH_BYTES])
{
	struct group_shared *s = g->file.shared;
	enum idem_err err;

	memcpy(s->batch, batch, sizeof s->batch);
	FAILPOINT("group-open");
	s->open = 1;
	FAILPOINT("group-opened");
	err = g->work.commit(g->work.arg);
	FAILPOINT("group-committed");
	if (err != IDEM_OK)
		s->open = 0; /* aborted: nothing happened */
	return err;
}

static enum idem_err
try_batch(struct group *g, struct attempt *a)
{
	unsigned char batch[GROUP_BATCH_BYTES];
	enum idem_err err;

	FAILPOINT("group-begin");
	if ((err = g->work.begin(g->work.arg)) != IDEM_OK) {
		a->alone = true; /* another may be able to */
		list_waiting(g, true);
		return err;
	}
	FAILPOINT("group-begun");
	list_waiting(g, a->alone);
	if ((err = run_all(g, a->own)) != IDEM_OK ||
	    (err = mark(g, batch)) != IDEM_OK) {
		g->work.abort(g->work.arg);
		FAILPOINT("group-aborted");
		return err;
	}
	FAILPOINT("group-marked");
	if ((err = commit(g, batch)) != IDEM_OK)
		a->failed = err != IDEM_EFULL;
	return err;
}

/* The verdict of a batch that cannot be: the same for all who were in it. */
static void
fail_all(struct group *g, enum idem_err err, const struct group_own *own)
{
	struct group_shared *s = g->file.shared;

	if (own != NULL) {
		idem_buf_reset(own->result);
		g->work.failed(g->work.arg, err, own->result);
	}
	for (uint32_t i = 0; i < s->nlisted; i++) {
		idem_buf_reset(&g->scratch);
		g->work.failed(g->work.arg, err, &g->scratch);
		put_result(s, s->listed[i].slot, &g->scratch);
	}
}

/*
 * What spoils a batch may be one request of it, or this process; so it is done
 * again with the leader's own request only, and the others lead for themselves.
 */
void
group_batch(struct group *g, const struct group_own *own)
{
	struct group_shared *s = g->file.shared;
	struct attempt a = { .own = own };
	enum idem_err err;

	while ((err = try_batch(g, &a)) != IDEM_OK) {
		if (err == IDEM_EFULL && g->work.grow(g->work.arg) == IDEM_OK)
			continue;
		if (a.alone || a.failed)
			break;
		a.alone = true;
	}
	if (err != IDEM_OK)
		fail_all(g, err, own);
	else {
		s->ncommits++;
		s->nrequests += s->nlisted + (own != NULL);
	}
	group_publish(g);
	FAILPOINT("group-close");
	s->open = 0;
	FAILPOINT("group-closed");
	group_leave(g);
}
