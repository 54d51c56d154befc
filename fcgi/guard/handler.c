/*
 * handler.c - one request to the application, and what is known of its effect.
 */
#include "guard/handler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/answer.h"
#include "guard/errand.h"

#define PATH_DEFAULT "/usr/local/bin:/usr/bin:/bin"

struct errand *
errand_of(struct idem_call *call)
{
	return (struct errand *)(void *)call;
}

/* --- the request's body -------------------------------------------------- */

static enum idem_err
keep(void *arg, const void *p, size_t n)
{
	return spool_put(arg, p, n);
}

enum idem_err
errand_read_body(void *arg, struct idem_call *call)
{
	struct errand *e = arg;
	struct spool *body = &e->guard->body;
	uint64_t n;
	enum idem_err err = exchange_pass_body(e->x, &e->req, keep, body, &n);

	if (err == IDEM_OK)
		err = spool_bytes(body, &e->req.body);
	if (err == IDEM_EIO)
		idem_log(e->guard->log, IDEM_ERROR, "request=%s: its body "
		    "cannot be kept in %s: %s: make room there, or set TMPDIR "
		    "to another place", e->request_id, body->dir,
		    strerror(errno));
	if (err == IDEM_ETOOBIG) /* a length beyond any number */
		err = IDEM_ESYNTAX;
	else if (err == IDEM_OK && n > call->policy->max_body_bytes)
		err = IDEM_ETOOBIG;
	e->read = true;
	e->body_err = err;
	return err;
}

/* The application does not get the request, for an error of our own. */
static void
refuse(struct errand *e, const char *what, enum idem_err err)
{
	idem_log(e->guard->log, IDEM_ERROR, "request=%s: %s: %s",
	    e->request_id, what, idem_strerror(err));
	idem_call_problem(&e->call, IDEM_P_INTERNAL);
}

/* For a request without a key nobody may have read it yet, and its length is
 * the application's business.  false: *res says why it does not get it. */
static bool
have_body(struct errand *e)
{
	static const struct {
		enum idem_err err;
		enum idem_problem problem;
	} rows[] = {
		{ IDEM_ESHORT, IDEM_P_BODY_TRUNCATED },
		{ IDEM_ESYNTAX, IDEM_P_BODY_LENGTH },
	};
	enum idem_err err = e->read ? e->body_err :
	    errand_read_body(e, &e->call);

	if (err == IDEM_OK || err == IDEM_ETOOBIG)
		return true;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (err == rows[i].err) {
			idem_call_problem(&e->call, rows[i].problem);
			return false;
		}
	refuse(e, "its body", err);
	return false;
}

/* --- its variables ------------------------------------------------------- */

#define NCHANGES 6

struct changes {
	struct variables_change list[NCHANGES];
	size_t n;
};

static void
change(struct changes *c, struct idem_span name, struct idem_span value)
{
	c->list[c->n++] = (struct variables_change){ name, value };
}

/* The script as a web server without a guard would have named it.  PHP takes
 * PATH_TRANSLATED before SCRIPT_FILENAME where both came: nobody judged it. */
static void
name_script(const struct errand *e, struct changes *c)
{
	change(c, IDEM_LIT("SCRIPT_FILENAME"), span_of(e->script.file));
	change(c, IDEM_LIT("PATH_TRANSLATED"), IDEM_ABSENT);
	if (e->script.moved) {
		change(c, IDEM_LIT("SCRIPT_NAME"), e->script.name);
		change(c, IDEM_LIT("PATH_INFO"), e->script.rest);
	}
}

/* A program needs a PATH; a web server gives it one, by FastCGI or without. */
static void
name_path(const struct errand *e, struct changes *c)
{
	const char *path = getenv("PATH");

	if (idem_request_var(&e->req, IDEM_LIT("PATH")).n == 0)
		change(c, IDEM_LIT("PATH"), span_of(path != NULL ? path :
		    PATH_DEFAULT));
}

static enum idem_err
make_variables(struct errand *e, const char *const **list)
{
	struct changes c = { .n = 0 };
	char length[24];

	/* what came is what is announced, chunked or not */
	if (e->req.body.n > 0 &&
	    text_format(length, sizeof length, "%zu", e->req.body.n) ==
	    IDEM_OK)
		change(&c, IDEM_LIT("CONTENT_LENGTH"), span_of(length));
	if (e->guard->judges)
		name_script(e, &c);
	if (e->guard->way != GUARD_FASTCGI)
		name_path(e, &c);
	return variables_make(&e->guard->variables, e->req.vars, c.list, c.n,
	    list);
}

/* --- the answer as it comes ---------------------------------------------- */

/* Who is gone may come back, and what runs is not stopped for it: it is heard
 * to its end, but only for as long as it said it would take. */
static enum idem_err
sent(struct errand *e, enum idem_err err)
{
	if (err == IDEM_EIO)
		e->gone = true;
	return err == IDEM_EIO ? IDEM_OK : err;
}

static enum idem_err
send_head(void *arg, const struct reply *r)
{
	struct errand *e = arg;
	enum idem_err err;

	answer_drop_own_fields(r->res);
	err = exchange_head(e->x, r->res, ERRAND_HEAD_MAX,
	    r->head.has_length ? &r->head.length_bytes : NULL);
	e->sent = err == IDEM_OK || err == IDEM_EIO;
	return sent(e, err);
}

static enum idem_err
send_body(void *arg, const void *p, size_t n)
{
	struct errand *e = arg;

	if (e->gone || !exchange_has_body(&e->req, e->call.res->status))
		return IDEM_OK;
	return sent(e, e->x->write(e->x->arg, p, n));
}

/* Who streams wants it to arrive; what is complete goes out by itself. */
static void
flush(void *arg)
{
	struct errand *e = arg;

	if (e->sent && !e->gone && e->x->flush != NULL)
		e->x->flush(e->x->arg);
}

static enum idem_err
keep_body(void *arg, const void *p, size_t n)
{
	struct errand *e = arg;
	enum idem_err err = spool_put(&e->guard->answer, p, n);

	if (err == IDEM_EIO)
		idem_log(e->guard->log, IDEM_ERROR, "request=%s: its answer "
		    "cannot be kept in %s: %s: make room there, or set TMPDIR "
		    "to another place", e->request_id, e->guard->answer.dir,
		    strerror(errno));
	return err;
}

/* --- the effect ---------------------------------------------------------- */

static enum idem_effect
problem(struct errand *e, enum idem_problem which, enum idem_effect effect)
{
	if (!e->sent)
		idem_call_problem(&e->call, which);
	e->x->broke_off = e->sent;
	return effect;
}

static enum idem_effect
broken(struct errand *e, const struct reply *r)
{
	bool ours = r->err != IDEM_OK && r->err != IDEM_ESYNTAX;

	idem_log(e->guard->log, IDEM_ERROR, "request=%s: the application's "
	    "answer %s%s", e->request_id, r->err == IDEM_ESYNTAX ?
	    "is none of a CGI program" : ours ? "cannot be taken: " :
	    r->empty ? "did not come" : "broke off",
	    ours ? idem_strerror(r->err) : "");
	return problem(e, ours ? IDEM_P_INTERNAL : IDEM_P_BACKEND_BROKEN,
	    IDEM_HOLD);
}

/* 502 and 504 say that somebody behind the application did not answer it: what
 * it did before, nobody knows, so the key is never given back. */
static enum idem_effect
effect_of(const struct idem_response *res)
{
	if (res->status == 503 && idem_fields_value(idem_buf_span(&res->fields),
	    IDEM_LIT("Retry-After")).p != NULL)
		return IDEM_NONE;
	return res->status == 502 || res->status == 504 ? IDEM_DONE :
	    IDEM_BY_STATUS;
}

/* A whole answer: into *res, where it can be kept there. */
static enum idem_effect
whole(struct errand *e)
{
	struct idem_response *res = e->call.res;
	struct idem_span body;
	enum idem_effect effect = effect_of(res);

	e->answered = true;
	if (e->sent)
		return effect;
	if (e->guard->answer.n > e->call.policy->max_response_bytes)
		res->elsewhere_bytes = e->guard->answer.n;
	else if (spool_bytes(&e->guard->answer, &body) == IDEM_OK)
		idem_buf_puts(&res->body, body);
	else
		res->err = IDEM_EIO;
	return effect;
}

/* Who writes on where nobody takes it was not silent. */
static void
say_late(const struct errand *e, const struct reply *r)
{
	idem_log(e->guard->log, IDEM_ERROR, "request=%s: the application %s "
	    "%lld ms", e->request_id, e->gone || r->err != IDEM_OK ?
	    "did not end its answer, which nobody took any more, within" :
	    "said nothing for", (long long)e->settings->backend_timeout_ms);
}

static enum idem_effect
judge(struct errand *e, enum backend_end end, const struct reply *r)
{
	switch (end) {
	case BACKEND_WHOLE:
		return whole(e);
	case BACKEND_NOTHING:
		return problem(e, r->err == IDEM_OK ?
		    IDEM_P_BACKEND_UNREACHABLE : IDEM_P_INTERNAL, IDEM_NONE);
	case BACKEND_BROKEN:
		return broken(e, r);
	case BACKEND_LATE:
		say_late(e, r);
		return problem(e, IDEM_P_BACKEND_TIMEOUT, IDEM_HOLD);
	}
	return IDEM_HOLD;
}

static enum backend_end
ask(const struct guard *g, const struct errand *e,
    const struct backend_job *job)
{
	switch (g->way) {
	case GUARD_NAMED:
		return backend_cgi(e->script.file, job);
	case GUARD_PROGRAM:
		return backend_cgi(g->program, job);
	case GUARD_FASTCGI:
		return backend_fcgi(&g->place, job);
	}
	return BACKEND_NOTHING;
}

static enum idem_effect
work(void *app, struct idem_call *call, struct idem_buf *input,
    struct idem_response *res)
{
	struct guard *g = app;
	struct errand *e = errand_of(call);
	struct reply reply;
	struct backend_job job = { .timeout_ms =
	    e->settings->backend_timeout_ms, .hurry = &e->gone,
		.die_with_us = call->policy->retry_unknown, .reply = &reply,
		.log = g->log, .request_id = e->request_id };
	enum idem_effect effect;
	enum idem_err err;

	(void)input; /* there is no prepare() and no commit() */
	if (!have_body(e))
		return IDEM_NONE;
	if ((err = make_variables(e, &job.vars)) != IDEM_OK) {
		refuse(e, "its variables", err);
		return IDEM_NONE;
	}
	job.body = e->req.body;
	reply_init(&reply, res);
	reply.head_only = span_eq(e->req.var[IDEM_VAR_METHOD],
	    IDEM_LIT("HEAD"));
	reply.begin = call->keyed ? NULL : send_head;
	reply.put = call->keyed ? keep_body : send_body;
	reply.pause = call->keyed ? NULL : flush;
	reply.arg = e;
	effect = judge(e, ask(g, e, &job), &reply);
	reply_free(&reply);
	return effect;
}

const struct idem_handler guard_handler = { .number = 1, .work = work };
