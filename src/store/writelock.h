/*
 * writelock.h - a lock that every writer of a store takes before LMDB's own:
 * LMDB waits for a process that stands still (SIGSTOP, a debugger) without a
 * limit, and does not say which one it is.
 *
 * It orders nobody: where it cannot be had for another reason than another
 * process, or was lost, LMDB's own lock still does.
 */
#ifndef STORE_WRITELOCK_H
#define STORE_WRITELOCK_H

#include "idem/base.h"

/*
 * fd: the open.lock of this process, which no other descriptor of the process
 * may name, since to close one drops the lock.  end_ms: by io_steady_ms(); it
 * is asked for once also where that has gone by.  IDEM_EBUSY: another process
 * had it all the time.
 */
IDEM_MUST_CHECK enum idem_err writelock_take(int fd, int64_t end_ms);
void writelock_give(int fd);

/* The process that has it, by its number in the pid namespace of this one; 0:
 * nobody, or one of another namespace. */
int writelock_holder(int fd);

#endif
