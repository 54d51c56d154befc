/*
 * serve.c - one request from its variables to its answer.
 */
#include "tasks/service.h"

#include <string.h>

#include "base/io.h"
#include "base/text.h"
#include "process/front_log.h"
#include "exchange/cors.h"
#include "tasks/routes.h"
#include "tasks/turn.h"

/* Where no random bytes are to be had, the name is all zeros: it names a
 * request in the log and protects nothing. */
static void
name_request(struct turn *t)
{
	const struct idem_engine *engine = &t->service->engine;
	unsigned char random[16];

	if (engine->random(engine->arg, random, sizeof random) != IDEM_OK)
		memset(random, 0, sizeof random);
	request_id_choose(t->req.var[IDEM_VAR_REQUEST_ID], random,
	    t->request_id);
}

/*
 * What the request is and which settings it has.  Not IDEM_OK: the answer can
 * only be 500, in the program's own settings.
 */
static enum idem_err
begin(struct turn *t, struct service *s, struct exchange *x)
{
	enum idem_err err;

	*t = (struct turn){ .service = s, .x = x, .settings = s->settings };
	t->call.req = &t->req;
	t->call.res = &s->res;
	idem_response_reset(&s->res);
	err = idem_request_init(&t->req, x->vars, &s->target);
	name_request(t);
	t->call.request_id = t->request_id;
	if (err != IDEM_OK) {
		idem_log(s->log, IDEM_ERROR, "request %s: its variables: %s",
		    t->request_id, idem_strerror(err));
		return err;
	}
	t->call.instance = idem_request_raw_path(&t->req);
	if (t->req.overrides)
		err = settings_request(s->settings, s->log, x->vars, &t->own);
	if (t->req.overrides && err == IDEM_OK)
		t->settings = &t->own;
	t->call.who = idem_audience_of(&t->req, t->settings->policy.lang);
	return err;
}

/* An encoded slash is no separator (RFC 3986 2.2), and no name here has one. */
static bool
has_encoded_slash(struct idem_span path)
{
	for (; path.n >= 3; path = span_from(path, 1))
		if (span_starts_nocase(path, IDEM_LIT("%2f")))
			return true;
	return false;
}

static void
answer(struct turn *t)
{
	struct service *s = t->service;
	enum idem_err err;

	t->call.policy = &t->settings->policy;
	t->call.rules = t->settings->base;
	err = idem_request_path(&t->req, t->settings->base, &s->path);
	if (err == IDEM_ENOMEM) {
		turn_failed(t, t->call.res, err);
	} else if (err != IDEM_OK || has_encoded_slash(t->call.instance)) {
		turn_problem(t, t->call.res, IDEM_P_NOT_FOUND, IDEM_ABSENT,
		    IDEM_ABSENT);
	} else {
		t->path = idem_buf_span(&s->path);
		keeper_ready(&s->keeper, t->req.var[IDEM_VAR_DOCUMENT_ROOT]);
		routes_answer(t);
	}
}

/* What every answer carries and no record keeps. */
static void
add_own_fields(struct turn *t)
{
	struct idem_response *res = t->call.res;

	idem_response_field(res, IDEM_LIT("X-Request-Id"),
	    span_of(t->request_id));
	if (!t->preflight)
		cors_expose(t->settings->cors_origins, &t->req, res);
}

/* Nothing went out, and something has to, whatever memory there is. */
static enum idem_err
fail_to_answer(struct turn *t, enum idem_err why)
{
	struct idem_response *res = t->call.res;
	struct exchange_last last;
	enum idem_err err;

	idem_log(t->service->log, IDEM_ERROR,
	    "request %s: the answer could not be made: %s", t->request_id,
	    idem_strerror(why));
	exchange_last_init(&last);
	t->call.res = &last.res;
	turn_problem(t, &last.res, IDEM_P_INTERNAL, IDEM_ABSENT, IDEM_ABSENT);
	add_own_fields(t);
	err = exchange_answer(t->x, &t->req, &last.res);
	t->call.res = res;
	idem_response_reset(res);
	res->status = last.res.status;
	return err;
}

static void
send_answer(struct turn *t)
{
	struct idem_response *res = t->call.res;
	enum idem_err err = idem_response_err(res);

	if (err == IDEM_OK) {
		add_own_fields(t);
		err = exchange_answer(t->x, &t->req, res);
	}
	if (err != IDEM_OK && err != IDEM_EIO)
		err = fail_to_answer(t, err);
	if (err != IDEM_OK)
		idem_log(t->service->log, IDEM_WARN,
		    "request %s: the answer could not be sent: %s",
		    t->request_id, idem_strerror(err));
}

#define ROUTE_MAX 64 /* bytes; every method and pattern of the table fit */

static void
log_protected(const struct turn *t, int64_t ms)
{
	char route[ROUTE_MAX];
	struct front_log_request line = {
		.outcome = idem_outcome_name(t->call.outcome),
		.status = t->call.res->status,
		.ms = ms,
		.id = t->call.has_id ? t->call.id : NULL,
		.request_id = t->request_id,
	};

	if (text_format(route, sizeof route, "%.*s %s",
	    IDEM_FMT(t->req.var[IDEM_VAR_METHOD]), t->pattern) == IDEM_OK)
		line.route = span_of(route);
	front_log_request(t->service->log, &line);
}

void
service_serve(void *app, struct exchange *x)
{
	struct service *s = app;
	struct turn t;
	int64_t from_ms = io_steady_ms();

	if (begin(&t, s, x) == IDEM_OK)
		answer(&t);
	else
		turn_problem(&t, &s->res, IDEM_P_INTERNAL, IDEM_ABSENT,
		    IDEM_ABSENT);
	send_answer(&t);
	if (t.call.handler != NULL && t.call.outcome != IDEM_O_UNPROTECTED)
		log_protected(&t, io_steady_ms() - from_ms);
	if (t.call.outcome == IDEM_O_DOWN || t.call.outcome == IDEM_O_LOST)
		keeper_probe(&s->keeper);
	service_rest(s);
}
