/*
 * start.c - main() of the web programs: how was it started, with which
 * settings, and who serves.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "process/arguments.h"
#include "base/io.h"
#include "base/text.h"
#include "exchange/cgi.h"
#include "process/listen.h"
#include "process/program.h"
#include "process/supervisor.h"
#include "process/version.h"
#include "process/worker.h"

#define OUTPUT_BYTES 65536
#define ARGS_MAX 250

struct front {
	const struct program *program;
	const char *const *argv;
	struct front_log front_log;
	struct idem_log log;
	struct exe exe;
	struct arguments args;
	struct settings settings;
	struct idem_buf file; /* the settings borrow from it */
	struct listener listener;
};

static const char *const *
environment(void)
{
	return (const char *const *)environ;
}

/* --- printing --------------------------------------------------------- */

static int
print(const struct front *f, struct idem_buf *out, int fd, int status)
{
	enum idem_err err = idem_buf_err(out);

	if (err == IDEM_OK)
		err = io_write(fd, out->p, out->n);
	if (err != IDEM_OK)
		idem_log(&f->log, IDEM_ERROR, "cannot write the output: %s",
		    idem_strerror(err));
	idem_buf_free(out);
	return err == IDEM_OK ? status : EX_IOERR;
}

static int
print_help(const struct front *f, int fd, int status)
{
	struct idem_buf out;

	idem_buf_init(&out, OUTPUT_BYTES);
	arguments_help(f->program->name, f->program->summary, f->program->id,
	    &out);
	return print(f, &out, fd, status);
}

static int
print_version(const struct front *f)
{
	struct idem_buf out;

	idem_buf_init(&out, OUTPUT_BYTES);
	version_put(&out, f->program->name);
	return print(f, &out, STDOUT_FILENO, EX_OK);
}

static int
print_settings(const struct front *f)
{
	struct idem_buf out;

	idem_buf_init(&out, OUTPUT_BYTES);
	settings_print(&f->settings, &out);
	return print(f, &out, STDOUT_FILENO, EX_OK);
}

/* --- settings --------------------------------------------------------- */

/* Read everything; the exit status, or EX_OK. */
static int
read_settings(struct front *f, bool cgi)
{
	const struct settings_places places = { f->args.config,
		f->exe.path[0] != '\0' ? f->exe.path : NULL, f->argv[0],
		SETTINGS_FALLBACK };

	return settings_load(&f->settings, &f->log, &places, environment(),
	    cgi, &f->file) == IDEM_OK ? EX_OK : EX_CONFIG;
}

static int
check_settings(const struct front *f)
{
	const struct program *p = f->program;

	if (settings_check(&f->settings, &f->log,
	    f->args.nworkers) != IDEM_OK || (p->check != NULL &&
	    p->check(&f->settings, &f->log, f->exe.path) != IDEM_OK))
		return EX_CONFIG;
	return EX_OK;
}

/* --- serving ---------------------------------------------------------- */

static struct worker
worker_of(struct front *f)
{
	return (struct worker){ .program = f->program,
		.settings = &f->settings, .log = &f->front_log,
		.listen_fd = f->listener.fd,
		.servers = getenv("FCGI_WEB_SERVER_ADDRS"),
		.document_root = getenv("DOCUMENT_ROOT"),
		.idle_ms = PROGRAM_IDLE_MS,
		.receive_ms = WORKER_RECEIVE_MS };
}

static int
work_alone(struct front *f)
{
	struct worker w = worker_of(f);
	int status;

	w.exe = &f->exe;
	status = worker_run(&w);
	listen_close(&f->listener);
	return status;
}

static int
work(void *arg, pid_t parent)
{
	struct front *f = arg;
	struct worker w = worker_of(f);

	listen_drop_lock(&f->listener);
	w.parent = parent;
	return worker_run(&w);
}

static const char *
exe_path(const struct front *f)
{
	return f->exe.path[0] != '\0' ? f->exe.path : f->argv[0];
}

/* In a child: --check-config of the program as it lies on the disk. */
static int
rehearse(void *arg)
{
	struct front *f = arg;
	char *argv[ARGS_MAX + 3];
	size_t n = 0;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	while (n < ARGS_MAX && f->argv[n] != NULL) {
		argv[n] = (char *)f->argv[n]; /* execv() does not write */
		n++;
	}
	argv[n++] = (char *)"--check-config";
	argv[n] = NULL;
	if (null < 0 || dup2(null, STDOUT_FILENO) < 0)
		return EX_OSERR;
	(void)execv(exe_path(f), argv);
	idem_log(&f->log, IDEM_ERROR, "exec %s: %s", exe_path(f),
	    strerror(errno));
	return EX_UNAVAILABLE;
}

static void
renew(void *arg)
{
	struct front *f = arg;

	if (listen_hand_on(&f->listener) == IDEM_OK)
		(void)execv(exe_path(f), (char *const *)f->argv);
	idem_log(&f->log, IDEM_ERROR, "exec %s: %s", exe_path(f),
	    strerror(errno));
	listen_take_back(&f->listener);
}

static int
supervise(struct front *f)
{
	const struct supervisor s = { .nworkers = f->args.nworkers,
		.log = &f->log, .work = work, .rehearse = rehearse,
		.renew = renew, .arg = f, .pause_ms = 100,
		.max_pause_ms = 10000, .stable_ms = 10000, .stop_ms = 10000,
		.old_ms = 120000 };
	int status = supervisor_run(&s);

	listen_close(&f->listener);
	return status;
}

/* --- plain CGI -------------------------------------------------------- */

static void
refuse_request(void *arg, struct exchange *x)
{
	struct idem_problem_note note = { .base = IDEM_LIT("about:") };
	struct front *f = arg;
	struct exchange_last last;
	struct idem_request req;
	struct idem_buf scratch;

	idem_buf_init(&scratch, OUTPUT_BYTES);
	exchange_last_init(&last);
	if (idem_request_init(&req, x->vars, &scratch) == IDEM_OK) {
		note.base = f->settings.policy.problem_base;
		note.instance = span_first(req.target,
		    span_find(req.target, '?'));
	}
	idem_problem_write(&last.res, IDEM_P_INTERNAL,
	    idem_audience_of(&req, f->settings.policy.lang), &note);
	if (exchange_answer(x, &req, &last.res) != IDEM_OK)
		idem_log(&f->log, IDEM_INFO, "the web server is gone");
	idem_buf_free(&scratch);
}

/*
 * One request.  No argument counts: a web server makes them of a query without
 * "=" (RFC 3875 4.4), so anybody could give them.
 */
static int
serve_cgi(struct front *f)
{
	struct cgi_fds fds = { .in = STDIN_FILENO, .out = STDOUT_FILENO };
	struct exchange x = cgi_exchange(environment(), &fds);
	struct worker w = worker_of(f);
	int status;

	if ((status = read_settings(f, true)) != EX_OK ||
	    (status = check_settings(f)) != EX_OK)
		refuse_request(f, &x);
	else
		status = worker_run_one(&w, &x);
	cgi_drain(x.vars, &fds);
	return status;
}

/* --- FastCGI ---------------------------------------------------------- */

static int
serve_fastcgi(struct front *f)
{
	int status;

	if (f->listener.fd < 0 && f->args.listen == NULL) {
		idem_log(&f->log, IDEM_ERROR, "nothing to serve: descriptor 0 "
		    "is no listening socket and there is no --listen");
		return isatty(STDIN_FILENO) ?
		    print_help(f, STDERR_FILENO, EX_USAGE) : EX_USAGE;
	}
	if ((status = read_settings(f, false)) != EX_OK ||
	    (status = check_settings(f)) != EX_OK)
		return status;
	if (f->listener.fd < 0 &&
	    listen_open(f->args.listen, &f->log, &f->listener) != IDEM_OK)
		return EX_OSERR;
	return f->args.nworkers == 0 ? work_alone(f) : supervise(f);
}

static int
act(struct front *f)
{
	int status;

	switch (f->args.action) {
	case ARGUMENTS_HELP:
		return print_help(f, STDOUT_FILENO, EX_OK);
	case ARGUMENTS_VERSION:
		return print_version(f);
	case ARGUMENTS_CHECK:
		if ((status = read_settings(f, false)) != EX_OK ||
		    (status = print_settings(f)) != EX_OK)
			return status;
		return check_settings(f);
	case ARGUMENTS_SERVE:
		return serve_fastcgi(f);
	}
	return EX_SOFTWARE;
}

static int
run(struct front *f)
{
	struct listener ours;
	enum idem_err err;

	listen_inherited(&f->listener);
	if (f->listener.fd < 0 && cgi_is_request(environment()))
		return serve_cgi(f);
	err = arguments_parse(f->argv, &f->log, &f->args, &f->settings);
	if (err != IDEM_OK)
		return err == IDEM_EREFUSED ? EX_USAGE : EX_CONFIG;
	if (listen_handed_on(f->args.listen, &ours))
		f->listener = ours;
	else if (f->args.listen != NULL)
		f->listener.fd = -1; /* said outright */
	return act(f);
}

int
front_main(const struct program *program, int argc, char **argv)
{
	struct front f = { .program = program,
		.argv = (const char *const *)argv,
		.front_log = { .program = program->name,
		    .fd = STDERR_FILENO } };
	int status;

	f.log = front_log_sink(&f.front_log);
	idem_buf_init(&f.file, OUTPUT_BYTES);
	exe_find(&f.exe);
	settings_init(&f.settings, program->id);
	if (argc < 1 || argc > ARGS_MAX) {
		idem_log(&f.log, IDEM_ERROR, "%d arguments are too many or too "
		    "few", argc);
		return EX_USAGE;
	}
	status = run(&f);
	idem_buf_free(&f.file);
	return status;
}
