/*
 * service.c - opens and keeps what requests are answered with.
 */
#include "tasks/service.h"

#include <stdlib.h>

#include "base/io.h"
#include "base/text.h"
#include "exe.h"
#include "tasks/task.h"
#include "tasks/task_handlers.h"

#define TARGET_MAX_BYTES (64 * 1024) /* more than any web server takes */
#define PATH_MAX_BYTES 4096
#define ANSWER_MAX_BYTES (4 * 1024 * 1024) /* a page of the longest tasks */
#define KEEP_MAX_BYTES (256 * 1024) /* of memory, in an idle buffer */

static const char *const tables[] = { [TASK_TABLE] = TASK_TABLE_NAME };

static int64_t
now_ms(void *arg)
{
	(void)arg; /* there is one clock */
	return io_wall_ms();
}

static enum idem_err
random_bytes(void *arg, void *p, size_t n)
{
	(void)arg; /* there is one kernel */
	return io_random(p, n);
}

static void
open_store(struct service *s)
{
	const struct idem_store_config config = {
		.place = s->settings->store,
		.create = true,
		.durable = s->settings->durable,
		.max_bytes = s->settings->max_store_bytes,
		.tables = tables,
		.ntables = sizeof tables / sizeof tables[0],
		.apply = idem_engine_apply,
		.apply_arg = &s->engine,
		.program = exe_number(),
		.wait_ms = s->settings->store_wait_ms,
		.log = s->log,
	};

	s->tried_ms = s->engine.now_ms(s->engine.arg);
	/* The log has the cause; requests are told 503 until it works. */
	if (idem_store_open(&config, &s->store) != IDEM_OK)
		s->store = NULL;
	s->outside = true;
	idem_buf_reset(&s->root);
}

/* An answer over IDEM_MAX_RESPONSE still reaches its first client whole. */
static size_t
max_bytes(const struct idem_policy *p)
{
	return p->max_body_bytes > ANSWER_MAX_BYTES ?
	    p->max_body_bytes : ANSWER_MAX_BYTES;
}

enum idem_err
service_open(const struct settings *settings, const struct idem_log *log,
    void **app)
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
		.now_ms = now_ms,
		.random = random_bytes,
	};
	idem_buf_init(&s->target, TARGET_MAX_BYTES);
	idem_buf_init(&s->path, PATH_MAX_BYTES);
	idem_buf_init(&s->body, settings->policy.max_body_bytes + 1);
	idem_response_init(&s->res, ANSWER_MAX_BYTES);
	idem_buf_init(&s->root, PATH_MAX_BYTES);
	if ((err = idem_engine_init(&s->engine, max_bytes(&settings->policy)))
	    != IDEM_OK) {
		service_close(s);
		return err;
	}
	open_store(s);
	*app = s;
	return IDEM_OK;
}

void
service_close(void *app)
{
	struct service *s = app;

	idem_store_close(&s->store);
	idem_engine_free(&s->engine);
	idem_buf_free(&s->target);
	idem_buf_free(&s->path);
	idem_buf_free(&s->body);
	idem_response_free(&s->res);
	idem_buf_free(&s->root);
	free(s);
}

static void
judge_root(struct service *s, struct idem_span root)
{
	idem_buf_reset(&s->root);
	idem_buf_puts(&s->root, root);
	s->outside = idem_store_outside(s->store, root) == IDEM_OK;
	/* A root too long to be kept is judged again, each time. */
	if (idem_buf_err(&s->root) != IDEM_OK)
		idem_buf_reset(&s->root);
}

/* A clock that was set back counts as a second that went by. */
static bool
is_second_later(const struct service *s)
{
	int64_t now = s->engine.now_ms(s->engine.arg);

	return now < s->tried_ms || now - s->tried_ms >= 1000;
}

void
service_ready(struct service *s, struct idem_span document_root)
{
	if (s->store == NULL && is_second_later(s))
		open_store(s);
	if (s->store != NULL && document_root.n > 0 &&
	    !span_eq(document_root, idem_buf_span(&s->root)))
		judge_root(s, document_root);
	s->engine.store = s->outside ? s->store : NULL;
}

enum idem_err
service_read(struct service *s, idem_reader fn, void *arg)
{
	enum idem_err err;

	if (s->engine.store == NULL)
		return IDEM_ESTORE;
	err = idem_store_read(s->engine.store, fn, arg);
	s->leave = s->leave || err == IDEM_EMOVED;
	return err;
}

static enum idem_err
read_nothing(void *arg, struct idem_tables *t)
{
	(void)arg;
	(void)t; /* only to hear whether there is a snapshot to be had */
	return IDEM_OK;
}

void
service_probe(struct service *s)
{
	enum idem_err err;

	if (s->store == NULL)
		return;
	err = idem_store_read(s->store, read_nothing, NULL);
	s->leave = s->leave || err == IDEM_EMOVED || err == IDEM_ECORRUPT ||
	    idem_store_stuck(s->store);
}

void
service_idle(void *app)
{
	service_probe(app);
}

bool
service_leave(void *app)
{
	const struct service *s = app;

	return s->leave;
}

void
service_rest(struct service *s)
{
	idem_buf_trim(&s->body, KEEP_MAX_BYTES);
	idem_buf_trim(&s->res.body, KEEP_MAX_BYTES);
	idem_engine_rest(&s->engine, KEEP_MAX_BYTES);
}
