/*
 * listen.h - the listening socket: made here, or handed over by who started
 * the program.
 */
#ifndef FRONT_LISTEN_H
#define FRONT_LISTEN_H

#include <sys/types.h>

#include "idem/log.h"

#define LISTEN_PATH_BYTES 108 /* of struct sockaddr_un, with the NUL */

struct listener {
	int fd;      /* -1: none */
	int lock_fd; /* flock on PATH.lock while the socket is ours; or -1 */
	char path[LISTEN_PATH_BYTES]; /* of a unix socket made here; else "" */
};

/*
 * Make and bind what --listen says: "unix:PATH[:MODE]", mode 0660 where there
 * is none, or "HOST:PORT" with a name, an IPv4 address or an IPv6 address in
 * brackets.  The socket file of a process that still listens is never removed:
 * its lock is asked first, then the socket itself.
 * IDEM_ESYNTAX: another text; IDEM_EBUSY: somebody listens there; IDEM_EIO.
 * All with a log line.
 */
IDEM_MUST_CHECK enum idem_err
listen_open(const char *where, const struct idem_log *log,
    struct listener *out);

/* The grammar alone. */
IDEM_MUST_CHECK enum idem_err
listen_check(const char *where, const struct idem_log *log);

/*
 * A socket that was handed over: descriptor 0 (mod_fcgid, lighttpd, spawn-fcgi,
 * systemd's StandardInput=socket), or the first of LISTEN_FDS where LISTEN_PID
 * is this process.  out->fd is -1 where there is none.
 */
void listen_inherited(struct listener *out);

/*
 * The socket that this program handed to itself over an exec(), with its lock.
 * where is --listen again, for the path; NULL: none.
 */
bool listen_handed_on(const char *where, struct listener *out);

/*
 * Make the next exec() of this process find the socket with listen_handed_on();
 * listen_take_back() undoes it where the exec() failed.  IDEM_EIO with errno.
 */
IDEM_MUST_CHECK enum idem_err listen_hand_on(const struct listener *l);
void listen_take_back(const struct listener *l);

/* In a worker: the lock belongs to the supervisor alone. */
void listen_drop_lock(struct listener *l);

/* Close, and remove the socket file that was made here. */
void listen_close(struct listener *l);

#endif
