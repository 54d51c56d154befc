/*
 * supervisor.h - many workers over one socket: replaces the dead, passes
 * signals on, renews the program, leaves no orphan.  It never opens a store and
 * knows nothing of requests.
 */
#ifndef FRONT_SUPERVISOR_H
#define FRONT_SUPERVISOR_H

#include <sys/types.h>

#include "idem/log.h"

#define SUPERVISOR_WORKERS_MAX 256

struct supervisor {
	size_t nworkers; /* 1 to SUPERVISOR_WORKERS_MAX */
	const struct idem_log *log;

	/* In a new worker: does its work and returns its exit status.  parent
	 * is the supervisor: who finds another one leaves. */
	int (*work)(void *arg, pid_t parent);
	/* In a child: would the program start as it now lies on the disk?
	 * Returns the exit status, 0 for yes. */
	int (*rehearse)(void *arg);
	/* Execute the program anew in this process, with the same socket; comes
	 * back only where that failed, and has said so in the log. */
	void (*renew)(void *arg);
	void *arg;

	/*
	 * A worker is replaced after pause_ms.  The pause doubles up to
	 * max_pause_ms while workers fail before they are stable_ms old.  Who
	 * does not leave within stop_ms of being asked is killed; the old
	 * workers of a renewed program, for whom nobody waits, have old_ms.
	 */
	int pause_ms, max_pause_ms, stable_ms, stop_ms, old_ms;
};

/*
 * Run until SIGTERM, SIGINT or SIGUSR1: all workers are asked to leave, then
 * the supervisor does.  SIGHUP: rehearse, then renew; the new program takes the
 * running workers over and asks them to leave when its own are started.
 * Returns the exit status: 0, or 71 where signals cannot be had.
 */
int supervisor_run(const struct supervisor *s);

#endif
