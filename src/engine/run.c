/*
 * run.c - call the handler's prepare() and work(), and check what they made.
 * Knows no record.
 */
#include <assert.h>

#include "engine/answer.h"
#include "engine/note.h"
#include "engine/run.h"

/* What the handler wrote becomes the answer, or 500 where it is none. */
static bool
check_answer(struct walk *w)
{
	enum idem_err err;

	answer_drop_own_fields(w->call->res);
	if ((err = idem_response_err(w->call->res)) == IDEM_OK)
		return true;
	note_line(w, IDEM_ERROR, "the handler's answer cannot be given",
	    idem_strerror(err));
	idem_call_problem(w->call, IDEM_P_INTERNAL);
	return false;
}

bool
run_prepare(struct walk *w)
{
	const struct idem_handler *handler = w->call->handler;
	struct idem_buf *input = &w->e->input;
	enum idem_err err;

	w->said = IDEM_BY_STATUS;
	idem_buf_reset(input);
	if (handler->prepare == NULL ||
	    handler->prepare(w->e->app, w->call, input, w->call->res)) {
		assert(handler->work != NULL || handler->commit != NULL);
		if ((err = idem_buf_err(input)) == IDEM_OK)
			return true;
		note_line(w, IDEM_ERROR, "the handler's input cannot be made",
		    idem_strerror(err));
		idem_call_problem(w->call, IDEM_P_INTERNAL);
		w->said = IDEM_NONE;
	} else if (!check_answer(w)) {
		w->said = IDEM_NONE;
	}
	return false;
}

bool
run_work(struct walk *w)
{
	const struct idem_handler *handler = w->call->handler;

	w->said = handler->work(w->e->app, w->call, &w->e->input,
	    w->call->res);
	if (handler->commit != NULL &&
	    (w->said == IDEM_DONE || w->said == IDEM_BY_STATUS))
		return true;
	if (!check_answer(w) && w->said != IDEM_NONE)
		w->said = IDEM_HOLD; /* done, and no answer says what */
	return false;
}
