/*
 * outside.c - a handler whose work lies outside the store: the claim is one
 * transaction, effect and answer are a second one.
 */
#include <assert.h>

#include "engine/ask.h"
#include "engine/claim.h"
#include "engine/keep.h"
#include "engine/note.h"
#include "engine/respond.h"
#include "engine/run.h"
#include "engine/ways.h"

#define END_TRIES 2

static bool
claim(struct walk *w)
{
	enum idem_err err;

	ask_handler(w, 0);
	if (!claim_key(w, IDEM_OP_CLAIM, &err))
		return false;
	if (err != IDEM_OK)
		return respond_failed(w, err);
	if (w->op.verdict != IDEM_CLAIMED) {
		respond_verdict(w);
		return false;
	}
	note_take_over(w);
	return true;
}

/* The client has its answer, the log this line; nobody is told that the key is
 * free: after idem_store_leave() the record is an orphan at the latest. */
static void
lose(struct walk *w, const char *why)
{
	w->call->outcome = IDEM_O_LOST;
	note_line(w, IDEM_ERROR, "how the work ended could not be stored, "
	    "resolve the key by hand", why);
}

/* Somebody resolved the record while its worker was at it. */
static void
lose_to_another(struct walk *w)
{
	w->call->outcome = IDEM_O_LOST;
	note_line(w, IDEM_ERROR, "how the work ended was not stored: the "
	    "record is no longer this request's", NULL);
}

static void
try_to_hold(struct walk *w)
{
	enum idem_err err;

	ask_handler(w, 0);
	if ((err = ask_submit(w, IDEM_OP_HOLD)) != IDEM_OK)
		note_line(w, IDEM_ERROR, "left running without a worker",
		    idem_strerror(err));
}

/*
 * End the record as kind by the handler of this number; 0: by none, and what is
 * finished then has its answer in *res.  The work is done, so an allocation
 * that failed is not the end of it: once more.
 */
static enum idem_err
try_to_end(struct walk *w, enum idem_op_kind kind, uint16_t handler)
{
	enum idem_err err = IDEM_ENOMEM;

	for (int i = 0; i < END_TRIES && err == IDEM_ENOMEM; i++) {
		err = IDEM_OK;
		if (kind == IDEM_OP_FINISH && handler == 0)
			err = ask_answer(w);
		else
			ask_handler(w, handler);
		if (err == IDEM_OK)
			err = ask_submit(w, kind);
	}
	return err;
}

static void
end(struct walk *w, enum idem_op_kind kind, enum idem_outcome outcome)
{
	enum idem_err err = try_to_end(w, kind, 0);

	if (err != IDEM_OK) {
		lose(w, idem_strerror(err));
		try_to_hold(w);
	} else if (w->op.verdict == IDEM_LOST) {
		lose_to_another(w);
	} else {
		w->call->outcome = outcome;
	}
}

static void
end_by_effect(struct walk *w)
{
	const struct keep_rules rules = keep_rules_of(w);

	switch (keep_effect(w->e, &rules, w->said, w->call->res)) {
	case IDEM_DONE:
		end(w, IDEM_OP_FINISH, IDEM_O_CREATED);
		return;
	case IDEM_NONE:
		end(w, IDEM_OP_RELEASE, IDEM_O_RELEASED);
		return;
	case IDEM_HOLD:
		end(w, IDEM_OP_HOLD, IDEM_O_HELD);
		return;
	case IDEM_BY_STATUS:
		break;
	}
	assert(false && "an effect was decided");
}

/*
 * commit() and the record were one transaction, and it failed: nothing of it
 * happened.  Work that may be repeated frees its key; any other may have left
 * its mark in the world.
 */
static void
commit_failed(struct walk *w, enum idem_err err)
{
	respond_failed(w, err);
	ask_handler(w, 0);
	if (w->op.retry && ask_submit(w, IDEM_OP_RELEASE) == IDEM_OK)
		return;
	lose(w, idem_strerror(err));
	if (!w->op.retry)
		try_to_hold(w);
}

static void
end_by_commit(struct walk *w)
{
	enum idem_err err = try_to_end(w, IDEM_OP_FINISH,
	    w->call->handler->number);

	if (err != IDEM_OK) {
		commit_failed(w, err);
	} else if (w->op.verdict == IDEM_LOST) {
		respond_failed(w, IDEM_ESTORE);
		lose_to_another(w);
	} else {
		respond_committed(w, w->op.verdict == IDEM_STORED ?
		    IDEM_O_CREATED : w->op.verdict == IDEM_RELEASED ?
		    IDEM_O_RELEASED : IDEM_O_HELD);
	}
}

void
way_outside(struct walk *w)
{
	if (!ask_begin(w))
		return;
	note_other_scope(w);
	if (!claim(w))
		return;
	if (run_prepare(w) && run_work(w))
		end_by_commit(w);
	else
		end_by_effect(w);
	idem_store_leave(w->e->store, w->op.token);
}
