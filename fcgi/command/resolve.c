/*
 * resolve.c - say how work ended that nobody else can speak for: give its key
 * back, or store the answer that every retry gets.
 */
#include <errno.h>
#include <string.h>

#include "base/io.h"
#include "base/text.h"
#include "command/command.h"
#include "command/print.h"
#include "command/target.h"
#include "engine/answer.h"

#define FIELDS_MAX_BYTES 4000 /* web servers refuse longer heads */

/* What the retries are to get; empty bytes: nothing, the key is free. */
struct ending {
	unsigned status;
	struct idem_buf bytes;
	size_t kept_bytes;
};

static bool
complain(struct command *c, const char *option, const char *value,
    const char *why)
{
	idem_log(c->log, IDEM_ERROR, "%s %.200s: %s; see idem resolve --help",
	    option, value, why);
	return false;
}

static bool
read_status(struct command *c, struct idem_response *res)
{
	const char *text = c->options.value[OPT_COMPLETE];
	uint64_t status;

	if (parse_u64(span_of(text), 599, &status) != IDEM_OK || status < 200)
		return complain(c, "--complete", text,
		    "a status from 200 to 599 is wanted");
	res->status = (unsigned)status;
	return true;
}

static bool
read_header(struct command *c, const char *line, struct idem_response *res)
{
	struct idem_span text = span_of(line), name, value;
	size_t colon = span_find(text, ':');
	enum idem_err err;

	name = span_first(text, colon);
	value = colon == text.n ? IDEM_ABSENT :
	    span_trim(span_from(text, colon + 1));
	if (value.p == NULL || !is_token(name))
		return complain(c, "--header", line, "'Name: value' is wanted");
	if (!idem_policy_keeps_field(c->settings.policy.keep_headers, name))
		return complain(c, "--header", line, "a replay does not carry "
		    "this one; IDEM_KEEP_HEADERS names more");
	idem_response_field(res, name, value);
	err = idem_response_err(res);
	/* that there was no memory is said when the answer is made of it */
	if ((err != IDEM_OK && err != IDEM_ENOMEM) ||
	    res->fields.n > FIELDS_MAX_BYTES)
		return complain(c, "--header", line, "a line end in it, or all "
		    "of them are too long");
	return true;
}

static bool
read_body(struct command *c, struct idem_response *res)
{
	const char *path = c->options.value[OPT_BODY];
	size_t max = c->settings.policy.max_response_bytes;
	enum idem_err err;
	int saved;

	if (path == NULL)
		return true;
	err = span_eq(span_of(path), IDEM_LIT("-")) ?
	    io_read_all(c->world->in_fd, &res->body) :
	    io_read_file(path, &res->body);
	saved = errno;
	if (err == IDEM_EIO)
		idem_log(c->log, IDEM_ERROR, "--body %.200s: cannot read it: "
		    "%s", path, strerror(saved));
	else if (err == IDEM_ETOOBIG || res->body.n > max)
		idem_log(c->log, IDEM_ERROR, "--body %.200s: longer than "
		    "IDEM_MAX_RESPONSE, %zu bytes", path, max);
	else if (err != IDEM_OK)
		idem_log(c->log, IDEM_ERROR, "--body %.200s: %s", path,
		    idem_strerror(err));
	else if (res->body.n > 0 && (res->status == 204 || res->status == 304))
		idem_log(c->log, IDEM_ERROR, "--body %.200s: an answer with "
		    "status %u has none", path, res->status);
	else
		return true;
	return false;
}

static enum idem_err
encode(struct command *c, const struct idem_response *res, struct ending *out)
{
	const struct answer_rules rules = {
		.keep_headers = c->settings.policy.keep_headers,
		.max_body_bytes = c->settings.policy.max_response_bytes,
	};
	enum idem_err err = answer_encode(res, &rules, &out->bytes,
	    &out->kept_bytes);

	if (err != IDEM_OK)
		idem_log(c->log, IDEM_ERROR, "the answer cannot be stored: %s",
		    idem_strerror(err));
	return err;
}

/* Before the store: root reads the file as root. */
static int
read_ending(struct command *c, struct ending *out)
{
	size_t max = c->settings.policy.max_response_bytes;
	struct idem_response res;
	bool good;
	int rc = COMMAND_USAGE;

	idem_response_init(&res, max + FIELDS_MAX_BYTES + 1024);
	good = read_status(c, &res);
	for (size_t i = 0; good && i < c->options.nheaders; i++)
		good = read_header(c, c->options.headers[i], &res);
	if (good)
		rc = read_body(c, &res) && encode(c, &res, out) == IDEM_OK ?
		    COMMAND_FINE : COMMAND_FAILED;
	out->status = res.status;
	idem_response_free(&res);
	return rc;
}

/* Are the options a whole? */
static bool
fits(struct command *c)
{
	const char *const *value = c->options.value;
	const char *why = NULL;

	if ((value[OPT_RELEASE] == NULL) == (value[OPT_COMPLETE] == NULL))
		why = "one of --release and --complete is wanted";
	else if (value[OPT_COMPLETE] == NULL && (value[OPT_BODY] != NULL ||
	    value[OPT_HEADER] != NULL))
		why = "--body and --header go with --complete";
	if (why != NULL)
		idem_log(c->log, IDEM_ERROR, "resolve: %s; see idem resolve "
		    "--help", why);
	return why == NULL;
}

static void
report(struct command *c, const struct census_row *row, unsigned status)
{
	bool json = c->options.value[OPT_JSON] != NULL;
	struct idem_buf *out = &c->out;

	idem_buf_puts(out, json ? IDEM_LIT("{\"id\":\"") : IDEM_LIT("id="));
	print_id(out, row->r.id, 2 * IDEM_ID_BYTES);
	if (status == 0)
		idem_buf_puts(out, json ?
		    IDEM_LIT("\",\"state\":\"released\"}\n") :
		    IDEM_LIT(" state=released\n"));
	else
		idem_buf_printf(out, json ?
		    "\",\"state\":\"done\",\"status\":%u}\n" :
		    " state=done status=%u\n", status);
}

static const char *
why_not(enum idem_verdict verdict)
{
	switch (verdict) {
	case IDEM_RUNNING:
		return "its worker lives and is at it: wait for its end";
	case IDEM_REPLAY:
		return "it is done, and its answer stored: there is nothing "
		    "to resolve (idem show)";
	case IDEM_ABSENT_KEY:
		return "it is past its time, so that its key is a new one: "
		    "there is nothing to resolve";
	case IDEM_CLAIMED:
	case IDEM_MISMATCH:
	case IDEM_ORPHAN:
	case IDEM_UNKNOWN:
	case IDEM_STORED:
	case IDEM_RELEASED:
	case IDEM_HELD:
	case IDEM_LOST:
		break;
	}
	return "it is not what it was a moment ago: look at it again";
}

static bool
submit(struct command *c, struct idem_store *store,
    const struct census_row *row, const struct ending *ending)
{
	struct idem_op op = {
		.kind = IDEM_OP_RESOLVE,
		.now_ms = c->world->wall_ms(),
		.ttl_ms = c->settings.policy.ttl_ms,
	};
	enum idem_err err;

	memcpy(op.id, row->r.id, sizeof op.id);
	if (ending->status != 0) {
		op.input = span_first(idem_buf_span(&ending->bytes),
		    ending->kept_bytes);
		op.kept_bytes = ending->kept_bytes;
	}
	err = idem_store_submit(store, &op);
	if (err == IDEM_OK && (op.verdict == IDEM_STORED ||
	    op.verdict == IDEM_RELEASED)) {
		report(c, row, ending->status);
		return true;
	}
	idem_log(c->log, IDEM_ERROR, "nothing was changed: %s", err != IDEM_OK ?
	    idem_strerror(err) : why_not(op.verdict));
	return false;
}

static int
resolve(struct command *c, const struct target *target,
    const struct ending *ending)
{
	struct idem_store *store = NULL;
	struct census_row row;
	bool done;

	if (!command_store_open(c, &store))
		return COMMAND_FAILED;
	done = target_find(c, store, target, &row) &&
	    submit(c, store, &row, ending);
	idem_store_close(&store);
	return done ? COMMAND_FINE : COMMAND_FAILED;
}

int
command_resolve(struct command *c)
{
	struct ending ending = { .status = 0 };
	struct target target;
	int rc;

	if (!fits(c))
		return COMMAND_USAGE;
	if ((rc = target_read(c, &target)) != COMMAND_FINE)
		return rc;
	idem_buf_init(&ending.bytes, c->settings.policy.max_response_bytes +
	    2 * FIELDS_MAX_BYTES);
	if (c->options.value[OPT_COMPLETE] != NULL)
		rc = read_ending(c, &ending);
	if (rc == COMMAND_FINE)
		rc = resolve(c, &target, &ending);
	idem_buf_free(&ending.bytes);
	return rc;
}
