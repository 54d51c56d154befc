/*
 * liveness.c - locks that say which claims' workers live.  It knows no records.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "store/liveness.h"

#include "base/bytes.h"
#include "store/place.h"

static struct flock
lock_on(const unsigned char token[IDEM_TOKEN_BYTES], short type)
{
	return (struct flock){
		.l_type = type,
		.l_whence = SEEK_SET,
		.l_start = (off_t)(u64_from_key(token) >> 2),
		.l_len = 1,
	};
}

/* 0, or errno. */
static int
ask(const struct liveness *l, bool get, struct flock *lock)
{
	int ofd = get ? F_OFD_GETLK : F_OFD_SETLK;
	int posix = get ? F_GETLK : F_SETLK;

	while (fcntl(l->fd, l->posix ? posix : ofd, lock) != 0)
		if (errno != EINTR)
			return errno;
	return 0;
}

enum idem_err
liveness_open(struct liveness *l, const char *path, const struct idem_log *log)
{
	static const unsigned char any[IDEM_TOKEN_BYTES];
	struct flock lock = lock_on(any, F_WRLCK);

	*l = (struct liveness){ .fd = -1, .log = log };
	if (path == NULL)
		return IDEM_OK;
	l->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (l->fd < 0) {
		int err = errno;

		idem_log(log, IDEM_ERROR, "%s: %s: %s", path, strerror(err),
		    place_advice(err));
		return IDEM_ESTORE;
	}
	l->posix = ask(l, true, &lock) == EINVAL;
	return IDEM_OK;
}

void
liveness_close(struct liveness *l)
{
	if (l->fd >= 0)
		(void)close(l->fd); /* nothing was written to it */
	l->fd = -1;
	l->nheld = 0;
}

/* Where the token stands among the held ones, or nheld. */
static size_t
find(const struct liveness *l, const unsigned char token[IDEM_TOKEN_BYTES])
{
	size_t i = 0;

	while (i < l->nheld && memcmp(l->held[i], token, IDEM_TOKEN_BYTES) != 0)
		i++;
	return i;
}

enum idem_err
liveness_hold(struct liveness *l, const unsigned char token[IDEM_TOKEN_BYTES])
{
	struct flock lock = lock_on(token, F_WRLCK);
	int err = 0;

	if (find(l, token) < l->nheld)
		return IDEM_OK;
	if (l->nheld == LIVENESS_HELD_MAX)
		err = ENOLCK;
	else if (l->fd >= 0)
		err = ask(l, false, &lock);
	if (err != 0) {
		idem_log(l->log, IDEM_ERROR, "no lock for a new claim: %s: %s",
		    strerror(err), place_advice(err));
		return IDEM_EBUSY;
	}
	memcpy(l->held[l->nheld++], token, IDEM_TOKEN_BYTES);
	return IDEM_OK;
}

void
liveness_drop(struct liveness *l, const unsigned char token[IDEM_TOKEN_BYTES])
{
	struct flock lock = lock_on(token, F_UNLCK);
	size_t at = find(l, token);
	int err;

	if (at == l->nheld)
		return;
	if (l->fd >= 0 && (err = ask(l, false, &lock)) != 0)
		idem_log(l->log, IDEM_ERROR, "a claim stays locked until this "
		    "process ends: %s", strerror(err));
	memmove(l->held[at], l->held[--l->nheld], IDEM_TOKEN_BYTES);
}

bool
liveness_alive(const struct liveness *l,
    const unsigned char token[IDEM_TOKEN_BYTES])
{
	struct flock lock = lock_on(token, F_WRLCK);

	if (find(l, token) < l->nheld)
		return true;
	if (l->fd < 0)
		return false;
	return ask(l, true, &lock) != 0 || lock.l_type != F_UNLCK;
}
