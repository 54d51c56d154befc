/*
 * test_fastcgi_slow.c - peers that are slow and mean well, as a web server is
 * that passes a telephone's pace on; and a body that nobody wants.
 */
#include "tests.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "exchange/fastcgi.h"
#include "exchange/talk.h"

#define RECORD_BYTES 2400
#define BOUND_MS 5000 /* on a busy machine */
#define ANSWER_BYTES 409600

/* BEGIN_REQUEST, a variable A=b, the end of the variables. */
#define HEAD "\1\1\0\1\0\10\0\0" "\0\1\0\0\0\0\0\0" \
	"\1\4\0\1\0\4\0\0" "\1\1Ab" "\1\4\0\1\0\0\0\0"

struct served {
	bool reads; /* the body; set before */
	unsigned n;
	size_t nbody;
	bool whole; /* the body had an end */
	int64_t ms; /* that it took */
};

static void
serve(void *arg, struct exchange *x)
{
	struct served *s = arg;
	char bytes[1000];
	long n = 0;

	s->n++;
	while (s->reads && (n = x->read(x->arg, bytes, sizeof bytes)) > 0)
		s->nbody += (size_t)n;
	s->whole = s->reads && n == 0;
	assert_int_equal(x->write(x->arg, "ok", 2), IDEM_OK);
}

static void
make_body(struct idem_buf *b, size_t nrecords)
{
	static const char zeroes[RECORD_BYTES];

	idem_buf_init(b, 1000000);
	for (size_t i = 0; i < nrecords; i++) {
		idem_buf_puts(b, IDEM_LIT("\1\5\0\1\11\140\0\0"));
		idem_buf_put(b, zeroes, sizeof zeroes);
	}
	idem_buf_puts(b, IDEM_LIT("\1\5\0\1\0\0\0\0"));
	assert_int_equal(idem_buf_err(b), IDEM_OK);
}

static pid_t
send_slowly(const int fds[2], struct idem_span rest, size_t at_a_time,
    unsigned pause_ms)
{
	pid_t pid = fork();
	size_t n;

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	(void)signal(SIGPIPE, SIG_IGN);
	(void)close(fds[1]);
	while (rest.n > 0) {
		n = at_a_time < rest.n ? at_a_time : rest.n;
		if (io_write(fds[0], rest.p, n) != IDEM_OK)
			break;
		rest = span_from(rest, n);
		(void)usleep(pause_ms * 1000);
	}
	_exit(0);
}

/* The head at once, and then the body. */
static enum fastcgi_end
serve_slowly(struct served *s, int receive_ms, size_t nrecords,
    size_t at_a_time, unsigned pause_ms)
{
	const struct idem_span head = IDEM_LIT(HEAD);
	struct idem_buf body;
	enum fastcgi_end end;
	int64_t began;
	int fds[2];
	pid_t pid;

	make_body(&body, nrecords);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(io_write(fds[0], head.p, head.n), IDEM_OK);
	pid = send_slowly(fds, idem_buf_span(&body), at_a_time, pause_ms);
	began = io_steady_ms();
	end = fastcgi_serve(fds[1], receive_ms, serve, s);
	s->ms = io_steady_ms() - began;
	assert_int_equal(close(fds[0]), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	idem_buf_free(&body);
	return end;
}

/* 200 bytes, and nothing for 150 ms, where a second and a half of silence is
 * too much: longer than that in all. */
static void
a_telephone_on_a_bad_line(void **state)
{
	struct served s = { .reads = true };

	(void)state;
	assert_int_equal(serve_slowly(&s, 1500, 1, 200, 150), FASTCGI_SERVED);
	assert_int_equal(s.n, 1);
	assert_true(s.whole);
	assert_int_equal(s.nbody, 2400);
}

/* Ten seconds of it would come, without a pause that is too long. */
static void
a_body_nobody_wants(void **state)
{
	struct served s = { .reads = false };

	(void)state;
	assert_int_equal(serve_slowly(&s, 100, 400, 2048, 20), FASTCGI_SERVED);
	assert_int_equal(s.n, 1);
	assert_true(s.ms < BOUND_MS);
}

/* Pause so long after each read, and once when so much was read. */
struct reading {
	size_t nbytes; /* what has to come in all */
	unsigned pause_ms;
	size_t still_at;
	unsigned still_ms;
};

static pid_t
read_slowly(const int fds[2], struct reading how)
{
	char bytes[8192];
	size_t sum = 0;
	pid_t pid = fork();
	ssize_t n;

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	(void)close(fds[1]);
	while ((n = read(fds[0], bytes, sizeof bytes)) > 0) {
		bool before = sum < how.still_at;

		sum += (size_t)n;
		if (before && sum >= how.still_at)
			(void)usleep(how.still_ms * 1000);
		(void)usleep(how.pause_ms * 1000);
	}
	_exit(sum == how.nbytes ? 0 : 1);
}

/* All of it, to somebody who has a second when he takes nothing. */
static void
send_all_of_it(struct reading how)
{
	static const char some[20480];
	static struct talk t;
	int fds[2], status;
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	talk_open(&t, fds[1], 1000, 1000);
	pid = read_slowly(fds, how);
	assert_int_equal(close(fds[0]), 0);
	for (size_t n = 0; n < how.nbytes; n += sizeof some) {
		idem_buf_put(&t.out, some, sizeof some);
		assert_true(talk_send(&t));
	}
	assert_int_equal(close(fds[1]), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* A unix socket holds 208 KiB, and says that there is room again when 160 of
 * them were read: after two seconds here, where one is the limit. */
static void
a_slow_reader(void **state)
{
	(void)state;
	send_all_of_it((struct reading){ ANSWER_BYTES, 100, 0, 0 });
}

/* He took a mebibyte and may let us wait for seven seconds. */
static void
a_reader_who_stands_still_for_a_while(void **state)
{
	(void)state;
	send_all_of_it((struct reading){ 5 * ANSWER_BYTES, 0, 1048576, 1500 });
}

/* What the socket holds he did not take. */
static void
a_peer_that_never_reads(void **state)
{
	static const char some[20480];
	static struct talk t;
	int64_t began = io_steady_ms();
	size_t n = 0;
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	talk_open(&t, fds[1], 1000, 100);
	do {
		idem_buf_put(&t.out, some, sizeof some);
		n += sizeof some;
	} while (talk_send(&t));
	assert_true(n > 100000);
	assert_int_equal(t.patience.ntaken, 0);
	assert_int_equal(t.patience.left_ms, 0);
	assert_true(io_steady_ms() - began >= 100);
	assert_int_equal(close(fds[0]), 0);
	assert_int_equal(close(fds[1]), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_telephone_on_a_bad_line),
		cmocka_unit_test(a_body_nobody_wants),
		cmocka_unit_test(a_slow_reader),
		cmocka_unit_test(a_reader_who_stands_still_for_a_while),
		cmocka_unit_test(a_peer_that_never_reads),
	};

	(void)alarm(120); /* one that waits for ever has failed, too */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
