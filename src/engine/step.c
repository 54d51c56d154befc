/*
 * step.c - the small steps of carrying a request out: telling the log, calling
 * its handler, filling in an operation.  Decides nothing about a record.
 */
#include <assert.h>

#include "base/bytes.h"
#include "base/text.h"
#include "engine/answer.h"
#include "engine/walk.h"

#define ID_SHOWN_BYTES 4 /* of the record's name, in a log line */

void
walk_log(const struct walk *w, enum idem_level level, const char *what,
    const char *why)
{
	char id[2 * ID_SHOWN_BYTES];

	hex_lower(w->op.id, ID_SHOWN_BYTES, id);
	idem_log(w->e->log, level, "request=%s id=%.*s: %s%s%s",
	    w->call->request_id, (int)sizeof id, id, what,
	    why == NULL ? "" : ": ", why == NULL ? "" : why);
}

/* What the handler wrote becomes the answer, or 500 where it is none. */
static bool
check_answer(struct walk *w)
{
	enum idem_err err;

	answer_drop_own_fields(w->call->res);
	if ((err = idem_response_err(w->call->res)) == IDEM_OK)
		return true;
	walk_log(w, IDEM_ERROR, "the handler's answer cannot be given",
	    idem_strerror(err));
	idem_call_problem(w->call, IDEM_P_INTERNAL);
	return false;
}

bool
walk_prepare(struct walk *w)
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
		walk_log(w, IDEM_ERROR, "the handler's input cannot be made",
		    idem_strerror(err));
		idem_call_problem(w->call, IDEM_P_INTERNAL);
		w->said = IDEM_NONE;
	} else if (!check_answer(w)) {
		w->said = IDEM_NONE;
	}
	return false;
}

bool
walk_work(struct walk *w)
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

enum idem_err
walk_submit(struct walk *w, enum idem_op_kind kind)
{
	w->op.kind = kind;
	w->op.now_ms = w->e->now_ms(w->e->arg);
	return idem_store_submit(w->e->store, &w->op);
}

void
walk_set_apply(struct walk *w, uint16_t number)
{
	w->op.apply = number;
	w->op.kept_bytes = 0;
	w->op.input = number == 0 ? IDEM_ABSENT : idem_buf_span(&w->e->input);
}

enum idem_err
walk_set_answer(struct walk *w)
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

	walk_set_apply(w, 0);
	idem_buf_reset(input);
	err = answer_encode(w->call->res, &rules, input, &w->op.kept_bytes);
	w->op.input = idem_buf_span(input);
	return err;
}

bool
walk_draw(struct walk *w)
{
	const struct idem_policy *p = w->call->policy;
	struct idem_op *op = &w->op;

	if (w->e->store == NULL)
		return walk_failed(w, IDEM_ESTORE);
	if (w->e->random(w->e->arg, op->token, sizeof op->token) != IDEM_OK ||
	    w->e->random(w->e->arg, op->random, sizeof op->random) != IDEM_OK)
		return walk_refuse(w, IDEM_P_STORE_UNAVAILABLE,
		    IDEM_O_REFUSED);
	op->apply_flags = walk_apply_flags(w);
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
walk_answer_from_commit(struct walk *w, enum idem_outcome outcome)
{
	enum idem_err err = answer_first(idem_buf_span(&w->e->answer),
	    w->call->res);

	w->call->outcome = outcome;
	if (err == IDEM_OK)
		return;
	walk_log(w, IDEM_ERROR, "the first answer cannot be given",
	    idem_strerror(err));
	walk_refuse(w, IDEM_P_INTERNAL, IDEM_O_LOST);
}

/* 64 bits that stand for key and fingerprint (FNV-1a over the key). */
static uint64_t
same_request(const struct walk *w)
{
	uint64_t h = u64_from_key(w->op.fingerprint);
	struct idem_span key = idem_buf_span(&w->e->key);

	for (size_t i = 0; i < key.n; i++)
		h = (h ^ (unsigned char)key.p[i]) *
		    UINT64_C(0x100000001b3);
	return h;
}

void
walk_note_scope(struct walk *w)
{
	if (!idem_store_other_scope(w->e->store, same_request(w), w->op.id,
	    w->op.now_ms))
		return;
	walk_log(w, IDEM_WARN, "the same key and content came under another "
	    "scope less than ten minutes ago; IDEM_SCOPE must not change "
	    "between two tries", NULL);
}

void
walk_note_take_over(struct walk *w)
{
	if (w->op.took_over)
		walk_log(w, IDEM_WARN, "done again, as an earlier try ended "
		    "without an answer", NULL);
}
