/*
 * respond.c - the engine's own answers: a problem, a replay, or what commit()
 * left.  Asks the store nothing.
 */
#include <assert.h>

#include "engine/answer.h"
#include "engine/note.h"
#include "engine/respond.h"

bool
respond_problem(struct walk *w, enum idem_problem problem,
    enum idem_outcome outcome)
{
	idem_call_problem(w->call, problem);
	w->call->outcome = outcome;
	return false;
}

bool
respond_cannot(struct walk *w, enum idem_err err)
{
	note_line(w, IDEM_ERROR, "refused before the store was asked",
	    idem_strerror(err));
	return respond_problem(w, IDEM_P_STORE_UNAVAILABLE, IDEM_O_REFUSED);
}

bool
respond_failed(struct walk *w, enum idem_err err)
{
	/* An answer that a commit() made and that is none. */
	if (err == IDEM_ESYNTAX || err == IDEM_ETOOBIG)
		return respond_problem(w, IDEM_P_INTERNAL, w->call->keyed ?
		    IDEM_O_RELEASED : IDEM_O_UNPROTECTED);
	if (err == IDEM_EFULL)
		return respond_problem(w, IDEM_P_STORE_FULL, IDEM_O_FULL);
	return respond_problem(w, IDEM_P_STORE_UNAVAILABLE, IDEM_O_DOWN);
}

static void
replay(struct walk *w)
{
	const struct answer_reader reader = {
		.person = w->call->who.person,
		.keep_headers = w->call->policy->keep_headers,
		.origin = w->call->req->var[IDEM_VAR_ORIGIN],
	};
	enum idem_err err = answer_replay(idem_buf_span(&w->e->answer),
	    &reader, w->call->res);

	if (err != IDEM_OK) {
		note_line(w, IDEM_ERROR, "the stored answer cannot be given "
		    "back", idem_strerror(err));
		respond_problem(w, IDEM_P_STORE_UNAVAILABLE, IDEM_O_DOWN);
		return;
	}
	w->call->replayed = true;
	w->call->outcome = IDEM_O_REPLAYED;
}

void
respond_verdict(struct walk *w)
{
	switch (w->op.verdict) {
	case IDEM_REPLAY:
		replay(w);
		return;
	case IDEM_MISMATCH:
		respond_problem(w, IDEM_P_KEY_REUSED, IDEM_O_MISMATCH);
		return;
	case IDEM_RUNNING:
		respond_problem(w, IDEM_P_IN_PROGRESS, IDEM_O_RUNNING);
		return;
	case IDEM_ORPHAN:
	case IDEM_UNKNOWN:
		respond_problem(w, IDEM_P_OUTCOME_UNKNOWN, IDEM_O_UNKNOWN);
		return;
	case IDEM_ABSENT_KEY:
	case IDEM_CLAIMED:
	case IDEM_STORED:
	case IDEM_RELEASED:
	case IDEM_HELD:
	case IDEM_LOST:
		break;
	}
	assert(false && "a verdict that a claim does not give");
}

void
respond_committed(struct walk *w, enum idem_outcome outcome)
{
	enum idem_err err = answer_first(idem_buf_span(&w->e->answer),
	    w->call->res);

	w->call->outcome = outcome;
	if (err == IDEM_OK)
		return;
	note_line(w, IDEM_ERROR, "the first answer cannot be given",
	    idem_strerror(err));
	respond_problem(w, IDEM_P_INTERNAL, IDEM_O_LOST);
}
