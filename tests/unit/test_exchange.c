/*
 * test_exchange.c - body lengths, the bytes of an answer, plain CGI.
 */
#include "tests.h"

#include <unistd.h>

#include "base/io.h"
#include "exchange/cgi.h"
#include "exchange/exchange.h"

/* A web server in memory: it gives the body in pieces and keeps the answer. */
struct server {
	struct idem_span body;
	size_t piece_bytes;
	bool breaks_off; /* at the body's end */
	size_t nread;
	bool gone;
	struct idem_buf answer;
};

static long
give(void *arg, void *p, size_t n)
{
	struct server *s = arg;

	if (s->body.n == 0)
		return s->breaks_off ? -1 : 0;
	if (n > s->piece_bytes)
		n = s->piece_bytes;
	if (n > s->body.n)
		n = s->body.n;
	memcpy(p, s->body.p, n);
	s->body = span_from(s->body, n);
	s->nread += n;
	return (long)n;
}

static enum idem_err
keep(void *arg, const void *p, size_t n)
{
	struct server *s = arg;

	idem_buf_put(&s->answer, p, n);
	return s->gone ? IDEM_EIO : IDEM_OK;
}

static struct exchange
exchange_with(struct server *s, const char *const *vars)
{
	return (struct exchange){ .vars = vars, .read = give, .write = keep,
		.arg = s };
}

#define ALL_OF_IT 1000

static void
bodies(void **state)
{
	static const struct {
		const char *vars[4];
		const char *body;
		size_t max_bytes;
		bool breaks_off;
		enum idem_err err;
		size_t nread; /* of what was sent */
	} rows[] = {
		{ { "CONTENT_LENGTH=5" }, "hello", 10, false, IDEM_OK, 5 },
		{ { "CONTENT_LENGTH=5" }, "hello!", 10, false, IDEM_OK, 5 },
		{ { "CONTENT_LENGTH= 5 " }, "hello", 10, false, IDEM_OK, 5 },
		{ { "CONTENT_LENGTH=5" }, "hell", 10, false, IDEM_ESHORT, 4 },
		{ { "CONTENT_LENGTH=5" }, "", 10, false, IDEM_ESHORT, 0 },
		{ { "CONTENT_LENGTH=5" }, "hell", 10, true, IDEM_ESHORT, 4 },
		{ { "CONTENT_LENGTH=5" }, "hello", 5, false, IDEM_OK, 5 },
		{ { "CONTENT_LENGTH=6" }, "hello!", 5, false, IDEM_ETOOBIG,
		    0 },
		{ { "CONTENT_LENGTH=99999999999999999999" }, "", 5, false,
		    IDEM_ETOOBIG, 0 },
		{ { "CONTENT_LENGTH=0" }, "", 5, false, IDEM_OK, 0 },
		{ { "CONTENT_LENGTH=0" }, "x", 5, false, IDEM_OK, 0 },
		{ { NULL }, "", 5, false, IDEM_OK, 0 },
		{ { NULL }, "hello", 5, false, IDEM_OK, 5 },
		{ { NULL }, "hello!!", 5, false, IDEM_ETOOBIG, 6 },
		{ { NULL }, "hel", 5, true, IDEM_ESHORT, 3 },
		{ { "CONTENT_LENGTH=" }, "hello", 5, false, IDEM_OK, 5 },
		{ { "CONTENT_LENGTH=+5" }, "hello", 9, false, IDEM_ESYNTAX,
		    0 },
		{ { "CONTENT_LENGTH=0x5" }, "hello", 9, false, IDEM_ESYNTAX,
		    0 },
		{ { "CONTENT_LENGTH=5, 5" }, "hello", 9, false, IDEM_ESYNTAX,
		    0 },
		{ { "CONTENT_LENGTH=5", "CONTENT_LENGTH=5" }, "hello", 9,
		    false, IDEM_ESYNTAX, 0 },
		/* what mod_fcgid passed on, and what was announced */
		{ { "CONTENT_LENGTH=3", "IDEM_LENGTH=5" }, "hel", 9, false,
		    IDEM_ESHORT, 3 },
		{ { "CONTENT_LENGTH=5", "IDEM_LENGTH=5" }, "hello", 9, false,
		    IDEM_OK, 5 },
		{ { "IDEM_LENGTH=5" }, "hello", 9, false, IDEM_OK, 5 },
		{ { "IDEM_LENGTH=5" }, "hell", 9, false, IDEM_ESHORT, 4 },
		{ { "CONTENT_LENGTH=3", "IDEM_LENGTH=x" }, "hel", 9, false,
		    IDEM_ESYNTAX, 0 },
		{ { "CONTENT_LENGTH=3", "IDEM_LENGTH=10" }, "hel", 9, false,
		    IDEM_ETOOBIG, 0 },
		{ { "CONTENT_LENGTH=5", "IDEM_LENGTH=5",
		    "REDIRECT_IDEM_LENGTH=5" }, "hello", 9, false, IDEM_OK, 5 },
	};
	static const size_t pieces[] = { 1, 2, ALL_OF_IT };

	(void)state;
	for (size_t i = 0; i < COUNT(rows) * COUNT(pieces); i++) {
		const size_t at = i / COUNT(pieces);
		struct server s = { .body = span_of(rows[at].body),
			.piece_bytes = pieces[i % COUNT(pieces)],
			.breaks_off = rows[at].breaks_off };
		struct exchange x = exchange_with(&s, rows[at].vars);
		struct idem_buf scratch, body;
		struct idem_request req;

		idem_buf_init(&scratch, 100);
		idem_buf_init(&body, 100);
		assert_int_equal(idem_request_init(&req, x.vars, &scratch),
		    IDEM_OK);
		assert_int_equal(exchange_read_body(&x, &req,
		    rows[at].max_bytes, &body), rows[at].err);
		assert_int_equal(s.nread, rows[at].nread);
		if (rows[at].err == IDEM_OK)
			assert_span(req.body, span_first(
			    span_of(rows[at].body), rows[at].nread));
		else
			assert_null(req.body.p);
		idem_buf_free(&body);
		idem_buf_free(&scratch);
	}
}

static void
a_body_of_many_chunks(void **state)
{
	const char *const vars[] = { "CONTENT_LENGTH=50001", NULL };
	char *block = test_malloc(50001);
	struct server s = { .piece_bytes = 8191 };
	struct exchange x = exchange_with(&s, vars);
	struct idem_buf scratch, body;
	struct idem_request req;

	(void)state;
	for (size_t i = 0; i < 50001; i++)
		block[i] = (char)(i % 251);
	s.body = (struct idem_span){ block, 50001 };
	idem_buf_init(&scratch, 100);
	idem_buf_init(&body, 60000);
	assert_int_equal(idem_request_init(&req, x.vars, &scratch), IDEM_OK);
	assert_int_equal(exchange_read_body(&x, &req, 50000, &body),
	    IDEM_ETOOBIG);
	assert_int_equal(exchange_read_body(&x, &req, 50001, &body), IDEM_OK);
	assert_span(req.body, ((struct idem_span){ block, 50001 }));
	idem_buf_free(&body);
	idem_buf_free(&scratch);
	test_free(block);
}

/* --- answers ------------------------------------------------------------- */

static void
answer(struct server *s, const char *method, const struct idem_response *res,
    enum idem_err want)
{
	const char *const vars[] = { method, NULL };
	struct exchange x = exchange_with(s, vars);
	struct idem_buf scratch;
	struct idem_request req;

	idem_buf_init(&scratch, 100);
	idem_buf_init(&s->answer, 10000);
	assert_int_equal(idem_request_init(&req, vars, &scratch), IDEM_OK);
	assert_int_equal(exchange_answer(&x, &req, res), want);
	idem_buf_free(&scratch);
}

static void
answers(void **state)
{
	static const struct {
		const char *method;
		unsigned status;
		const char *body;
		const char *want;
	} rows[] = {
		{ "REQUEST_METHOD=POST", 201, "ok",
		    "Status: 201 Created\r\nLocation: /a\r\n"
		    "Content-Length: 2\r\n\r\nok" },
		{ "REQUEST_METHOD=GET", 200, "",
		    "Status: 200 OK\r\nLocation: /a\r\n"
		    "Content-Length: 0\r\n\r\n" },
		{ "REQUEST_METHOD=HEAD", 200, "hello",
		    "Status: 200 OK\r\nLocation: /a\r\n"
		    "Content-Length: 5\r\n\r\n" },
		{ "REQUEST_METHOD=head", 200, "hello", /* methods have case */
		    "Status: 200 OK\r\nLocation: /a\r\n"
		    "Content-Length: 5\r\n\r\nhello" },
		{ "REQUEST_METHOD=POST", 204, "no",
		    "Status: 204 No Content\r\nLocation: /a\r\n\r\n" },
		{ "REQUEST_METHOD=GET", 304, "no",
		    "Status: 304 Not Modified\r\nLocation: /a\r\n\r\n" },
		{ "REQUEST_METHOD=POST", 205, "no",
		    "Status: 205 Reset Content\r\nLocation: /a\r\n"
		    "Content-Length: 0\r\n\r\n" },
		{ "REQUEST_METHOD=POST", 422, "x",
		    "Status: 422 Unprocessable Content\r\nLocation: /a\r\n"
		    "Content-Length: 1\r\n\r\nx" },
		{ "REQUEST_METHOD=POST", 599, "x",
		    "Status: 599 \r\nLocation: /a\r\n"
		    "Content-Length: 1\r\n\r\nx" },
		{ "SERVER_NAME=x", 200, "x",
		    "Status: 200 OK\r\nLocation: /a\r\n"
		    "Content-Length: 1\r\n\r\nx" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct server s = { 0 };
		struct idem_response res;

		idem_response_init(&res, 1000);
		res.status = rows[i].status;
		idem_response_field(&res, IDEM_LIT("status"), IDEM_LIT("500"));
		idem_response_field(&res, IDEM_LIT("Location"),
		    IDEM_LIT("/a"));
		idem_response_field(&res, IDEM_LIT("Content-length"),
		    IDEM_LIT("77"));
		idem_buf_puts(&res.body, span_of(rows[i].body));
		answer(&s, rows[i].method, &res, IDEM_OK);
		assert_text(idem_buf_span(&s.answer), rows[i].want);
		idem_buf_free(&s.answer);
		idem_response_free(&res);
	}
}

/* 46 bytes stand around the value. */
static void
a_head_has_4_kib_at_most(void **state)
{
	static const struct {
		size_t value_bytes;
		enum idem_err err;
		size_t nwritten;
	} rows[] = {
		{ 4050, IDEM_OK, 4096 },
		{ 4051, IDEM_ETOOBIG, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct server s = { 0 };
		struct idem_response res;
		char value[5000];

		memset(value, 'v', sizeof value);
		idem_response_init(&res, 5000);
		res.status = 200;
		idem_response_field(&res, IDEM_LIT("Field"),
		    (struct idem_span){ value, rows[i].value_bytes });
		answer(&s, "REQUEST_METHOD=GET", &res, rows[i].err);
		assert_int_equal(s.answer.n, rows[i].nwritten);
		idem_buf_free(&s.answer);
		idem_response_free(&res);
	}
}

static void
a_broken_response_writes_nothing(void **state)
{
	struct server s = { 0 };
	struct idem_response res;

	(void)state;
	idem_response_init(&res, 1000);
	answer(&s, "REQUEST_METHOD=GET", &res, IDEM_ESYNTAX); /* no status */
	assert_int_equal(s.answer.n, 0);
	idem_buf_free(&s.answer);
	idem_response_free(&res);
}

static void
a_peer_that_is_gone(void **state)
{
	struct server s = { .gone = true };
	struct idem_response res;

	(void)state;
	idem_response_init(&res, 1000);
	res.status = 200;
	idem_buf_puts(&res.body, IDEM_LIT("body"));
	answer(&s, "REQUEST_METHOD=GET", &res, IDEM_EIO);
	assert_text(idem_buf_span(&s.answer), /* the body is not tried */
	    "Status: 200 OK\r\nContent-Length: 4\r\n\r\n");
	idem_buf_free(&s.answer);
	idem_response_free(&res);
}

/* --- plain CGI ----------------------------------------------------------- */

static void
what_is_a_cgi_request(void **state)
{
	static const struct {
		const char *vars[3];
		bool want;
	} rows[] = {
		{ { "PATH=/bin", "REQUEST_METHOD=GET" }, true },
		{ { "GATEWAY_INTERFACE=CGI/1.1" }, true },
		{ { "PATH=/bin", "XREQUEST_METHOD=GET" }, false },
		{ { "REQUEST_METHODS=GET" }, false },
		{ { NULL }, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(cgi_is_request(rows[i].vars), rows[i].want);
}

static void
cgi_reads_and_writes_descriptors(void **state)
{
	const char *const vars[] = { "REQUEST_METHOD=POST", "CONTENT_LENGTH=5",
	    NULL };
	int in[2], out[2];
	struct cgi_fds fds;
	struct exchange x;
	struct idem_buf scratch, body;
	struct idem_request req;
	char got[6] = "";

	(void)state;
	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	fds = (struct cgi_fds){ .in = in[0], .out = out[1] };
	x = cgi_exchange(vars, &fds);
	assert_null(x.complain); /* descriptor 2 is the server's log */
	idem_buf_init(&scratch, 100);
	idem_buf_init(&body, 100);
	assert_int_equal(idem_request_init(&req, x.vars, &scratch), IDEM_OK);
	assert_int_equal(io_write(in[1], "hello", 5), IDEM_OK);
	assert_int_equal(exchange_read_body(&x, &req, 10, &body), IDEM_OK);
	assert_text(req.body, "hello"); /* and no wait for the end */
	assert_int_equal(x.write(x.arg, "bytes", 5), IDEM_OK);
	assert_int_equal(io_read(out[0], got, 5), 5);
	assert_string_equal(got, "bytes");
	idem_buf_free(&body);
	idem_buf_free(&scratch);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(close(in[i]), 0);
		assert_int_equal(close(out[i]), 0);
	}
}

/* Without a length nobody knows whether a chunked body is whole. */
static void
cgi_takes_no_chunked_body(void **state)
{
	static const struct {
		const char *vars[4];
		enum idem_err want;
	} rows[] = {
		{ { "HTTP_TRANSFER_ENCODING=chunked" }, IDEM_ESYNTAX },
		{ { "HTTP_TRANSFER_ENCODING=gzip, chunked", "CONTENT_LENGTH=" },
		    IDEM_ESYNTAX },
		{ { "CONTENT_LENGTH= ", "HTTP_TRANSFER_ENCODING=chunked" },
		    IDEM_ESYNTAX },
		{ { "HTTP_TRANSFER_ENCODING=chunked", "CONTENT_LENGTH=10" },
		    IDEM_OK },
		{ { "HTTP_TE=chunked" }, IDEM_OK },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cgi_fds fds = { .out = -1 };
		struct exchange x;
		struct idem_buf scratch, body;
		struct idem_request req;
		char rest;
		int in[2];

		assert_int_equal(pipe(in), 0);
		assert_int_equal(io_write(in[1], "helloworld", 10), IDEM_OK);
		assert_int_equal(close(in[1]), 0);
		fds.in = in[0];
		x = cgi_exchange(rows[i].vars, &fds);
		idem_buf_init(&scratch, 100);
		idem_buf_init(&body, 100);
		assert_int_equal(idem_request_init(&req, x.vars, &scratch),
		    IDEM_OK);
		assert_int_equal(exchange_read_body(&x, &req, 10, &body),
		    rows[i].want);
		cgi_drain(x.vars, &fds);
		assert_int_equal(io_read(in[0], &rest, 1), 0);
		idem_buf_free(&body);
		idem_buf_free(&scratch);
		assert_int_equal(close(in[0]), 0);
	}
}

/* What was announced and not read is taken, and not one byte more: a server
 * need not show an end (RFC 3875 4.2). */
static void
cgi_drains_what_was_announced(void **state)
{
	static const struct {
		const char *length; /* CONTENT_LENGTH=... */
		size_t before;      /* bytes that were read for the answer */
		const char *left;   /* of "helloworld", in the pipe */
	} rows[] = {
		{ "CONTENT_LENGTH=5", 0, "world" },
		{ "CONTENT_LENGTH=5", 3, "world" },
		{ "CONTENT_LENGTH=5", 5, "world" },
		{ "CONTENT_LENGTH=0", 0, "helloworld" },
		{ "CONTENT_LENGTH=", 0, "helloworld" },
		{ "CONTENT_LENGTH=x", 0, "helloworld" },
		{ "HTTP_CONTENT_LENGTH=5", 0, "helloworld" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *const vars[] = { rows[i].length, NULL };
		size_t n = strlen(rows[i].left);
		struct cgi_fds fds = { .out = -1 };
		struct exchange x;
		char got[16] = "";
		int in[2];

		assert_int_equal(pipe(in), 0);
		assert_int_equal(io_write(in[1], "helloworld", 10), IDEM_OK);
		fds.in = in[0];
		x = cgi_exchange(vars, &fds);
		if (rows[i].before > 0)
			assert_int_equal(x.read(x.arg, got, rows[i].before),
			    rows[i].before);
		cgi_drain(vars, &fds);
		memset(got, 0, sizeof got);
		assert_int_equal(io_read(in[0], got, sizeof got), n);
		assert_string_equal(got, rows[i].left);
		assert_int_equal(close(in[0]), 0);
		assert_int_equal(close(in[1]), 0);
	}
}

static enum idem_err
keep_up_to_six(void *arg, const void *p, size_t n)
{
	struct idem_buf *kept = arg;

	idem_buf_put(kept, p, n);
	return kept->n > 6 ? IDEM_EIO : IDEM_OK;
}

/* Plain CGI cannot tell a chunked body that broke off from a whole one. */
static void
passes_no_unproved_body(void **state)
{
	static const char *const chunked[] = { NULL };
	static const char *const counted[] = { "CONTENT_LENGTH=2", NULL };
	const struct { const char *const *vars; enum idem_err err; } rows[] = {
		{ chunked, IDEM_ESYNTAX }, { counted, IDEM_OK },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct server s = { .body = IDEM_LIT("hi"), .piece_bytes = 1 };
		struct exchange x = exchange_with(&s, rows[i].vars);
		struct idem_buf scratch, kept;
		struct idem_request req;
		uint64_t n;

		x.end_is_unproved = true;
		idem_buf_init(&scratch, 100);
		idem_buf_init(&kept, 100);
		assert_int_equal(idem_request_init(&req, rows[i].vars,
		    &scratch), IDEM_OK);
		assert_int_equal(exchange_pass_body(&x, &req, keep_up_to_six,
		    &kept, &n), rows[i].err);
		idem_buf_free(&scratch);
		idem_buf_free(&kept);
	}
}

static void
passes_bodies_of_any_length(void **state)
{
	static const struct {
		const char *vars[3];
		const char *body;
		bool breaks_off;
		enum idem_err err;
		const char *passed;
	} rows[] = {
		{ { "CONTENT_LENGTH=5" }, "hello", false, IDEM_OK, "hello" },
		{ { "CONTENT_LENGTH=5" }, "hello!", false, IDEM_OK, "hello" },
		{ { "CONTENT_LENGTH=0" }, "x", false, IDEM_OK, "" },
		{ { NULL }, "hello!", false, IDEM_OK, "hello!" },
		{ { NULL }, "", false, IDEM_OK, "" },
		{ { NULL }, "hello!!!", false, IDEM_EIO, "hello!!" },
		{ { "CONTENT_LENGTH=5" }, "hell", false, IDEM_ESHORT, "hell" },
		{ { "CONTENT_LENGTH=5" }, "hell", true, IDEM_ESHORT, "hell" },
		{ { "CONTENT_LENGTH=3", "IDEM_LENGTH=5" }, "hel", false,
		    IDEM_ESHORT, "hel" },
		{ { "CONTENT_LENGTH=five" }, "hello", false, IDEM_ESYNTAX,
		    "" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct server s = { .body = span_of(rows[i].body),
			.piece_bytes = 1, .breaks_off = rows[i].breaks_off };
		struct exchange x = exchange_with(&s, rows[i].vars);
		struct idem_buf scratch, kept;
		struct idem_request req;
		uint64_t n;

		print_message("row %zu\n", i);
		idem_buf_init(&scratch, 100);
		idem_buf_init(&kept, 100);
		assert_int_equal(idem_request_init(&req, rows[i].vars,
		    &scratch), IDEM_OK);
		assert_int_equal(exchange_pass_body(&x, &req, keep_up_to_six,
		    &kept, &n), rows[i].err);
		assert_int_equal(n, strlen(rows[i].passed));
		assert_int_equal(kept.n, n);
		if (n > 0)
			assert_memory_equal(kept.p, rows[i].passed, n);
		idem_buf_free(&scratch);
		idem_buf_free(&kept);
	}
}

static void
writes_heads_alone(void **state)
{
	static const char *const none[] = { NULL };
	static const struct {
		unsigned status;
		int64_t length; /* -1: not known */
		size_t max_bytes;
		enum idem_err err;
		const char *head;
	} rows[] = {
		{ 200, 7, 100, IDEM_OK,
		  "Status: 200 OK\r\nA: b\r\nContent-Length: 7\r\n\r\n" },
		{ 200, 0, 100, IDEM_OK,
		  "Status: 200 OK\r\nA: b\r\nContent-Length: 0\r\n\r\n" },
		{ 200, -1, 100, IDEM_OK, "Status: 200 OK\r\nA: b\r\n\r\n" },
		{ 204, 7, 100, IDEM_OK,
		  "Status: 204 No Content\r\nA: b\r\n\r\n" },
		{ 200, 7, 20, IDEM_ETOOBIG, "" },
		{ 0, 7, 100, IDEM_ESYNTAX, "" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const uint64_t length = (uint64_t)rows[i].length;
		struct server s = { .gone = false };
		struct exchange x = exchange_with(&s, none);
		struct idem_response res;

		print_message("row %zu\n", i);
		idem_buf_init(&s.answer, 1000);
		idem_response_init(&res, 1000);
		res.status = rows[i].status;
		idem_response_field(&res, IDEM_LIT("A"), IDEM_LIT("b"));
		assert_int_equal(exchange_head(&x, &res, rows[i].max_bytes,
		    rows[i].length < 0 ? NULL : &length), rows[i].err);
		idem_buf_putc(&s.answer, '\0');
		assert_string_equal(s.answer.p, rows[i].head);
		idem_buf_free(&s.answer);
		idem_response_free(&res);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bodies),
		cmocka_unit_test(a_body_of_many_chunks),
		cmocka_unit_test(answers),
		cmocka_unit_test(a_head_has_4_kib_at_most),
		cmocka_unit_test(a_broken_response_writes_nothing),
		cmocka_unit_test(a_peer_that_is_gone),
		cmocka_unit_test(what_is_a_cgi_request),
		cmocka_unit_test(cgi_reads_and_writes_descriptors),
		cmocka_unit_test(cgi_takes_no_chunked_body),
		cmocka_unit_test(cgi_drains_what_was_announced),
		cmocka_unit_test(passes_bodies_of_any_length),
		cmocka_unit_test(passes_no_unproved_body),
		cmocka_unit_test(writes_heads_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
