/*
 * test_fastcgi.c - a web server that sends whole requests, halves and nothing
 * to a worker.
 */
#include "tests.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "exchange/connection.h"
#include "fcgi_client.h"
#include "one_worker.h"

/* --- requests ------------------------------------------------------------- */

static void
whole_requests(void **state)
{
	static const char *const post[] = { "REQUEST_METHOD=POST",
	    "REQUEST_URI=/b", "CONTENT_LENGTH=5", NULL };
	struct one_worker *o = *state;
	int fd;

	one_worker_start(o);
	for (int i = 0; i < 3; i++) {
		expect_served(o);
		fd = one_worker_dial(o);
		send_request(fd, post, IDEM_LIT("hello"));
		one_worker_hear(o, 'S');
		expect_answer(fd, HEAD("10") "0 /b hello");
	}
	one_worker_stop(o);
}

static void
bodies_are_counted(void **state)
{
	static const struct {
		const char *length;
		const char *body;
		const char *want;
	} rows[] = { /* 2: syntax, 3: too big, 5: short */
		{ "CONTENT_LENGTH=5", "hell", HEAD("5") "5 /b " },
		{ "CONTENT_LENGTH=5", "", HEAD("5") "5 /b " },
		{ "CONTENT_LENGTH=5", "hello!", HEAD("10") "0 /b hello" },
		{ "CONTENT_LENGTH=x", "hello", HEAD("5") "2 /b " },
		{ "CONTENT_LENGTH=100001", "hello", HEAD("5") "3 /b " },
		{ "CONTENT_LENGTH=", "hello", HEAD("10") "0 /b hello" },
		{ "X=", "hello", HEAD("10") "0 /b hello" },
		{ "IDEM_LENGTH=6", "hello", HEAD("5") "5 /b " },
	};
	struct one_worker *o = *state;

	one_worker_start(o);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *const vars[] = { "REQUEST_METHOD=POST",
		    "REQUEST_URI=/b", rows[i].length, NULL };
		int fd = one_worker_dial(o);

		send_request(fd, vars, span_of(rows[i].body));
		one_worker_hear(o, 'S');
		expect_answer(fd, rows[i].want);
	}
	one_worker_stop(o);
}

/* A web server that writes everything before it reads gets its 413, although
 * nobody read the body. */
static void
a_refused_body_does_not_lose_the_answer(void **state)
{
	static const char *const vars[] = { "REQUEST_METHOD=POST",
	    "REQUEST_URI=/b", "CONTENT_LENGTH=8000000", NULL };
	struct one_worker *o = *state;
	char *body = test_calloc(1, 8000000);
	int fd;

	one_worker_start(o);
	fd = one_worker_dial(o);
	send_request(fd, vars, (struct idem_span){ body, 8000000 });
	one_worker_hear(o, 'S');
	expect_answer(fd, HEAD("5") "3 /b ");
	expect_served(o);
	one_worker_stop(o);
	test_free(body);
}

static void
keep_conn_does_not_keep_the_worker(void **state)
{
	struct one_worker *o = *state;
	struct idem_buf out;
	int fd;

	one_worker_start(o);
	fd = one_worker_dial(o);
	idem_buf_init(&out, 10000);
	fcgi_begin(&out, FCGI_RESPONDER_ROLE, true);
	fcgi_params(&out, get_a);
	fcgi_params_end(&out);
	fcgi_stdin_end(&out);
	send_all(fd, &out);
	one_worker_hear(o, 'S');
	expect_answer(fd, ANSWER_A); /* reads up to the end of the connection */
	expect_served(o);
	one_worker_stop(o);
}

/* The web server must not take what it has for all there is. */
static void
answers_that_broke_off_have_no_end(void **state)
{
	static const char *const vars[] = { "REQUEST_URI=/broken", NULL };
	struct one_worker *o = *state;
	struct fcgi_answer a;
	int fd;

	one_worker_start(o);
	for (int i = 0; i < 2; i++) {
		fd = one_worker_dial(o);
		send_request(fd, vars, IDEM_LIT(""));
		one_worker_hear(o, 'S');
		fcgi_read_answer(fd, &a);
		assert_false(a.ended);
		fcgi_answer_free(&a);
		assert_int_equal(close(fd), 0);
	}
	one_worker_stop(o);
	expect_logged(o, "closed a connection in the middle of an answer, as "
	    "the answer broke off");
}

static void
warnings_go_to_the_web_server_too(void **state)
{
	static const char *const vars[] = { "REQUEST_URI=/warn", NULL };
	struct one_worker *o = *state;
	struct fcgi_answer a;
	char want[100];
	int fd;

	one_worker_start(o);
	fd = one_worker_dial(o);
	send_request(fd, vars, IDEM_LIT(""));
	one_worker_hear(o, 'S');
	fcgi_read_answer(fd, &a);
	assert_int_equal(text_format(want, sizeof want,
	    "test.fcgi[%ld] warning: look here\n", (long)o->pid), IDEM_OK);
	assert_text(idem_buf_span(&a.errors), want);
	assert_true(a.ended);
	fcgi_answer_free(&a);
	assert_int_equal(close(fd), 0);
	expect_logged(o, want);
	one_worker_stop(o);
}

static void
other_roles_are_not_served(void **state)
{
	struct one_worker *o = *state;
	struct idem_buf out;
	int fd;

	one_worker_start(o);
	fd = one_worker_dial(o);
	idem_buf_init(&out, 10000);
	fcgi_begin(&out, FCGI_AUTHORIZER_ROLE, false);
	fcgi_params(&out, get_a);
	fcgi_params_end(&out);
	send_all(fd, &out);
	expect_nothing(fd);
	expect_served(o);
	expect_logged(o, "for another role than responder");
	one_worker_stop(o);
}

#define SILENT_MS 700 /* too long here; those who speak do so much sooner */

/* --- halves --------------------------------------------------------------- */

/* Which part of a request is sent before the web server ends or stalls. */
enum part { NOTHING, HALF_HEADER, GARBAGE, ONLY_BEGIN, HALF_PAIR, WHOLE_PAIRS };
static const enum part parts[] = { NOTHING, HALF_HEADER, GARBAGE, ONLY_BEGIN,
    HALF_PAIR, WHOLE_PAIRS };

static void
send_part(int fd, enum part part)
{
	struct idem_buf out;

	idem_buf_init(&out, 10000);
	fcgi_begin(&out, FCGI_RESPONDER_ROLE, false);
	if (part == HALF_PAIR || part == WHOLE_PAIRS)
		fcgi_params(&out, get_a);
	if (part == NOTHING)
		idem_buf_cut(&out, 0);
	if (part == HALF_HEADER)
		idem_buf_cut(&out, 5);
	if (part == HALF_PAIR)
		idem_buf_cut(&out, out.n - 10);
	if (part == GARBAGE) {
		idem_buf_cut(&out, 0);
		idem_buf_puts(&out, IDEM_LIT("GET / HTTP/1.1\r\n\r\n"));
	}
	send_all(fd, &out);
}

static void
a_request_that_ends_early_is_dropped(void **state)
{
	struct one_worker *o = *state;

	one_worker_start(o);
	for (size_t i = 0; i < COUNT(parts); i++) {
		int fd = one_worker_dial(o);

		send_part(fd, parts[i]);
		assert_int_equal(shutdown(fd, SHUT_WR), 0);
		expect_nothing(fd);
		expect_served(o);
	}
	expect_logged(o, "dropped a request whose parameters broke off");
	expect_logged(o, "dropped a connection without a whole FastCGI "
	    "request");
	one_worker_stop(o);
}

static void
a_silent_connection_gives_the_worker_back(void **state)
{
	struct one_worker *o = *state;

	o->w.receive_ms = SILENT_MS;
	one_worker_start(o);
	for (size_t i = 0; i < COUNT(parts); i++) {
		int fd = one_worker_dial(o);

		send_part(fd, parts[i]);
		expect_served(o); /* while the silent one stays open */
		expect_nothing(fd);
	}
	expect_logged(o, "dropped a connection that said nothing for 700 ms");
	one_worker_stop(o);
}

static void
a_body_that_stalls_is_short(void **state)
{
	static const char *const vars[] = { "REQUEST_METHOD=POST",
	    "REQUEST_URI=/b", "CONTENT_LENGTH=10", NULL };
	struct one_worker *o = *state;
	struct idem_buf out;
	int fd;

	o->w.receive_ms = SILENT_MS;
	one_worker_start(o);
	fd = one_worker_dial(o);
	idem_buf_init(&out, 10000);
	fcgi_begin(&out, FCGI_RESPONDER_ROLE, false);
	fcgi_params(&out, vars);
	fcgi_params_end(&out);
	fcgi_stdin(&out, IDEM_LIT("half"));
	send_all(fd, &out);
	one_worker_hear(o, 'S');
	expect_answer(fd, HEAD("5") "5 /b ");
	one_worker_stop(o);
}

static void
a_web_server_that_is_gone(void **state)
{
	static const char *const vars[] = { "REQUEST_URI=/big", NULL };
	struct one_worker *o = *state;
	int fd;

	one_worker_start(o);
	fd = one_worker_dial(o);
	send_request(fd, vars, IDEM_LIT(""));
	one_worker_hear(o, 'S');
	assert_int_equal(close(fd), 0);
	expect_served(o);
	expect_logged(o, "the web server closed its connection before the "
	    "whole answer was written");
	one_worker_stop(o);
}

/* --- who may connect ------------------------------------------------------ */

static void
only_the_servers_that_are_named(void **state)
{
	static const struct {
		const char *servers;
		enum idem_err err;
	} rows[] = {
		{ NULL, IDEM_OK },
		{ "", IDEM_OK },
		{ "127.0.0.1", IDEM_OK },
		{ "10.0.0.1, 127.0.0.1", IDEM_OK },
		{ "10.0.0.1", IDEM_EBUSY },
		{ "127.0.0.10", IDEM_EBUSY },
		{ "127.0.0.1x", IDEM_EBUSY },
	};
	struct sockaddr_in sa = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof sa;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, n), 0);
	assert_int_equal(listen(fd, 5), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&sa, &n), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		int peer = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		int conn = -1;

		assert_int_equal(connect(peer, (struct sockaddr *)&sa, n), 0);
		assert_int_equal(connection_accept(fd, rows[i].servers,
		    &conn), rows[i].err);
		if (rows[i].err == IDEM_OK)
			assert_int_equal(close(conn), 0);
		assert_int_equal(close(peer), 0);
	}
	assert_int_equal(close(fd), 0);
}

#define WITH_WORKER(test) cmocka_unit_test_setup_teardown(test, \
	one_worker_setup, one_worker_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORKER(whole_requests),
		WITH_WORKER(bodies_are_counted),
		WITH_WORKER(a_refused_body_does_not_lose_the_answer),
		WITH_WORKER(keep_conn_does_not_keep_the_worker),
		WITH_WORKER(answers_that_broke_off_have_no_end),
		WITH_WORKER(warnings_go_to_the_web_server_too),
		WITH_WORKER(other_roles_are_not_served),
		WITH_WORKER(a_request_that_ends_early_is_dropped),
		WITH_WORKER(a_silent_connection_gives_the_worker_back),
		WITH_WORKER(a_body_that_stalls_is_short),
		WITH_WORKER(a_web_server_that_is_gone),
		cmocka_unit_test(only_the_servers_that_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
