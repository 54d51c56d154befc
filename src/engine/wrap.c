/*
 * wrap.c - one request, in order: key, body, scope, fingerprint, record, and
 * only then the handler.  Knows no FastCGI and no back end.
 */
#include <assert.h>

#include "engine/answer.h"
#include "engine/walk.h"

void
idem_call_problem(struct idem_call *call, enum idem_problem problem)
{
	struct idem_problem_note note = {
		.base = call->policy->problem_base,
		.instance = call->instance,
	};

	idem_problem_write(call->res, problem, call->who, &note);
}

bool
walk_refuse(struct walk *w, enum idem_problem problem,
    enum idem_outcome outcome)
{
	idem_call_problem(w->call, problem);
	w->call->outcome = outcome;
	return false;
}

bool
walk_cannot(struct walk *w, enum idem_err err)
{
	walk_log(w, IDEM_ERROR, "refused before the store was asked",
	    idem_strerror(err));
	return walk_refuse(w, IDEM_P_STORE_UNAVAILABLE, IDEM_O_REFUSED);
}

bool
walk_failed(struct walk *w, enum idem_err err)
{
	/* An answer that a commit() made and that is none. */
	if (err == IDEM_ESYNTAX || err == IDEM_ETOOBIG)
		return walk_refuse(w, IDEM_P_INTERNAL, w->call->keyed ?
		    IDEM_O_RELEASED : IDEM_O_UNPROTECTED);
	if (err == IDEM_EFULL)
		return walk_refuse(w, IDEM_P_STORE_FULL, IDEM_O_FULL);
	return walk_refuse(w, IDEM_P_STORE_UNAVAILABLE, IDEM_O_DOWN);
}

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
		walk_log(w, IDEM_ERROR, "the stored answer cannot be given "
		    "back", idem_strerror(err));
		walk_refuse(w, IDEM_P_STORE_UNAVAILABLE, IDEM_O_DOWN);
		return;
	}
	w->call->replayed = true;
	w->call->outcome = IDEM_O_REPLAYED;
}

void
walk_answer_other(struct walk *w)
{
	switch (w->op.verdict) {
	case IDEM_REPLAY:
		replay(w);
		return;
	case IDEM_MISMATCH:
		walk_refuse(w, IDEM_P_KEY_REUSED, IDEM_O_MISMATCH);
		return;
	case IDEM_RUNNING:
		walk_refuse(w, IDEM_P_IN_PROGRESS, IDEM_O_RUNNING);
		return;
	case IDEM_ORPHAN:
	case IDEM_UNKNOWN:
		walk_refuse(w, IDEM_P_OUTCOME_UNKNOWN, IDEM_O_UNKNOWN);
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

bool
walk_look(struct walk *w)
{
	enum idem_err err;

	w->op.recipe = IDEM_RECIPE;
	w->op.answer = &w->e->answer;
	w->op.now_ms = w->e->now_ms(w->e->arg);
	if (w->e->store == NULL)
		return walk_failed(w, IDEM_ESTORE);
	if ((err = idem_store_look(w->e->store, &w->op)) != IDEM_OK)
		return walk_failed(w, err);
	if (w->op.verdict == IDEM_ABSENT_KEY || w->op.verdict == IDEM_RUNNING)
		return true;
	walk_answer_other(w);
	return false;
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
		walk_unprotected(&w);
	else if (walk_look(&w)) {
		if (call->handler->work == NULL)
			walk_once(&w);
		else
			walk_claimed(&w);
	}
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
