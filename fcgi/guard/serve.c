/*
 * serve.c - one request of the guard from its variables to its answer.
 */
#include <string.h>

#include "base/io.h"
#include "base/text.h"
#include "exchange/cors.h"
#include "process/front_log.h"
#include "guard/errand.h"
#include "guard/handler.h"

/* Where no random bytes are to be had, the name is all zeros: it names a
 * request in the log and protects nothing. */
static void
name_request(struct errand *e)
{
	unsigned char random[16];

	if (keeper_random(&e->guard->keeper, random, sizeof random) != IDEM_OK)
		memset(random, 0, sizeof random);
	request_id_choose(e->req.var[IDEM_VAR_REQUEST_ID], random,
	    e->request_id);
}

/* The settings of its route; a path that cannot be decoded has none.  Without
 * memory nobody knows, and the process's own may protect less. */
static enum idem_err
find_route(struct errand *e)
{
	struct guard *g = e->guard;
	enum idem_err err = idem_request_path(&e->req, g->settings->base,
	    &g->path);

	if (err == IDEM_ENOMEM)
		return err;
	if (err == IDEM_OK)
		e->route = routes_find(&g->routes, e->req.var[IDEM_VAR_METHOD],
		    idem_buf_span(&g->path));
	if (e->route != NULL)
		e->settings = &e->route->settings;
	return IDEM_OK;
}

/* Not IDEM_OK: the answer can only be 500, in the program's own settings. */
static enum idem_err
begin(struct errand *e, struct guard *g, struct exchange *x)
{
	enum idem_err err;

	*e = (struct errand){ .guard = g, .x = x, .settings = g->settings };
	e->call.req = &e->req;
	e->call.res = &g->res;
	e->call.policy = &g->settings->policy;
	idem_response_reset(&g->res);
	err = idem_request_init(&e->req, x->vars, &g->target);
	name_request(e);
	e->call.request_id = e->request_id;
	if (err == IDEM_OK) {
		e->call.instance = idem_request_raw_path(&e->req);
		e->call.who = idem_audience_of(&e->req,
		    g->settings->policy.lang);
		err = find_route(e);
	}
	if (err != IDEM_OK) {
		idem_log(g->log, IDEM_ERROR, "request=%s: its variables: %s",
		    e->request_id, idem_strerror(err));
		return err;
	}
	if (e->req.overrides) {
		if ((err = settings_request(e->settings, g->log, x->vars,
		    &e->own)) != IDEM_OK)
			return err;
		e->settings = &e->own;
	}
	e->call.policy = &e->settings->policy;
	return IDEM_OK;
}

/* The web server's own word, and no more: it is not the guard's to tell which
 * files there are. */
static void
forbid(struct errand *e, const char *why)
{
	struct idem_response *res = e->call.res;

	idem_log(e->guard->log, IDEM_WARN, "request=%s: refused with 403: %s",
	    e->request_id, why);
	idem_response_reset(res);
	res->status = 403;
	idem_response_field(res, IDEM_LIT("Content-Type"),
	    IDEM_LIT("text/plain"));
	idem_response_field(res, IDEM_LIT("Cache-Control"),
	    IDEM_LIT("no-store"));
	idem_buf_puts(&res->body, IDEM_LIT("403 Forbidden\n"));
}

static void
answer(struct errand *e)
{
	struct guard *g = e->guard;
	const char *why;

	if (g->judges && (why = access_refuses(&e->req, g->settings->scripts,
	    &g->exe, &e->script)) != NULL) {
		forbid(e, why);
		return;
	}
	keeper_ready(&g->keeper, e->req.var[IDEM_VAR_DOCUMENT_ROOT]);
	e->call.handler = &guard_handler;
	e->call.read_body = errand_read_body;
	e->call.body_arg = e;
	e->call.handler_reads = true;
	e->call.stopping = e->x->stopping;
	e->call.stopping_arg = e->x->stopping_arg;
	e->call.keep_cors = e->settings->cors_origins.p == NULL;
	idem_wrap(&g->engine, &e->call);
}

/* Of a request's own; an application's first answer says itself who may read
 * it. */
static void
add_own_fields(struct errand *e)
{
	struct idem_response *res = e->call.res;

	if (idem_fields_value(idem_buf_span(&res->fields),
	    IDEM_LIT("X-Request-Id")).p == NULL)
		idem_response_field(res, IDEM_LIT("X-Request-Id"),
		    span_of(e->request_id));
	if (!e->answered)
		cors_expose(e->settings->cors_origins, &e->req, res);
}

/* The body: in *res, or in the spool. */
static enum idem_err
find_body(struct errand *e, struct idem_span *body)
{
	const struct idem_response *res = e->call.res;

	*body = idem_buf_span(&res->body);
	return e->answered && res->elsewhere_bytes > 0 ?
	    spool_bytes(&e->guard->answer, body) : IDEM_OK;
}

static enum idem_err
send_once(struct errand *e)
{
	struct idem_span body;
	enum idem_err err = find_body(e, &body);
	const uint64_t length_bytes = body.n;

	if (err == IDEM_OK)
		err = exchange_head(e->x, e->call.res, ERRAND_HEAD_MAX,
		    &length_bytes);
	if (err != IDEM_OK)
		return err;
	e->sent = true;
	return body.n > 0 && exchange_has_body(&e->req, e->call.res->status) ?
	    e->x->write(e->x->arg, body.p, body.n) : IDEM_OK;
}

/* Nothing went out, and something has to, whatever memory there is. */
static enum idem_err
fail_to_answer(struct errand *e, enum idem_err why)
{
	struct idem_response *res = e->call.res;
	struct exchange_last last;
	enum idem_err err;

	idem_log(e->guard->log, IDEM_ERROR, "request=%s: the answer could not "
	    "be made: %s", e->request_id, idem_strerror(why));
	exchange_last_init(&last);
	e->call.res = &last.res;
	idem_call_problem(&e->call, IDEM_P_INTERNAL);
	e->answered = false;
	add_own_fields(e);
	err = send_once(e);
	e->call.res = res;
	idem_response_reset(res);
	res->status = last.res.status;
	return err;
}

static void
send_answer(struct errand *e)
{
	enum idem_err err;

	if (e->sent)
		return;
	add_own_fields(e);
	err = send_once(e);
	if (err != IDEM_OK && err != IDEM_EIO)
		err = fail_to_answer(e, err);
	if (err != IDEM_OK)
		idem_log(e->guard->log, IDEM_WARN, "request=%s: the answer "
		    "could not be sent: %s", e->request_id,
		    idem_strerror(err));
}

#define ROUTE_MAX 256 /* bytes; a longer one is not named in the log */

/* The route as its file writes it: a path may hold a key. */
static void
log_protected(const struct errand *e, int64_t ms)
{
	char route[ROUTE_MAX];
	struct front_log_request line = {
		.outcome = idem_outcome_name(e->call.outcome),
		.status = e->call.res->status,
		.ms = ms,
		.id = e->call.has_id ? e->call.id : NULL,
		.request_id = e->request_id,
	};

	if (text_format(route, sizeof route, "%.*s %.*s",
	    IDEM_FMT(e->req.var[IDEM_VAR_METHOD]), IDEM_FMT(e->route != NULL ?
	    e->route->path : IDEM_LIT("*"))) == IDEM_OK)
		line.route = span_of(route);
	front_log_request(e->guard->log, &line);
}

void
guard_serve(void *app, struct exchange *x)
{
	struct guard *g = app;
	struct errand e;
	int64_t from_ms = io_steady_ms();

	if (begin(&e, g, x) == IDEM_OK)
		answer(&e);
	else
		idem_call_problem(&e.call, IDEM_P_INTERNAL);
	send_answer(&e);
	if (e.call.handler != NULL && e.call.outcome != IDEM_O_UNPROTECTED)
		log_protected(&e, io_steady_ms() - from_ms);
	if (e.call.outcome == IDEM_O_DOWN || e.call.outcome == IDEM_O_LOST)
		keeper_probe(&g->keeper);
	guard_rest(g);
}
