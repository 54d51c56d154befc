/*
 * test_reply.c - answers of applications in one piece and byte by byte: what is
 * whole, what is cut short, what is none.
 */
#include "tests.h"

#include "guard/reply.h"

struct sink {
	struct idem_buf body;
	unsigned nbegun;
	enum idem_err begin_err, put_err;
};

static enum idem_err
begin(void *arg, const struct reply *r)
{
	struct sink *s = arg;

	assert_true(r->has_head);
	s->nbegun++;
	return s->begin_err;
}

static enum idem_err
put(void *arg, const void *p, size_t n)
{
	struct sink *s = arg;

	assert_int_not_equal(n, 0);
	idem_buf_put(&s->body, p, n);
	return s->put_err;
}

static const struct {
	struct idem_span answer;
	bool head_only;
	bool whole;
	enum idem_err err;
	unsigned status; /* 0: no head */
	struct idem_span body;
} rows[] = {
	{ IDEM_LIT_INIT("A: b\n\nhello"), false, true, IDEM_OK, 200,
	  IDEM_LIT_INIT("hello") },
	{ IDEM_LIT_INIT("A: b\n\n"), false, true, IDEM_OK, 200,
	  IDEM_LIT_INIT("") },
	{ IDEM_LIT_INIT("Status: 204\n\n"), false, true, IDEM_OK, 204,
	  IDEM_LIT_INIT("") },
	{ IDEM_LIT_INIT("A: b\n\nnul\0byte\n\n"), false, true, IDEM_OK, 200,
	  IDEM_LIT_INIT("nul\0byte\n\n") },
	{ IDEM_LIT_INIT("Content-Length: 5\n\nhello"), false, true, IDEM_OK,
	  200, IDEM_LIT_INIT("hello") },
	{ IDEM_LIT_INIT("Content-Length: 6\n\nhello"), false, false, IDEM_OK,
	  200, IDEM_LIT_INIT("hello") },
	{ IDEM_LIT_INIT("Content-Length: 4\n\nhello"), false, true, IDEM_OK,
	  200, IDEM_LIT_INIT("hell") },
	{ IDEM_LIT_INIT("Content-Length: 0\n\nhello"), false, true, IDEM_OK,
	  200, IDEM_LIT_INIT("") },
	{ IDEM_LIT_INIT("Content-Length: 5\n\n"), true, true, IDEM_OK, 200,
	  IDEM_LIT_INIT("") },
	{ IDEM_LIT_INIT("Content-Length: 5\n\nhello"), true, true, IDEM_OK,
	  200, IDEM_LIT_INIT("") },
	{ IDEM_LIT_INIT("Status: 304\nContent-Length: 5\n\n"), false, true,
	  IDEM_OK, 304, IDEM_LIT_INIT("") },
	{ IDEM_LIT_INIT("Status: 304\n\nx"), false, true, IDEM_OK, 304,
	  IDEM_LIT_INIT("") },
	{ IDEM_LIT_INIT(""), false, false, IDEM_OK, 0, IDEM_LIT_INIT("") },
	{ IDEM_LIT_INIT("A: b\n"), false, false, IDEM_OK, 0,
	  IDEM_LIT_INIT("") },
	{ IDEM_LIT_INIT("hello\n\nworld"), false, false, IDEM_ESYNTAX, 0,
	  IDEM_LIT_INIT("") },
	{ IDEM_LIT_INIT("A: \0\n\nx"), false, false, IDEM_ESYNTAX, 0,
	  IDEM_LIT_INIT("") },
};

static void
feed(struct reply *r, struct idem_span answer, size_t piece)
{
	while (answer.n > 0) {
		size_t n = answer.n < piece ? answer.n : piece;
		char *block;
		struct idem_span some = exact_copy(span_first(answer, n),
		    &block);
		bool taken = reply_take(r, some);

		assert_int_equal(taken, r->err == IDEM_OK);
		answer = span_from(answer, n);
		free(block);
	}
}

static void
assert_row(size_t i, size_t piece)
{
	struct sink s = { .nbegun = 0 };
	struct idem_response res;
	struct reply r;

	print_message("row %zu by %zu\n", i, piece);
	idem_buf_init(&s.body, 1000);
	idem_response_init(&res, CGI_HEAD_MAX);
	reply_init(&r, &res);
	r.head_only = rows[i].head_only;
	r.begin = begin;
	r.put = put;
	r.arg = &s;
	feed(&r, rows[i].answer, piece);
	assert_int_equal(r.err, rows[i].err);
	assert_int_equal(reply_is_whole(&r), rows[i].whole);
	assert_int_equal(r.has_head, rows[i].status != 0);
	assert_int_equal(s.nbegun, rows[i].status != 0);
	assert_int_equal(r.empty, rows[i].answer.n == 0);
	if (rows[i].status != 0)
		assert_int_equal(res.status, rows[i].status);
	assert_int_equal(r.nbody, rows[i].body.n);
	assert_int_equal(s.body.n, rows[i].body.n);
	if (s.body.n > 0)
		assert_memory_equal(s.body.p, rows[i].body.p, s.body.n);
	reply_free(&r);
	idem_response_free(&res);
	idem_buf_free(&s.body);
}

static void
takes_answers(void **state)
{
	static const size_t pieces[] = { 1, 3, 1000 };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		for (size_t p = 0; p < COUNT(pieces); p++)
			assert_row(i, pieces[p]);
}

/* A head of CGI_HEAD_MAX bytes is the longest. */
static void
bounds_the_head(void **state)
{
	static const struct { size_t n; enum idem_err err; } lengths[] = {
		{ CGI_HEAD_MAX - 1, IDEM_OK }, { CGI_HEAD_MAX, IDEM_OK },
		{ CGI_HEAD_MAX + 1, IDEM_ESYNTAX },
		{ 3 * CGI_HEAD_MAX, IDEM_ESYNTAX },
	};
	static char head[3 * CGI_HEAD_MAX];

	(void)state;
	for (size_t i = 0; i < COUNT(lengths) * 2; i++) {
		size_t n = lengths[i / 2].n;
		struct idem_response res;
		struct reply r;

		print_message("row %zu\n", i);
		memset(head, 'x', n);
		memcpy(head, "A: ", 3);
		memcpy(head + n - 2, "\n\n", 2);
		idem_response_init(&res, 2 * CGI_HEAD_MAX);
		reply_init(&r, &res);
		feed(&r, (struct idem_span){ head, n }, i % 2 == 0 ? n : 1000);
		assert_int_equal(r.err, lengths[i / 2].err);
		reply_free(&r);
		idem_response_free(&res);
	}
}

static void
ends_with_its_sink(void **state)
{
	struct sink s = { .begin_err = IDEM_EIO };
	struct idem_response res;
	struct reply r;

	(void)state;
	idem_buf_init(&s.body, 1000);
	idem_response_init(&res, CGI_HEAD_MAX);
	reply_init(&r, &res);
	r.begin = begin;
	r.put = put;
	r.arg = &s;
	assert_false(reply_take(&r, IDEM_LIT("A: b\n\nx")));
	assert_int_equal(r.err, IDEM_EIO);
	assert_int_equal(s.body.n, 0);
	reply_free(&r);
	reply_init(&r, &res);
	r.put = put;
	r.arg = &s;
	s.put_err = IDEM_ENOMEM;
	assert_false(reply_take(&r, IDEM_LIT("A: b\n\nx")));
	assert_false(reply_take(&r, IDEM_LIT("y")));
	assert_int_equal(r.err, IDEM_ENOMEM);
	assert_int_equal(s.body.n, 1);
	assert_false(reply_is_whole(&r));
	reply_free(&r);
	idem_response_free(&res);
	idem_buf_free(&s.body);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_answers),
		cmocka_unit_test(bounds_the_head),
		cmocka_unit_test(ends_with_its_sink),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
