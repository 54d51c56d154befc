/*
 * service.c - opens and keeps what requests are answered with.
 */
#include "tasks/service.h"

#include <stdlib.h>

#include "tasks/task.h"
#include "tasks/task_handlers.h"

#define TARGET_MAX_BYTES (64 * 1024) /* more than any web server takes */
#define PATH_MAX_BYTES 4096
#define ANSWER_MAX_BYTES (4 * 1024 * 1024) /* a page of the longest tasks */
#define KEEP_MAX_BYTES (256 * 1024) /* of memory, in an idle buffer */

static const char *const tables[] = { [TASK_TABLE] = TASK_TABLE_NAME };

/* An answer over IDEM_MAX_RESPONSE still reaches its first client whole. */
static size_t
max_bytes(const struct idem_policy *p)
{
	return p->max_body_bytes > ANSWER_MAX_BYTES ?
	    p->max_body_bytes : ANSWER_MAX_BYTES;
}

enum idem_err
service_open(const struct settings *settings, const struct idem_log *log,
    struct idem_span document_root, void **app)
{
	struct service *s = calloc(1, sizeof *s);
	enum idem_err err;

	if (s == NULL)
		return IDEM_ENOMEM;
	s->settings = settings;
	s->log = log;
	s->engine = (struct idem_engine){
		.policy = &settings->policy,
		.handlers = task_handlers,
		.nhandlers = TASK_NHANDLERS,
		.app = s,
		.log = log,
		.now_ms = keeper_now_ms,
		.random = keeper_random,
		.arg = &s->keeper,
	};
	idem_buf_init(&s->target, TARGET_MAX_BYTES);
	idem_buf_init(&s->path, PATH_MAX_BYTES);
	idem_buf_init(&s->body, settings->policy.max_body_bytes + 1);
	idem_buf_init(&s->plain, SIZE_MAX); /* a body bounds it */
	idem_response_init(&s->res, ANSWER_MAX_BYTES);
	s->keeper = (struct keeper){ .settings = settings, .log = log,
		.engine = &s->engine, .tables = tables,
		.ntables = sizeof tables / sizeof tables[0] };
	if ((err = idem_engine_init(&s->engine, max_bytes(&settings->policy)))
	    != IDEM_OK) {
		service_close(s);
		return err;
	}
	keeper_open(&s->keeper, document_root);
	*app = s;
	return IDEM_OK;
}

void
service_close(void *app)
{
	struct service *s = app;

	keeper_close(&s->keeper);
	idem_engine_free(&s->engine);
	idem_buf_free(&s->target);
	idem_buf_free(&s->path);
	idem_buf_free(&s->body);
	idem_buf_free(&s->plain);
	idem_response_free(&s->res);
	free(s);
}

void
service_idle(void *app)
{
	struct service *s = app;

	keeper_probe(&s->keeper);
}

bool
service_leave(void *app)
{
	const struct service *s = app;

	return s->keeper.leave;
}

void
service_rest(struct service *s)
{
	idem_buf_trim(&s->body, KEEP_MAX_BYTES);
	idem_buf_trim(&s->plain, KEEP_MAX_BYTES);
	idem_buf_trim(&s->res.body, KEEP_MAX_BYTES);
	idem_engine_rest(&s->engine, KEEP_MAX_BYTES);
}
