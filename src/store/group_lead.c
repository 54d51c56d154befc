/*
 * group_lead.c - the leader's half of the group commit around a batch:
 * verdicts, hand-off, recovery.
 */
#include "store/failpoint.h"
#include "store/group_lead.h"

bool
group_waits(uint32_t word)
{
	enum group_state state = WORD_STATE(word);

	return state == GROUP_PENDING || state == GROUP_LEAD ||
	    state == GROUP_TAKEN;
}

bool
group_enter(struct group *g, int64_t wait_ms)
{
	if (!group_lock(g->file.shared, wait_ms))
		return false;
	(void)pthread_mutex_lock(&g->between); /* nobody else's: free */
	return true;
}

/* --- verdicts and hand-off ------------------------------------------------ */

/*
 * Verdicts first, then wakes, and only then the intent goes, all before the
 * unlock: whoever comes after a leader that is killed in here does it again.
 */
void
group_publish(struct group *g)
{
	struct group_shared *s = g->file.shared;

	for (uint32_t i = 0; i < s->nlisted; i++) {
		_Atomic uint32_t *word = &s->slot[s->listed[i].slot].word;

		FAILPOINT("group-publish");
		/* only a leader changes a word that is taken */
		if (*word == s->listed[i].word)
			*word = WORD(WORD_NUMBER(s->listed[i].word),
			    GROUP_DONE);
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
	(void)pthread_mutex_unlock(&g->between); /* held: cannot fail */
	group_unlock(g->file.shared);
	FAILPOINT("group-unlocked");
	handoff(g);
	FAILPOINT("group-left");
}

/* --- recovery ------------------------------------------------------------- */

void
group_put_back(struct group_slot *slot)
{
	uint32_t w = slot->word;

	if (WORD_STATE(w) != GROUP_TAKEN)
		return;
	FAILPOINT("group-put-back");
	slot->word = WORD(WORD_NUMBER(w), GROUP_PENDING);
	FAILPOINT("group-back");
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
		group_publish(g);
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
		group_put_back(&s->slot[i]);
	return IDEM_OK;
}
