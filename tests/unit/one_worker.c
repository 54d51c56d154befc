/*
 * one_worker.c - a worker in a process of its own with a small program in it.
 */
#include "tests.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "fcgi_client.h"
#include "one_worker.h"

#define RECEIVE_MS 10000 /* where nobody is meant to be silent */
#define HEAR_MS 10000 /* no letter for so long: the test fails */

/* The program's calls get no word from the test but this one. */
static struct one_worker *here;

static void
say(char letter)
{
	assert_int_equal(io_write(here->say, &letter, 1), IDEM_OK);
}

static enum idem_err
open_program(const struct settings *s, const struct idem_log *log,
    struct idem_span document_root, void **app)
{
	assert_null(document_root.p);
	(void)s; /* this program has none */
	*app = (void *)log;
	say('O');
	return IDEM_OK;
}

static void
close_program(void *app)
{
	assert_non_null(app);
	say('C');
}

static void
idle(void *app)
{
	assert_non_null(app);
	if (here->say_idle)
		say('I');
}

static bool
leave(void *app)
{
	assert_non_null(app);
	return here->leaving;
}

/* What came: error, length and content of the body; or much more. */
static void
fill(struct idem_response *res, struct idem_span target, enum idem_err err,
    struct idem_span body)
{
	res->status = 200;
	if (span_eq(target, IDEM_LIT("/big"))) {
		memset(idem_buf_room(&res->body, BIG_BYTES), 'b', BIG_BYTES);
		idem_buf_grew(&res->body, BIG_BYTES);
		return;
	}
	idem_buf_printf(&res->body, "%d %.*s %.*s", err, IDEM_FMT(target),
	    IDEM_FMT(body));
}

static void
serve(void *app, struct exchange *x)
{
	struct idem_buf scratch, body;
	struct idem_request req;
	struct idem_response res;
	enum idem_err err;
	char c;

	idem_buf_init(&scratch, 1000);
	idem_buf_init(&body, 100000);
	idem_response_init(&res, 4000000);
	assert_int_equal(idem_request_init(&req, x->vars, &scratch), IDEM_OK);
	say('S');
	if (span_eq(req.target, IDEM_LIT("/wait")))
		assert_int_equal(io_read(here->wait, &c, 1), 1);
	if (span_eq(req.target, IDEM_LIT("/leave")))
		here->leaving = true;
	x->broke_off = span_eq(req.target, IDEM_LIT("/broken"));
	if (span_eq(req.target, IDEM_LIT("/warn")))
		idem_log(app, IDEM_WARN, "look here");
	err = exchange_read_body(x, &req, 100000, &body);
	fill(&res, req.target, err, req.body);
	err = exchange_answer(x, &req, &res);
	assert_true(err == IDEM_OK || err == IDEM_EIO);
	idem_response_free(&res);
	idem_buf_free(&body);
	idem_buf_free(&scratch);
}

static const struct program program = { .id = SETTINGS_TASKS,
	.name = "test.fcgi", .summary = "a test", .open = open_program,
	.serve = serve, .idle = idle, .leave = leave, .close = close_program };

int
one_worker_setup(void **state)
{
	struct one_worker *o = test_calloc(1, sizeof *o);
	char log[80];
	int fds[2];

	memcpy(o->dir, "/tmp/idem-fastcgi-XXXXXX", 25);
	assert_non_null(mkdtemp(o->dir));
	o->sa.sun_family = AF_UNIX;
	assert_int_equal(text_format(o->sa.sun_path, sizeof o->sa.sun_path,
	    "%s/s", o->dir), IDEM_OK);
	o->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(o->listen_fd, (struct sockaddr *)&o->sa,
	    sizeof o->sa), 0);
	assert_int_equal(listen(o->listen_fd, 16), 0);
	assert_int_equal(text_format(log, sizeof log, "%s/log", o->dir),
	    IDEM_OK);
	o->log_fd = open(log, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	assert_true(o->log_fd >= 0);
	assert_int_equal(pipe(fds), 0);
	o->hear = fds[0];
	o->say = fds[1];
	assert_int_equal(pipe(fds), 0);
	o->wait = fds[0];
	o->go = fds[1];
	settings_init(&o->settings, SETTINGS_TASKS);
	o->log = (struct front_log){ .program = "test.fcgi",
		.fd = o->log_fd };
	o->w = (struct worker){ .program = &program, .settings = &o->settings,
		.log = &o->log, .listen_fd = o->listen_fd,
		.idle_ms = PROGRAM_IDLE_MS, .receive_ms = RECEIVE_MS };
	here = o;
	*state = o;
	return 0;
}

int
one_worker_teardown(void **state)
{
	struct one_worker *o = *state;
	char log[80];

	if (o->pid > 0) { /* the test failed, or wants it dead */
		assert_int_equal(kill(o->pid, SIGKILL), 0);
		assert_int_equal(waitpid(o->pid, NULL, 0), o->pid);
	}
	assert_int_equal(close(o->listen_fd), 0);
	assert_int_equal(close(o->log_fd), 0);
	assert_int_equal(close(o->hear) | close(o->say) | close(o->wait) |
	    close(o->go), 0);
	assert_int_equal(unlink(o->sa.sun_path), 0);
	assert_int_equal(text_format(log, sizeof log, "%s/log", o->dir),
	    IDEM_OK);
	assert_int_equal(unlink(log), 0);
	assert_int_equal(rmdir(o->dir), 0);
	test_free(o);
	return 0;
}

void
one_worker_hear(const struct one_worker *o, char want)
{
	struct pollfd fd = { .fd = o->hear, .events = POLLIN };
	char got = '?';

	assert_int_equal(poll(&fd, 1, HEAR_MS), 1);
	assert_int_equal(io_read(o->hear, &got, 1), 1);
	assert_int_equal(got, want);
}

void
one_worker_start(struct one_worker *o)
{
	o->pid = fork();
	assert_true(o->pid >= 0);
	if (o->pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(worker_run(&o->w));
	}
	one_worker_hear(o, 'O');
}

int
one_worker_end(struct one_worker *o)
{
	int status;

	assert_int_equal(waitpid(o->pid, &status, 0), o->pid);
	o->pid = 0;
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

void
one_worker_go(const struct one_worker *o)
{
	assert_int_equal(io_write(o->go, "g", 1), IDEM_OK);
}

void
one_worker_stop(struct one_worker *o)
{
	assert_int_equal(kill(o->pid, SIGTERM), 0);
	one_worker_hear(o, 'C');
	assert_int_equal(one_worker_end(o), 0);
}

int
one_worker_dial(const struct one_worker *o)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&o->sa,
	    sizeof o->sa), 0);
	return fd;
}

void
send_all(int fd, struct idem_buf *b)
{
	assert_int_equal(idem_buf_err(b), IDEM_OK);
	assert_int_equal(io_write(fd, b->p, b->n), IDEM_OK);
	idem_buf_free(b);
}

void
send_request(int fd, const char *const *vars, struct idem_span body)
{
	struct idem_buf out;

	idem_buf_init(&out, (size_t)16 << 20);
	fcgi_request(&out, vars, body);
	send_all(fd, &out);
}

void
expect_answer(int fd, const char *want)
{
	struct fcgi_answer a;

	fcgi_read_answer(fd, &a);
	assert_text(idem_buf_span(&a.text), want);
	assert_true(a.ended);
	assert_int_equal(a.app_status, 0);
	assert_int_equal(a.protocol_status, 0);
	fcgi_answer_free(&a);
	assert_int_equal(close(fd), 0);
}

void
expect_nothing(int fd)
{
	struct fcgi_answer a;

	fcgi_read_answer(fd, &a);
	assert_null(a.text.p);
	assert_false(a.ended);
	fcgi_answer_free(&a);
	assert_int_equal(close(fd), 0);
}

void
expect_logged(const struct one_worker *o, const char *text)
{
	char log[4096] = "";

	assert_true(pread(o->log_fd, log, sizeof log - 1, 0) >= 0);
	if (strstr(log, text) == NULL)
		fail_msg("no \"%s\" in: %s", text, log);
}

const char *const get_a[] = { "REQUEST_METHOD=GET", "REQUEST_URI=/a",
    NULL };

void
expect_served(const struct one_worker *o)
{
	int fd = one_worker_dial(o);

	send_request(fd, get_a, IDEM_LIT(""));
	one_worker_hear(o, 'S');
	expect_answer(fd, ANSWER_A);
}

