/*
 * wrap.c - one request, in order: key, body, scope, fingerprint, record, and
 * only then the handler.  Knows no FastCGI and no back end.
 */
#include "engine/ask.h"
#include "engine/take.h"
#include "engine/ways.h"

static void
begin(struct walk *w)
{
	struct idem_call *call = w->call;

	call->engine = w->e;
	if (call->instance.p == NULL) {
		call->who = idem_audience_of(call->req, call->policy->lang);
		call->instance = idem_request_raw_path(call->req);
	}
	call->canonical = IDEM_ABSENT;
	call->keyed = false;
	call->key_passed_over = false;
	call->outcome = IDEM_O_UNPROTECTED;
	call->replayed = false;
	call->has_id = false;
	idem_response_reset(call->res);
}

void
idem_wrap(struct idem_engine *e, struct idem_call *call)
{
	struct walk w = { .e = e, .call = call };

	begin(&w);
	if (!take_key(&w) || !take_body(&w) ||
	    (call->keyed && !take_identity(&w)))
		return;
	if (!call->keyed)
		way_unprotected(&w);
	else if (ask_look(&w)) {
		if (call->handler->work == NULL)
			way_inside(&w);
		else
			way_outside(&w);
	}
}
