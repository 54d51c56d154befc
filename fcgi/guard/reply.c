/*
 * reply.c - an answer as it comes, head first.
 */
#include "base/text.h"
#include "guard/reply.h"

void
reply_init(struct reply *r, struct idem_response *res)
{
	*r = (struct reply){ .res = res, .empty = true };
	idem_buf_init(&r->raw, CGI_HEAD_MAX);
}

void
reply_free(struct reply *r)
{
	idem_buf_free(&r->raw);
}

/* RFC 9110 6.4.1: these have none, whatever length they name. */
static bool
has_body(const struct reply *r)
{
	return !r->head_only && r->res->status != 204 && r->res->status != 304;
}

static enum idem_err
take_body(struct reply *r, struct idem_span bytes)
{
	uint64_t left = r->head.has_length ?
	    r->head.length_bytes - r->nbody : UINT64_MAX;

	if (!has_body(r))
		return IDEM_OK;
	if (bytes.n > left)
		bytes.n = (size_t)left;
	r->nbody += bytes.n;
	return bytes.n == 0 ? IDEM_OK : r->put(r->arg, bytes.p, bytes.n);
}

/* The head is there: *rest is what stands behind it in r->raw. */
static enum idem_err
take_head(struct reply *r, size_t nhead, struct idem_span *rest)
{
	struct idem_span raw = idem_buf_span(&r->raw);
	enum idem_err err = cgi_head_parse(span_first(raw, nhead), r->res,
	    &r->head);

	if (err != IDEM_OK)
		return err == IDEM_ETOOBIG ? IDEM_ESYNTAX : err;
	r->has_head = true;
	*rest = span_from(raw, nhead);
	return r->begin == NULL ? IDEM_OK : r->begin(r->arg, r);
}

/* As much of *bytes as a head may have goes to r->raw. */
static enum idem_err
gather_head(struct reply *r, struct idem_span *bytes)
{
	size_t room = CGI_HEAD_MAX - r->raw.n, nhead;
	struct idem_span some = span_first(*bytes,
	    bytes->n < room ? bytes->n : room), behind;
	enum idem_err err;

	idem_buf_puts(&r->raw, some);
	*bytes = span_from(*bytes, some.n);
	if ((err = idem_buf_err(&r->raw)) != IDEM_OK)
		return err;
	nhead = cgi_head_end(idem_buf_span(&r->raw), &r->scanned);
	if (nhead == 0)
		return bytes->n > 0 ? IDEM_ESYNTAX : IDEM_OK;
	if ((err = take_head(r, nhead, &behind)) != IDEM_OK)
		return err;
	return take_body(r, behind);
}

bool
reply_take(struct reply *r, struct idem_span bytes)
{
	if (bytes.n > 0)
		r->empty = false;
	if (r->err == IDEM_OK && !r->has_head)
		r->err = gather_head(r, &bytes);
	if (r->err == IDEM_OK && bytes.n > 0)
		r->err = take_body(r, bytes);
	return r->err == IDEM_OK;
}

void
reply_pause(const struct reply *r)
{
	if (r->pause != NULL)
		r->pause(r->arg);
}

bool
reply_is_whole(const struct reply *r)
{
	return r->err == IDEM_OK && r->has_head && (!has_body(r) ||
	    !r->head.has_length || r->nbody == r->head.length_bytes);
}
