/*
 * served.c - tasks.fcgi on a memory store, asked without a server.
 */
#include "served.h"

#include "base/text.h"

#define VARS_MAX 24

static void
hear(void *arg, enum idem_level level, const char *text)
{
	struct served *s = arg;

	(void)level;
	idem_buf_puts(&s->said, span_of(text));
	idem_buf_putc(&s->said, '\n');
}

static int64_t
clock_of_test(void *arg)
{
	const struct served *s = arg;

	return s->now_ms;
}

/* Never the same twice, and the same in every run. */
static enum idem_err
random_of_test(void *arg, void *p, size_t n)
{
	struct served *s = arg;
	unsigned char *bytes = p;

	for (size_t i = 0; i < n; i++)
		bytes[i] = (unsigned char)(s->nrandom >> i % 4 * 8);
	s->nrandom++;
	return IDEM_OK;
}

static void
take_options(struct served *s, const char *const *options)
{
	for (size_t i = 0; options != NULL && options[i] != NULL; i++) {
		bool taken = false;

		if (settings_option(&s->settings, &s->log, options, &i,
		    &taken) != IDEM_OK || !taken)
			fail_msg("option %s", options[i]);
	}
}

void
served_open(struct served *s, const char *const *options)
{
	void *app;

	*s = (struct served){ .now_ms = SERVED_NOW_MS };
	s->log = (struct idem_log){ hear, s };
	idem_buf_init(&s->said, 1 << 16);
	idem_buf_init(&s->answer, 1 << 24);
	settings_init(&s->settings, SETTINGS_TASKS);
	s->settings.store = IDEM_LIT("memory:");
	take_options(s, options);
	assert_int_equal(service_open(&s->settings, &s->log, IDEM_ABSENT,
	    &app), IDEM_OK);
	s->service = app;
	s->service->engine.now_ms = clock_of_test;
	s->service->engine.random = random_of_test;
	s->service->engine.arg = s;
}

void
served_close(struct served *s)
{
	service_close(s->service);
	idem_buf_free(&s->said);
	idem_buf_free(&s->answer);
}

/* A request taken apart: its text is cut at the line ends. */
struct asked {
	struct served *served;
	const char *vars[VARS_MAX + 1];
	size_t nvars;
	struct idem_span body; /* what was not read yet */
	char method[64], uri[8192], length[64];
};

static void
add_var(struct asked *a, const char *var)
{
	assert_true(a->nvars < VARS_MAX);
	a->vars[a->nvars++] = var;
	a->vars[a->nvars] = NULL;
}

static void
add_default(struct asked *a, const char *name, const char *var)
{
	for (size_t i = 0; i < a->nvars; i++)
		if (strncmp(a->vars[i], name, strlen(name)) == 0)
			return;
	add_var(a, var);
}

static void
take_apart(struct asked *a, char *text)
{
	char *line = text, *end = strchr(line, '\n'), *space;

	assert_non_null(end);
	*end = '\0';
	space = strchr(line, ' ');
	assert_non_null(space);
	assert_int_equal(text_format(a->method, sizeof a->method,
	    "REQUEST_METHOD=%.*s", (int)(space - line), line), IDEM_OK);
	assert_int_equal(text_format(a->uri, sizeof a->uri, "REQUEST_URI=%s",
	    space + 1), IDEM_OK);
	add_var(a, a->method);
	add_var(a, a->uri);
	for (line = end + 1; *line != '\0' && *line != '\n'; line = end + 1) {
		end = strchr(line, '\n');
		assert_non_null(end);
		*end = '\0';
		add_var(a, line);
	}
	a->body = span_of(*line == '\n' ? line + 1 : line);
	if (a->body.n > 0)
		assert_int_equal(text_format(a->length, sizeof a->length,
		    "CONTENT_LENGTH=%zu", a->body.n), IDEM_OK);
	add_default(a, "CONTENT_LENGTH=", a->body.n > 0 ? a->length :
	    "CONTENT_LENGTH=0");
	add_default(a, "HTTP_X_REQUEST_ID=", "HTTP_X_REQUEST_ID=r1");
}

static long
read_body(void *arg, void *p, size_t n)
{
	struct asked *a = arg;

	n = n < a->body.n ? n : a->body.n;
	memcpy(p, a->body.p, n);
	a->body = span_from(a->body, n);
	return (long)n;
}

static enum idem_err
write_answer(void *arg, const void *p, size_t n)
{
	struct asked *a = arg;

	idem_buf_put(&a->served->answer, p, n);
	return idem_buf_err(&a->served->answer);
}

struct idem_span
served_ask(struct served *s, const char *request)
{
	struct asked a = { .served = s };
	struct exchange x = { .vars = a.vars, .read = read_body,
		.write = write_answer, .arg = &a };
	size_t n = strlen(request) + 1;
	char *text = malloc(n);

	assert_non_null(text);
	memcpy(text, request, n);
	take_apart(&a, text);
	idem_buf_reset(&s->answer);
	service_serve(s->service, &x);
	assert_int_equal(idem_buf_err(&s->answer), IDEM_OK);
	free(text);
	return idem_buf_span(&s->answer);
}

/*
 * Hold Content-Length against the body that came, and put '#' in the place of
 * the number, so that a test need not count.  An answer without a body keeps
 * its number.
 */
static struct idem_span
without_length(struct idem_span got, struct idem_buf *out)
{
	static const char name[] = "Content-Length: ";
	const char *head, *body, *end;
	uint64_t n;

	idem_buf_reset(out);
	idem_buf_puts(out, got);
	idem_buf_putc(out, '\0');
	head = strstr(out->p, name);
	body = strstr(out->p, "\r\n\r\n");
	assert_non_null(body);
	body += 4;
	if (head == NULL || head > body || *body == '\0')
		return got;
	head += sizeof name - 1;
	end = strchr(head, '\r');
	assert_int_equal(parse_u64((struct idem_span){ head,
	    (size_t)(end - head) }, UINT64_MAX, &n), IDEM_OK);
	assert_int_equal(n, got.n - (size_t)(body - out->p));
	n = (size_t)(head - out->p);
	idem_buf_cut(out, n);
	idem_buf_putc(out, '#');
	idem_buf_puts(out, span_from(got, (size_t)(end - out->p)));
	return idem_buf_span(out);
}

void
served_steps(const char *const *options, const struct served_step *steps,
    size_t nsteps)
{
	struct served s;
	struct idem_buf got;

	served_open(&s, options);
	idem_buf_init(&got, 1 << 20);
	for (size_t i = 0; i < nsteps; i++) {
		print_message("step %zu\n", i);
		assert_span(without_length(served_ask(&s, steps[i].request),
		    &got), span_of(steps[i].want));
	}
	idem_buf_free(&got);
	served_close(&s);
}
