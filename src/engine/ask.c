/*
 * ask.c - the store is asked: an operation is filled in and carried out.  Calls
 * no handler.
 */
#include "engine/answer.h"
#include "engine/apply.h"
#include "engine/ask.h"
#include "engine/respond.h"

bool
ask_look(struct walk *w)
{
	enum idem_err err;

	w->op.recipe = IDEM_RECIPE;
	w->op.answer = &w->e->answer;
	w->op.now_ms = w->e->now_ms(w->e->arg);
	if (w->e->store == NULL)
		return respond_failed(w, IDEM_ESTORE);
	if ((err = idem_store_look(w->e->store, &w->op)) != IDEM_OK)
		return respond_failed(w, err);
	if (w->op.verdict == IDEM_ABSENT_KEY || w->op.verdict == IDEM_RUNNING)
		return true;
	respond_verdict(w);
	return false;
}

bool
ask_begin(struct walk *w)
{
	const struct idem_policy *p = w->call->policy;
	struct idem_op *op = &w->op;

	if (w->e->store == NULL)
		return respond_failed(w, IDEM_ESTORE);
	if (w->e->random(w->e->arg, op->token, sizeof op->token) != IDEM_OK ||
	    w->e->random(w->e->arg, op->random, sizeof op->random) != IDEM_OK)
		return respond_problem(w, IDEM_P_STORE_UNAVAILABLE,
		    IDEM_O_REFUSED);
	op->apply_flags = apply_flags(w);
	op->retry = w->call->handler->retry || p->retry_unknown;
	op->evict = p->evict;
	op->ttl_ms = p->ttl_ms;
	op->unknown_ttl_ms = p->unknown_ttl_ms;
	op->min_keep_ms = p->min_keep_ms;
	op->max_keys = p->max_keys;
	op->answer = &w->e->answer;
	return true;
}

void
ask_handler(struct walk *w, uint16_t number)
{
	w->op.apply = number;
	w->op.kept_bytes = 0;
	w->op.input = number == 0 ? IDEM_ABSENT : idem_buf_span(&w->e->input);
}

enum idem_err
ask_answer(struct walk *w)
{
	const struct idem_policy *policy = w->call->policy;
	const struct answer_rules rules = {
		.keep_headers = policy->keep_headers,
		.max_body_bytes = policy->max_response_bytes,
		.keep_cors = w->call->keep_cors,
		.origin = w->call->req->var[IDEM_VAR_ORIGIN],
	};
	struct idem_buf *input = &w->e->input;
	enum idem_err err;

	ask_handler(w, 0);
	idem_buf_reset(input);
	err = answer_encode(w->call->res, &rules, input, &w->op.kept_bytes);
	w->op.input = idem_buf_span(input);
	return err;
}

enum idem_err
ask_submit(struct walk *w, enum idem_op_kind kind)
{
	w->op.kind = kind;
	w->op.now_ms = w->e->now_ms(w->e->arg);
	return idem_store_submit(w->e->store, &w->op);
}
