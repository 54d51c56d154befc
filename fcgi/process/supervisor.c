/*
 * supervisor.c - many workers over one socket.
 *
 * One loop: start what is due, kill what is late, wait for a signal or the next
 * date, see who has ended.  Nothing else happens, so nothing races.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/io.h"
#include "process/signals.h"
#include "process/supervisor.h"
#include "process/legacy.h"

#define NEVER INT64_MAX

/* A child that was asked to leave, or the rehearsal. */
struct leaving {
	pid_t pid; /* 0: free */
	int64_t kill_at_ms;
};

struct slot {
	pid_t pid;          /* 0: no worker runs */
	int64_t started_ms;
	int64_t start_at_ms; /* of the next one */
	int pause_ms;        /* before it, if this one dies early */
};

struct group {
	const struct supervisor *s;
	int signal_fd;
	bool stopping;
	struct slot slot[SUPERVISOR_WORKERS_MAX];
	struct leaving old[SUPERVISOR_WORKERS_MAX];
	struct leaving rehearsal;
	bool rehearse_again; /* SIGHUP came while one ran */
	int64_t kill_at_ms; /* of all workers, when stopping */
};

/* --- children --------------------------------------------------------- */

/* Nobody outlives the supervisor, not even where it died before this call. */
static void
die_with(pid_t parent)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EX_OK);
}

static pid_t
start_child(struct group *g, bool rehearsal)
{
	const struct supervisor *s = g->s;
	pid_t parent = getpid(), pid = fork();

	if (pid == 0) {
		(void)close(g->signal_fd);
		die_with(parent);
		exit(rehearsal ? s->rehearse(s->arg) :
		    s->work(s->arg, parent));
	}
	if (pid < 0)
		idem_log(s->log, IDEM_ERROR, "fork: %s", strerror(errno));
	return pid;
}

static void
grow_pause(const struct supervisor *s, struct slot *slot, int64_t now_ms)
{
	slot->start_at_ms = now_ms + slot->pause_ms;
	slot->pause_ms = slot->pause_ms > s->max_pause_ms / 2 ?
	    s->max_pause_ms : slot->pause_ms * 2;
}

static void
start_due(struct group *g, int64_t now_ms)
{
	for (size_t i = 0; i < g->s->nworkers && !g->stopping; i++) {
		struct slot *slot = &g->slot[i];
		pid_t pid;

		if (slot->pid != 0 || slot->start_at_ms > now_ms)
			continue;
		pid = start_child(g, false);
		if (pid < 0) {
			grow_pause(g->s, slot, now_ms);
			continue;
		}
		slot->pid = pid;
		slot->started_ms = now_ms;
	}
}

static void
say_end(const struct supervisor *s, pid_t pid, int status, int64_t wait_ms)
{
	const char *how = WIFSIGNALED(status) ? "was killed by signal" :
	    "ended with status";
	int number = WIFSIGNALED(status) ? WTERMSIG(status) :
	    WEXITSTATUS(status);

	idem_log(s->log, status == EX_OK ? IDEM_INFO : IDEM_WARN, "worker %ld "
	    "%s %d; the next one starts in %lld ms", (long)pid, how, number,
	    (long long)wait_ms);
}

static void
worker_ended(struct group *g, struct slot *slot, int status, int64_t now_ms)
{
	pid_t pid = slot->pid;

	slot->pid = 0;
	if (g->stopping)
		return;
	/* who left by itself is no failure that would come again at once */
	if (status == EX_OK || now_ms - slot->started_ms >= g->s->stable_ms)
		slot->pause_ms = g->s->pause_ms;
	grow_pause(g->s, slot, now_ms);
	say_end(g->s, pid, status, slot->start_at_ms - now_ms);
}

static void
rehearse(struct group *g)
{
	pid_t pid;

	g->rehearse_again = g->rehearsal.pid != 0;
	if (g->rehearse_again || g->stopping ||
	    (pid = start_child(g, true)) < 0)
		return;
	g->rehearsal = (struct leaving){ pid,
		io_steady_ms() + g->s->stop_ms };
}

static void
rehearsal_ended(struct group *g, int status)
{
	g->rehearsal.pid = 0;
	if (g->stopping)
		return;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != EX_OK) {
		if (g->rehearse_again)
			rehearse(g);
		idem_log(g->s->log, IDEM_ERROR, "not renewed: the program does "
		    "not start as it is now; the running one goes on");
		return;
	}
	idem_log(g->s->log, IDEM_INFO, "renewing");
	for (size_t i = 0; i < g->s->nworkers; i++)
		if (g->slot[i].pid != 0)
			legacy_add(g->slot[i].pid);
	for (size_t i = 0; i < SUPERVISOR_WORKERS_MAX; i++)
		if (g->old[i].pid != 0)
			legacy_add(g->old[i].pid);
	g->s->renew(g->s->arg);
	legacy_clear();
}

static void
child_ended(struct group *g, pid_t pid, int status, int64_t now_ms)
{
	if (pid == g->rehearsal.pid) {
		rehearsal_ended(g, status);
		return;
	}
	for (size_t i = 0; i < g->s->nworkers; i++)
		if (g->slot[i].pid == pid)
			worker_ended(g, &g->slot[i], status, now_ms);
	for (size_t i = 0; i < SUPERVISOR_WORKERS_MAX; i++)
		if (g->old[i].pid == pid)
			g->old[i].pid = 0;
}

static void
see_who_ended(struct group *g)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		child_ended(g, pid, status, io_steady_ms());
}

/* --- leaving ---------------------------------------------------------- */

static void
kill_late(const struct group *g, struct leaving *l, int64_t now_ms)
{
	if (l->pid == 0 || now_ms < l->kill_at_ms)
		return;
	idem_log(g->s->log, IDEM_ERROR, "killing process %ld: it did not leave "
	    "in time", (long)l->pid);
	(void)kill(l->pid, SIGKILL);
	l->kill_at_ms = NEVER;
}

static void
kill_all_late(struct group *g, int64_t now_ms)
{
	kill_late(g, &g->rehearsal, now_ms);
	for (size_t i = 0; i < SUPERVISOR_WORKERS_MAX; i++)
		kill_late(g, &g->old[i], now_ms);
	if (!g->stopping || now_ms < g->kill_at_ms)
		return;
	for (size_t i = 0; i < g->s->nworkers; i++) {
		struct leaving l = { g->slot[i].pid, now_ms };

		kill_late(g, &l, now_ms);
	}
	g->kill_at_ms = NEVER;
}

static int64_t
sooner(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void
stop(struct group *g, int sig)
{
	/* a terminal has sent its SIGINT to the workers as well */
	int pass = sig == SIGINT ? SIGTERM : sig;

	for (size_t i = 0; i < g->s->nworkers; i++)
		if (g->slot[i].pid != 0)
			(void)kill(g->slot[i].pid, pass);
	if (g->stopping)
		return;
	g->stopping = true;
	g->kill_at_ms = io_steady_ms() + g->s->stop_ms;
	for (size_t i = 0; i < SUPERVISOR_WORKERS_MAX; i++)
		g->old[i].kill_at_ms = sooner(g->old[i].kill_at_ms,
		    g->kill_at_ms);
}

static void
take_over_old(struct group *g)
{
	int64_t kill_at_ms = io_steady_ms() + g->s->old_ms;

	for (size_t i = 0; i < SUPERVISOR_WORKERS_MAX; i++) {
		pid_t pid = legacy_next();

		if (pid == 0)
			break;
		(void)kill(pid, SIGTERM);
		g->old[i] = (struct leaving){ pid, kill_at_ms };
	}
	legacy_clear();
}

/* --- the loop --------------------------------------------------------- */

static bool
anyone_left(const struct group *g)
{
	for (size_t i = 0; i < SUPERVISOR_WORKERS_MAX; i++)
		if (g->slot[i].pid != 0 || g->old[i].pid != 0)
			return true;
	return g->rehearsal.pid != 0;
}

static int64_t
next_date_ms(const struct group *g)
{
	int64_t at = g->stopping ? g->kill_at_ms : NEVER;

	if (g->rehearsal.pid != 0)
		at = sooner(at, g->rehearsal.kill_at_ms);
	for (size_t i = 0; i < SUPERVISOR_WORKERS_MAX; i++)
		if (g->old[i].pid != 0)
			at = sooner(at, g->old[i].kill_at_ms);
	for (size_t i = 0; i < g->s->nworkers && !g->stopping; i++)
		if (g->slot[i].pid == 0)
			at = sooner(at, g->slot[i].start_at_ms);
	return at;
}

static void
wait_until(const struct group *g, int64_t at_ms, int64_t now_ms)
{
	struct pollfd fd = { .fd = g->signal_fd, .events = POLLIN };
	int64_t wait_ms = at_ms <= now_ms ? 0 : at_ms - now_ms;

	(void)poll(&fd, 1, at_ms == NEVER ? -1 :
	    wait_ms > INT32_MAX ? INT32_MAX : (int)wait_ms);
}

static void
take_signals(struct group *g)
{
	int sig;

	while ((sig = signals_take(g->signal_fd)) != 0) {
		if (sig == SIGHUP)
			rehearse(g);
		else if (sig != SIGCHLD)
			stop(g, sig);
	}
}

int
supervisor_run(const struct supervisor *s)
{
	struct group g = { .s = s };

	if (signals_open(true, &g.signal_fd) != IDEM_OK) {
		idem_log(s->log, IDEM_ERROR, "signalfd: %s", strerror(errno));
		return EX_OSERR;
	}
	for (size_t i = 0; i < s->nworkers; i++)
		g.slot[i].pause_ms = s->pause_ms;
	start_due(&g, io_steady_ms());
	take_over_old(&g);
	while (!g.stopping || anyone_left(&g)) {
		int64_t now_ms = io_steady_ms();

		start_due(&g, now_ms);
		kill_all_late(&g, now_ms);
		wait_until(&g, next_date_ms(&g), now_ms);
		take_signals(&g);
		see_who_ended(&g);
	}
	(void)close(g.signal_fd);
	return EX_OK;
}
