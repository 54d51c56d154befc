/*
 * claim.c - take the key; where its first request still runs, wait for the end
 * of that instead of a 409.  Knows no clock.
 */
#include "engine/ask.h"
#include "engine/claim.h"
#include "request/prefer.h"

/* Of a double click on a plain form the browser shows the answer to the second
 * request.  Below the 40 s after which mod_fcgid gives a request up. */
#define WAIT_OF_OTHERS_MS 25000

static int64_t
least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* The client may ask for less, and for more up to IDEM_MAX_WAIT. */
static int64_t
budget_ms(const struct walk *w)
{
	const struct idem_policy *p = w->call->policy;
	int64_t usual_ms = p->wait_ms >= 0 ? p->wait_ms :
	    w->other ? WAIT_OF_OTHERS_MS : 0, wished_ms;

	if (!prefer_wait_ms(w->call->req->var[IDEM_VAR_PREFER], &wished_ms))
		return usual_ms;
	if (wished_ms <= usual_ms || p->max_wait_ms <= usual_ms)
		return least(wished_ms, usual_ms);
	return least(wished_ms, p->max_wait_ms);
}

bool
claim_key(struct walk *w, enum idem_op_kind kind, enum idem_err *err)
{
	const struct idem_call *call = w->call;
	int64_t left_ms = budget_ms(w);

	for (;;) {
		/* where the look saw that it runs, a claim would see no more */
		*err = w->op.verdict == IDEM_RUNNING ? IDEM_OK :
		    ask_submit(w, kind);
		if (*err != IDEM_OK || w->op.verdict != IDEM_RUNNING ||
		    left_ms <= 0 || !idem_store_wait(w->e->store, w->op.id,
		    &left_ms, call->stopping, call->stopping_arg))
			return true;
		if (!ask_look(w))
			return false;
	}
}
