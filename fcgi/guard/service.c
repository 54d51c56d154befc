/*
 * service.c - opens and keeps what the guard's requests are answered with.
 */
#include "guard/service.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "guard/handler.h"

#define TARGET_MAX_BYTES (64 * 1024) /* more than any web server takes */
#define PATH_MAX_BYTES (64 * 1024)
#define ANSWER_MIN_BYTES (1024 * 1024) /* a head, or a page of a problem */
#define KEEP_MAX_BYTES (256 * 1024) /* of memory, in an idle buffer */

#define CGI IDEM_LIT("cgi:")
#define FASTCGI IDEM_LIT("fcgi:")

static const struct idem_handler *const handlers[] = { &guard_handler };

/* PHP's own programs run the script that the web server names. */
static bool
is_php(struct idem_span program)
{
	size_t from = program.n;

	while (from > 0 && program.p[from - 1] != '/')
		from--;
	for (; from < program.n; from++)
		if (span_starts_nocase(span_from(program, from),
		    IDEM_LIT("php")))
			return true;
	return false;
}

/* The settings' reader has checked the grammar. */
static enum idem_err
find_application(struct guard *g)
{
	struct idem_span backend = g->settings->backend;
	bool none = span_eq(g->settings->scripts, IDEM_LIT("none"));

	if (span_starts(backend, FASTCGI)) {
		g->way = GUARD_FASTCGI;
		g->judges = !none;
		return backend_place_parse(span_from(backend, FASTCGI.n),
		    &g->place);
	}
	backend = span_from(backend, CGI.n);
	g->way = backend.n == 0 ? GUARD_NAMED : GUARD_PROGRAM;
	g->judges = backend.n == 0 || (is_php(backend) && !none);
	return text_format(g->program, sizeof g->program, "%.*s",
	    IDEM_FMT(backend));
}

static enum idem_err
find_place(struct guard *g)
{
	enum idem_err err = find_application(g);

	if (err != IDEM_OK)
		idem_log(g->log, IDEM_ERROR, "IDEM_BACKEND=%.*s: %s",
		    IDEM_FMT(g->settings->backend), idem_strerror(err));
	return err;
}

enum idem_err
guard_check(const struct settings *settings, const struct idem_log *log,
    const char *exe)
{
	struct guard g = { .settings = settings, .log = log };
	enum idem_err err;

	routes_init(&g.routes);
	if ((err = find_place(&g)) == IDEM_OK)
		err = routes_load(&g.routes, settings, log, exe);
	routes_free(&g.routes);
	return err;
}

/* An answer of this length, and a body of that one, are in memory. */
static size_t
max_bytes(const struct idem_policy *p)
{
	size_t n = p->max_body_bytes > p->max_response_bytes ?
	    p->max_body_bytes : p->max_response_bytes;

	return n > ANSWER_MIN_BYTES ? n : ANSWER_MIN_BYTES;
}

/*
 * A program's end is waited for: its signal must not be thrown away, as it is
 * where whoever started this process ignored it.
 */
static void
await_children(void)
{
	sigset_t child;

	(void)signal(SIGCHLD, SIG_DFL);
	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &child, NULL);
}

static void
init(struct guard *g, const struct settings *settings,
    const struct idem_log *log)
{
	const char *folder = getenv("TMPDIR");

	if (folder == NULL || folder[0] != '/')
		folder = "/tmp";
	g->settings = settings;
	g->log = log;
	g->engine = (struct idem_engine){
		.policy = &settings->policy,
		.handlers = handlers,
		.nhandlers = sizeof handlers / sizeof handlers[0],
		.app = g,
		.log = log,
		.now_ms = keeper_now_ms,
		.random = keeper_random,
		.arg = &g->keeper,
	};
	g->keeper = (struct keeper){ .settings = settings, .log = log,
		.engine = &g->engine };
	exe_find(&g->exe);
	routes_init(&g->routes);
	idem_buf_init(&g->target, TARGET_MAX_BYTES);
	idem_buf_init(&g->path, PATH_MAX_BYTES);
	idem_response_init(&g->res, max_bytes(&settings->policy));
	variables_init(&g->variables);
	spool_init(&g->body, folder);
	spool_init(&g->answer, folder);
}

enum idem_err
guard_open(const struct settings *settings, const struct idem_log *log,
    struct idem_span document_root, void **app)
{
	struct guard *g = calloc(1, sizeof *g);
	enum idem_err err;

	if (g == NULL)
		return IDEM_ENOMEM;
	await_children();
	init(g, settings, log);
	if ((err = find_place(g)) != IDEM_OK ||
	    (err = routes_load(&g->routes, settings, log, g->exe.path)) !=
	    IDEM_OK ||
	    (err = idem_engine_init(&g->engine,
	    max_bytes(&settings->policy))) != IDEM_OK) {
		guard_close(g);
		return err;
	}
	keeper_open(&g->keeper, document_root);
	*app = g;
	return IDEM_OK;
}

void
guard_close(void *app)
{
	struct guard *g = app;

	keeper_close(&g->keeper);
	idem_engine_free(&g->engine);
	routes_free(&g->routes);
	idem_buf_free(&g->target);
	idem_buf_free(&g->path);
	idem_response_free(&g->res);
	variables_free(&g->variables);
	spool_free(&g->body);
	spool_free(&g->answer);
	free(g);
}

void
guard_idle(void *app)
{
	struct guard *g = app;

	keeper_probe(&g->keeper);
}

bool
guard_leave(void *app)
{
	const struct guard *g = app;

	return g->keeper.leave;
}

void
guard_rest(struct guard *g)
{
	spool_reset(&g->body);
	spool_reset(&g->answer);
	idem_buf_trim(&g->target, KEEP_MAX_BYTES);
	idem_buf_trim(&g->variables.list, KEEP_MAX_BYTES);
	idem_buf_trim(&g->res.fields, KEEP_MAX_BYTES);
	idem_buf_trim(&g->res.body, KEEP_MAX_BYTES);
	idem_engine_rest(&g->engine, KEEP_MAX_BYTES);
}
