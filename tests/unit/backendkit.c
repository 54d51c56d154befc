/*
 * backendkit.c - one request to a backend, its answer in memory.
 */
#include "backendkit.h"

static const char *const no_vars[] = { "REQUEST_METHOD=POST", NULL };

static void
hear(void *arg, enum idem_level level, const char *text)
{
	struct asking *a = arg;

	(void)level;
	idem_buf_puts(&a->said, span_of(text));
	idem_buf_putc(&a->said, '\n');
}

static enum idem_err
put(void *arg, const void *p, size_t n)
{
	struct asking *a = arg;

	idem_buf_put(&a->body, p, n);
	return idem_buf_err(&a->body);
}

void
asking_again(struct asking *a)
{
	reply_free(&a->reply);
	reply_init(&a->reply, &a->res);
	a->reply.put = put;
	a->reply.arg = a;
	a->hurry = false;
	idem_buf_reset(&a->body);
	idem_buf_reset(&a->said);
}

void
asking_open(struct asking *a)
{
	*a = (struct asking){ .hurry = false };
	a->log = (struct idem_log){ hear, a };
	idem_buf_init(&a->body, 1 << 26);
	idem_buf_init(&a->said, 1 << 20);
	idem_response_init(&a->res, 1 << 20);
	reply_init(&a->reply, &a->res);
	asking_again(a);
	a->job = (struct backend_job){ .vars = no_vars,
		.body = IDEM_LIT(""), .timeout_ms = PATIENT_MS,
		.hurry = &a->hurry, .reply = &a->reply, .log = &a->log,
		.request_id = "r1" };
}

void
asking_close(struct asking *a)
{
	reply_free(&a->reply);
	idem_response_free(&a->res);
	idem_buf_free(&a->body);
	idem_buf_free(&a->said);
}

void
assert_log(const struct asking *a, const char *part)
{
	if (memmem(a->said.p, a->said.n, part, strlen(part)) == NULL)
		fail_msg("want %s in the log, got %.*s", part,
		    IDEM_FMT(idem_buf_span(&a->said)));
}

void
assert_answer(const struct asking *a, unsigned status, struct idem_span body)
{
	assert_int_equal(a->res.status, status);
	if (a->body.n != body.n)
		print_error("got %.*s\n", IDEM_FMT(idem_buf_span(&a->body)));
	assert_int_equal(a->body.n, body.n);
	if (body.n > 0)
		assert_memory_equal(a->body.p, body.p, body.n);
}
