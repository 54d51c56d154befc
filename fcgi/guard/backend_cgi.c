/*
 * backend_cgi.c - one request to a program that is started for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "guard/backend.h"
#include "guard/pump.h"

#define STOP_MS 2000 /* between SIGTERM and SIGKILL */
#define SAFE_FD 10   /* above what the program gets */
#define FDS_MAX 4096 /* where the kernel cannot close a range */

struct child {
	pid_t pid;
	int to_fd;    /* its descriptor 0 */
	int from_fd;  /* its descriptor 1 */
};

/* --- in the child, between fork() and exec() --------------------------- */

static void
reset_signals(void)
{
	sigset_t none;

	for (int s = 1; s < NSIG; s++)
		(void)signal(s, SIG_DFL); /* some cannot be set, nor ignored */
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static void
close_on_exec(void)
{
	if (close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC) == 0)
		return;
	for (int fd = STDERR_FILENO + 1; fd < FDS_MAX; fd++)
		(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static bool
set_stdio(int in, int out)
{
	/* either may be 0 or 1 itself */
	in = fcntl(in, F_DUPFD, SAFE_FD);
	out = fcntl(out, F_DUPFD, SAFE_FD);
	return in >= 0 && out >= 0 && dup2(in, STDIN_FILENO) >= 0 &&
	    dup2(out, STDOUT_FILENO) >= 0;
}

/* A program stands in its own folder (RFC 3875 7.2). */
static bool
enter_folder(const char *program)
{
	char folder[4096];
	const char *slash = strrchr(program, '/');

	return slash == NULL || (text_format(folder, sizeof folder, "%.*s",
	    (int)(slash - program) + 1, program) == IDEM_OK &&
	    chdir(folder) == 0);
}

static void
become(const char *program, const struct backend_job *job, pid_t parent,
    int in, int out)
{
	char *argv[] = { (char *)program, NULL }; /* execve() writes to none */

	reset_signals();
	(void)setpgid(0, 0);
	if (job->die_with_us && (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 ||
	    getppid() != parent))
		return;
	if (!set_stdio(in, out) || !enter_folder(program))
		return;
	close_on_exec();
	(void)execve(program, argv, (char *const *)job->vars);
}

/* Does not come back; the number goes to fail where nothing was started. */
static _Noreturn void
run_child(const char *program, const struct backend_job *job, pid_t parent,
    const int in[2], const int out[2], const int fail[2])
{
	int number, fd = fcntl(fail[1], F_DUPFD_CLOEXEC, SAFE_FD);

	become(program, job, parent, in[0], out[1]);
	number = errno;
	_exit(io_write(fd, &number, sizeof number) == IDEM_OK ? 126 : 127);
}

/* --- in the parent ------------------------------------------------------ */

static void
close_pair(const int pair[2])
{
	(void)close(pair[0]);
	(void)close(pair[1]);
}

/* in, out and fail, or none of them. */
static bool
open_pipes(int pipes[3][2])
{
	for (int i = 0; i < 3; i++)
		if (pipe2(pipes[i], O_CLOEXEC) != 0) {
			int saved = errno;

			while (i > 0)
				close_pair(pipes[--i]);
			errno = saved;
			return false;
		}
	return true;
}

/* Wait for exec(): 0, or the number of what failed. */
static int
await_exec(int fd)
{
	int number = 0;
	long n = io_read(fd, &number, sizeof number);

	return n == (long)sizeof number ? number : 0;
}

/* 0, or the number of what failed; nothing runs then. */
static int
start(const char *program, const struct backend_job *job, struct child *c)
{
	int pipes[3][2], *in = pipes[0], *out = pipes[1], *fail = pipes[2];
	pid_t parent = getpid();
	int number;

	if (!open_pipes(pipes))
		return errno;
	c->pid = fork();
	number = errno;
	if (c->pid >= 0)
		number = 0;
	if (c->pid == 0)
		run_child(program, job, parent, in, out, fail);
	(void)close(in[0]);
	(void)close(out[1]);
	(void)close(fail[1]);
	if (c->pid > 0) {
		number = await_exec(fail[0]);
		/* both sides do it: whoever is first */
		(void)setpgid(c->pid, c->pid);
	}
	(void)close(fail[0]);
	c->to_fd = in[1];
	c->from_fd = out[0];
	/* of a pipe this cannot fail */
	(void)fcntl(c->to_fd, F_SETFL, O_NONBLOCK);
	(void)fcntl(c->from_fd, F_SETFL, O_NONBLOCK);
	if (number == 0)
		return 0;
	(void)close(c->to_fd);
	(void)close(c->from_fd);
	if (c->pid > 0)
		(void)waitpid(c->pid, NULL, 0);
	return number;
}

/* Wait until it has ended, but leave it to be reaped: its number stays taken.
 * SIGCHLD is blocked, so none is missed between the look and the wait. */
static bool
await_end(pid_t pid, int64_t for_ms)
{
	int64_t until_ms = io_steady_ms() + for_ms, left;
	sigset_t child;

	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	for (;;) {
		siginfo_t info;

		memset(&info, 0, sizeof info);
		if (waitid(P_PID, (id_t)pid, &info,
		    WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid)
			return true;
		if ((left = until_ms - io_steady_ms()) <= 0)
			return false;
		(void)sigtimedwait(&child, NULL, &(struct timespec){
		    .tv_sec = left / 1000,
		    .tv_nsec = left % 1000 * 1000000 });
	}
}

static void
stop(pid_t pid)
{
	(void)kill(-pid, SIGTERM);
	(void)await_end(pid, STOP_MS);
	(void)kill(-pid, SIGKILL);
}

/* true: it ended by itself, not by a signal. */
static bool
reap(pid_t pid)
{
	int status;
	pid_t got;

	do
		got = waitpid(pid, &status, 0);
	while (got < 0 && errno == EINTR);
	return got == pid && WIFEXITED(status);
}

struct talk {
	const struct backend_job *job;
	struct pump pump;
	bool given; /* the body, to the pump */
};

static bool
next(void *arg, struct idem_span *bytes)
{
	struct talk *t = arg;

	if (t->given || t->job->body.n == 0)
		return false;
	t->given = true;
	*bytes = t->job->body;
	return true;
}

static enum pump_step
heard(void *arg, struct idem_span bytes)
{
	struct talk *t = arg;

	t->pump.hurry = !reply_take(t->job->reply, bytes) || *t->job->hurry;
	reply_pause(t->job->reply);
	return PUMP_ON;
}

static enum backend_end
talk_to(struct child *c, const struct backend_job *job)
{
	struct talk t = { .job = job };
	enum pump_end end;
	bool ended;

	t.pump = (struct pump){ .to_fd = c->to_fd, .from_fd = c->from_fd,
		.timeout_ms = job->timeout_ms, .next = next, .heard = heard,
		.arg = &t };
	end = pump_run(&t.pump);
	if (t.pump.to_fd >= 0)
		(void)close(t.pump.to_fd);
	(void)close(c->from_fd);
	if (end == PUMP_ENDED && !await_end(c->pid, job->timeout_ms))
		end = PUMP_LATE;
	if (end != PUMP_ENDED)
		stop(c->pid);
	ended = reap(c->pid);
	if (end == PUMP_LATE)
		return BACKEND_LATE;
	return end == PUMP_ENDED && ended && reply_is_whole(job->reply) ?
	    BACKEND_WHOLE : BACKEND_BROKEN;
}

enum backend_end
backend_cgi(const char *program, const struct backend_job *job)
{
	struct child c = { .pid = -1, .to_fd = -1, .from_fd = -1 };
	int number = start(program, job, &c);

	if (number == 0)
		return talk_to(&c, job);
	idem_log(job->log, IDEM_ERROR, "request=%s: cannot run %s: %s%s",
	    job->request_id, program, strerror(number), number == EAGAIN ?
	    ": raise the limit on the processes of this user" :
	    number == EMFILE ? ": raise the limit on open files" : "");
	return BACKEND_NOTHING;
}
