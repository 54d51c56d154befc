/*
 * test_fastcgi_records.c - records that no web server would send, byte for
 * byte: what is served, what is answered, and that nothing is waited for long.
 */
#include "tests.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "exchange/fastcgi.h"

#define WAIT_MS 100
#define BOUND_MS 5000 /* of one who has WAIT_MS, on a busy machine */
#define DRIP_MS 80 /* less than that */

/* Request 1: BEGIN_REQUEST, a variable A=b, the end of the variables, a body of
 * "hi", its end. */
#define BEGIN "\1\1\0\1\0\10\0\0" "\0\1\0\0\0\0\0\0"
#define A_B "\1\4\0\1\0\4\0\0" "\1\1Ab"
#define VARS_END "\1\4\0\1\0\0\0\0"
#define HI "\1\5\0\1\0\2\0\0" "hi"
#define BODY_END "\1\5\0\1\0\0\0\0"
#define HEAD BEGIN A_B VARS_END

/* What comes of a request that was served. */
#define OK_HI "\1\6\0\1\0\2\0\0" "ok" OK_END
#define OK_END "\1\6\0\1\0\0\0\0" "\1\3\0\1\0\10\0\0" "\0\0\0\0\0\0\0\0"

struct served {
	unsigned n;
	bool whole; /* the body had an end */
	char vars[200];
	char body[200];
};

static void
serve(void *arg, struct exchange *x)
{
	struct served *s = arg;
	struct idem_buf text;
	char byte;
	long n;

	s->n++;
	idem_buf_over(&text, s->vars, sizeof s->vars);
	for (size_t i = 0; x->vars[i] != NULL; i++)
		idem_buf_printf(&text, "%s;", x->vars[i]);
	idem_buf_putc(&text, '\0');
	assert_int_equal(idem_buf_err(&text), IDEM_OK);
	idem_buf_over(&text, s->body, sizeof s->body);
	while ((n = x->read(x->arg, &byte, 1)) == 1)
		idem_buf_putc(&text, byte);
	idem_buf_putc(&text, '\0');
	assert_int_equal(idem_buf_err(&text), IDEM_OK);
	assert_int_equal(x->read(x->arg, &byte, 1), n);
	s->whole = n == 0;
	assert_int_equal(x->write(x->arg, "ok", 2), IDEM_OK);
}

/* Serve what was sent; then what came back is in *raw. */
static enum fastcgi_end
served(struct idem_span sent, bool ends, struct served *s, struct idem_buf *raw)
{
	enum fastcgi_end end;
	int fds[2];

	memset(s, 0, sizeof *s);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(io_write(fds[0], sent.p, sent.n), IDEM_OK);
	if (ends)
		assert_int_equal(shutdown(fds[0], SHUT_WR), 0);
	end = fastcgi_serve(fds[1], WAIT_MS, serve, s);
	if (io_read_all(fds[0], raw) != IDEM_OK)
		assert_true(end != FASTCGI_SERVED);
	assert_int_equal(close(fds[0]), 0);
	return end;
}

static const struct row {
	const char *name;
	struct idem_span sent;
	enum fastcgi_end end;
	const char *vars; /* NULL: it is not served */
	const char *body;
	bool whole;
	struct idem_span answer;
} rows[] = {
	{ "whole", IDEM_LIT_INIT(HEAD HI BODY_END), FASTCGI_SERVED,
	    "A=b;", "hi", true, IDEM_LIT_INIT(OK_HI) },
	{ "no variable", IDEM_LIT_INIT(BEGIN VARS_END BODY_END),
	    FASTCGI_SERVED, "", "", true, IDEM_LIT_INIT(OK_HI) },
	{ "request 258, padding", IDEM_LIT_INIT(
	    "\1\1\1\2\0\10\1\0" "\0\1\0\0\0\0\0\0" "x"
	    "\1\4\1\2\0\4\3\0" "\1\1Abxyz" "\1\4\1\2\0\0\2\0" "xy"
	    "\1\5\1\2\0\0\0\0"), FASTCGI_SERVED, "A=b;", "", true,
	    IDEM_LIT_INIT("\1\6\1\2\0\2\0\0" "ok" "\1\6\1\2\0\0\0\0"
	    "\1\3\1\2\0\10\0\0" "\0\0\0\0\0\0\0\0") },
	{ "a pair in two records, an empty value, a long length",
	    IDEM_LIT_INIT(BEGIN "\1\4\0\1\0\3\0\0" "\1\1A"
	    "\1\4\0\1\0\12\0\0" "b\2\0CC\200\0\0\1\0"
	    "\1\4\0\1\0\1\0\0" "D" VARS_END BODY_END), FASTCGI_SERVED,
	    "A=b;CC=;D=;", "", true, IDEM_LIT_INIT(OK_HI) },
	{ "a body in two records", IDEM_LIT_INIT(HEAD HI HI BODY_END),
	    FASTCGI_SERVED, "A=b;", "hihi", true, IDEM_LIT_INIT(OK_HI) },
	{ "a body that breaks off", IDEM_LIT_INIT(HEAD HI), FASTCGI_SERVED,
	    "A=b;", "hi", false, IDEM_LIT_INIT(OK_HI) },
	{ "a body's record that breaks off", IDEM_LIT_INIT(HEAD
	    "\1\5\0\1\0\11\0\0" "hi"), FASTCGI_SERVED, "A=b;", "hi", false,
	    IDEM_LIT_INIT(OK_HI) },
	{ "no body", IDEM_LIT_INIT(HEAD), FASTCGI_SERVED, "A=b;", "", false,
	    IDEM_LIT_INIT(OK_HI) },
	{ "aborted in the body", IDEM_LIT_INIT(HEAD HI "\1\2\0\1\0\0\0\0"
	    BODY_END), FASTCGI_SERVED, "A=b;", "hi", false,
	    IDEM_LIT_INIT(OK_HI) },
	{ "variables in the body", IDEM_LIT_INIT(HEAD HI A_B BODY_END),
	    FASTCGI_SERVED, "A=b;", "hi", false, IDEM_LIT_INIT(OK_HI) },
	{ "variables in the body, and their end", IDEM_LIT_INIT(HEAD HI A_B
	    VARS_END BODY_END), FASTCGI_SERVED, "A=b;", "hi", false,
	    IDEM_LIT_INIT(OK_HI) },
	{ "aborted in the variables", IDEM_LIT_INIT(BEGIN A_B
	    "\1\2\0\1\0\0\0\0" VARS_END), FASTCGI_CUT, NULL, NULL, false,
	    IDEM_LIT_INIT("") },
	{ "nothing", IDEM_LIT_INIT(""), FASTCGI_NOTHING, NULL, NULL, false,
	    IDEM_LIT_INIT("") },
	{ "another version", IDEM_LIT_INIT("\2\1\0\1\0\10\0\0"),
	    FASTCGI_NOTHING, NULL, NULL, false, IDEM_LIT_INIT("") },
	{ "a short BEGIN_REQUEST", IDEM_LIT_INIT("\1\1\0\1\0\2\0\0" "\0\1"
	    A_B VARS_END), FASTCGI_NOTHING, NULL, NULL, false,
	    IDEM_LIT_INIT("") },
	{ "variables first", IDEM_LIT_INIT(A_B VARS_END), FASTCGI_NOTHING,
	    NULL, NULL, false, IDEM_LIT_INIT("") },
	{ "the body first", IDEM_LIT_INIT(BEGIN HI BODY_END A_B VARS_END),
	    FASTCGI_CUT, NULL, NULL, false, IDEM_LIT_INIT("") },
	{ "begun twice", IDEM_LIT_INIT(BEGIN BEGIN A_B VARS_END),
	    FASTCGI_CUT, NULL, NULL, false, IDEM_LIT_INIT("") },
	{ "a filter", IDEM_LIT_INIT("\1\1\0\1\0\10\0\0" "\0\3\0\0\0\0\0\0"
	    A_B VARS_END), FASTCGI_ROLE, NULL, NULL, false,
	    IDEM_LIT_INIT("") },
	{ "role 257", IDEM_LIT_INIT("\1\1\0\1\0\10\0\0" "\1\1\0\0\0\0\0\0"
	    A_B VARS_END), FASTCGI_ROLE, NULL, NULL, false,
	    IDEM_LIT_INIT("") },
	{ "variables that break off", IDEM_LIT_INIT(BEGIN A_B),
	    FASTCGI_CUT, NULL, NULL, false, IDEM_LIT_INIT("") },
	{ "a value past the end", IDEM_LIT_INIT(BEGIN
	    "\1\4\0\1\0\4\0\0" "\1\2Ab" VARS_END), FASTCGI_CUT, NULL, NULL,
	    false, IDEM_LIT_INIT("") },
	{ "a length that breaks off", IDEM_LIT_INIT(BEGIN
	    "\1\4\0\1\0\3\0\0" "\1\200\0" VARS_END), FASTCGI_CUT, NULL, NULL,
	    false, IDEM_LIT_INIT("") },
	{ "lengths of 2 GiB", IDEM_LIT_INIT(BEGIN "\1\4\0\1\0\11\0\0"
	    "\377\377\377\377\377\377\377\377A" VARS_END), FASTCGI_CUT, NULL,
	    NULL, false, IDEM_LIT_INIT("") },
	{ "lengths of 2 GiB less 2", IDEM_LIT_INIT(BEGIN
	    "\1\4\0\1\0\11\0\0" "\377\377\377\376\377\377\377\376A" VARS_END),
	    FASTCGI_CUT, NULL, NULL, false, IDEM_LIT_INIT("") },
	{ "NUL in a value", IDEM_LIT_INIT(BEGIN "\1\4\0\1\0\4\0\0" "\1\1A\0"
	    VARS_END), FASTCGI_CUT, NULL, NULL, false, IDEM_LIT_INIT("") },
	{ "NUL in a name", IDEM_LIT_INIT(BEGIN "\1\4\0\1\0\5\0\0" "\2\1A\0b"
	    VARS_END), FASTCGI_CUT, NULL, NULL, false, IDEM_LIT_INIT("") },
	{ "a name with =", IDEM_LIT_INIT(BEGIN "\1\4\0\1\0\5\0\0" "\2\1A=b"
	    VARS_END), FASTCGI_CUT, NULL, NULL, false, IDEM_LIT_INIT("") },
	{ "no name", IDEM_LIT_INIT(BEGIN "\1\4\0\1\0\3\0\0" "\0\1b"
	    VARS_END), FASTCGI_CUT, NULL, NULL, false, IDEM_LIT_INIT("") },
	{ "values are asked for, and a name breaks off", IDEM_LIT_INIT(
	    "\1\11\0\0\0\42\1\0" "\17\0FCGI_MPXS_CONNS" "\16\0FCGI_MAX_CON"
	    "\1\0X" "x" HEAD BODY_END), FASTCGI_NOTHING, NULL, NULL, false,
	    IDEM_LIT_INIT("") },
	{ "values are asked for", IDEM_LIT_INIT("\1\11\0\0\0\41\1\0"
	    "\17\0FCGI_MPXS_CONNS" "\16\0FCGI_MAX_CONNS" "x" HEAD BODY_END),
	    FASTCGI_SERVED, "A=b;", "", true, IDEM_LIT_INIT(
	    "\1\12\0\0\0\43\0\0" "\17\1FCGI_MPXS_CONNS" "0"
	    "\16\1FCGI_MAX_CONNS" "1" OK_HI) },
	{ "an unknown record of management", IDEM_LIT_INIT(BEGIN A_B
	    "\1\14\0\0\0\2\0\0" "xy" VARS_END BODY_END), FASTCGI_SERVED,
	    "A=b;", "", true, IDEM_LIT_INIT("\1\13\0\0\0\10\0\0"
	    "\14\0\0\0\0\0\0\0" OK_HI) },
	{ "a second request, whose records count for nothing",
	    IDEM_LIT_INIT(BEGIN "\1\1\0\2\0\10\0\0" "\0\1\0\0\0\0\0\0" A_B
	    "\1\4\0\2\0\4\0\0" "\1\1Cd" VARS_END "\1\5\0\2\0\2\0\0" "no" HI
	    BODY_END), FASTCGI_SERVED, "A=b;", "hi", true, IDEM_LIT_INIT(
	    "\1\3\0\2\0\10\0\0" "\0\0\0\0\1\0\0\0" OK_HI) },
};

static void
check_row(const struct row *row, bool ends)
{
	struct served s;
	struct idem_buf raw;

	idem_buf_init(&raw, 100000);
	print_message("%s%s\n", row->name, ends ? "" : ", and waits");
	assert_int_equal(served(row->sent, ends, &s, &raw), row->end);
	assert_int_equal(s.n, row->vars != NULL);
	if (row->vars != NULL) {
		assert_string_equal(s.vars, row->vars);
		assert_string_equal(s.body, row->body);
		assert_int_equal(s.whole, row->whole);
	}
	idem_buf_put(&raw, "", 0);
	if (row->answer.n == 0)
		assert_int_equal(raw.n, 0);
	else
		assert_span(idem_buf_span(&raw), row->answer);
	idem_buf_free(&raw);
}

static void
what_is_sent_at_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		check_row(&rows[i], true);
}

/* The peer keeps its end open and says no more. */
static void
what_is_sent_by_a_peer_that_waits(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t began = io_steady_ms();

		check_row(&rows[i], false);
		assert_true(io_steady_ms() - began < BOUND_MS);
	}
}

/* Every prefix of a request that is not whole runs nothing, or runs it with a
 * body that has no end. */
static void
what_ends_anywhere(void **state)
{
	const struct idem_span whole = IDEM_LIT(HEAD HI BODY_END);
	const size_t head = sizeof(HEAD) - 1;
	struct served s;
	struct idem_buf raw;

	(void)state;
	idem_buf_init(&raw, 100000);
	for (size_t n = 0; n < whole.n; n++) {
		enum fastcgi_end end = served(span_first(whole, n), true, &s,
		    &raw);

		assert_int_equal(end, n < sizeof(BEGIN) - 1 ? FASTCGI_NOTHING :
		    n < head ? FASTCGI_CUT : FASTCGI_SERVED);
		assert_int_equal(s.n, n >= head);
		assert_false(s.whole);
	}
	idem_buf_free(&raw);
}

static void
complain(void *arg, struct exchange *x)
{
	(void)arg; /* the exchange says enough */
	x->complain(x->arg, "no\n");
	assert_int_equal(x->write(x->arg, "ok", 2), IDEM_OK);
}

/* A stream that was begun is ended (FastCGI 1.0, 3.3). */
static void
what_is_complained_of(void **state)
{
	const struct idem_span sent = IDEM_LIT(HEAD BODY_END);
	struct idem_buf raw;
	int fds[2];

	(void)state;
	idem_buf_init(&raw, 1000);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(io_write(fds[0], sent.p, sent.n), IDEM_OK);
	assert_int_equal(fastcgi_serve(fds[1], WAIT_MS, complain, NULL),
	    FASTCGI_SERVED);
	assert_int_equal(io_read_all(fds[0], &raw), IDEM_OK);
	assert_span(idem_buf_span(&raw), IDEM_LIT("\1\7\0\1\0\3\0\0" "no\n"
	    "\1\6\0\1\0\2\0\0" "ok"
	    "\1\7\0\1\0\0\0\0" "\1\6\0\1\0\0\0\0"
	    "\1\3\0\1\0\10\0\0" "\0\0\0\0\0\0\0\0"));
	assert_int_equal(close(fds[0]), 0);
	idem_buf_free(&raw);
}

/* --- a byte now and then -------------------------------------------------- */

static pid_t
drip(int fd, struct idem_span bytes)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	for (size_t i = 0; i < bytes.n; i++) {
		if (io_write(fd, bytes.p + i, 1) != IDEM_OK)
			break;
		(void)usleep(DRIP_MS * 1000);
	}
	_exit(0);
}

static enum fastcgi_end
serve_dripped(struct idem_span at_once, struct idem_span dripped,
    struct served *s)
{
	enum fastcgi_end end;
	int64_t began = io_steady_ms();
	int fds[2];
	pid_t pid;

	memset(s, 0, sizeof *s);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(io_write(fds[0], at_once.p, at_once.n), IDEM_OK);
	pid = drip(fds[0], dripped);
	end = fastcgi_serve(fds[1], WAIT_MS, serve, s);
	/* before all of it could come */
	assert_true(io_steady_ms() - began < (int64_t)dripped.n * DRIP_MS);
	assert_int_equal(close(fds[0]), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return end;
}

static void
what_drips(void **state)
{
	struct served s;

	(void)state;
	(void)signal(SIGPIPE, SIG_IGN);
	assert_int_equal(serve_dripped(IDEM_LIT(""), IDEM_LIT(HEAD BODY_END),
	    &s), FASTCGI_NOTHING);
	assert_int_equal(s.n, 0);
	assert_int_equal(serve_dripped(IDEM_LIT(BEGIN), IDEM_LIT(A_B A_B
	    VARS_END), &s), FASTCGI_CUT);
	assert_int_equal(s.n, 0);
	assert_int_equal(serve_dripped(IDEM_LIT(HEAD), IDEM_LIT(HI HI HI
	    BODY_END), &s), FASTCGI_SERVED);
	assert_int_equal(s.n, 1);
	assert_false(s.whole);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_sent_at_once),
		cmocka_unit_test(what_is_sent_by_a_peer_that_waits),
		cmocka_unit_test(what_ends_anywhere),
		cmocka_unit_test(what_is_complained_of),
		cmocka_unit_test(what_drips),
	};

	(void)alarm(120); /* one that waits for ever has failed, too */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
