/*
 * apply.c - a handler inside a write transaction.  Knows nothing of the request
 * that the operation came from but what travels in it.
 */
#include "engine/answer.h"
#include "engine/apply.h"
#include "engine/keep.h"

/* What a route's policy says of the answer travels in the operation. */
#define FLAG_KEEP_5XX (UINT32_C(1) << 31)
#define FLAG_OTHER (UINT32_C(1) << 30)
#define MAX_RESPONSE_MASK (FLAG_OTHER - 1)

uint32_t
apply_flags(const struct walk *w)
{
	const struct idem_policy *p = w->call->policy;
	uint32_t max = p->max_response_bytes > MAX_RESPONSE_MASK ?
	    MAX_RESPONSE_MASK : (uint32_t)p->max_response_bytes;

	return max | (p->keep_5xx ? FLAG_KEEP_5XX : 0) |
	    (w->other ? FLAG_OTHER : 0);
}

/* IDEM_KEEP and IDEM_KEEP_HEADERS are the process's own. */
static enum idem_effect
effect_of(struct idem_engine *e, const struct idem_op *op,
    enum idem_effect said, const struct idem_response *res)
{
	const struct keep_rules rules = { e->policy->keep,
		(op->apply_flags & FLAG_KEEP_5XX) != 0,
		(op->apply_flags & FLAG_OTHER) != 0 };

	return keep_effect(e, &rules, said, res);
}

static const struct idem_handler *
find_handler(const struct idem_engine *e, uint16_t number)
{
	for (size_t i = 0; i < e->nhandlers; i++)
		if (e->handlers[i]->number == number)
			return e->handlers[i];
	return NULL;
}

enum idem_err
idem_engine_apply(void *arg, struct idem_tables *t, const struct idem_op *op,
    struct idem_buf *answer, struct idem_applied *out)
{
	struct idem_engine *e = arg;
	const struct idem_handler *handler = find_handler(e, op->apply);
	struct idem_response *res = &e->scratch;
	enum idem_effect said;

	*out = (struct idem_applied){ .effect = IDEM_NONE };
	if (op->apply == APPLY_NOTHING)
		return IDEM_OK;
	if (handler == NULL || handler->commit == NULL) {
		idem_log(e->log, IDEM_ERROR, "no handler number %u here: "
		    "another version of the program asks", op->apply);
		return IDEM_EREFUSED;
	}
	idem_response_reset(res);
	said = handler->commit(e->app, t, op, res);
	out->effect = effect_of(e, op, said, res);
	out->undo = out->effect == IDEM_DONE && res->status >= 500;
	return answer_encode(res, &(struct answer_rules){
	    .keep_headers = e->policy->keep_headers,
	    .max_body_bytes = op->apply_flags & MAX_RESPONSE_MASK },
	    answer, &out->kept_bytes);
}
