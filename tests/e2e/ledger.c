/*
 * ledger.c - a program of the tests: a handler whose work lies outside the
 * store.  It appends a line to a ledger, so that anyone can count how often it
 * really worked.  The same front and engine as tasks.fcgi; knows no tasks.
 *
 * $LEDGER is the ledger's path.  With a line "x" already in it, the work has
 * begun; it ends when the file $LEDGER.go is there.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "idem/idem.h"
#include "process/program.h"

#define PATH_BYTES 200
#define ANSWER_BYTES 4096
#define POLL_US 2000

struct app {
	const struct settings *settings;
	struct idem_store *store;
	struct idem_engine engine;
	struct idem_buf scratch, body;
	struct idem_response res;
};

static int64_t
now_ms(void *arg)
{
	(void)arg;
	return io_wall_ms();
}

static enum idem_err
random_bytes(void *arg, void *p, size_t n)
{
	(void)arg;
	return io_random(p, n);
}

static enum idem_effect
work(void *app, struct idem_call *call, struct idem_buf *input,
    struct idem_response *res)
{
	const char *ledger = getenv("LEDGER");
	char go[PATH_BYTES];
	int fd;

	(void)app;
	(void)call;
	(void)input;
	if (ledger == NULL ||
	    text_format(go, sizeof go, "%s.go", ledger) != IDEM_OK)
		return IDEM_NONE;
	fd = open(ledger, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || io_write(fd, "x\n", 2) != IDEM_OK)
		return IDEM_NONE;
	close(fd);
	while (access(go, F_OK) != 0)
		usleep(POLL_US);
	res->status = 201;
	idem_response_field(res, IDEM_LIT("Content-Type"),
	    IDEM_LIT("text/plain"));
	idem_buf_puts(&res->body, IDEM_LIT("written\n"));
	return IDEM_BY_STATUS;
}

static const struct idem_handler handler = { .number = 1, .work = work };
static const struct idem_handler *const handlers[] = { &handler };

static void
open_store(struct app *a, const struct idem_log *log,
    struct idem_span document_root)
{
	struct idem_store_config config = {
		.place = a->settings->store,
		.document_root = document_root,
		.create = true,
		.durable = a->settings->durable,
		.max_bytes = a->settings->max_store_bytes,
		.apply = idem_engine_apply,
		.apply_arg = &a->engine,
		.log = log,
	};

	if (idem_store_open(&config, &a->store) != IDEM_OK)
		a->store = NULL;
	a->engine.store = a->store;
}

static enum idem_err
app_open(const struct settings *settings, const struct idem_log *log,
    struct idem_span document_root, void **app)
{
	struct app *a = calloc(1, sizeof *a);

	if (a == NULL)
		return IDEM_ENOMEM;
	a->settings = settings;
	a->engine = (struct idem_engine){
		.policy = &settings->policy,
		.handlers = handlers,
		.nhandlers = 1,
		.app = a,
		.log = log,
		.now_ms = now_ms,
		.random = random_bytes,
	};
	idem_buf_init(&a->scratch, ANSWER_BYTES);
	idem_buf_init(&a->body, settings->policy.max_body_bytes + 1);
	idem_response_init(&a->res, ANSWER_BYTES);
	*app = a;
	if (idem_engine_init(&a->engine, settings->policy.max_body_bytes)
	    != IDEM_OK)
		return IDEM_ENOMEM;
	open_store(a, log, document_root);
	return IDEM_OK;
}

struct turn {
	struct app *app;
	struct exchange *x;
};

static enum idem_err
read_body(void *arg, struct idem_call *call)
{
	struct turn *t = arg;

	return exchange_read_body(t->x, call->req,
	    call->policy->max_body_bytes, &t->app->body);
}

static void
app_serve(void *app, struct exchange *x)
{
	struct app *a = app;
	struct idem_request req;
	struct turn turn = { a, x };
	struct idem_call call = {
		.req = &req,
		.policy = &a->settings->policy,
		.handler = &handler,
		.res = &a->res,
		.request_id = "-",
		.read_body = read_body,
		.body_arg = &turn,
	};

	idem_response_reset(&a->res);
	if (idem_request_init(&req, x->vars, &a->scratch) != IDEM_OK)
		return;
	idem_wrap(&a->engine, &call);
	if (exchange_answer(x, &req, &a->res) != IDEM_OK)
		return; /* the peer is gone, which the tests mean to happen */
}

static void
app_close(void *app)
{
	struct app *a = app;

	idem_store_close(&a->store);
	idem_engine_free(&a->engine);
	idem_buf_free(&a->scratch);
	idem_buf_free(&a->body);
	idem_response_free(&a->res);
	free(a);
}

int
main(int argc, char **argv)
{
	static const struct program ledger = {
		.id = SETTINGS_TASKS,
		.name = "ledger.fcgi",
		.summary = "counts what it really did",
		.open = app_open,
		.serve = app_serve,
		.close = app_close,
	};

	return front_main(&ledger, argc, argv);
}
