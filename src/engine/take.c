/*
 * take.c - what is taken from a request before its record is met: key, body,
 * scope, fingerprint.  Knows no store.
 *
 * A key from headers is its client's promise: what is wrong with it is an
 * error.  A key from anywhere else is something that the application happens to
 * send: what is wrong with it only means that there is no key.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/text.h"
#include "engine/respond.h"
#include "engine/take.h"
#include "request/condition.h"
#include "request/key_place.h"

static enum idem_err
read_once(struct walk *w)
{
	if (!w->body_asked) {
		w->body_asked = true;
		w->body_err = w->call->read_body(w->call->body_arg, w->call);
	}
	return w->body_err;
}

static bool
refuse_body(struct walk *w)
{
	static const struct {
		enum idem_err err;
		enum idem_problem problem;
	} rows[] = {
		{ IDEM_ETOOBIG, IDEM_P_BODY_TOO_LARGE },
		{ IDEM_ESHORT, IDEM_P_BODY_TRUNCATED },
		{ IDEM_ESYNTAX, IDEM_P_BODY_LENGTH },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (w->body_err == rows[i].err)
			return respond_problem(w, rows[i].problem,
			    IDEM_O_REFUSED);
	return respond_cannot(w, w->body_err);
}

/* A body that is too long or has no good length costs nobody an error who sent
 * no key; one that broke off must come again. */
static bool
may_pass(enum idem_err err)
{
	return err == IDEM_OK || err == IDEM_ETOOBIG || err == IDEM_ESYNTAX;
}

/* The body, if it can be had.  false: answered. */
static bool
look_at_body(struct walk *w)
{
	return may_pass(read_once(w)) || refuse_body(w);
}

/* The canonical form of a JSON body, made once.  false: answered. */
static bool
look_at_json(struct walk *w)
{
	struct idem_call *call = w->call;

	if (w->json_asked || w->body_err != IDEM_OK || call->req->body.n == 0 ||
	    !source_is_json(call->req->media))
		return true;
	w->json_asked = true;
	return idem_fingerprint_json(&w->e->fp, call->req->body,
	    &call->canonical) == IDEM_OK || respond_cannot(w, IDEM_ENOMEM);
}

/* Is there a promise, kept or broken, that must not go unanswered? */
static bool
has_promise(struct walk *w, struct idem_span key_from)
{
	struct idem_span word;

	while (source_word(&key_from, &word))
		if (key_place_is_promise(word) &&
		    key_place_promise(word, w->call->req, &w->e->key) !=
		    KEY_PLACE_ABSENT)
			return true;
	return false;
}

/* *holds: IDEM_WHEN lets the request count as keyed.  false: answered. */
static bool
ask_when(struct walk *w, struct idem_span key_from, bool *holds)
{
	const struct idem_call *call = w->call;
	struct idem_span when = call->policy->when;

	*holds = true;
	if (when.p == NULL)
		return true;
	if (condition_when_reads_body(when, call->req)) {
		if (!look_at_body(w) || !look_at_json(w))
			return false;
		if (w->body_err != IDEM_OK && has_promise(w, key_from))
			return refuse_body(w);
	}
	*holds = condition_when_holds(when, call->req, call->canonical);
	return true;
}

/* Try one word of IDEM_KEY_FROM.  false: answered. */
static bool
try_place(struct walk *w, struct idem_span word)
{
	const struct idem_call *call = w->call;
	enum key_place_found found;

	w->other = !key_place_is_promise(word);
	if (w->other) {
		if (key_place_fits(word, SOURCES_IN_BODY, call->req) &&
		    (!look_at_body(w) || !look_at_json(w)))
			return false;
		found = key_place_value(word, call->req, call->canonical,
		    &w->e->key);
		if (found == KEY_PLACE_UNUSABLE)
			w->call->key_passed_over = true;
	} else {
		found = key_place_promise(word, call->req, &w->e->key);
		if (found == KEY_PLACE_UNUSABLE)
			return respond_problem(w, IDEM_P_KEY_INVALID,
			    IDEM_O_REFUSED);
	}
	if (idem_buf_err(&w->e->key) == IDEM_ENOMEM)
		return respond_cannot(w, IDEM_ENOMEM);
	w->call->keyed = found == KEY_PLACE_FOUND &&
	    idem_buf_err(&w->e->key) == IDEM_OK;
	w->place = word;
	return true;
}

bool
take_key(struct walk *w)
{
	const struct idem_policy *policy = w->call->policy;
	const struct idem_request *req = w->call->req;
	struct idem_span rest = policy->key_from, word;
	bool holds;

	if (!idem_policy_protects(policy, req->var[IDEM_VAR_METHOD]))
		return true;
	if (rest.p == NULL)
		rest = KEY_PLACE_DEFAULT;
	if (!ask_when(w, rest, &holds))
		return false;
	if (!holds)
		return true;
	while (!w->call->keyed && source_word(&rest, &word))
		if (!try_place(w, word))
			return false;
	return w->call->keyed || !policy->require_key ||
	    respond_problem(w, IDEM_P_KEY_REQUIRED, IDEM_O_REFUSED);
}

/* What was there is no key after all. */
static bool
pass_over_key(struct walk *w)
{
	w->call->keyed = false;
	w->call->key_passed_over = true;
	return !w->call->policy->require_key ||
	    respond_problem(w, IDEM_P_KEY_REQUIRED, IDEM_O_REFUSED);
}

bool
take_body(struct walk *w)
{
	struct idem_call *call = w->call;

	if (!call->keyed && call->handler_reads)
		return true;
	if (read_once(w) == IDEM_OK)
		return true;
	if (!w->other || !may_pass(w->body_err))
		return refuse_body(w);
	if (!call->keyed)
		return refuse_body(w);
	return pass_over_key(w) && (call->handler_reads || refuse_body(w));
}

/* A key of one header alone has the id that it had before there were others. */
static enum idem_err
make_id(struct walk *w, const struct idem_scope *scope)
{
	struct idem_span parts = idem_buf_span(&w->e->key), fingerprint = {
	    (const char *)w->op.fingerprint, sizeof w->op.fingerprint };
	struct reader r = reader_of(parts);
	struct idem_span first = rd_run(&r);

	if (!w->other && r.rest.n == 0)
		return idem_record_id(w->e->fp.hash, scope, first, w->op.id);
	return idem_record_id_of_parts(w->e->fp.hash, scope, w->place, parts,
	    w->other ? fingerprint : IDEM_ABSENT, w->op.id);
}

static bool
take_fingerprint(struct walk *w)
{
	const struct idem_policy *policy = w->call->policy;
	const struct idem_selection sel = { policy->fingerprint,
		policy->fingerprint_ignore,
		w->other ? w->place : IDEM_ABSENT };

	return idem_fingerprint_selected(&w->e->fp, w->call->req, &sel,
	    w->op.fingerprint, &w->call->canonical) == IDEM_OK ||
	    respond_cannot(w, IDEM_ENOMEM);
}

bool
take_identity(struct walk *w)
{
	const struct idem_policy *policy = w->call->policy;
	struct idem_scope scope;

	if (!idem_scope_find(&policy->scope, w->call->req, &scope) &&
	    !policy->anonymous) {
		if (w->other)
			return pass_over_key(w);
		return respond_problem(w, IDEM_P_SCOPE_REQUIRED,
		    IDEM_O_REFUSED);
	}
	if (!take_fingerprint(w))
		return false;
	if (make_id(w, &scope) != IDEM_OK)
		return respond_cannot(w, IDEM_ENOMEM);
	memcpy(w->call->id, w->op.id, sizeof w->call->id);
	w->call->has_id = true;
	return true;
}
