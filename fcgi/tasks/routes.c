/*
 * routes.c - the table of routes.  Knows no tasks.
 */
#include "tasks/routes.h"

#include "base/text.h"
#include "exchange/cors.h"
#include "tasks/pages.h"
#include "tasks/reads.h"
#include "tasks/service.h"
#include "tasks/task_handlers.h"

/* Either answer() or the handler, which goes through the engine. */
struct route {
	const char *pattern; /* {id} and {kod} stand for one last segment */
	const char *method;  /* GET answers HEAD too */
	void (*answer)(struct turn *t);
	enum task_handler handler;
};

/* The methods of one pattern in the order that Allow shows. */
static const struct route routes[] = {
	{ "/vazifalar", "GET", reads_list, 0 },
	{ "/vazifalar", "POST", NULL, TASK_CREATE },
	{ "/vazifalar/{id}", "GET", reads_task, 0 },
	{ "/vazifalar/{id}", "PUT", NULL, TASK_REPLACE },
	{ "/vazifalar/{id}", "PATCH", NULL, TASK_PATCH },
	{ "/vazifalar/{id}", "DELETE", NULL, TASK_DELETE },
	{ "/xatolar/{kod}", "GET", pages_problem, 0 },
	{ "/idempotentlik", "GET", pages_policy, 0 },
};
#define NROUTES (sizeof routes / sizeof routes[0])
#define ALLOW_MAX_BYTES 64

/* Ids are written in one way only: no sign, no zero in front. */
static bool
take_id(struct turn *t, struct idem_span segment)
{
	return segment.n > 0 && segment.p[0] != '0' &&
	    parse_u64(segment, UINT64_MAX, &t->id) == IDEM_OK;
}

static bool
take_segment(struct turn *t, struct idem_span name, struct idem_span segment)
{
	if (segment.n == 0 || span_find(segment, '/') < segment.n)
		return false;
	if (span_eq(name, IDEM_LIT("{id}")))
		return take_id(t, segment);
	t->kod = segment;
	return true;
}

static bool
matches(struct turn *t, const struct route *r)
{
	struct idem_span pattern = span_of(r->pattern);
	size_t fixed = span_find(pattern, '{');

	if (fixed == pattern.n)
		return span_eq(t->path, pattern);
	return span_starts(t->path, span_first(pattern, fixed)) &&
	    take_segment(t, span_from(pattern, fixed),
	    span_from(t->path, fixed));
}

/* Rows of one pattern share its text. */
static bool
is_same_path(const struct route *a, const struct route *b)
{
	return span_eq(span_of(a->pattern), span_of(b->pattern));
}

static const struct route *
find_path(struct turn *t)
{
	size_t i = 0;

	while (i < NROUTES && !matches(t, &routes[i]))
		i++;
	return i < NROUTES ? &routes[i] : NULL;
}

static const struct route *
find_method(const struct route *path, struct idem_span method)
{
	size_t i;

	if (span_eq(method, IDEM_LIT("HEAD")))
		method = IDEM_LIT("GET");
	for (i = 0; i < NROUTES; i++)
		if (is_same_path(&routes[i], path) &&
		    span_eq(span_of(routes[i].method), method))
			return &routes[i];
	return NULL;
}

static void
list_methods(const struct route *path, struct idem_buf *out)
{
	size_t i;

	for (i = 0; i < NROUTES; i++) {
		if (!is_same_path(&routes[i], path))
			continue;
		idem_buf_puts(out, span_of(routes[i].method));
		if (routes[i].answer != NULL)
			idem_buf_puts(out, IDEM_LIT(", HEAD"));
		idem_buf_puts(out, IDEM_LIT(", "));
	}
	idem_buf_puts(out, IDEM_LIT("OPTIONS"));
}

/* OPTIONS, and methods that the path does not offer. */
static void
answer_methods(struct turn *t, const struct route *path)
{
	struct idem_response *res = t->call.res;
	struct idem_buf allow;

	idem_buf_init(&allow, ALLOW_MAX_BYTES);
	list_methods(path, &allow);
	if (span_eq(t->req.var[IDEM_VAR_METHOD], IDEM_LIT("OPTIONS"))) {
		res->status = 204;
		t->preflight = cors_is_preflight(&t->req);
	} else {
		turn_problem(t, res, IDEM_P_METHOD_NOT_ALLOWED, IDEM_ABSENT,
		    IDEM_ABSENT);
	}
	idem_response_field(res, IDEM_LIT("Allow"), idem_buf_span(&allow));
	if (t->preflight)
		cors_preflight(t->settings->cors_origins, &t->req,
		    idem_buf_span(&allow), res);
	if (idem_buf_err(&allow) != IDEM_OK)
		turn_failed(t, res, idem_buf_err(&allow));
	idem_buf_free(&allow);
}

static enum idem_err
read_body(void *arg, struct idem_call *call)
{
	struct turn *t = arg;

	return exchange_read_body(t->x, &t->req, call->policy->max_body_bytes,
	    &t->service->body);
}

static void
wrap(struct turn *t, enum task_handler number)
{
	if (number == TASK_CREATE && t->settings->task_delay_ms > 0)
		number = TASK_CREATE_SLOWLY;
	t->call.handler = task_handler(number);
	t->call.read_body = read_body;
	t->call.body_arg = t;
	t->call.stopping = t->x->stopping;
	t->call.stopping_arg = t->x->stopping_arg;
	idem_wrap(&t->service->engine, &t->call);
}

void
routes_answer(struct turn *t)
{
	const struct route *path = find_path(t), *route;

	if (path == NULL) {
		turn_problem(t, t->call.res, IDEM_P_NOT_FOUND, IDEM_ABSENT,
		    IDEM_ABSENT);
		return;
	}
	t->pattern = path->pattern;
	route = find_method(path, t->req.var[IDEM_VAR_METHOD]);
	if (route == NULL)
		answer_methods(t, path);
	else if (route->answer != NULL)
		route->answer(t);
	else
		wrap(t, route->handler);
}
