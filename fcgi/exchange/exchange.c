/*
 * exchange.c - the body counted, the answer written; the same for FastCGI and
 * plain CGI.
 */
#include <inttypes.h>

#include "base/text.h"
#include "exchange/exchange.h"

#define CHUNK_BYTES 16384

/* A length that was announced. */
struct length {
	bool there;
	uint64_t n;
};

static enum idem_err
announced(const struct idem_request *req, enum idem_var var,
    struct length *out)
{
	struct idem_span text = span_trim(req->var[var]);

	*out = (struct length){ .there = text.n > 0 };
	if (!out->there)
		return IDEM_OK;
	/* IDEM_LENGTH has a redirected twin that says the same */
	if (var == IDEM_VAR_CONTENT_LENGTH && (req->twice >> var & 1) != 0)
		return IDEM_ESYNTAX;
	return parse_u64(text, UINT64_MAX, &out->n);
}

/* Read on to the end, but not past limit bytes in all. */
static enum idem_err
read_up_to(struct exchange *x, uint64_t limit, struct idem_buf *body)
{
	while (body->n < limit) {
		uint64_t left = limit - body->n;
		size_t n = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;
		char *room = idem_buf_room(body, n);
		long got;

		if (room == NULL)
			return idem_buf_err(body);
		got = x->read(x->arg, room, n);
		if (got < 0)
			return IDEM_ESHORT;
		if (got == 0)
			break;
		idem_buf_grew(body, (size_t)got);
	}
	return IDEM_OK;
}

/* What was announced, in both places. */
static enum idem_err
read_lengths(const struct exchange *x, const struct idem_request *req,
    struct length *counted, struct length *said)
{
	enum idem_err err = announced(req, IDEM_VAR_CONTENT_LENGTH, counted);

	if (err == IDEM_OK)
		err = announced(req, IDEM_VAR_LENGTH, said);
	return err == IDEM_OK && !counted->there && x->end_is_unproved ?
	    IDEM_ESYNTAX : err;
}

enum idem_err
exchange_read_body(struct exchange *x, struct idem_request *req,
    size_t max_bytes, struct idem_buf *body)
{
	struct length counted, said;
	enum idem_err err;

	idem_buf_reset(body);
	if ((err = read_lengths(x, req, &counted, &said)) != IDEM_OK)
		return err;
	if (counted.n > max_bytes || said.n > max_bytes)
		return IDEM_ETOOBIG;
	/* one more than allowed shows that there is too much */
	err = read_up_to(x, counted.there ? counted.n :
	    (uint64_t)max_bytes + 1, body);
	if (err != IDEM_OK)
		return err;
	if (body->n > max_bytes)
		return IDEM_ETOOBIG;
	if (body->n < counted.n || body->n < said.n)
		return IDEM_ESHORT;
	req->body = body->n == 0 ? IDEM_LIT("") : idem_buf_span(body);
	return IDEM_OK;
}

enum idem_err
exchange_pass_body(struct exchange *x, const struct idem_request *req,
    exchange_put put, void *arg, uint64_t *nbytes)
{
	struct length counted, said;
	enum idem_err err = read_lengths(x, req, &counted, &said);
	uint64_t end = counted.there ? counted.n : UINT64_MAX;
	char chunk[CHUNK_BYTES];

	*nbytes = 0;
	while (err == IDEM_OK && *nbytes < end) {
		uint64_t left = end - *nbytes;
		long got = x->read(x->arg, chunk,
		    left < sizeof chunk ? (size_t)left : sizeof chunk);

		if (got < 0)
			return IDEM_ESHORT;
		if (got == 0)
			break;
		*nbytes += (uint64_t)got;
		err = put(arg, chunk, (size_t)got);
	}
	if (err == IDEM_OK && (*nbytes < counted.n || *nbytes < said.n))
		err = IDEM_ESHORT;
	return err;
}

/* RFC 9110 15, RFC 6585; a status without a row goes out without a phrase. */
static const char *
phrase(unsigned status)
{
	static const struct {
		unsigned status;
		const char *text;
	} rows[] = {
		{ 200, "OK" }, { 201, "Created" }, { 202, "Accepted" },
		{ 203, "Non-Authoritative Information" },
		{ 204, "No Content" }, { 205, "Reset Content" },
		{ 206, "Partial Content" }, { 300, "Multiple Choices" },
		{ 301, "Moved Permanently" }, { 302, "Found" },
		{ 303, "See Other" }, { 304, "Not Modified" },
		{ 307, "Temporary Redirect" }, { 308, "Permanent Redirect" },
		{ 400, "Bad Request" }, { 401, "Unauthorized" },
		{ 402, "Payment Required" }, { 403, "Forbidden" },
		{ 404, "Not Found" }, { 405, "Method Not Allowed" },
		{ 406, "Not Acceptable" }, { 408, "Request Timeout" },
		{ 409, "Conflict" }, { 410, "Gone" },
		{ 411, "Length Required" }, { 412, "Precondition Failed" },
		{ 413, "Content Too Large" }, { 414, "URI Too Long" },
		{ 415, "Unsupported Media Type" },
		{ 416, "Range Not Satisfiable" },
		{ 417, "Expectation Failed" }, { 421, "Misdirected Request" },
		{ 422, "Unprocessable Content" }, { 423, "Locked" },
		{ 425, "Too Early" }, { 426, "Upgrade Required" },
		{ 428, "Precondition Required" },
		{ 429, "Too Many Requests" },
		{ 500, "Internal Server Error" }, { 501, "Not Implemented" },
		{ 502, "Bad Gateway" }, { 503, "Service Unavailable" },
		{ 504, "Gateway Timeout" }, { 507, "Insufficient Storage" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].status == status)
			return rows[i].text;
	return "";
}

/* What is said here and nowhere else. */
static bool
is_ours(struct idem_span name)
{
	return span_eq_nocase(name, IDEM_LIT("Status")) ||
	    span_eq_nocase(name, IDEM_LIT("Content-Length"));
}

static void
put_head(const struct idem_response *res, const uint64_t *length_bytes,
    struct idem_buf *head)
{
	struct idem_span lines = idem_buf_span(&res->fields), name, value;

	idem_buf_puts(head, IDEM_LIT("Status: "));
	idem_buf_decimal(head, res->status);
	idem_buf_putc(head, ' ');
	idem_buf_puts(head, span_of(phrase(res->status)));
	idem_buf_puts(head, IDEM_LIT("\r\n"));
	while (idem_fields_next(&lines, &name, &value)) {
		if (is_ours(name))
			continue;
		idem_buf_puts(head, name);
		idem_buf_puts(head, IDEM_LIT(": "));
		idem_buf_puts(head, value);
		idem_buf_puts(head, IDEM_LIT("\r\n"));
	}
	/* RFC 9110 8.6: never with 204; with 304 it would be the length of
	 * what is not sent */
	if (length_bytes != NULL && res->status != 204 && res->status != 304) {
		idem_buf_puts(head, IDEM_LIT("Content-Length: "));
		idem_buf_decimal(head, res->status == 205 ? 0 : *length_bytes);
		idem_buf_puts(head, IDEM_LIT("\r\n"));
	}
	idem_buf_puts(head, IDEM_LIT("\r\n"));
}

bool
exchange_has_body(const struct idem_request *req, unsigned status)
{
	return status != 204 && status != 205 && status != 304 &&
	    !span_eq(req->var[IDEM_VAR_METHOD], IDEM_LIT("HEAD"));
}

static enum idem_err
send_head(struct exchange *x, const struct idem_response *res,
    const uint64_t *length_bytes, struct idem_buf *head)
{
	enum idem_err err;

	if ((err = idem_response_err(res)) != IDEM_OK)
		return err;
	put_head(res, length_bytes, head);
	if ((err = idem_buf_err(head)) != IDEM_OK)
		return err;
	return x->write(x->arg, head->p, head->n);
}

/* Only a head that is longer than any of ours takes memory. */
enum idem_err
exchange_head(struct exchange *x, const struct idem_response *res,
    size_t max_bytes, const uint64_t *length_bytes)
{
	char memory[EXCHANGE_HEAD_MAX];
	struct idem_buf head;
	enum idem_err err;

	idem_buf_over(&head, memory, sizeof memory < max_bytes ?
	    sizeof memory : max_bytes);
	err = send_head(x, res, length_bytes, &head);
	if (idem_buf_err(&head) != IDEM_ETOOBIG)
		return err;
	idem_buf_init(&head, max_bytes);
	err = send_head(x, res, length_bytes, &head);
	idem_buf_free(&head);
	return err;
}

enum idem_err
exchange_answer(struct exchange *x, const struct idem_request *req,
    const struct idem_response *res)
{
	const uint64_t length_bytes = res->body.n;
	char memory[EXCHANGE_HEAD_MAX];
	struct idem_buf head;
	enum idem_err err;

	idem_buf_over(&head, memory, sizeof memory);
	err = send_head(x, res, &length_bytes, &head);
	if (err == IDEM_OK && res->body.n > 0 &&
	    exchange_has_body(req, res->status))
		err = x->write(x->arg, res->body.p, res->body.n);
	return err;
}

void
exchange_last_init(struct exchange_last *last)
{
	last->res = (struct idem_response){ .status = 0 };
	idem_buf_over(&last->res.fields, last->fields, sizeof last->fields);
	idem_buf_over(&last->res.body, last->body, sizeof last->body);
}
