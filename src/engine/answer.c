/*
 * answer.c - a response as bytes and back.  Does not know who keeps the bytes
 * or why they come back.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/text.h"
#include "engine/answer.h"
#include "idem/policy.h"

/* Where a field line of a first answer goes. */
enum place {
	KEPT,   /* into the record */
	OTHER,  /* to this client only */
	DROPPED /* nowhere: the name is ours */
};
#define NPLACES ((size_t)DROPPED + 1)

static enum place
place_of(struct idem_span keep_headers, struct idem_span name)
{
	if (span_starts_nocase(name, IDEM_LIT("Idempotency-")))
		return DROPPED;
	return idem_policy_keeps_field(keep_headers, name) ? KEPT : OTHER;
}

/* As idem_fields_next(), and the place and the whole line with its end. */
static bool
next_line(struct idem_span *lines, struct idem_span keep_headers,
    enum place *place, struct idem_span *line)
{
	struct idem_span before = *lines, name, value;

	if (!idem_fields_next(lines, &name, &value))
		return false;
	*place = place_of(keep_headers, name);
	*line = span_first(before, before.n - lines->n);
	return true;
}

void
answer_drop_own_fields(struct idem_response *res)
{
	struct idem_span rest = idem_buf_span(&res->fields), line;
	enum place place;
	size_t n = 0;

	while (next_line(&rest, IDEM_ABSENT, &place, &line)) {
		if (place == DROPPED)
			continue;
		if (line.p != res->fields.p + n)
			memmove(res->fields.p + n, line.p, line.n);
		n += line.n;
	}
	idem_buf_cut(&res->fields, n);
}

static void
put_lines(struct idem_buf *out, struct idem_span lines,
    struct idem_span keep_headers, enum place wanted, size_t nbytes)
{
	struct idem_span line;
	enum place place;

	wr_u32(out, (uint32_t)nbytes);
	while (nbytes > 0 && next_line(&lines, keep_headers, &place, &line))
		if (place == wanted)
			idem_buf_puts(out, line);
}

enum idem_err
answer_encode(const struct idem_response *res, struct idem_span keep_headers,
    size_t max_body_bytes, struct idem_buf *out, size_t *kept_bytes)
{
	struct idem_span fields = idem_buf_span(&res->fields), rest, line;
	size_t start = out->n, kept, nbytes[NPLACES] = { 0 };
	enum idem_err err = idem_response_err(res);
	enum place place;

	if (err != IDEM_OK)
		return err;
	if (fields.n > UINT32_MAX || res->body.n > UINT32_MAX)
		return IDEM_ETOOBIG;
	rest = fields;
	while (next_line(&rest, keep_headers, &place, &line))
		nbytes[place] += line.n;
	wr_u16(out, (uint16_t)res->status);
	put_lines(out, fields, keep_headers, KEPT, nbytes[KEPT]);
	wr_u32(out, (uint32_t)res->body.n);
	kept = out->n;
	idem_buf_puts(out, idem_buf_span(&res->body));
	if (res->body.n <= max_body_bytes)
		kept = out->n;
	put_lines(out, fields, keep_headers, OTHER, nbytes[OTHER]);
	*kept_bytes = kept - start;
	return idem_buf_err(out);
}

/* Checks each line as it was checked when the answer was made. */
static enum idem_err
get_fields(struct idem_span lines, bool without_content,
    struct idem_response *res)
{
	struct idem_span name, value;

	while (idem_fields_next(&lines, &name, &value))
		if (!without_content ||
		    (!span_eq_nocase(name, IDEM_LIT("Content-Type")) &&
		    !span_eq_nocase(name, IDEM_LIT("Content-Encoding"))))
			idem_response_field(res, name, value);
	return lines.n > 0 ? IDEM_ECORRUPT : IDEM_OK;
}

/* A broken line or status in stored bytes is damage, not bad input. */
static enum idem_err
checked(const struct idem_response *res)
{
	enum idem_err err = idem_response_err(res);

	return err == IDEM_ESYNTAX ? IDEM_ECORRUPT : err;
}

enum idem_err
answer_first(struct idem_span bytes, struct idem_response *res)
{
	struct reader r = reader_of(bytes);
	struct idem_span kept, body, other;
	unsigned status = rd_u16(&r);
	enum idem_err err;

	kept = rd_run(&r);
	body = rd_run(&r);
	other = rd_run(&r);
	if (r.bad || r.rest.n > 0)
		return IDEM_ECORRUPT;
	idem_response_reset(res);
	res->status = status;
	if ((err = get_fields(kept, false, res)) != IDEM_OK ||
	    (err = get_fields(other, false, res)) != IDEM_OK)
		return err;
	idem_buf_puts(&res->body, body);
	return checked(res);
}

enum idem_err
answer_open(struct idem_span bytes, struct answer_parts *out)
{
	struct reader r = reader_of(bytes);

	out->status = rd_u16(&r);
	out->fields = rd_run(&r);
	out->body_bytes = rd_u32(&r);
	out->body = r.rest;
	out->omitted = out->body_bytes > 0 && r.rest.n == 0;
	if (r.bad || (!out->omitted && r.rest.n != out->body_bytes))
		return IDEM_ECORRUPT;
	return IDEM_OK;
}

enum idem_err
answer_replay(struct idem_span bytes, struct idem_response *res)
{
	struct answer_parts parts;
	enum idem_err err = answer_open(bytes, &parts);

	if (err != IDEM_OK)
		return err;
	idem_response_reset(res);
	res->status = parts.status;
	if ((err = get_fields(parts.fields, parts.omitted, res)) != IDEM_OK)
		return err;
	idem_response_field(res, IDEM_LIT("Cache-Control"),
	    IDEM_LIT("no-store"));
	idem_response_field(res, IDEM_LIT("Idempotency-Replayed"),
	    IDEM_LIT("true"));
	if (parts.omitted)
		idem_response_field(res, IDEM_LIT("Idempotency-Body"),
		    IDEM_LIT("omitted"));
	idem_buf_puts(&res->body, parts.body);
	return checked(res);
}
