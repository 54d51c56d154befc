/*
 * group_lead.c - the leader's half of the group commit: batch, verdicts,
 * recovery, hand-off.
 *
 * tests/model/group_commit.pml is the model of what stands here; a part taken
 * away there has a counter-example, so take none away here.
 */
#include <assert.h>
#include <string.h>

#include "store/failpoint.h"
#include "store/group_lead.h"

bool
group_waits(uint32_t word, uint32_t listed)
{
	enum group_state state = WORD_STATE(word);

	return WORD_NUMBER(word) == WORD_NUMBER(listed) &&
	    (state == GROUP_PENDING || state == GROUP_LEAD ||
	    state == GROUP_TAKEN);
}

/* --- verdicts and hand-off ------------------------------------------------ */

/* The owner's next word is a release of all that the leader wrote before. */
static void
publish(struct group_slot *slot, uint32_t listed)
{
	uint32_t w = slot->word;

	while (group_waits(w, listed))
		if (atomic_compare_exchange_weak(&slot->word, &w,
		    WORD(WORD_NUMBER(w), GROUP_DONE)))
			break;
}

/*
 * Verdicts first, then wakes, and only then the intent goes, all before the
 * unlock: whoever comes after a leader that is killed in here does it again.
 */
static void
publish_all(struct group *g)
{
	struct group_shared *s = g->file.shared;

	for (uint32_t i = 0; i < s->nlisted; i++) {
		FAILPOINT("group-publish");
		publish(&s->slot[s->listed[i].slot], s->listed[i].word);
		FAILPOINT("group-published");
	}
	for (uint32_t i = 0; i < s->nlisted; i++)
		if (s->listed[i].slot != g->file.me) {
			(void)group_wake(&s->slot[s->listed[i].slot].word);
			FAILPOINT("group-woke");
		}
}

/*
 * Ask the next who waits to lead; whoever unlocks does, whatever he did.  A
 * word that changes when its owner is asked cannot be slept through.  One that
 * nobody slept on may be that of a process that is dead or gives up: the next
 * one is asked, too.
 */
static void
handoff(struct group *g)
{
	struct group_shared *s = g->file.shared;
	uint32_t n;

	atomic_thread_fence(memory_order_seq_cst);
	n = s->nslots;
	for (uint32_t i = 1; i < n; i++) {
		struct group_slot *slot = &s->slot[(g->file.me + i) % n];
		uint32_t w = slot->word;

		if (WORD_STATE(w) == GROUP_PENDING) {
			FAILPOINT("group-ask");
			if (!atomic_compare_exchange_strong(&slot->word, &w,
			    WORD(WORD_NUMBER(w), GROUP_LEAD)))
				continue; /* he leads, or another has him */
			FAILPOINT("group-asked");
		} else if (WORD_STATE(w) != GROUP_LEAD)
			continue;
		if (group_wake(&slot->word))
			return;
	}
}

void
group_leave(struct group *g)
{
	FAILPOINT("group-unlock");
	group_unlock(g->file.shared);
	FAILPOINT("group-unlocked");
	handoff(g);
	FAILPOINT("group-left");
}

/* --- recovery ------------------------------------------------------------- */

static void
put_back(struct group_slot *slot)
{
	uint32_t w = slot->word;

	while (WORD_STATE(w) == GROUP_TAKEN)
		if (atomic_compare_exchange_weak(&slot->word, &w,
		    WORD(WORD_NUMBER(w), GROUP_PENDING)))
			break;
}

/* A leader died between its intent and its last wake: find out whether its
 * batch is in the store, and finish what it began. */
static enum idem_err
close_intent(struct group *g)
{
	struct group_shared *s = g->file.shared;
	bool committed;
	enum idem_err err;

	s->nrecoveries++;
	if ((err = g->work.flush(g->work.arg)) != IDEM_OK)
		return err;
	FAILPOINT("group-flushed");
	if ((err = g->work.find(g->work.arg, s->batch, &committed)) != IDEM_OK)
		return err;
	FAILPOINT("group-found");
	if (committed) {
		s->nrecovered++;
		publish_all(g);
	}
	FAILPOINT("group-close");
	s->open = 0;
	FAILPOINT("group-closed");
	return IDEM_OK;
}

enum idem_err
group_recover(struct group *g)
{
	struct group_shared *s = g->file.shared;
	enum idem_err err;

	if (s->open != 0 && (err = close_intent(g)) != IDEM_OK)
		return err;
	if (s->running != 0) {
		s->slot[s->running - 1].ncrashed++;
		FAILPOINT("group-blamed");
		s->running = 0;
	}
	for (uint32_t i = 0; i < s->nslots; i++)
		if (WORD_STATE(s->slot[i].word) == GROUP_TAKEN) {
			FAILPOINT("group-put-back");
			put_back(&s->slot[i]);
		}
	return IDEM_OK;
}

/* --- a batch -------------------------------------------------------------- */

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

	while (group_waits(w, w)) {
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

		if ((alone && !me) || !take(s, i, &w))
			put_back(&s->slot[i]); /* of an earlier attempt */
		else if (!me && !g->work.mine(g->work.arg, group_request(s, i)))
			put_back(&s->slot[i]);
		else
			s->listed[s->nlisted++] = (struct group_listed){ i, w };
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
	publish_all(g);
	FAILPOINT("group-close");
	s->open = 0;
	FAILPOINT("group-closed");
	group_leave(g);
}

enum idem_err
group_take_lead(struct group *g, const struct group_own *own)
{
	uint32_t w;
	enum idem_err err = group_recover(g);

	w = g->file.shared->slot[g->file.me].word;
	if (err == IDEM_OK && (own != NULL || group_waits(w, w)))
		group_batch(g, own);
	else
		group_leave(g);
	return err;
}
