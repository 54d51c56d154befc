/*
 * group.c - a member of the group commit: put the request into the slot, wait,
 * take the verdict; and how a slot is taken over.
 */
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "store/failpoint.h"
#include "store/group_lead.h"

static _Atomic uint32_t *
my_word(struct group *g)
{
	return &g->file.shared->slot[g->file.me].word;
}

/* Take the request back.  A leader that has it may still carry it out. */
static enum idem_err
give_up(struct group *g, enum idem_err err)
{
	_Atomic uint32_t *word = my_word(g);
	uint32_t w = *word;

	while (WORD_STATE(w) == GROUP_PENDING || WORD_STATE(w) == GROUP_LEAD) {
		FAILPOINT("group-give-up");
		if (!atomic_compare_exchange_strong(word, &w,
		    WORD(WORD_NUMBER(w), GROUP_IDLE)))
			continue;
		FAILPOINT("group-given-up");
		return err; /* asked to lead, awake: so the next one is, too */
	}
	g->in_doubt = WORD_STATE(w) != GROUP_DONE;
	return g->in_doubt ? err : IDEM_OK;
}

/* The word as it is once I have said that I heard that I shall lead. */
static bool
heard(_Atomic uint32_t *word, uint32_t *w)
{
	if (WORD_STATE(*w) != GROUP_LEAD)
		return true;
	FAILPOINT("group-hear");
	if (!atomic_compare_exchange_strong(word, w,
	    WORD(WORD_NUMBER(*w), GROUP_PENDING)))
		return false;
	*w = WORD(WORD_NUMBER(*w), GROUP_PENDING);
	FAILPOINT("group-heard");
	return true;
}

/* Recover; then a batch where my word or own still waits for one.  The mutex is
 * mine, and no more so afterwards. */
static enum idem_err
take_lead(struct group *g, const struct group_own *own)
{
	enum idem_err err = group_recover(g);
	uint32_t w = *my_word(g);

	if (err == IDEM_OK && (own != NULL || group_waits(w)))
		group_batch(g, own);
	else
		group_leave(g);
	return err;
}

/* The mutex is mine.  late: a sleep went by and nobody ended it. */
static enum idem_err
lead(struct group *g, bool late)
{
	uint32_t w = *my_word(g);

	FAILPOINT("group-locked");
	if (late && group_waits(w))
		g->file.shared->ntimeouts++;
	return take_lead(g, NULL);
}

/* Wait for the verdict on my word, or for the mutex, which makes me lead. */
static enum idem_err
await(struct group *g, int64_t wait_ms)
{
	_Atomic uint32_t *word = my_word(g);
	int64_t end = io_steady_ms() + wait_ms;
	bool late = false;
	enum idem_err err;
	uint32_t w;

	while (WORD_STATE(w = *word) != GROUP_DONE) {
		if (!heard(word, &w))
			continue;
		/* mine first, then the mutex: he who unlocks looks the other
		 * way round */
		atomic_thread_fence(memory_order_seq_cst);
		if (group_enter(g, 0)) {
			if ((err = lead(g, late)) != IDEM_OK)
				return give_up(g, err);
		} else if (io_steady_ms() >= end)
			return give_up(g, IDEM_EBUSY);
		else {
			FAILPOINT("group-sleep");
			late = !group_sleep(word, w, g->net_ms);
		}
	}
	return IDEM_OK;
}

/* A request that I gave up earlier must be out of the slot. */
static enum idem_err
ready(struct group *g)
{
	enum idem_err err;

	if (!g->in_doubt)
		return IDEM_OK;
	g->in_doubt = false;
	err = await(g, 0);
	return g->in_doubt ? err : IDEM_OK;
}

enum idem_err
group_lead(struct group *g, struct idem_span request, struct idem_buf *result)
{
	const struct group_own own = { request, result };
	enum idem_err err;

	if ((err = ready(g)) != IDEM_OK)
		return err;
	if (!group_enter(g, g->wait_ms))
		return IDEM_EBUSY;
	FAILPOINT("group-locked");
	if ((err = take_lead(g, &own)) != IDEM_OK)
		return err;
	return idem_buf_err(result);
}

/* Nothing is to fail once the request is out. */
static enum idem_err
make_room(struct idem_buf *result)
{
	idem_buf_reset(result);
	(void)idem_buf_room(result, result->max_bytes < GROUP_RESULT_MAX ?
	    result->max_bytes : GROUP_RESULT_MAX);
	return idem_buf_err(result);
}

static void
post(struct group *g, struct idem_span request)
{
	struct group_slot *slot = &g->file.shared->slot[g->file.me];

	FAILPOINT("group-write");
	if (request.n > 0)
		memcpy(g->file.shared->payload[g->file.me].request, request.p,
		    request.n);
	slot->nrequest = (uint32_t)request.n;
	slot->ncrashed = 0;
	FAILPOINT("group-written");
	slot->word = WORD(WORD_NUMBER(slot->word) + 1, GROUP_PENDING);
	FAILPOINT("group-pending");
}

static void
take_verdict(struct group *g, struct idem_buf *result)
{
	struct group_slot *slot = &g->file.shared->slot[g->file.me];

	FAILPOINT("group-verdict");
	idem_buf_put(result, g->file.shared->payload[g->file.me].result,
	    slot->nresult <= GROUP_RESULT_MAX ? slot->nresult : 0);
	slot->word = WORD(WORD_NUMBER(slot->word), GROUP_IDLE);
	FAILPOINT("group-idle");
}

enum idem_err
group_submit(struct group *g, struct idem_span request,
    struct idem_buf *result)
{
	enum idem_err err;

	if (request.n > GROUP_REQUEST_MAX)
		return group_lead(g, request, result);
	if ((err = ready(g)) != IDEM_OK ||
	    (err = make_room(result)) != IDEM_OK)
		return err;
	post(g, request);
	if ((err = await(g, g->wait_ms)) != IDEM_OK)
		return err;
	take_verdict(g, result);
	return idem_buf_err(result);
}

bool
group_in_doubt(const struct group *g)
{
	return g->in_doubt;
}

/*
 * The slot may have belonged to a process that died with a request pending,
 * perhaps the answer of finished work: it is carried out, then the number moves
 * on, so that no verdict of the old owner's can reach me.
 */
static enum idem_err
take_over(struct group *g)
{
	struct group_shared *s = g->file.shared;
	enum idem_err err;
	uint32_t w;

	for (;;) {
		if (!group_enter(g, g->wait_ms))
			return IDEM_EBUSY;
		FAILPOINT("group-take-over");
		if ((err = group_recover(g)) != IDEM_OK) {
			group_leave(g);
			return err;
		}
		w = *my_word(g);
		if (!group_waits(w) || !g->work.mine(g->work.arg,
		    group_request(s, g->file.me)))
			break;
		group_batch(g, NULL);
	}
	*my_word(g) = WORD(WORD_NUMBER(w) + 1, GROUP_IDLE);
	FAILPOINT("group-taken-over");
	group_leave(g);
	return IDEM_OK;
}

/* What is needed in any case, before the file. */
static enum idem_err
prepare(struct group *g)
{
	idem_buf_init(&g->scratch, GROUP_RESULT_MAX);
	(void)idem_buf_room(&g->scratch, GROUP_RESULT_MAX);
	if (idem_buf_err(&g->scratch) != IDEM_OK)
		return idem_buf_err(&g->scratch);
	return group_make_mutex(&g->between) ? IDEM_OK : IDEM_EREFUSED;
}

enum idem_err
group_open(const char *dir, const struct group_work *work, int64_t wait_ms,
    const struct idem_log *log, struct group **out)
{
	struct group *g = calloc(1, sizeof *g);
	enum idem_err err;

	if (g == NULL)
		return IDEM_ENOMEM;
	g->file.fd = -1;
	g->work = *work;
	g->wait_ms = wait_ms;
	g->net_ms = GROUP_NET_MS;
	if ((err = prepare(g)) == IDEM_EREFUSED)
		idem_log(log, IDEM_WARN, "%s/group.%d: no group commit: no "
		    "robust mutex here", dir, GROUP_LAYOUT);
	if (err != IDEM_OK || (err = group_file_open(dir, work, wait_ms, log,
	    &g->file)) != IDEM_OK)
		goto out;
	if ((err = take_over(g)) != IDEM_OK) {
		idem_log(log, IDEM_WARN, "%s/group.%d: no group commit: %s",
		    dir, GROUP_LAYOUT, err == IDEM_EBUSY ?
		    "a process stands still while it writes" :
		    idem_strerror(err));
		goto out;
	}
	*out = g;
	return IDEM_OK;
out:
	group_close(&g);
	return err;
}

void
group_close(struct group **g)
{
	if (*g == NULL)
		return;
	group_file_close(&(*g)->file);
	idem_buf_free(&(*g)->scratch);
	free(*g);
	*g = NULL;
}

struct group_counts
group_counts(const struct group *g)
{
	const struct group_shared *s = g->file.shared;

	return (struct group_counts){ s->ncommits, s->nrequests, s->ntimeouts,
		s->nrecoveries, s->nrecovered };
}
