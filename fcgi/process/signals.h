/*
 * signals.h - the signals that end or renew a process, taken as events: they
 * are blocked for good and read from a descriptor, so none arrives in the
 * middle of a request.
 */
#ifndef FRONT_SIGNALS_H
#define FRONT_SIGNALS_H

#include "idem/base.h"

/*
 * Block SIGTERM, SIGUSR1, SIGINT and SIGHUP, with children SIGCHLD too, and
 * nothing else; ignore SIGPIPE and SIGXFSZ, so that they become error codes.
 * *fd becomes readable when one is pending; close-on-exec, the caller's.
 * SIGINT and SIGHUP stay ignored where they were (nohup).
 * Call it again after a fork: a descriptor of the parent gives the parent's
 * set.  IDEM_EIO with errno.
 */
IDEM_MUST_CHECK enum idem_err signals_open(bool children, int *fd);

/* The next pending signal, or 0. */
int signals_take(int fd);

#endif
