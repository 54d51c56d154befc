/*
 * test_front_log.c - the bytes of a log line, and who gets it.
 */
#include "tests.h"

#include <unistd.h>

#include "base/io.h"
#include "process/front_log.h"

struct fixture {
	int pipe[2];
	struct front_log f;
	struct idem_log log;
	char complaint[1300];
	struct exchange x;
};

static void
complain(void *arg, const char *line)
{
	struct fixture *t = arg;

	assert_int_equal(text_format(t->complaint, sizeof t->complaint, "%s",
	    line), IDEM_OK);
}

static void
begin(struct fixture *t)
{
	memset(t, 0, sizeof *t);
	assert_int_equal(pipe(t->pipe), 0);
	t->f = (struct front_log){ .program = "tasks.fcgi",
		.fd = t->pipe[1] };
	t->log = front_log_sink(&t->f);
	t->x = (struct exchange){ .complain = complain, .arg = t };
}

/* Compare what was written with program and pid before it. */
static void
expect(struct fixture *t, const char *rest)
{
	char got[2000], want[2000];
	long n;

	assert_int_equal(close(t->pipe[1]), 0);
	n = io_read(t->pipe[0], got, sizeof got);
	assert_true(n >= 0);
	assert_int_equal(text_format(want, sizeof want, "tasks.fcgi[%ld] %s\n",
	    (long)getpid(), rest), IDEM_OK);
	assert_text(((struct idem_span){ got, (size_t)n }), want);
	assert_int_equal(close(t->pipe[0]), 0);
}

static int64_t
minute_clock(void)
{
	static int64_t now = 0; /* each call is a third of a minute later */

	return now += FRONT_LOG_AGAIN_MS / 3;
}

/* At 1, 2 and 3 thirds it is said once, at 4 again; another text always. */
static void
the_same_error_once_a_minute(void **state)
{
	struct fixture t;
	char got[4000];
	long n;

	(void)state;
	begin(&t);
	t.f.now_ms = minute_clock;
	for (int i = 0; i < 4; i++)
		idem_log(&t.log, IDEM_ERROR, "the disk is full");
	idem_log(&t.log, IDEM_WARN, "something else");
	for (int i = 0; i < 2; i++)
		idem_log(&t.log, IDEM_INFO, "one request");
	assert_int_equal(close(t.pipe[1]), 0);
	n = io_read(t.pipe[0], got, sizeof got - 1);
	assert_true(n > 0);
	got[n] = '\0';
	assert_int_equal(close(t.pipe[0]), 0);
	for (int i = 0; i < 5; i++) {
		static const char *const wanted[] = {
			"] error: the disk is full\n",
			("] error: the disk is full (and 2 times since it was "
			    "last said)\n"),
			"] warning: something else\n",
			"] info: one request\n",
			"] info: one request\n",
		};
		char *end = strchr(got, '\n'), *at = strchr(got, ']');

		assert_non_null(end);
		assert_non_null(at);
		assert_span(((struct idem_span){ at, (size_t)(end - at) + 1 }),
		    span_of(wanted[i]));
		memmove(got, end + 1, strlen(end + 1) + 1);
	}
	assert_string_equal(got, "");
}

static void
levels(void **state)
{
	static const struct {
		enum idem_level level;
		const char *want;
		bool complained;
	} rows[] = {
		{ IDEM_INFO, "info: a b", false },
		{ IDEM_WARN, "warning: a b", true },
		{ IDEM_ERROR, "error: a b", true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fixture t;

		begin(&t);
		t.f.x = &t.x;
		idem_log(&t.log, rows[i].level, "a %s", "b");
		assert_int_equal(t.complaint[0] != '\0', rows[i].complained);
		expect(&t, rows[i].want);
	}
}

static void
an_exchange_without_a_log_of_its_own(void **state)
{
	struct fixture t;

	(void)state;
	begin(&t);
	t.x.complain = NULL;
	t.f.x = &t.x;
	idem_log(&t.log, IDEM_ERROR, "a");
	expect(&t, "error: a");
}

static void
the_longest_line_is_whole(void **state)
{
	char text[1101], want[1100] = "info: ";
	struct fixture t;

	(void)state;
	memset(text, 'x', 1100);
	text[1100] = '\0';
	memset(want + 6, 'x', 997);
	memcpy(want + 6 + 997, "...", 4);
	begin(&t);
	idem_log(&t.log, IDEM_INFO, "%s", text);
	expect(&t, want);
}

static void
requests(void **state)
{
	static const unsigned char id[32] = { 0xab, 0x12, 0xcd, 0x34, 0xff };
	static const struct {
		struct front_log_request r;
		const char *want;
	} rows[] = {
		{ { "replayed", 201, { "POST /vazifalar", 15 }, 3, id, "r-1" },
		    "info: outcome=replayed status=201 route=\"POST "
		    "/vazifalar\" ms=3 id=ab12cd34 request_id=r-1" },
		{ { "refused", 400, { "POST /a\"b\\c\nd", 13 }, 0, NULL, "-" },
		    "info: outcome=refused status=400 route=\"POST "
		    "/a?b?c?d\" ms=0 id=- request_id=-" },
		{ { "lost", 503, { NULL, 0 }, 86400000, id, "x" },
		    "info: outcome=lost status=503 route=\"\" ms=86400000 "
		    "id=ab12cd34 request_id=x" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fixture t;

		begin(&t);
		front_log_request(&t.log, &rows[i].r);
		expect(&t, rows[i].want);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_error_once_a_minute),
		cmocka_unit_test(levels),
		cmocka_unit_test(an_exchange_without_a_log_of_its_own),
		cmocka_unit_test(the_longest_line_is_whole),
		cmocka_unit_test(requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
