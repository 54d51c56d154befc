/*
 * worker.h - one worker: it waits for a connection, a signal or the time for
 * house-keeping, and does one thing after another.
 */
#ifndef FRONT_WORKER_H
#define FRONT_WORKER_H

#include <sys/types.h>

#include "process/exe.h"
#include "process/front_log.h"
#include "process/program.h"

/* A silent, half-sent or dripping connection gives the worker back after so
 * long. */
#define WORKER_RECEIVE_MS 3000

struct worker {
	const struct program *program;
	const struct settings *settings;
	struct front_log *log;
	int listen_fd;
	const char *servers;   /* FCGI_WEB_SERVER_ADDRS; NULL: any */
	const char *document_root; /* the web server's; NULL: not known */
	pid_t parent;          /* leave when it has gone; 0: do not watch (the
	                        * parent of a worker that spawn-fcgi started
	                        * leaves right away) */
	const struct exe *exe; /* leave when it was replaced; NULL: a supervisor
	                        * decides */
	int idle_ms;           /* PROGRAM_IDLE_MS; less in tests */
	int receive_ms;        /* WORKER_RECEIVE_MS; less in tests */
};

/*
 * Open the program, serve until a signal says stop, close it.  A request that
 * runs is finished and answered; an idle worker leaves at once.  Returns the
 * exit status: 0, 70 (the program does not open) or 71 (the socket is no good).
 */
int worker_run(const struct worker *w);

/* The same for one request that is there already, without waiting. */
int worker_run_one(const struct worker *w, struct exchange *x);

#endif
