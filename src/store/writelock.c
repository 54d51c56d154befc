/*
 * writelock.c - a lock that every writer of a store takes before LMDB's own,
 * and that can be waited for with a limit.
 *
 * POSIX locks: these name their holder, work where open-file-description locks
 * do not, and end with their process, like the lock behind it.  None of them
 * can be waited for by the clock, so who waits asks again and again; that is
 * for a writer here and there, as the group commit has its own queue.
 */
#include <errno.h>
#include <fcntl.h>
#include <time.h>

#include "store/writelock.h"

#include "base/io.h"

/* Bytes behind the content, and nobody else's: openlock.c locks the whole file
 * by another kind of lock. */
#define WRITER ((off_t)1 << 40)
#define NEXT (WRITER + 1) /* has waited for long: newcomers let him go first */

#define LONG_MS 30     /* a few commits on a slow disk: then it is bad luck */
#define COURTESY_MS 20 /* of a newcomer: who is next may stand still, too */
/* About a commit in memory; and what a sleeper may add to a commit on disk. */
#define ASK_FIRST_NS 50000
#define ASK_LAST_NS 2000000

/* 0, or errno. */
static int
ask(int fd, int command, short type, off_t at, struct flock *lock)
{
	*lock = (struct flock){ .l_type = type, .l_whence = SEEK_SET,
		.l_start = at, .l_len = 1 };
	while (fcntl(fd, command, lock) != 0)
		if (errno != EINTR)
			return errno;
	return 0;
}

static int
set(int fd, short type, off_t at)
{
	struct flock lock;

	return ask(fd, F_SETLK, type, at, &lock);
}

/* Another process's number; 0: it is free, or ours; -1: not known. */
static int
holder(int fd, off_t at)
{
	struct flock lock;

	if (ask(fd, F_GETLK, F_WRLCK, at, &lock) != 0 || lock.l_type == F_UNLCK)
		return 0;
	return lock.l_pid > 0 ? (int)lock.l_pid : -1;
}

/* Any other error than another one's lock lets the writer go on: LMDB's own
 * lock orders them. */
static bool
try(int fd, bool polite)
{
	int err;

	if (polite && holder(fd, NEXT) != 0)
		return false;
	err = set(fd, F_WRLCK, WRITER);
	return err != EAGAIN && err != EACCES;
}

enum idem_err
writelock_take(int fd, int64_t end_ms)
{
	struct timespec pause = { .tv_nsec = ASK_FIRST_NS };
	int64_t began_ms = io_steady_ms(), now_ms = began_ms;
	/* Who has less time than that, or none, is not sent away unasked. */
	int64_t polite_ms = began_ms + COURTESY_MS < end_ms ?
	    began_ms + COURTESY_MS : end_ms;
	bool next = false, taken;

	while (!(taken = try(fd, now_ms < polite_ms)) && now_ms < end_ms) {
		(void)nanosleep(&pause, NULL); /* cut short: asks earlier */
		now_ms = io_steady_ms();
		if (!next && now_ms - began_ms >= LONG_MS)
			next = set(fd, F_WRLCK, NEXT) == 0;
		if (next)
			pause.tv_nsec = ASK_FIRST_NS;
		else if (pause.tv_nsec < ASK_LAST_NS)
			pause.tv_nsec *= 2;
	}
	if (next)
		(void)set(fd, F_UNLCK, NEXT); /* an open file: cannot fail */
	return taken ? IDEM_OK : IDEM_EBUSY;
}

void
writelock_give(int fd)
{
	(void)set(fd, F_UNLCK, WRITER); /* an open file: cannot fail */
}

int
writelock_holder(int fd)
{
	int pid = holder(fd, WRITER);

	return pid > 0 ? pid : 0;
}
