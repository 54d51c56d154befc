/*
 * fcgi_client.c - the web server's side of FastCGI 1.0.
 */
#include "tests.h"

#include <errno.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/io.h"
#include "fcgi_client.h"

enum { BEGIN = 1, END = 3, PARAMS = 4, STDIN = 5, STDOUT = 6, STDERR = 7 };

#define RECORD_BYTES 60000
#define ANSWER_BYTES ((size_t)16 << 20)

static void
record(struct idem_buf *out, uint8_t type, struct idem_span content)
{
	wr_u8(out, 1); /* version */
	wr_u8(out, type);
	wr_u16(out, 1); /* request */
	wr_u16(out, (uint16_t)content.n);
	wr_u16(out, 0); /* no padding */
	idem_buf_puts(out, content);
}

void
fcgi_begin(struct idem_buf *out, unsigned role, bool keep_conn)
{
	const char body[8] = { 0, (char)role, keep_conn, 0, 0, 0, 0, 0 };

	record(out, BEGIN, (struct idem_span){ body, 8 });
}

static void
name_or_value_length(struct idem_buf *b, size_t n)
{
	if (n < 128)
		wr_u8(b, (uint8_t)n);
	else
		wr_u32(b, (uint32_t)n | UINT32_C(1) << 31);
}

void
fcgi_params(struct idem_buf *out, const char *const *vars)
{
	struct idem_buf pairs;

	idem_buf_init(&pairs, RECORD_BYTES);
	for (; *vars != NULL; vars++) {
		struct idem_span v = span_of(*vars);
		size_t at = span_find(v, '=');

		name_or_value_length(&pairs, at);
		name_or_value_length(&pairs, v.n - at - 1);
		idem_buf_put(&pairs, v.p, at);
		idem_buf_puts(&pairs, span_from(v, at + 1));
	}
	assert_int_equal(idem_buf_err(&pairs), IDEM_OK);
	record(out, PARAMS, idem_buf_span(&pairs));
	idem_buf_free(&pairs);
}

void
fcgi_params_end(struct idem_buf *out)
{
	record(out, PARAMS, IDEM_LIT(""));
}

void
fcgi_stdin(struct idem_buf *out, struct idem_span body)
{
	while (body.n > 0) {
		size_t n = body.n < RECORD_BYTES ? body.n : RECORD_BYTES;

		record(out, STDIN, span_first(body, n));
		body = span_from(body, n);
	}
}

void
fcgi_stdin_end(struct idem_buf *out)
{
	record(out, STDIN, IDEM_LIT(""));
}

void
fcgi_request(struct idem_buf *out, const char *const *vars,
    struct idem_span body)
{
	fcgi_begin(out, FCGI_RESPONDER_ROLE, false);
	fcgi_params(out, vars);
	fcgi_params_end(out);
	fcgi_stdin(out, body);
	fcgi_stdin_end(out);
}

static void
take_end(struct fcgi_answer *a, struct idem_span content, bool last)
{
	struct reader r = reader_of(content);

	a->app_status = rd_u32(&r);
	a->protocol_status = rd_u8(&r);
	assert_false(r.bad);
	a->ended = last;
}

/* One record; false: there is no whole one. */
static bool
take_record(struct reader *r, struct fcgi_answer *a)
{
	uint8_t version = rd_u8(r), type = rd_u8(r);
	uint16_t request = rd_u16(r), n = rd_u16(r);
	uint8_t padding = rd_u8(r);
	struct idem_span content;

	(void)rd_u8(r); /* reserved */
	content = rd_bytes(r, n);
	(void)rd_bytes(r, padding);
	if (r->bad)
		return false;
	assert_int_equal(version, 1);
	assert_int_equal(request, 1);
	if (type == STDOUT)
		idem_buf_puts(&a->text, content);
	else if (type == STDERR)
		idem_buf_puts(&a->errors, content);
	else if (type == END)
		take_end(a, content, r->rest.n == 0);
	else
		fail_msg("record of type %u", type);
	return true;
}

void
fcgi_read_answer(int fd, struct fcgi_answer *a)
{
	struct idem_buf raw;
	struct reader r;

	memset(a, 0, sizeof *a);
	idem_buf_init(&a->text, ANSWER_BYTES);
	idem_buf_init(&a->errors, ANSWER_BYTES);
	idem_buf_init(&raw, ANSWER_BYTES);
	if (io_read_all(fd, &raw) != IDEM_OK)
		assert_int_equal(errno, ECONNRESET);
	r = reader_of(idem_buf_span(&raw));
	while (r.rest.n > 0 && take_record(&r, a))
		continue;
	idem_buf_free(&raw);
}

void
fcgi_answer_free(struct fcgi_answer *a)
{
	idem_buf_free(&a->text);
	idem_buf_free(&a->errors);
}
