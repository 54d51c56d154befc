/*
 * call.c - what a handler may ask of the request that it serves.
 */
#include "idem/wrap.h"

void
idem_call_problem(struct idem_call *call, enum idem_problem problem)
{
	struct idem_problem_note note = {
		.base = call->policy->problem_base,
		.instance = call->instance,
		.rules = call->rules,
	};

	idem_problem_write(call->res, problem, call->who, &note);
}

enum idem_err
idem_call_json(struct idem_call *call, struct idem_span *out, size_t *at)
{
	struct idem_fingerprinter *fp = &call->engine->fp;
	struct idem_span body = call->req->body;
	enum idem_err err;

	if (call->canonical.p == NULL) {
		idem_buf_reset(&fp->text);
		err = idem_json_canonical(&fp->json,
		    body.p == NULL ? IDEM_LIT("") : body, &fp->text, at);
		if (err != IDEM_OK)
			return err;
		call->canonical = idem_buf_span(&fp->text);
	}
	*out = call->canonical;
	return IDEM_OK;
}
