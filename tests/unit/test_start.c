/*
 * test_start.c - main() of a web program: how it was started decides what it
 * does.  Each case runs in a process of its own with three pipes.
 */
#include "tests.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "fcgi_client.h"
#include "process/program.h"

/* --- a program ------------------------------------------------------------ */

static enum idem_err
open_program(const struct settings *s, const struct idem_log *log,
    struct idem_span document_root, void **app)
{
	if (document_root.p != NULL)
		idem_log(log, IDEM_INFO, "beside %.*s",
		    IDEM_FMT(document_root));
	*app = (void *)s;
	return span_eq(s->base, IDEM_LIT("/fail")) ? IDEM_ESTORE : IDEM_OK;
}

/* Answers the number of keys that the settings allow. */
static void
serve(void *app, struct exchange *x)
{
	const struct settings *s = app;
	struct idem_response res;
	struct idem_request req;
	struct idem_buf scratch;
	enum idem_err err;

	idem_buf_init(&scratch, 1000);
	idem_response_init(&res, 1000);
	assert_int_equal(idem_request_init(&req, x->vars, &scratch), IDEM_OK);
	res.status = 200;
	idem_buf_printf(&res.body, "%llu",
	    (unsigned long long)s->policy.max_keys);
	err = exchange_answer(x, &req, &res);
	assert_true(err == IDEM_OK || err == IDEM_EIO);
	idem_response_free(&res);
	idem_buf_free(&scratch);
}

static void
close_program(void *app)
{
	assert_non_null(app);
}

static const struct program program = { .id = SETTINGS_TASKS,
	.name = "test.fcgi", .summary = "a test", .open = open_program,
	.serve = serve, .close = close_program };

/* --- running it ----------------------------------------------------------- */

struct run {
	int in_fd; /* descriptor 0; 0: an empty pipe */
	const char *argv[8];
	const char *env[8];
	bool deaf; /* nobody reads descriptor 1 */
};

struct result {
	int status;
	char out[40000], err[40000];
};

/* Runs in the child: never returns. */
static void
become(const struct run *r)
{
	char *argv[9] = { (char *)"test.fcgi" };
	int argc = 1;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)clearenv();
	(void)putenv((char *)"PATH=/bin"); /* or environ would be NULL */
	for (size_t i = 0; r->env[i] != NULL; i++)
		(void)putenv((char *)r->env[i]);
	for (; r->argv[argc - 1] != NULL; argc++)
		argv[argc] = (char *)r->argv[argc - 1];
	_exit(front_main(&program, argc, argv));
}

static void
read_pipe(int fd, char *out, size_t size)
{
	struct idem_buf b;

	idem_buf_init(&b, size - 1);
	assert_int_equal(io_read_all(fd, &b), IDEM_OK);
	if (b.n > 0)
		memcpy(out, b.p, b.n);
	out[b.n] = '\0';
	idem_buf_free(&b);
	assert_int_equal(close(fd), 0);
}

static pid_t
launch(const struct run *r, int *out, int *err)
{
	int in[2], outs[2], errs[2];
	pid_t pid;

	assert_int_equal(pipe(in) | pipe(outs) | pipe(errs), 0);
	if (r->deaf)
		assert_int_equal(dup2(in[0], outs[0]), outs[0]);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)dup2(r->in_fd != 0 ? r->in_fd : in[0], 0);
		(void)dup2(outs[1], 1);
		(void)dup2(errs[1], 2);
		for (int fd = 3; fd < 64; fd++)
			(void)close(fd);
		become(r);
	}
	assert_int_equal(close(in[0]) | close(in[1]) | close(outs[1]) |
	    close(errs[1]), 0);
	*out = outs[0];
	*err = errs[0];
	return pid;
}

static void
run(const struct run *r, struct result *res)
{
	int out, err, status;
	pid_t pid = launch(r, &out, &err);

	read_pipe(out, res->out, sizeof res->out);
	read_pipe(err, res->err, sizeof res->err);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	res->status = WEXITSTATUS(status);
}

/* The one line on descriptor 2, behind "test.fcgi[PID] "; "": none. */
static const char *
line_of(const struct result *res)
{
	const char *space = strchr(res->err, ' ');

	return space == NULL ? "" : space + 1;
}

/* --- without a request ---------------------------------------------------- */

static void
exit_statuses_and_messages(void **state)
{
	static const struct {
		struct run r;
		int status;
		const char *said;
	} rows[] = {
		{ { .argv = { NULL } }, 64, "error: nothing to serve: "
		    "descriptor 0 is no listening socket and there is no "
		    "--listen\n" },
		{ { .argv = { "--wrong" } }, 64, "error: command line: "
		    "--wrong is no option of this program (see --help)\n" },
		{ { .argv = { "operand" } }, 64, "error: command line: "
		    "operand is no option of this program (see --help)\n" },
		{ { .argv = { "--workers" } }, 64, "error: command line: "
		    "--workers needs a value (see --help)\n" },
		{ { .argv = { "--workers=0" } }, 64, "error: command line: "
		    "--workers takes a number from 1 to 256 (see --help)\n" },
		{ { .argv = { "--workers=257" } }, 64, "error: command line: "
		    "--workers takes a number from 1 to 256 (see --help)\n" },
		{ { .argv = { "--help=yes" } }, 64, "error: command line: "
		    "--help takes no value (see --help)\n" },
		{ { .argv = { "--listen=x" } }, 64, "error: --listen=x is "
		    "refused; allowed: unix:PATH, unix:PATH:MODE or "
		    "HOST:PORT\n" },
		{ { .argv = { "--max-keys=x" } }, 78, "error: command line: "
		    "IDEM_MAX_KEYS=x is refused; allowed: a number, from 1 to "
		    "1000000000\n" },
		{ { .argv = { "--listen=unix:/nonexistent/s" } }, 78,
		    "error: IDEM_STORE is not set; name the store's directory "
		    "in the environment, by --store, or in "
		    "/etc/idem/idem.conf\n" },
		{ { .argv = { "--listen=unix:/nonexistent/s" },
		    .env = { "IDEM_TTL=1" } }, 78,
		    "error: environment: IDEM_TTL=1 is refused; allowed: a "
		    "duration such as 300ms, 25s, 15m, 24h or 30d, from 1ms to "
		    "3650d\n" },
		{ { .argv = { "--listen=unix:/nonexistent/s",
		    "--config", "/nonexistent/f" } }, 78,
		    "error: cannot read the settings file /nonexistent/f: No "
		    "such file or directory\n" },
		{ { .argv = { "--listen", "unix:/nonexistent/s",
		    "--store=memory:" } }, 71, "error: --listen: open "
		    "/nonexistent/s.lock: No such file or directory\n" },
		{ { .argv = { "--listen=unix:/nonexistent/s", "--workers", "2",
		    "--store=memory:" } }, 78, "error: IDEM_STORE=memory: "
		    "serves one worker only; leave --workers away, or name a "
		    "directory\n" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct result res;

		run(&rows[i].r, &res);
		assert_string_equal(line_of(&res), rows[i].said);
		assert_int_equal(res.status, rows[i].status);
		assert_string_equal(res.out, "");
	}
}

static void
what_is_printed(void **state)
{
	static const struct {
		const char *argv[2];
		const char *begins;
		const char *holds;
	} rows[] = {
		{ { "--version" }, "test.fcgi " IDEM_VERSION "\n", "" },
		{ { "--help" }, "test.fcgi - a test\n\nusage: test.fcgi [",
		    "\n  --max-keys            records that are held, of all "
		    "states\n" },
		{ { "--check-config", "--store=/s" }, "IDEM_STORE=/s\tcommand "
		    "line\tprocess\tused by tasks.fcgi\n",
		    "\nIDEM_MAX_KEYS=10000\tdefault\tprocess\tused by "
		    "tasks.fcgi\n" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct run r = { .argv = { rows[i].argv[0], rows[i].argv[1] } };
		struct result res;

		run(&r, &res);
		assert_int_equal(res.status, 0);
		assert_string_equal(res.err, "");
		assert_memory_equal(res.out, rows[i].begins,
		    strlen(rows[i].begins));
		assert_non_null(strstr(res.out, rows[i].holds));
	}
}

static void
check_config_finds_what_is_missing(void **state)
{
	static const struct run r = { .argv = { "--check-config" } };
	struct result res;

	(void)state;
	run(&r, &res);
	assert_int_equal(res.status, 78);
	assert_string_equal(line_of(&res), "error: IDEM_STORE is not set; name "
	    "the store's directory in the environment, by --store, or in "
	    "/etc/idem/idem.conf\n");
	assert_non_null(strstr(res.out, "IDEM_STORE=\tnot set\tprocess\t"));
}

/* --- plain CGI ------------------------------------------------------------ */

static void
one_cgi_request(void **state)
{
	static const struct run r = { .argv = { NULL },
		.env = { "REQUEST_METHOD=GET", "IDEM_STORE=memory:",
		    "REDIRECT_IDEM_MAX_KEYS=7" } };
	struct result res;

	(void)state;
	run(&r, &res);
	assert_string_equal(res.err, "");
	assert_string_equal(res.out,
	    "Status: 200 OK\r\nContent-Length: 1\r\n\r\n7");
	assert_int_equal(res.status, 0);
}

/* Known before the store is opened, so that none is made inside it. */
static void
the_document_root_is_known_at_once(void **state)
{
	static const struct run r = { .argv = { NULL },
		.env = { "REQUEST_METHOD=GET", "IDEM_STORE=memory:",
		    "DOCUMENT_ROOT=/srv/www" } };
	struct result res;

	(void)state;
	run(&r, &res);
	assert_string_equal(line_of(&res), "info: beside /srv/www\n");
	assert_int_equal(res.status, 0);
}

/* A query without "=" becomes arguments; anybody may send one. */
static void
arguments_of_a_query_do_not_count(void **state)
{
	static const char *const args[] = { "--max-keys=5", "--help",
	    "--listen=unix:/tmp/x", "--check-config", "--config=/etc/passwd",
	    "--wrong" };

	(void)state;
	for (size_t i = 0; i < COUNT(args); i++) {
		struct run r = { .argv = { args[i] },
			.env = { "GATEWAY_INTERFACE=CGI/1.1",
			    "REQUEST_METHOD=GET", "IDEM_STORE=memory:" } };
		struct result res;

		run(&r, &res);
		assert_string_equal(res.err, "");
		assert_string_equal(res.out,
		    "Status: 200 OK\r\nContent-Length: 5\r\n\r\n10000");
		assert_int_equal(res.status, 0);
	}
}

static void
a_wrong_setting_is_500_in_cgi(void **state)
{
	static const struct run r = { .argv = { NULL },
		.env = { "REQUEST_METHOD=GET", "IDEM_STORE=memory:",
		    "REQUEST_URI=/vazifalar?a", "IDEM_MAX_KEYS=0",
		    "HTTP_ACCEPT_LANGUAGE=en" } };
	struct result res;

	(void)state;
	run(&r, &res);
	assert_string_equal(line_of(&res), "error: environment: "
	    "IDEM_MAX_KEYS=0 is refused; allowed: a number, from 1 to "
	    "1000000000\n");
	assert_memory_equal(res.out, "Status: 500 Internal Server Error\r\n",
	    35);
	assert_non_null(strstr(res.out,
	    "Content-Type: application/problem+json\r\n"));
	assert_non_null(strstr(res.out, "\"instance\":\"/vazifalar\""));
	assert_non_null(strstr(res.out, "\"kod\":\"ichki-xato\""));
	assert_int_equal(res.status, 78);
}

static void
a_program_that_does_not_open(void **state)
{
	static const struct run r = { .argv = { NULL },
		.env = { "REQUEST_METHOD=GET", "IDEM_STORE=memory:",
		    "IDEM_BASE=/fail" } };
	struct result res;

	(void)state;
	run(&r, &res);
	assert_string_equal(res.out, "");
	assert_int_equal(res.status, 70);
}

/* Nobody reads the answer: that is no reason to die of a signal. */
static void
a_cgi_answer_that_nobody_reads(void **state)
{
	static const struct run r = { .argv = { NULL },
		.env = { "REQUEST_METHOD=GET", "IDEM_STORE=memory:" },
		.deaf = true };
	struct result res;

	(void)state;
	run(&r, &res);
	assert_int_equal(res.status, 0);
}

/* --- FastCGI -------------------------------------------------------------- */

struct served {
	char dir[64];
	struct sockaddr_un sa;
	char where[130];
};

static void
begin(struct served *s)
{
	memset(s, 0, sizeof *s);
	memcpy(s->dir, "/tmp/idem-start-XXXXXX", 23);
	assert_non_null(mkdtemp(s->dir));
	s->sa.sun_family = AF_UNIX;
	assert_int_equal(text_format(s->sa.sun_path, sizeof s->sa.sun_path,
	    "%s/s", s->dir), IDEM_OK);
	assert_int_equal(text_format(s->where, sizeof s->where, "unix:%s",
	    s->sa.sun_path), IDEM_OK);
}

static void
end(struct served *s)
{
	char lock[130];

	assert_int_equal(text_format(lock, sizeof lock, "%s.lock",
	    s->sa.sun_path), IDEM_OK);
	(void)unlink(lock); /* not with an inherited socket */
	assert_int_equal(rmdir(s->dir), 0);
}

/* Ask until somebody listens, and compare the answer. */
static void
expect_answer(const struct served *s, const char *want)
{
	static const char *const vars[] = { "REQUEST_METHOD=GET", NULL };
	struct idem_buf out;
	struct fcgi_answer a;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int tries = 0;

	while (connect(fd, (const struct sockaddr *)&s->sa,
	    sizeof s->sa) != 0) {
		assert_true(++tries < 5000);
		(void)poll(NULL, 0, 2); /* nobody tells us when */
	}
	idem_buf_init(&out, 10000);
	fcgi_request(&out, vars, IDEM_LIT(""));
	assert_int_equal(io_write(fd, out.p, out.n), IDEM_OK);
	fcgi_read_answer(fd, &a);
	assert_text(idem_buf_span(&a.text), want);
	fcgi_answer_free(&a);
	idem_buf_free(&out);
	assert_int_equal(close(fd), 0);
}

static void
stop(pid_t pid, int out, int err, const char *said)
{
	struct result res;
	int status;

	assert_int_equal(kill(pid, SIGTERM), 0);
	read_pipe(out, res.out, sizeof res.out);
	read_pipe(err, res.err, sizeof res.err);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_string_equal(res.out, "");
	assert_string_equal(res.err, said);
}

#define TEN_THOUSAND "Status: 200 OK\r\nContent-Length: 5\r\n\r\n10000"

static void
its_own_socket(void **state)
{
	static const char *const workers[] = { NULL, "--workers=1",
	    "--workers=3" };

	(void)state;
	for (size_t i = 0; i < COUNT(workers); i++) {
		struct served s;
		int out, err;
		pid_t pid;

		begin(&s);
		pid = launch(&(struct run){ .argv = { "--store",
		    i == 2 ? "/nonexistent" : "memory:", "--listen", s.where,
		    workers[i] } }, &out, &err);
		for (int k = 0; k < 10; k++)
			expect_answer(&s, TEN_THOUSAND);
		stop(pid, out, err, "");
		assert_int_equal(access(s.sa.sun_path, F_OK), -1);
		end(&s);
	}
}

static void
an_inherited_socket(void **state)
{
	struct served s;
	int out, err, fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pid_t pid;

	(void)state;
	begin(&s);
	assert_int_equal(bind(fd, (const struct sockaddr *)&s.sa,
	    sizeof s.sa), 0);
	assert_int_equal(listen(fd, 5), 0);
	/* the variables of a request do not count beside a socket */
	pid = launch(&(struct run){ .in_fd = fd, .argv = { "--max-keys=9" },
	    .env = { "IDEM_STORE=memory:", "REQUEST_METHOD=GET" } }, &out,
	    &err);
	expect_answer(&s, "Status: 200 OK\r\nContent-Length: 1\r\n\r\n9");
	stop(pid, out, err, "");
	assert_int_equal(unlink(s.sa.sun_path), 0); /* not the worker's */
	assert_int_equal(close(fd), 0);
	end(&s);
}

/* What is said outright goes before what was handed over. */
static void
its_own_socket_beside_an_inherited_one(void **state)
{
	struct served s;
	int out, err, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pid_t pid;

	(void)state;
	begin(&s);
	assert_int_equal(listen(fd, 5), 0); /* at a port of the kernel's */
	pid = launch(&(struct run){ .in_fd = fd, .argv = { "--listen",
	    s.where }, .env = { "IDEM_STORE=memory:" } }, &out, &err);
	expect_answer(&s, TEN_THOUSAND);
	stop(pid, out, err, "");
	assert_int_equal(close(fd), 0);
	end(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exit_statuses_and_messages),
		cmocka_unit_test(what_is_printed),
		cmocka_unit_test(check_config_finds_what_is_missing),
		cmocka_unit_test(one_cgi_request),
		cmocka_unit_test(the_document_root_is_known_at_once),
		cmocka_unit_test(arguments_of_a_query_do_not_count),
		cmocka_unit_test(a_wrong_setting_is_500_in_cgi),
		cmocka_unit_test(a_program_that_does_not_open),
		cmocka_unit_test(a_cgi_answer_that_nobody_reads),
		cmocka_unit_test(its_own_socket),
		cmocka_unit_test(an_inherited_socket),
		cmocka_unit_test(its_own_socket_beside_an_inherited_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
