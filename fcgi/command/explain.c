/*
 * explain.c - fingerprint and canonical: why was a request answered 422?  They
 * read standard input and need neither settings nor a store.
 */
#include <errno.h>
#include <string.h>

#include "base/io.h"
#include "base/text.h"
#include "command/command.h"

#include "idem/fingerprint.h"
#include "idem/json.h"

#define INPUT_MAX_BYTES ((size_t)256 << 20)

static enum idem_err
read_input(struct command *c, struct idem_buf *in)
{
	enum idem_err err = io_read_all(c->world->in_fd, in);
	int saved = errno;

	if (err != IDEM_OK)
		idem_log(c->log, IDEM_ERROR, "cannot read standard input: %s",
		    err == IDEM_EIO ? strerror(saved) :
		    err == IDEM_ETOOBIG ? "it is longer than 256 MiB" :
		    idem_strerror(err));
	return err;
}

/* Append "NAME=value" and a NUL; returns where it begins. */
static size_t
put_var(struct idem_buf *b, const char *name, const char *value)
{
	size_t at = b->n;

	idem_buf_puts(b, span_of(name));
	idem_buf_puts(b, span_of(value));
	idem_buf_putc(b, '\0');
	return at;
}

/* The variables that a web server would set, in text, each behind its NUL. */
static enum idem_err
make_vars(const struct options *o, struct idem_buf *text, const char *vars[4])
{
	const char *type = o->value[OPT_TYPE];
	size_t at[3] = {
		put_var(text, "REQUEST_METHOD=", o->value[OPT_METHOD]),
		put_var(text, "REQUEST_URI=", o->value[OPT_TARGET]),
		type == NULL ? 0 : put_var(text, "CONTENT_TYPE=", type),
	};

	if (idem_buf_err(text) != IDEM_OK)
		return idem_buf_err(text);
	vars[0] = text->p + at[0];
	vars[1] = text->p + at[1];
	vars[2] = type == NULL ? NULL : text->p + at[2];
	vars[3] = NULL;
	return IDEM_OK;
}

static enum idem_err
hash(const struct options *o, struct idem_span body,
    unsigned char out[IDEM_FINGERPRINT_BYTES])
{
	struct idem_fingerprinter f;
	struct idem_request req;
	struct idem_buf text, scratch;
	const char *vars[4];
	enum idem_err err;

	idem_buf_init(&text, INPUT_MAX_BYTES);
	idem_buf_init(&scratch, INPUT_MAX_BYTES);
	err = make_vars(o, &text, vars);
	if (err == IDEM_OK)
		err = idem_request_init(&req, vars, &scratch);
	if (err == IDEM_OK)
		err = idem_fingerprinter_init(&f, INPUT_MAX_BYTES);
	if (err == IDEM_OK) {
		req.body = body;
		err = idem_fingerprint(&f, &req, out, NULL);
		idem_fingerprinter_free(&f);
	}
	idem_buf_free(&scratch);
	idem_buf_free(&text);
	return err;
}

/* What HTTP could carry: else the 43 characters would belong to no request. */
static bool
sound(struct command *c)
{
	const char *method = c->options.value[OPT_METHOD];
	const char *target = c->options.value[OPT_TARGET];

	if (!is_token(span_of(method)))
		idem_log(c->log, IDEM_ERROR, "--method %.200s: not the name "
		    "of a method; see idem fingerprint --help", method);
	else if (target[0] == '\0' || strpbrk(target, " \t\r\n") != NULL)
		idem_log(c->log, IDEM_ERROR, "--target %.200s: a path and "
		    "query without spaces is wanted; see idem fingerprint "
		    "--help", target);
	else
		return true;
	return false;
}

int
command_fingerprint(struct command *c)
{
	unsigned char sum[IDEM_FINGERPRINT_BYTES];
	struct idem_buf body;
	enum idem_err err;
	char *text;

	if (!sound(c))
		return COMMAND_USAGE;
	idem_buf_init(&body, INPUT_MAX_BYTES);
	err = read_input(c, &body);
	if (err == IDEM_OK) {
		err = hash(&c->options, idem_buf_span(&body), sum);
		if (err != IDEM_OK)
			idem_log(c->log, IDEM_ERROR, "no fingerprint: %s",
			    idem_strerror(err));
	}
	idem_buf_free(&body);
	if (err != IDEM_OK)
		return COMMAND_FAILED;
	text = idem_buf_room(&c->out, IDEM_FINGERPRINT_CHARS + 1);
	if (text == NULL)
		return COMMAND_FAILED;
	base64url(sum, sizeof sum, text);
	text[IDEM_FINGERPRINT_CHARS] = '\n';
	idem_buf_grew(&c->out, IDEM_FINGERPRINT_CHARS + 1);
	return COMMAND_FINE;
}

static void
explain(struct command *c, enum idem_err err, size_t at)
{
	if (err == IDEM_ESYNTAX)
		idem_log(c->log, IDEM_ERROR, "byte %zu: not JSON from here on",
		    at);
	else if (err == IDEM_EINEXACT)
		idem_log(c->log, IDEM_ERROR, "byte %zu: JSON without a "
		    "canonical form: a name twice in one object, a lone "
		    "surrogate, more than %d open brackets, or an exponent "
		    "beyond 999999999", at, IDEM_JSON_DEPTH);
	else
		idem_log(c->log, IDEM_ERROR, "no canonical form: %s",
		    idem_strerror(err));
}

int
command_canonical(struct command *c)
{
	struct idem_json_work work;
	struct idem_buf in;
	enum idem_err err;
	size_t at = 0;

	idem_buf_init(&in, INPUT_MAX_BYTES);
	if (read_input(c, &in) != IDEM_OK) {
		idem_buf_free(&in);
		return COMMAND_FAILED;
	}
	idem_json_work_init(&work);
	err = idem_json_canonical(&work, idem_buf_span(&in), &c->out, &at);
	if (err == IDEM_OK)
		idem_buf_putc(&c->out, '\n');
	else
		explain(c, err, at);
	idem_json_work_free(&work);
	idem_buf_free(&in);
	return err == IDEM_OK ? COMMAND_FINE : COMMAND_FAILED;
}
