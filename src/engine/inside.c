/*
 * inside.c - a handler that only touches the store: claim, effect and answer
 * are one transaction.
 */
#include "engine/apply.h"
#include "engine/ask.h"
#include "engine/claim.h"
#include "engine/keep.h"
#include "engine/note.h"
#include "engine/respond.h"
#include "engine/run.h"
#include "engine/ways.h"

/* What of the answer that prepare() gave instead of an input is kept. */
static enum idem_err
set_refusal(struct walk *w)
{
	const struct keep_rules rules = keep_rules_of(w);
	enum idem_err err;

	if (keep_effect(w->e, &rules, w->said, w->call->res) == IDEM_DONE) {
		if ((err = ask_answer(w)) != IDEM_OK)
			note_line(w, IDEM_ERROR, "the answer cannot be kept",
			    idem_strerror(err));
		return err;
	}
	/* The key may still be another's: ask, and change nothing. */
	ask_handler(w, APPLY_NOTHING);
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
		respond_verdict(w);
		return;
	}
	note_take_over(w);
	if (commits)
		respond_committed(w, outcome);
	else
		w->call->outcome = outcome;
}

void
way_inside(struct walk *w)
{
	bool commits;
	enum idem_err err = IDEM_OK;

	if (!ask_begin(w))
		return;
	note_other_scope(w);
	if ((commits = run_prepare(w)))
		ask_handler(w, w->call->handler->number);
	else
		err = set_refusal(w);
	if (err == IDEM_OK && !claim_key(w, IDEM_OP_ONCE, &err))
		return;
	if (err != IDEM_OK)
		respond_failed(w, err);
	else
		answer_once(w, commits);
}
