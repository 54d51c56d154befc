/*
 * once.c - a handler that only touches the store: claim, effect and answer are
 * one transaction; and the same without a key.
 */
#include "engine/walk.h"

/* What of the answer that prepare() gave instead of an input is kept. */
static enum idem_err
set_refusal(struct walk *w)
{
	const struct walk_judge judge = walk_judge(w);
	enum idem_err err;

	if (walk_effect(w->e, &judge, w->said, w->call->res) == IDEM_DONE) {
		if ((err = walk_set_answer(w)) != IDEM_OK)
			walk_log(w, IDEM_ERROR, "the answer cannot be kept",
			    idem_strerror(err));
		return err;
	}
	/* The key may still be another's: ask, and change nothing. */
	walk_set_apply(w, WALK_APPLY_NOTHING);
	return IDEM_OK;
}

static void
answer_once(struct walk *w, bool commits)
{
	enum idem_outcome outcome = IDEM_O_CREATED;

	if (w->op.verdict == IDEM_RELEASED)
		outcome = IDEM_O_RELEASED;
	else if (w->op.verdict == IDEM_HELD)
		outcome = IDEM_O_HELD;
	else if (w->op.verdict != IDEM_STORED) {
		walk_answer_other(w);
		return;
	}
	walk_note_take_over(w);
	if (commits)
		walk_answer_from_commit(w, outcome);
	else
		w->call->outcome = outcome;
}

void
walk_once(struct walk *w)
{
	bool commits;
	enum idem_err err = IDEM_OK;

	if (!walk_draw(w))
		return;
	walk_note_scope(w);
	if ((commits = walk_prepare(w)))
		walk_set_apply(w, w->call->handler->number);
	else
		err = set_refusal(w);
	if (err == IDEM_OK && !walk_claim(w, IDEM_OP_ONCE, &err))
		return;
	if (err != IDEM_OK)
		walk_failed(w, err);
	else
		answer_once(w, commits);
}

void
walk_unprotected(struct walk *w)
{
	const struct idem_handler *handler = w->call->handler;
	enum idem_err err;

	if (!walk_prepare(w) ||
	    (handler->commit != NULL && !walk_draw(w)) ||
	    (handler->work != NULL && !walk_work(w)))
		return;
	walk_set_apply(w, handler->number);
	if ((err = walk_submit(w, IDEM_OP_APPLY)) != IDEM_OK)
		walk_failed(w, err);
	else
		walk_answer_from_commit(w, IDEM_O_UNPROTECTED);
}
