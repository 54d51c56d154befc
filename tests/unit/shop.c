/*
 * shop.c - the engine tests' application.
 */
#include "shop.h"

#include "base/bytes.h"

/* The handlers' app is the shop, also inside the transaction. */
static void
write_answer(const struct shop_script *script, struct idem_response *res)
{
	res->status = script->status;
	for (size_t i = 0; i + 1 < COUNT(script->fields); i += 2)
		if (script->fields[i] != NULL)
			idem_response_field(res, span_of(script->fields[i]),
			    span_of(script->fields[i + 1]));
	if (script->bad_field)
		idem_response_field(res, IDEM_LIT("X"), IDEM_LIT("a\r\nb"));
	idem_buf_puts(&res->body, script->body);
}

static bool
prepare(void *app, struct idem_call *call, struct idem_buf *input,
    struct idem_response *res)
{
	struct shop *s = app;

	s->nprepared++;
	if (s->script.refuse) {
		write_answer(&s->script, res);
		return false;
	}
	idem_buf_puts(input, call->req->body);
	for (size_t i = 0; i < s->script.input_bytes; i++)
		idem_buf_putc(input, 'x');
	return true;
}

static enum idem_effect
work(void *app, struct idem_call *call, struct idem_buf *input,
    struct idem_response *res)
{
	struct shop *s = app;

	assert_true(span_starts(idem_buf_span(input), call->req->body));
	s->nworked++;
	if (s->script.meanwhile != NULL)
		s->script.meanwhile(s);
	write_answer(&s->script, res);
	return s->script.effect;
}

static enum idem_effect
commit(void *app, struct idem_tables *t, const struct idem_op *op,
    struct idem_response *res)
{
	struct shop *s = app;
	unsigned char key[8];
	enum idem_err err;

	s->ncommitted++;
	u64_to_key(s->next_row++, key);
	err = idem_tables_put(t, SHOP_ROWS,
	    (struct idem_span){ (const char *)key, sizeof key }, op->input);
	write_answer(&s->script, res);
	if (err == IDEM_OK)
		err = s->script.table_err;
	if (err != IDEM_OK)
		res->err = err;
	return s->script.commit_effect;
}

static const struct idem_handler handlers[SHOP_NHANDLERS] = {
	[SHOP_ONCE] = { .number = 1, .prepare = prepare, .commit = commit },
	[SHOP_WORK] = { .number = 2, .prepare = prepare, .work = work },
	[SHOP_BOTH] = { .number = 3, .prepare = prepare, .work = work,
	    .commit = commit },
	[SHOP_AGAIN] = { .number = 4, .retry = true, .prepare = prepare,
	    .work = work, .commit = commit },
};
static const struct idem_handler *const handler_list[SHOP_NHANDLERS] = {
	&handlers[SHOP_ONCE], &handlers[SHOP_WORK], &handlers[SHOP_BOTH],
	&handlers[SHOP_AGAIN],
};

static void
log_line(void *arg, enum idem_level level, const char *text)
{
	struct shop *s = arg;

	idem_buf_putc(&s->lines, "IWE"[level]);
	idem_buf_putc(&s->lines, ' ');
	idem_buf_puts(&s->lines, span_of(text));
	idem_buf_putc(&s->lines, '\n');
}

static int64_t
now_ms(void *arg)
{
	return ((struct shop *)arg)->now_ms;
}

static enum idem_err
draw(void *arg, void *p, size_t n)
{
	struct shop *s = arg;

	if (s->no_random)
		return IDEM_EIO;
	memset(p, 0, n);
	((unsigned char *)p)[0] = (unsigned char)++s->ndrawn;
	((unsigned char *)p)[8] = (unsigned char)(s->ndrawn >> 8);
	return IDEM_OK;
}

static void
make_engine(struct shop *s, struct idem_engine *e)
{
	*e = (struct idem_engine){
		.store = s->store, .policy = &s->policy,
		.handlers = handler_list, .nhandlers = SHOP_NHANDLERS,
		.app = s, .log = &s->log, .now_ms = now_ms, .random = draw,
		.arg = s,
	};
	assert_int_equal(idem_engine_init(e, SHOP_MAX_BYTES), IDEM_OK);
}

static void
open_store(struct shop *s)
{
	static const char *const tables[] = { "rows" };
	struct idem_store_config config = {
		.place = IDEM_LIT("memory:"), .create = true,
		.max_bytes = 1 << 20, .tables = tables, .ntables = 1,
		.apply = idem_engine_apply, .apply_arg = &s->engine,
		.log = &s->log,
	};

	assert_int_equal(idem_store_open(&config, &s->store), IDEM_OK);
	shop_break_into(s);
}

static const struct idem_policy policy = {
	.methods = IDEM_LIT_INIT("POST,PATCH"),
	.anonymous = true,
	.evict = true,
	.keep_headers = IDEM_LIT_INIT(""),
	.ttl_ms = 86400000,
	.unknown_ttl_ms = 2592000000,
	.min_keep_ms = 3600000,
	.max_keys = 100,
	.max_body_bytes = 1024,
	.max_response_bytes = 64,
	.lang = IDEM_UZ,
	.problem_base = IDEM_LIT_INIT("https://x.example/xatolar/"),
};

int
shop_open(void **state)
{
	struct shop *s = calloc(1, sizeof *s);

	if (s == NULL)
		return -1;
	s->policy = policy;
	s->now_ms = 1000000000000;
	s->method = "POST";
	s->script = (struct shop_script){
		.status = 201, .fields = { "Location", "/t/1" },
		.body = IDEM_LIT("{\"id\":1}"),
	};
	idem_buf_init(&s->lines, 1 << 16);
	idem_buf_init(&s->scratch, 1024);
	idem_buf_init(&s->var, 1024);
	idem_buf_init(&s->line, 64);
	idem_response_init(&s->res, SHOP_MAX_BYTES);
	s->log = (struct idem_log){ log_line, s };
	open_store(s);
	make_engine(s, &s->engine);
	make_engine(s, &s->other);
	*state = s;
	return 0;
}

int
shop_close(void **state)
{
	struct shop *s = *state;

	idem_engine_free(&s->other);
	idem_engine_free(&s->engine);
	idem_store_close(&s->store);
	idem_response_free(&s->res);
	idem_buf_free(&s->line);
	idem_buf_free(&s->var);
	idem_buf_free(&s->scratch);
	idem_buf_free(&s->lines);
	free(s);
	return 0;
}

static enum idem_err
read_body(void *arg, struct idem_call *call)
{
	struct shop *s = arg;

	s->nread++;
	if (s->body_err == IDEM_OK)
		call->req->body = s->body;
	return s->body_err;
}

static void
send_by(struct shop *s, struct idem_engine *e, struct idem_call *call,
    const char *key)
{
	const char *vars[10] = { "REQUEST_URI=/vazifalar?x=1",
	    s->type != NULL ? s->type : "CONTENT_TYPE=application/json" };
	size_t n = 2;

	idem_buf_reset(&s->line);
	idem_buf_printf(&s->line, "REQUEST_METHOD=%s%c", s->method, '\0');
	vars[n++] = s->line.p;
	idem_buf_reset(&s->var);
	idem_buf_puts(&s->var, IDEM_LIT("HTTP_IDEMPOTENCY_KEY="));
	idem_buf_puts(&s->var, span_of(key));
	idem_buf_putc(&s->var, '\0');
	if (key != NULL)
		vars[n++] = s->var.p;
	for (size_t i = 0; i < COUNT(s->more) && s->more[i] != NULL; i++)
		vars[n++] = s->more[i];
	assert_int_equal(idem_request_init(call->req, vars, &s->scratch),
	    IDEM_OK);
	idem_wrap(e, call);
}

unsigned
shop_send(struct shop *s, enum shop_handler handler, const char *key,
    const char *body)
{
	s->body = span_of(body);
	s->call = (struct idem_call){
		.req = &s->req, .policy = &s->policy,
		.handler = &handlers[handler], .res = &s->res,
		.request_id = "req-1", .read_body = read_body, .body_arg = s,
		.handler_reads = s->handler_reads, .keep_cors = s->keep_cors,
	};
	send_by(s, &s->engine, &s->call, key);
	return s->res.status;
}

static bool
stopping(void *arg)
{
	return ((struct shop *)arg)->stopping;
}

unsigned
shop_send_other(struct shop *s, enum shop_handler handler, const char *key,
    const char *body, struct idem_response *res)
{
	struct idem_span before = s->body;
	struct idem_request req;
	struct idem_call call = {
		.req = &req, .policy = &s->policy,
		.handler = &handlers[handler], .res = res,
		.request_id = "req-2", .read_body = read_body, .body_arg = s,
		.stopping = stopping, .stopping_arg = s,
	};

	s->body = span_of(body);
	send_by(s, &s->other, &call, key);
	s->body = before;
	return res->status;
}

void
shop_clear(struct shop *s)
{
	s->now_ms += s->policy.unknown_ttl_ms;
	s->nprepared = s->nworked = s->ncommitted = 0;
	idem_buf_reset(&s->lines);
}

bool
shop_logged(const struct shop *s, const char *text)
{
	return s->lines.n > 0 &&
	    memmem(s->lines.p, s->lines.n, text, strlen(text)) != NULL;
}

struct idem_span
shop_field(const struct idem_response *res, const char *wanted)
{
	struct idem_span lines = idem_buf_span(&res->fields), name, value;

	while (idem_fields_next(&lines, &name, &value))
		if (span_eq_nocase(name, span_of(wanted)))
			return value;
	return IDEM_ABSENT;
}

void
assert_ended_at(const struct shop *s, unsigned status,
    enum idem_outcome outcome, const char *file, int line)
{
	if (s->res.status == status && s->call.outcome == outcome &&
	    idem_response_err(&s->res) == IDEM_OK)
		return;
	print_error("got %u %s, want %u %s\n%.*s\n%.*s\n", s->res.status,
	    idem_outcome_name(s->call.outcome), status,
	    idem_outcome_name(outcome), IDEM_FMT(idem_buf_span(&s->res.body)),
	    IDEM_FMT(idem_buf_span(&s->lines)));
	_fail(file, line);
}

void
assert_problem_at(const struct idem_response *res, const char *code,
    const char *file, int line)
{
	struct idem_span body = idem_buf_span(&res->body);
	char want[64];

	assert_int_equal(text_format(want, sizeof want, "\"code\":\"%s\"",
	    code), IDEM_OK);
	if (span_eq(shop_field(res, "Content-Type"),
	    IDEM_LIT("application/problem+json")) &&
	    memmem(body.p, body.n, want, strlen(want)) != NULL)
		return;
	print_error("no problem %s: %.*s\n", code, IDEM_FMT(body));
	_fail(file, line);
}
