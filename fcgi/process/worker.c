/*
 * worker.c - one worker's loop.  Signals are looked at between requests only.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "exchange/connection.h"
#include "exchange/fastcgi.h"
#include "process/last_words.h"
#include "process/signals.h"
#include "process/worker.h"

#define NO_DESCRIPTORS_MS 500 /* pause before the next accept */
#define LARGE_BYTES (4 * 1024 * 1024) /* over LMDB's lists, 2 MiB a write */

/* What a worker waits for. */
enum { A_SIGNAL = 1, A_CONNECTION = 2 };

struct loop {
	const struct worker *w;
	struct idem_log log;
	void *app;
	int signal_fd;
	int epoll_fd; /* both that and the listening socket */
	int64_t idle_at_ms; /* when house-keeping is due */
	bool leave;
	int status;
};

/* The signal stays where it is: the loop takes it after this request. */
static bool
is_asked_to_stop(void *arg)
{
	const struct loop *l = arg;
	struct pollfd fd = { .fd = l->signal_fd, .events = POLLIN };

	return poll(&fd, 1, 0) > 0;
}

static void
serve(void *arg, struct exchange *x)
{
	struct loop *l = arg;

	l->w->log->x = x;
	x->stopping = is_asked_to_stop;
	x->stopping_arg = l;
	l->w->program->serve(l->app, x);
	l->w->log->x = NULL;
}

static void
ask_leave(struct loop *l)
{
	const struct program *p = l->w->program;

	if (p->leave != NULL && p->leave(l->app)) {
		idem_log(&l->log, IDEM_WARN, "leaving: the program asked for "
		    "a new process");
		l->leave = true;
	}
}

static void
say_end(struct loop *l, enum fastcgi_end end)
{
	switch (end) {
	case FASTCGI_SERVED:
		break;
	case FASTCGI_UNHEARD:
		idem_log(&l->log, IDEM_INFO, "the web server closed its "
		    "connection before the whole answer was written");
		break;
	case FASTCGI_UNTAKEN:
		idem_log(&l->log, IDEM_WARN, "hung up in the middle of an "
		    "answer, as the web server did not take it in time");
		break;
	case FASTCGI_BROKE_OFF:
		idem_log(&l->log, IDEM_WARN, "closed a connection in the "
		    "middle of an answer, as the answer broke off");
		break;
	case FASTCGI_NOTHING:
		idem_log(&l->log, IDEM_INFO, "dropped a connection without a "
		    "whole FastCGI request");
		break;
	case FASTCGI_CUT:
		idem_log(&l->log, IDEM_WARN, "dropped a request whose "
		    "parameters broke off");
		break;
	case FASTCGI_NO_MEMORY:
		idem_log(&l->log, IDEM_ERROR, "dropped a request: out of "
		    "memory for its parameters");
		break;
	case FASTCGI_ROLE:
		idem_log(&l->log, IDEM_WARN, "dropped a request for another "
		    "role than responder");
		break;
	}
}

static void
cannot_accept(struct loop *l, enum idem_err err)
{
	const char *why = strerror(errno);

	if (err == IDEM_EBUSY)
		return;
	idem_log(&l->log, IDEM_ERROR, "accept on descriptor %d: %s%s",
	    l->w->listen_fd, why, err == IDEM_ENOMEM ? ": raise the limit on "
	    "open files, or run fewer workers" : "");
	if (err == IDEM_ENOMEM) {
		(void)poll(NULL, 0, NO_DESCRIPTORS_MS); /* only a pause */
		return;
	}
	l->status = EX_OSERR;
	l->leave = true;
}

static void
take_connection(struct loop *l)
{
	int conn;
	enum idem_err err = connection_accept(l->w->listen_fd, l->w->servers,
	    &conn);

	if (err != IDEM_OK) {
		cannot_accept(l, err);
		return;
	}
	if (!connection_speaks(conn, l->w->receive_ms)) {
		(void)close(conn);
		idem_log(&l->log, IDEM_WARN, "dropped a connection that said "
		    "nothing for %d ms", l->w->receive_ms);
		return;
	}
	say_end(l, fastcgi_serve(conn, l->w->receive_ms, serve, l));
	ask_leave(l);
}

static void
give_memory_back(void)
{
#ifdef M_MMAP_THRESHOLD
	(void)malloc_trim(0);
#endif
}

static void
keep_house(struct loop *l)
{
	const struct worker *w = l->w;

	if (w->parent != 0 && getppid() != w->parent) {
		idem_log(&l->log, IDEM_WARN, "leaving: the supervisor is gone");
		l->leave = true;
		return;
	}
	if (w->exe != NULL && exe_replaced(w->exe)) {
		idem_log(&l->log, IDEM_INFO, "leaving: %s was replaced",
		    w->exe->path);
		l->leave = true;
		return;
	}
	if (w->program->idle != NULL)
		w->program->idle(l->app);
	give_memory_back();
	ask_leave(l);
}

/* What is ready within ms. */
static unsigned
ready(struct loop *l, int ms)
{
	struct epoll_event events[2];
	int n = epoll_wait(l->epoll_fd, events, 2, ms);
	unsigned what = 0;

	if (n < 0 && errno != EINTR) {
		idem_log(&l->log, IDEM_ERROR, "epoll_wait: %s",
		    strerror(errno));
		l->status = EX_OSERR;
		l->leave = true;
	}
	for (int i = 0; i < n; i++)
		what |= events[i].data.u32;
	return what;
}

/* A worker that sleeps is the only one that is woken for a connection, so it
 * takes it also when a signal came then; otherwise a signal goes first. */
static void
turn(struct loop *l)
{
	unsigned what = ready(l, 0);
	int64_t wait_ms = l->idle_at_ms - io_steady_ms();

	if ((what & A_SIGNAL) != 0)
		l->leave = true;
	else if (what == 0 && wait_ms > 0)
		what = ready(l, (int)wait_ms);
	if (l->leave)
		return;
	if ((what & A_CONNECTION) != 0)
		take_connection(l);
	if (!l->leave && io_steady_ms() >= l->idle_at_ms) {
		keep_house(l);
		l->idle_at_ms = io_steady_ms() + l->w->idle_ms;
	}
}

static bool
watch(struct loop *l, int fd, uint32_t events, uint32_t what)
{
	struct epoll_event e = { .events = events, .data.u32 = what };

	return epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, fd, &e) == 0;
}

/* Exclusive, as in accept(2): of many idle workers one is woken, not all. */
static bool
open_events(struct loop *l)
{
	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll_fd >= 0 && watch(l, l->signal_fd, EPOLLIN, A_SIGNAL) &&
	    watch(l, l->w->listen_fd, EPOLLIN | EPOLLEXCLUSIVE, A_CONNECTION))
		return true;
	idem_log(&l->log, IDEM_ERROR, "epoll on descriptor %d: %s",
	    l->w->listen_fd, strerror(errno));
	l->status = EX_OSERR;
	if (l->epoll_fd >= 0)
		(void)close(l->epoll_fd);
	return false;
}

/* As front_log.c begins its lines. */
static void
say_at_death(const struct worker *w)
{
	char head[100];

	if (text_format(head, sizeof head, "%s[%ld] error: ", w->log->program,
	    (long)getpid()) == IDEM_OK)
		last_words(w->log->fd, head, w->settings->store);
}

static bool
open_program(struct loop *l)
{
	const struct worker *w = l->w;
	enum idem_err err;

	l->log = front_log_sink(w->log);
	l->status = EX_SOFTWARE;
	if (signals_open(false, &l->signal_fd) != IDEM_OK) {
		idem_log(&l->log, IDEM_ERROR, "signalfd: %s", strerror(errno));
		return false;
	}
	say_at_death(w);
	err = w->program->open(w->settings, &l->log, w->document_root != NULL ?
	    span_of(w->document_root) : IDEM_ABSENT, &l->app);
	if (err != IDEM_OK) {
		idem_log(&l->log, IDEM_ERROR, "cannot begin: %s",
		    idem_strerror(err));
		(void)close(l->signal_fd);
		return false;
	}
	l->status = EX_OK;
	return true;
}

static void
close_program(struct loop *l)
{
	l->w->program->close(l->app);
	(void)close(l->signal_fd);
}

/* Left alone, glibc learns from one large request to keep the memory of such
 * ones for the life of the process.  What each write needs again stays for the
 * next one, until keep_house(). */
static void
bound_what_malloc_keeps(void)
{
#ifdef M_MMAP_THRESHOLD
	(void)mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
	(void)mallopt(M_TRIM_THRESHOLD, LARGE_BYTES);
#endif
}

int
worker_run(const struct worker *w)
{
	struct loop l = { .w = w };

	bound_what_malloc_keeps();
	if (!open_program(&l))
		return l.status;
	if (!open_events(&l)) {
		close_program(&l);
		return l.status;
	}
	/* so that a worker whose connection another one took does not stay in
	 * accept(), deaf to signals */
	(void)fcntl(w->listen_fd, F_SETFL,
	    fcntl(w->listen_fd, F_GETFL) | O_NONBLOCK);
	l.idle_at_ms = io_steady_ms() + w->idle_ms;
	while (!l.leave)
		turn(&l);
	(void)close(l.epoll_fd);
	close_program(&l);
	return l.status;
}

int
worker_run_one(const struct worker *w, struct exchange *x)
{
	struct loop l = { .w = w };

	if (!open_program(&l))
		return l.status;
	serve(&l, x);
	close_program(&l);
	return l.status;
}
