/*
 * openlock.h - one process at a time opens or closes the environment: LMDB
 * 0.9.27 to 0.9.31 destroy their locks when the last user closes while another
 * one opens.
 */
#ifndef STORE_OPENLOCK_H
#define STORE_OPENLOCK_H

#include "idem/log.h"

/*
 * Wait at most ten seconds for the lock of a store's directory.  *fd is -1 at
 * first; it stays open until openlock_close(), so that who leaves a directory
 * that was moved or removed takes the lock of the others who do.
 * IDEM_ESTORE with a log line: not taken.
 */
IDEM_MUST_CHECK enum idem_err
openlock_take(const char *dir, const struct idem_log *log, int *fd);
void openlock_give(int fd);
void openlock_close(int *fd); /* gives it, too; sets -1; -1 is fine */

#endif
