/*
 * answer.c - a response as bytes.  Does not know who keeps the bytes or why
 * they come back.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/text.h"
#include "engine/answer.h"
#include "engine/answer_fields.h"
#include "idem/policy.h"

/* Where a field line of a first answer goes. */
enum place {
	KEPT,   /* into the record */
	OTHER,  /* to this client only */
	DROPPED /* nowhere: the name is ours */
};
#define NPLACES ((size_t)DROPPED + 1)

/* The lines of one answer, and where they go. */
struct sorting {
	const struct answer_rules *rules;
	bool page;
	bool cors;
};

static struct sorting
sorting_of(struct idem_span fields, const struct answer_rules *rules)
{
	return (struct sorting){ rules, answer_is_page(fields),
		rules->keep_cors && is_visible(rules->origin) &&
		    answer_has_cors(fields) };
}

static enum place
place_of(const struct sorting *s, struct idem_span name)
{
	if (answer_is_own(name))
		return DROPPED;
	if (idem_policy_keeps_field(s->rules->keep_headers, name) ||
	    (s->page && answer_is_cache_control(name)) ||
	    (s->cors && answer_is_cors(name)))
		return KEPT;
	return OTHER;
}

/* As idem_fields_next(), and the place and the whole line with its end. */
static bool
next_line(struct idem_span *lines, const struct sorting *s,
    enum place *place, struct idem_span *line)
{
	struct idem_span before = *lines, name, value;

	if (!idem_fields_next(lines, &name, &value))
		return false;
	*place = place_of(s, name);
	*line = span_first(before, before.n - lines->n);
	return true;
}

void
answer_drop_own_fields(struct idem_response *res)
{
	static const struct answer_rules none = { .max_body_bytes = 0 };
	const struct sorting s = { .rules = &none };
	struct idem_span rest = idem_buf_span(&res->fields), line;
	enum place place;
	size_t n = 0;

	while (next_line(&rest, &s, &place, &line)) {
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
    const struct sorting *s, enum place wanted, struct idem_span own)
{
	struct idem_span line;
	size_t start = out->n, nbytes;
	enum place place;

	wr_u32(out, 0);
	while (next_line(&lines, s, &place, &line))
		if (place == wanted)
			idem_buf_puts(out, line);
	if (own.n > 0) {
		idem_buf_puts(out, ANSWER_ORIGIN);
		idem_buf_puts(out, IDEM_LIT(": "));
		idem_buf_puts(out, own);
		idem_buf_puts(out, IDEM_LIT("\r\n"));
	}
	nbytes = out->n - start - 4;
	if (idem_buf_err(out) == IDEM_OK)
		wr_u32_at(out, start, (uint32_t)nbytes);
}

/* A body that lies elsewhere and is longer than that only has to be there. */
static uint32_t
body_length(const struct idem_response *res)
{
	if (res->elsewhere_bytes == 0)
		return (uint32_t)res->body.n;
	return res->elsewhere_bytes > UINT32_MAX ? UINT32_MAX :
	    (uint32_t)res->elsewhere_bytes;
}

enum idem_err
answer_encode(const struct idem_response *res,
    const struct answer_rules *rules, struct idem_buf *out,
    size_t *kept_bytes)
{
	struct idem_span fields = idem_buf_span(&res->fields);
	struct sorting s = sorting_of(fields, rules);
	size_t start = out->n, kept;
	enum idem_err err = idem_response_err(res);

	if (err != IDEM_OK)
		return err;
	if (fields.n > UINT32_MAX || res->body.n > UINT32_MAX)
		return IDEM_ETOOBIG;
	wr_u16(out, (uint16_t)res->status);
	put_lines(out, fields, &s, KEPT, s.cors ? rules->origin : IDEM_ABSENT);
	wr_u32(out, body_length(res));
	kept = out->n;
	idem_buf_puts(out, idem_buf_span(&res->body));
	if (res->body.n <= rules->max_body_bytes && res->elsewhere_bytes == 0)
		kept = out->n;
	put_lines(out, fields, &s, OTHER, IDEM_ABSENT);
	*kept_bytes = kept - start;
	return idem_buf_err(out);
}
