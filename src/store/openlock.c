/*
 * openlock.c - the lock around opening and closing, in a file of its own:
 * LMDB's lock file may not be opened by anybody else.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "store/openlock.h"

#include "base/text.h"
#include "store/place.h"

#define TRIES 500
#define PAUSE_NS 20000000 /* ten seconds in all */

static int
wait_for(int fd)
{
	const struct timespec pause = { 0, PAUSE_NS };

	for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return errno;
		if (i == TRIES)
			return EWOULDBLOCK;
		(void)nanosleep(&pause, NULL);
	}
	return 0;
}

enum idem_err
openlock_take(const char *dir, const struct idem_log *log, int *fd)
{
	char path[PATH_MAX];
	int err;

	if (text_format(path, sizeof path, "%s/open.lock", dir) != IDEM_OK)
		return IDEM_ESTORE;
	if (*fd < 0)
		*fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	err = *fd < 0 ? errno : wait_for(*fd);
	if (err == 0)
		return IDEM_OK;
	idem_log(log, IDEM_ERROR, "%s: %s: %s", path, strerror(err),
	    err == EWOULDBLOCK ? "whoever opens the store hangs: end it" :
	    place_advice(err));
	return IDEM_ESTORE;
}

void
openlock_give(int fd)
{
	(void)flock(fd, LOCK_UN); /* an open file: cannot fail */
}

void
openlock_close(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd); /* unlocks it */
	*fd = -1;
}
