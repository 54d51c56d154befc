/*
 * test_backend_fcgi.c - a FastCGI application that answers, refuses, dies at
 * every place, keeps silent or talks nonsense: how each of it ends.
 */
#include "backendkit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/io.h"

#define OUT_(n, text) "\1\6\0\1\0" n "\0\0" text
#define ERR_(n, text) "\1\7\0\1\0" n "\0\0" text
#define END_(status) "\1\3\0\1\0\10\0\0" "\0\0\0\0" status "\0\0\0"
#define CLOSED "\1\6\0\1\0\0\0\0"

static const char last_stdin[8] = "\1\5\0\1\0\0\0\0";

/* An application for one request, on a thread of its own. */
struct app {
	pthread_t thread;
	int listen_fd;
	char where[128];       /* as IDEM_BACKEND says it */
	struct idem_span says;
	bool deaf;             /* answers without reading */
	bool hold;             /* keeps the connection until the other side
	                        * closes it */
	size_t nheard;
	struct idem_buf heard;
};

static char folder[] = "/tmp/idem-backend-XXXXXX";

static void
hear_request(struct app *a, int fd)
{
	char chunk[65536];
	long n;

	while (a->heard.n < sizeof last_stdin || memcmp(a->heard.p +
	    a->heard.n - sizeof last_stdin, last_stdin,
	    sizeof last_stdin) != 0) {
		if ((n = io_read(fd, chunk, sizeof chunk)) <= 0)
			return;
		idem_buf_put(&a->heard, chunk, (size_t)n);
	}
}

static void *
serve(void *arg)
{
	struct app *a = arg;
	int fd = accept(a->listen_fd, NULL, NULL);
	char byte;

	if (!a->deaf)
		hear_request(a, fd);
	if (a->says.n > 0 && io_write(fd, a->says.p, a->says.n) != IDEM_OK)
		a->nheard = 0;
	if (a->deaf && !a->hold) /* what was not read would reset it */
		(void)shutdown(fd, SHUT_WR);
	while ((a->hold || a->deaf) && io_read(fd, &byte, 1) > 0)
		a->nheard++;
	(void)close(fd);
	return NULL;
}

static void
bind_local(struct app *a)
{
	struct sockaddr_un where = { .sun_family = AF_UNIX };

	assert_int_equal(text_format(where.sun_path, sizeof where.sun_path,
	    "%s/s", folder), IDEM_OK);
	assert_int_equal(text_format(a->where, sizeof a->where, "unix:%s",
	    where.sun_path), IDEM_OK);
	(void)unlink(where.sun_path);
	a->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(a->listen_fd, (struct sockaddr *)&where,
	    sizeof where), 0);
}

static void
bind_number(struct app *a, int family)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	struct sockaddr *any = family == AF_INET ? (struct sockaddr *)&in :
	    (struct sockaddr *)&in6;
	socklen_t n = family == AF_INET ? sizeof in : sizeof in6;

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	in6.sin6_addr = in6addr_loopback;
	a->listen_fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(a->listen_fd, any, n), 0);
	assert_int_equal(getsockname(a->listen_fd, any, &n), 0);
	assert_int_equal(text_format(a->where, sizeof a->where, "%s:%u",
	    family == AF_INET ? "127.0.0.1" : "[::1]", ntohs(
	    family == AF_INET ? in.sin_port : in6.sin6_port)), IDEM_OK);
}

static void
app_start(struct app *a)
{
	idem_buf_init(&a->heard, 1 << 26);
	assert_int_equal(listen(a->listen_fd, 1), 0);
	assert_int_equal(pthread_create(&a->thread, NULL, serve, a), 0);
}

static void
app_end(struct app *a)
{
	assert_int_equal(pthread_join(a->thread, NULL), 0);
	(void)close(a->listen_fd);
}

static enum backend_end
call(struct asking *asking, const char *where)
{
	struct backend_place place;

	assert_int_equal(backend_place_parse(span_of(where), &place),
	    IDEM_OK);
	return backend_fcgi(&place, &asking->job);
}

#define HI OUT_("\13", "A: b\n\nhello")

static const struct {
	const char *name;
	struct idem_span says;
	bool deaf, hold;
	enum backend_end end;
	unsigned status;
	struct idem_span body;
	const char *log; /* NULL: silent */
} rows[] = {
	{ "whole", IDEM_LIT_INIT(HI CLOSED END_("\0")), false, false,
	  BACKEND_WHOLE, 200, IDEM_LIT_INIT("hello"), NULL },
	{ "whole, and it does not close", IDEM_LIT_INIT(HI END_("\0")), false,
	  true, BACKEND_WHOLE, 200, IDEM_LIT_INIT("hello"), NULL },
	{ "in many records", IDEM_LIT_INIT(OUT_("\1", "A") OUT_("\5", ": b\n\n")
	  OUT_("\1", "x") OUT_("\2", "\0y") END_("\0")), false, false,
	  BACKEND_WHOLE, 200, IDEM_LIT_INIT("x\0y"), NULL },
	{ "an exit status", IDEM_LIT_INIT(OUT_("\15", "Status: 500\n\n")
	  "\1\3\0\1\0\10\0\0" "\0\0\0\377" "\0\0\0\0"), false, false,
	  BACKEND_WHOLE, 500, IDEM_LIT_INIT(""), NULL },
	{ "errors", IDEM_LIT_INIT(ERR_("\12", "PHP: one\n2") HI END_("\0")),
	  false, false, BACKEND_WHOLE, 200, IDEM_LIT_INIT("hello"),
	  "request=r1: the application says: PHP: one\n"
	  "request=r1: the application says: 2\n" },
	{ "before it reads", IDEM_LIT_INIT(HI END_("\0")), true, false,
	  BACKEND_WHOLE, 200, IDEM_LIT_INIT("hello"), NULL },
	{ "overloaded", IDEM_LIT_INIT(END_("\2")), false, false,
	  BACKEND_NOTHING, 0, IDEM_LIT_INIT(""), NULL },
	{ "cannot multiplex", IDEM_LIT_INIT(END_("\1")), false, false,
	  BACKEND_NOTHING, 0, IDEM_LIT_INIT(""), NULL },
	{ "unknown role", IDEM_LIT_INIT(END_("\3")), false, false,
	  BACKEND_BROKEN, 0, IDEM_LIT_INIT(""), NULL },
	{ "overloaded, after it ran", IDEM_LIT_INIT(HI END_("\2")), false,
	  false, BACKEND_BROKEN, 200, IDEM_LIT_INIT("hello"), NULL },
	{ "closes", IDEM_LIT_INIT(""), false, false, BACKEND_BROKEN, 0,
	  IDEM_LIT_INIT(""), NULL },
	{ "closes in the head", IDEM_LIT_INIT(OUT_("\2", "A:")), false, false,
	  BACKEND_BROKEN, 0, IDEM_LIT_INIT(""), NULL },
	{ "closes in a record", IDEM_LIT_INIT(OUT_("\100", "A: b\n\nhello")),
	  false, false, BACKEND_BROKEN, 200, IDEM_LIT_INIT("hello"), NULL },
	{ "closes without END_REQUEST", IDEM_LIT_INIT(HI CLOSED), false,
	  false, BACKEND_BROKEN, 200, IDEM_LIT_INIT("hello"), NULL },
	{ "says nothing", IDEM_LIT_INIT(END_("\0")), false, false,
	  BACKEND_BROKEN, 0, IDEM_LIT_INIT(""), NULL },
	{ "no head", IDEM_LIT_INIT(OUT_("\5", "A: b\n") END_("\0")), false,
	  false, BACKEND_BROKEN, 0, IDEM_LIT_INIT(""), NULL },
	{ "shorter than it says", IDEM_LIT_INIT(OUT_("\30",
	  "Content-Length: 6\n\nhello") END_("\0")), false, false,
	  BACKEND_BROKEN, 200, IDEM_LIT_INIT("hello"), NULL },
	{ "as long as it says", IDEM_LIT_INIT(OUT_("\30",
	  "Content-Length: 5\n\nhello") END_("\0")), false, false,
	  BACKEND_WHOLE, 200, IDEM_LIT_INIT("hello"), NULL },
	{ "garbage for a head", IDEM_LIT_INIT(OUT_("\7", "hello\n\n")
	  END_("\0")), false, false, BACKEND_BROKEN, 0, IDEM_LIT_INIT(""),
	  NULL },
	{ "another protocol", IDEM_LIT_INIT("HTTP/1.1 400 Bad Request\r\n"),
	  false, false, BACKEND_BROKEN, 0, IDEM_LIT_INIT(""), NULL },
	{ "another protocol, and waits", IDEM_LIT_INIT("SSH-2.0-x\r\n"), false,
	  true, BACKEND_BROKEN, 0, IDEM_LIT_INIT(""), NULL },
	{ "never answers", IDEM_LIT_INIT(""), false, true, BACKEND_LATE, 0,
	  IDEM_LIT_INIT(""), NULL },
	{ "stops in the middle", IDEM_LIT_INIT(HI), false, true, BACKEND_LATE,
	  200, IDEM_LIT_INIT("hello"), NULL },
};

static void
ends_as_it_is_known(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct app app = { .says = rows[i].says, .deaf = rows[i].deaf,
			.hold = rows[i].hold };
		struct asking asking;

		print_message("row %zu: %s\n", i, rows[i].name);
		bind_local(&app);
		app_start(&app);
		asking_open(&asking);
		asking.job.body = IDEM_LIT("body");
		if (rows[i].end == BACKEND_LATE)
			asking.job.timeout_ms = rows[i].status == 0 ?
			    SHORT_MS : MIDDLE_MS;
		assert_int_equal(call(&asking, app.where), rows[i].end);
		app_end(&app);
		assert_answer(&asking, rows[i].status, rows[i].body);
		if (rows[i].log != NULL)
			assert_text(idem_buf_span(&asking.said), rows[i].log);
		else
			assert_int_equal(asking.said.n, 0);
		idem_buf_free(&app.heard);
		asking_close(&asking);
	}
}

/* What an application hears, byte for byte. */
static void
asks_once(void **state)
{
	static const char *const vars[] = { "A=b", NULL };
	static const char want[] = "\1\1\0\1\0\10\0\0" "\0\1\0\0\0\0\0\0"
	    "\1\4\0\1\0\4\0\0" "\1\1Ab" "\1\4\0\1\0\0\0\0"
	    "\1\5\0\1\0\4\0\0" "body" "\1\5\0\1\0\0\0\0";
	struct app app = { .says = IDEM_LIT(HI END_("\0")), .hold = true };
	struct asking asking;

	(void)state;
	bind_local(&app);
	app_start(&app);
	asking_open(&asking);
	asking.job.vars = vars;
	asking.job.body = IDEM_LIT("body");
	assert_int_equal(call(&asking, app.where), BACKEND_WHOLE);
	app_end(&app);
	assert_span(idem_buf_span(&app.heard), ((struct idem_span){ want,
	    sizeof want - 1 }));
	assert_int_equal(app.nheard, 0);
	idem_buf_free(&app.heard);
	asking_close(&asking);
}

static void
reaches_numbers(void **state)
{
	static const int families[] = { AF_INET, AF_INET6 };

	(void)state;
	for (size_t i = 0; i < COUNT(families); i++) {
		struct app app = { .says = IDEM_LIT(HI END_("\0")) };
		struct asking asking;

		bind_number(&app, families[i]);
		asking_open(&asking);
		/* bound, and nobody listens */
		assert_int_equal(call(&asking, app.where), BACKEND_NOTHING);
		assert_log(&asking, "request=r1: connect to ");
		assert_log(&asking, "Connection refused");
		asking_again(&asking);
		app_start(&app);
		assert_int_equal(call(&asking, app.where), BACKEND_WHOLE);
		app_end(&app);
		assert_answer(&asking, 200, IDEM_LIT("hello"));
		idem_buf_free(&app.heard);
		asking_close(&asking);
	}
}

static void
finds_nobody(void **state)
{
	struct app app = { .listen_fd = -1 };
	struct asking asking;
	struct backend_place place;
	int queued;

	(void)state;
	asking_open(&asking);
	assert_int_equal(call(&asking, "unix:/no/such/socket"),
	    BACKEND_NOTHING);
	assert_log(&asking, "connect to unix:/no/such/socket: No such file");
	asking_again(&asking);
	bind_local(&app);
	assert_int_equal(call(&asking, app.where), BACKEND_NOTHING);
	assert_log(&asking, "Connection refused");

	/* it listens, and its queue is full */
	assert_int_equal(listen(app.listen_fd, 0), 0);
	assert_int_equal(backend_place_parse(span_of(app.where), &place),
	    IDEM_OK);
	queued = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(connect(queued, &place.address.any,
	    place.length_bytes), 0);
	asking_again(&asking);
	asking.job.timeout_ms = SHORT_MS;
	assert_int_equal(call(&asking, app.where), BACKEND_NOTHING);
	assert_log(&asking, "Resource temporarily unavailable");
	(void)close(queued);
	(void)close(app.listen_fd);
	asking_close(&asking);
}

/* Both at once, 5 MiB down while 3 MiB go up: nobody waits for the other. */
static void
does_not_deadlock(void **state)
{
	static char body[3 << 20], answer[(5 << 20) + 200 * 8];
	size_t n = 0;
	struct app app = { .deaf = true };
	struct asking asking;

	(void)state;
	memset(body, 'b', sizeof body);
	memcpy(answer, OUT_("\6", "A: b\n\n"), 14);
	for (n = 14; n < (5 << 20); n += 8 + 32768) {
		memcpy(answer + n, "\1\6\0\1\x80\0\0\0", 8);
		memset(answer + n + 8, 'a', 32768);
	}
	memcpy(answer + n, END_("\0"), 16);
	app.says = (struct idem_span){ answer, n + 16 };
	bind_local(&app);
	app_start(&app);
	asking_open(&asking);
	asking.job.body = (struct idem_span){ body, sizeof body };
	assert_int_equal(call(&asking, app.where), BACKEND_WHOLE);
	app_end(&app);
	assert_int_equal(asking.body.n, 160 * 32768);
	idem_buf_free(&app.heard);
	asking_close(&asking);
}

static void
parses_places(void **state)
{
	static const struct {
		const char *text;
		enum idem_err err;
	} places[] = {
		{ "unix:/run/php/php.sock", IDEM_OK },
		{ "127.0.0.1:9000", IDEM_OK }, { "[::1]:9000", IDEM_OK },
		{ "unix:", IDEM_ESYNTAX }, { "unix:php.sock", IDEM_ESYNTAX },
		{ "localhost:9000", IDEM_ESYNTAX },
		{ "::1:9000", IDEM_ESYNTAX },
		{ "127.0.0.1", IDEM_ESYNTAX }, { "127.0.0.1:", IDEM_ESYNTAX },
		{ "127.0.0.1:0", IDEM_ESYNTAX }, { ":9000", IDEM_ESYNTAX },
		{ "127.0.0.1:65536", IDEM_ESYNTAX }, { "", IDEM_ESYNTAX },
		{ "unix:/23456789/123456789/123456789/123456789/123456789/"
		  "123456789/123456789/123456789/123456789/123456789/123456",
		  IDEM_OK },
		{ "unix:/23456789/123456789/123456789/123456789/123456789/"
		  "123456789/123456789/123456789/123456789/123456789/1234567"
		  "89", IDEM_ETOOBIG },
	};
	struct backend_place place;

	(void)state;
	for (size_t i = 0; i < COUNT(places); i++) {
		print_message("row %zu\n", i);
		assert_int_equal(backend_place_parse(span_of(places[i].text),
		    &place), places[i].err);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_as_it_is_known),
		cmocka_unit_test(asks_once),
		cmocka_unit_test(reaches_numbers),
		cmocka_unit_test(finds_nobody),
		cmocka_unit_test(does_not_deadlock),
		cmocka_unit_test(parses_places),
	};
	char path[64];
	int failed;

	(void)signal(SIGPIPE, SIG_IGN);
	if (mkdtemp(folder) == NULL)
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	if (text_format(path, sizeof path, "%s/s", folder) == IDEM_OK)
		(void)unlink(path);
	(void)rmdir(folder);
	return failed;
}
