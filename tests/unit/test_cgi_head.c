/*
 * test_cgi_head.c - heads of CGI programs: rows, and every one cut and fed byte
 * by byte.
 */
#include "tests.h"

#include "request/cgi_head.h"

static const struct row {
	const char *head;
	unsigned status; /* 0: refused */
	const char *fields;
	int64_t length;  /* -1: none said */
} rows[] = {
	{ "Content-Type: text/plain\r\n\r\n", 200,
	  "Content-Type: text/plain\r\n", -1 },
	{ "Content-Type: text/plain\n\n", 200,
	  "Content-Type: text/plain\r\n", -1 },
	{ "Content-Type: text/plain\n\r\n", 200,
	  "Content-Type: text/plain\r\n", -1 },
	{ "Status: 201 Created\r\nX-A:b\r\nX-A:  c \t\r\n\r\n", 201,
	  "X-A: b\r\nX-A: c\r\n", -1 },
	{ "status:404\n\n", 404, "", -1 },
	{ "Status: 299\n\n", 299, "", -1 },
	{ "Status: 200\nStatus: 503 Later\n\n", 503, "", -1 },
	{ "Location: https://a.example/\n\n", 302,
	  "Location: https://a.example/\r\n", -1 },
	{ "Location: /here\nStatus: 303 See Other\n\n", 303,
	  "Location: /here\r\n", -1 },
	{ "Content-Length: 0\nX: \n\n", 200, "X: \r\n", 0 },
	{ "Content-Length: 12\ncontent-length:12\n\n", 200, "", 12 },
	{ "HTTP/1.1 404 Not Found\r\nX: y\r\n\r\n", 404, "X: y\r\n", -1 },
	{ "HTTP/1.0 204 No Content\n\n", 204, "", -1 },
	{ "Link: <a>; rel=x\nLink: <b>; rel=y\n\n", 200,
	  "Link: <a>; rel=x\r\nLink: <b>; rel=y\r\n", -1 },
	{ "Connection: close\nKeep-Alive: 1\nTransfer-Encoding: chunked\n"
	  "Upgrade: h2\nTrailer: X\nTE: x\nProxy-Connection: x\nA: b\n\n", 200,
	  "A: b\r\n", -1 },
	{ "X: caf\xe9\n\n", 200, "X: caf\xe9\r\n", -1 },
	{ "Status: 599\n\n", 599, "", -1 },

	{ "\n", 0, NULL, -1 },
	{ "\r\n", 0, NULL, -1 },
	{ "hello\n\n", 0, NULL, -1 },
	{ "<html>\nX: y\n\n", 0, NULL, -1 },
	{ "X : y\n\n", 0, NULL, -1 },
	{ ": y\n\n", 0, NULL, -1 },
	{ "X: y\n folded\n\n", 0, NULL, -1 },
	{ "X: a\rb\n\n", 0, NULL, -1 },
	{ "Status: 199\n\n", 0, NULL, -1 },
	{ "Status: 600\n\n", 0, NULL, -1 },
	{ "Status: 20\n\n", 0, NULL, -1 },
	{ "Status: 2000\n\n", 0, NULL, -1 },
	{ "Status: OK\n\n", 0, NULL, -1 },
	{ "Status:\n\n", 0, NULL, -1 },
	{ "Status: -20\n\n", 0, NULL, -1 },
	{ "Content-Length: x\n\n", 0, NULL, -1 },
	{ "Content-Length:\n\n", 0, NULL, -1 },
	{ "Content-Length: -1\n\n", 0, NULL, -1 },
	{ "Content-Length: 18446744073709551616\n\n", 0, NULL, -1 },
	{ "Content-Length: 1\nContent-Length: 2\n\n", 0, NULL, -1 },
	{ "HTTP/1.1\nX: y\n\n", 0, NULL, -1 },
	{ "HTTP/1.1 x\nX: y\n\n", 0, NULL, -1 },
};

static void
assert_parsed(const struct row *r, struct idem_span head,
    struct idem_response *res)
{
	struct cgi_head out;
	enum idem_err err = cgi_head_parse(head, res, &out);

	if (r->status == 0) {
		assert_int_equal(err, IDEM_ESYNTAX);
		return;
	}
	assert_int_equal(err, IDEM_OK);
	assert_int_equal(res->status, r->status);
	assert_int_equal(res->fields.n, strlen(r->fields));
	if (res->fields.n > 0)
		assert_memory_equal(res->fields.p, r->fields, res->fields.n);
	assert_int_equal(out.has_length, r->length >= 0);
	if (r->length >= 0)
		assert_int_equal(out.length_bytes, r->length);
}

static void
parses_rows(void **state)
{
	struct idem_response res;

	(void)state;
	idem_response_init(&res, CGI_HEAD_MAX);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct idem_span head;
		char *block;

		print_message("row %zu\n", i);
		head = exact_copy(span_of(rows[i].head), &block);
		assert_parsed(&rows[i], head, &res);
		free(block);
	}
	idem_response_free(&res);
}

/* A row's head with a body behind it, byte by byte: the end is seen once its
 * last byte is there and not before. */
static void
finds_the_end_in_prefixes(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct idem_span head = span_of(rows[i].head);
		size_t from = 0;

		print_message("row %zu\n", i);
		for (size_t n = 0; n < head.n; n++) {
			char *block;
			struct idem_span cut = exact_copy(span_first(head, n),
			    &block);

			assert_int_equal(cgi_head_end(cut, &from), 0);
			assert_int_equal(from, n);
			free(block);
		}
		assert_int_equal(cgi_head_end(head, &from), head.n);
	}
}

static void
finds_the_end_before_a_body(void **state)
{
	static const char text[] = "A: b\r\n\r\nbody\n\nmore";
	size_t from = 0;

	(void)state;
	assert_int_equal(cgi_head_end(span_of(text), &from), 8);
	from = 0;
	assert_int_equal(cgi_head_end(IDEM_LIT("\nbody"), &from), 1);
	from = 0;
	assert_int_equal(cgi_head_end(IDEM_LIT("\r\r\n\n"), &from), 4);
	from = 0;
	assert_int_equal(cgi_head_end(IDEM_LIT("a\r\r\n"), &from), 0);
}

/* Whatever a prefix looks like, it is read within its bytes. */
static void
parses_every_prefix(void **state)
{
	struct idem_response res;
	struct cgi_head out;

	(void)state;
	idem_response_init(&res, CGI_HEAD_MAX);
	for (size_t i = 0; i < COUNT(rows); i++)
		for (size_t n = 0; n <= strlen(rows[i].head); n++) {
			char *block;
			struct idem_span cut = exact_copy((struct idem_span){
			    rows[i].head, n }, &block);
			enum idem_err err = cgi_head_parse(cut, &res, &out);

			assert_true(err == IDEM_OK || err == IDEM_ESYNTAX);
			free(block);
		}
	idem_response_free(&res);
}

static void
refuses_nul_and_too_much(void **state)
{
	static const char nul[] = "X: a\0b\n\n";
	struct idem_response res;
	struct cgi_head out;

	(void)state;
	idem_response_init(&res, 16);
	assert_int_equal(cgi_head_parse((struct idem_span){ nul,
	    sizeof nul - 1 }, &res, &out), IDEM_ESYNTAX);
	assert_int_equal(cgi_head_parse(IDEM_LIT("X: 0123456789012\n\n"), &res,
	    &out), IDEM_ETOOBIG);
	assert_int_equal(cgi_head_parse(IDEM_LIT("X: 01234567890\n\n"), &res,
	    &out), IDEM_OK);
	idem_response_free(&res);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_rows),
		cmocka_unit_test(finds_the_end_in_prefixes),
		cmocka_unit_test(finds_the_end_before_a_body),
		cmocka_unit_test(parses_every_prefix),
		cmocka_unit_test(refuses_nul_and_too_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
