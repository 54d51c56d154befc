/*
 * replay.c - bytes as a response again: the first answer to its client, or a
 * replay.  Does not know where they were kept.
 */
#include "base/bytes.h"
#include "base/text.h"
#include "engine/answer.h"
#include "engine/answer_fields.h"
#include "idem/policy.h"

/* What of the stored lines this reader gets. */
struct filter {
	bool content, cache_control, cors;
};

static bool
passes(const struct filter *f, struct idem_span name)
{
	if (answer_is_own(name))
		return false;
	if (answer_is_of_content(name))
		return f->content;
	if (answer_is_cache_control(name))
		return f->cache_control;
	return f->cors || !answer_is_cors(name);
}

/* Checks each line as it was checked when the answer was made. */
static enum idem_err
get_fields(struct idem_span lines, const struct filter *f,
    struct idem_response *res)
{
	struct idem_span name, value;

	while (idem_fields_next(&lines, &name, &value))
		if (passes(f, name))
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
	static const struct filter all = { true, true, true };
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
	if ((err = get_fields(kept, &all, res)) != IDEM_OK ||
	    (err = get_fields(other, &all, res)) != IDEM_OK)
		return err;
	idem_buf_puts(&res->body, body);
	return checked(res);
}

static bool
has_cache_control(struct idem_span lines)
{
	struct idem_span name, value;

	while (idem_fields_next(&lines, &name, &value))
		if (answer_is_cache_control(name))
			return true;
	return false;
}

/* With no-store the Back button would send the form again. */
static void
put_cache_control(bool page, struct idem_response *res)
{
	idem_response_field(res, IDEM_LIT("Cache-Control"), page ?
	    IDEM_LIT("private, no-cache") : IDEM_LIT("no-store"));
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

static enum idem_err
replay_fields(const struct answer_parts *parts,
    const struct answer_reader *reader, struct idem_response *res)
{
	bool page = reader->person && answer_is_page(parts->fields);
	const struct filter filter = {
		.content = !parts->omitted,
		.cache_control = page || idem_policy_keeps_field(
		    reader->keep_headers, IDEM_LIT("Cache-Control")),
		.cors = span_eq(reader->origin, answer_origin(parts->fields)),
	};
	enum idem_err err = get_fields(parts->fields, &filter, res);

	if (err == IDEM_OK &&
	    (!filter.cache_control || !has_cache_control(parts->fields)))
		put_cache_control(page, res);
	return err;
}

enum idem_err
answer_replay(struct idem_span bytes, const struct answer_reader *reader,
    struct idem_response *res)
{
	struct answer_parts parts;
	enum idem_err err = answer_open(bytes, &parts);

	if (err != IDEM_OK)
		return err;
	idem_response_reset(res);
	res->status = parts.status;
	if ((err = replay_fields(&parts, reader, res)) != IDEM_OK)
		return err;
	idem_response_field(res, IDEM_LIT("Idempotency-Replayed"),
	    IDEM_LIT("true"));
	if (parts.omitted)
		idem_response_field(res, IDEM_LIT("Idempotency-Body"),
		    IDEM_LIT("omitted"));
	idem_buf_puts(&res->body, parts.body);
	return checked(res);
}
