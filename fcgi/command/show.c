/*
 * show.c - one record, with the answer that it keeps; never its key, which the
 * store does not hold.
 */
#include <string.h>

#include "base/text.h"
#include "command/command.h"
#include "command/print.h"
#include "command/target.h"
#include "engine/answer.h"

#define ANSWER_MAX_BYTES ((size_t)2 << 30)

struct shown {
	struct command *c;
	struct census_row row;
	struct idem_buf bytes;     /* the stored answer */
	struct answer_parts parts; /* borrowed from it */
	bool answer;               /* there is one */
};

static bool
copy(void *arg, uint64_t number, const struct idem_record *r)
{
	struct shown *s = arg;

	if (number == s->row.number && r != NULL && r->seal == 0)
		idem_buf_puts(&s->bytes, r->answer);
	return false;
}

/* The walk is a second snapshot: the record may have expired and gone. */
static enum idem_err
fetch(struct shown *s, struct idem_store *store)
{
	uint64_t from = s->row.number - 1;
	enum idem_err err;
	bool more;

	if (s->row.r.state != IDEM_STATE_DONE)
		return IDEM_OK;
	err = idem_store_walk(store, &from, 1, &more, copy, s);
	if (err == IDEM_OK)
		err = idem_buf_err(&s->bytes);
	if (err != IDEM_OK || s->bytes.n == 0)
		return err;
	s->answer = true;
	return answer_open(idem_buf_span(&s->bytes), &s->parts);
}

/* --- for people ------------------------------------------------------------*/
static void
put_name(struct idem_buf *out, const char *name)
{
	idem_buf_printf(out, "%-12s ", name);
}

static void
put_time(struct idem_buf *out, const char *name, int64_t ms)
{
	put_name(out, name);
	if (!print_time(out, ms))
		idem_buf_putc(out, '-');
	idem_buf_putc(out, '\n');
}

static void
put_fingerprint(struct idem_buf *out, const struct idem_record *r)
{
	char text[IDEM_FINGERPRINT_CHARS];

	base64url(r->fingerprint, sizeof r->fingerprint, text);
	idem_buf_put(out, text, sizeof text);
}

static void
put_answer(struct shown *s)
{
	struct idem_buf *out = &s->c->out;
	struct idem_span rest = s->parts.fields, name, value;

	idem_buf_printf(out, "body_bytes   %zu%s\n\nStatus: %u\n",
	    s->parts.body_bytes, s->parts.omitted ? " (not kept)" : "",
	    s->parts.status);
	while (idem_fields_next(&rest, &name, &value)) {
		idem_buf_puts(out, name);
		idem_buf_puts(out, IDEM_LIT(": "));
		idem_buf_puts(out, value);
		idem_buf_putc(out, '\n');
	}
	if (s->c->options.value[OPT_BODY_TOO] == NULL)
		return;
	idem_buf_putc(out, '\n');
	idem_buf_puts(out, s->parts.body);
}

static void
put_text(struct shown *s)
{
	struct idem_buf *out = &s->c->out;
	const struct idem_record *r = &s->row.r;

	put_name(out, "id");
	print_id(out, r->id, 2 * IDEM_ID_BYTES);
	idem_buf_putc(out, '\n');
	put_name(out, "state");
	idem_buf_printf(out, "%s\n", print_class(s->row.class));
	put_time(out, "claimed", r->claimed_ms);
	put_time(out, "stored", r->stored_ms);
	put_time(out, "expires", r->expires_ms);
	put_name(out, "repeatable");
	idem_buf_puts(out, r->retry ? IDEM_LIT("yes\n") : IDEM_LIT("no\n"));
	put_name(out, "fingerprint");
	put_fingerprint(out, r);
	idem_buf_putc(out, '\n');
	if (s->answer)
		put_answer(s);
}

/* --- for machines ----------------------------------------------------------*/
static void
put_headers_json(struct shown *s)
{
	struct idem_buf *out = &s->c->out;
	struct idem_span rest = s->parts.fields, name, value;
	bool first = true;

	for (; idem_fields_next(&rest, &name, &value); first = false) {
		idem_buf_puts(out, first ? IDEM_LIT("[") : IDEM_LIT(",["));
		print_json(out, name);
		idem_buf_putc(out, ',');
		print_json(out, value);
		idem_buf_putc(out, ']');
	}
}

static void
put_body_json(struct shown *s)
{
	struct idem_buf *out = &s->c->out;
	struct idem_span body = s->parts.body;
	size_t n = BASE64URL_BYTES(body.n);
	char *text;

	if (utf8_is_all(body)) {
		idem_buf_puts(out, IDEM_LIT(",\"body\":"));
		print_json(out, body);
		return;
	}
	idem_buf_puts(out, IDEM_LIT(",\"body_base64url\":\""));
	if ((text = idem_buf_room(out, n)) != NULL) {
		base64url((const unsigned char *)body.p, body.n, text);
		idem_buf_grew(out, n);
	}
	idem_buf_putc(out, '"');
}

static void
put_answer_json(struct shown *s)
{
	struct idem_buf *out = &s->c->out;

	if (!s->answer) {
		idem_buf_puts(out, IDEM_LIT(",\"status\":null}\n"));
		return;
	}
	idem_buf_printf(out, ",\"status\":%u,\"headers\":[", s->parts.status);
	put_headers_json(s);
	idem_buf_printf(out, "],\"body_bytes\":%zu,\"body_kept\":%s",
	    s->parts.body_bytes, s->parts.omitted ? "false" : "true");
	if (s->c->options.value[OPT_BODY_TOO] != NULL && !s->parts.omitted)
		put_body_json(s);
	idem_buf_puts(out, IDEM_LIT("}\n"));
}

static void
put_json(struct shown *s)
{
	struct idem_buf *out = &s->c->out;
	const struct idem_record *r = &s->row.r;

	idem_buf_puts(out, IDEM_LIT("{\"id\":\""));
	print_id(out, r->id, 2 * IDEM_ID_BYTES);
	idem_buf_printf(out, "\",\"state\":\"%s\",\"claimed\":",
	    print_class(s->row.class));
	print_time_json(out, r->claimed_ms);
	idem_buf_puts(out, IDEM_LIT(",\"stored\":"));
	print_time_json(out, r->stored_ms);
	idem_buf_puts(out, IDEM_LIT(",\"expires\":"));
	print_time_json(out, r->expires_ms);
	idem_buf_printf(out, ",\"repeatable\":%s,\"fingerprint\":\"",
	    r->retry ? "true" : "false");
	put_fingerprint(out, r);
	idem_buf_putc(out, '"');
	put_answer_json(s);
}

int
command_show(struct command *c)
{
	struct shown s = { .c = c };
	struct idem_store *store = NULL;
	struct target target;
	enum idem_err err = IDEM_OK;
	bool found;
	int rc = target_read(c, &target);

	if (rc != COMMAND_FINE)
		return rc;
	if (!command_store_open(c, &store))
		return COMMAND_FAILED;
	idem_buf_init(&s.bytes, ANSWER_MAX_BYTES);
	found = target_find(c, store, &target, &s.row);
	if (found)
		err = fetch(&s, store);
	idem_store_close(&store);
	if (err != IDEM_OK)
		idem_log(c->log, IDEM_ERROR, "cannot read the record: %s",
		    idem_strerror(err));
	else if (found)
		(c->options.value[OPT_JSON] != NULL ? put_json : put_text)(&s);
	idem_buf_free(&s.bytes);
	return found && err == IDEM_OK ? COMMAND_FINE : COMMAND_FAILED;
}
