/*
 * openlock.h - one process at a time opens or closes the environment: LMDB
 * 0.9.27 to 0.9.31 destroy their locks when the last user closes while another
 * one opens.
 */
#ifndef STORE_OPENLOCK_H
#define STORE_OPENLOCK_H

#include "idem/log.h"

/*
 * Wait at most ten seconds for the lock of a store's directory.  IDEM_OK: *fd
 * is for openlock_give().  IDEM_ESTORE with a log line.
 */
IDEM_MUST_CHECK enum idem_err
openlock_take(const char *dir, const struct idem_log *log, int *fd);
void openlock_give(int fd); /* -1 is fine */

#endif
