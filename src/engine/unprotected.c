/*
 * unprotected.c - a handler whose request has no key: nothing is kept.
 */
#include "engine/ask.h"
#include "engine/respond.h"
#include "engine/run.h"
#include "engine/ways.h"

void
way_unprotected(struct walk *w)
{
	const struct idem_handler *handler = w->call->handler;
	enum idem_err err;

	if (!run_prepare(w) ||
	    (handler->commit != NULL && !ask_begin(w)) ||
	    (handler->work != NULL && !run_work(w)))
		return;
	ask_handler(w, handler->number);
	if ((err = ask_submit(w, IDEM_OP_APPLY)) != IDEM_OK)
		respond_failed(w, err);
	else
		respond_committed(w, IDEM_O_UNPROTECTED);
}
