/*
 * handover.c - listening sockets that come from another program, descriptor 0
 * and systemd's LISTEN_FDS (sd_listen_fds(3)), or from this one before exec().
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "process/address.h"
#include "base/text.h"
#include "process/listen.h"

#define FIRST_FD 3 /* SD_LISTEN_FDS_START */

/* "PID:SOCKET" or "PID:SOCKET:LOCK": what we hand to ourselves, as numbers of
 * descriptors.  They stay where they are, so that nothing is lost where the
 * exec() fails. */
#define HANDED "FRONT_SOCKET"

static bool
is_listening(int fd)
{
	int on = 0;
	socklen_t n = sizeof on;

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &n) == 0 &&
	    on != 0;
}

static bool
set_cloexec(int fd, bool on)
{
	return fcntl(fd, F_SETFD, on ? FD_CLOEXEC : 0) == 0;
}

/* Was something handed to this very process? */
static bool
listen_fds_are_ours(void)
{
	uint64_t pid, n;

	return parse_u64(span_of(getenv("LISTEN_PID")), INT32_MAX,
	    &pid) == IDEM_OK && (pid_t)pid == getpid() &&
	    parse_u64(span_of(getenv("LISTEN_FDS")), INT32_MAX,
	    &n) == IDEM_OK && n >= 1 && is_listening(FIRST_FD);
}

/* They describe this process only, not the children it starts. */
static void
forget_listen_fds(void)
{
	(void)unsetenv("LISTEN_PID");
	(void)unsetenv("LISTEN_FDS");
	(void)unsetenv("LISTEN_FDNAMES");
}

void
listen_inherited(struct listener *out)
{
	*out = (struct listener){ .fd = -1, .lock_fd = -1 };
	if (is_listening(STDIN_FILENO))
		out->fd = STDIN_FILENO;
	else if (listen_fds_are_ours() && set_cloexec(FIRST_FD, true))
		out->fd = FIRST_FD;
	forget_listen_fds();
}

/* The next number before a colon; false: there is none. */
static bool
take_number(struct idem_span *rest, int *out)
{
	struct idem_span text;
	uint64_t n;

	if (!span_next(rest, ':', &text) ||
	    parse_u64(text, INT32_MAX, &n) != IDEM_OK)
		return false;
	*out = (int)n;
	return true;
}

bool
listen_handed_on(const char *where, struct listener *out)
{
	struct idem_span rest = span_of(getenv(HANDED));
	struct address a;
	int pid, fd, lock_fd;

	*out = (struct listener){ .fd = -1, .lock_fd = -1 };
	if (!take_number(&rest, &pid) || pid != getpid() ||
	    !take_number(&rest, &fd) || !is_listening(fd) ||
	    !set_cloexec(fd, true))
		return false;
	out->fd = fd;
	if (take_number(&rest, &lock_fd) && set_cloexec(lock_fd, true))
		out->lock_fd = lock_fd;
	if (where != NULL && address_parse(span_of(where), &a) == IDEM_OK)
		memcpy(out->path, a.path, sizeof out->path);
	(void)unsetenv(HANDED);
	return true;
}

enum idem_err
listen_hand_on(const struct listener *l)
{
	char text[80];
	enum idem_err err;

	err = l->lock_fd < 0 ?
	    text_format(text, sizeof text, "%ld:%d", (long)getpid(), l->fd) :
	    text_format(text, sizeof text, "%ld:%d:%d", (long)getpid(), l->fd,
	    l->lock_fd);
	if (err != IDEM_OK)
		return err;
	return set_cloexec(l->fd, false) &&
	    (l->lock_fd < 0 || set_cloexec(l->lock_fd, false)) &&
	    setenv(HANDED, text, 1) == 0 ? IDEM_OK : IDEM_EIO;
}

void
listen_take_back(const struct listener *l)
{
	(void)unsetenv(HANDED);
	(void)set_cloexec(l->fd, true);
	if (l->lock_fd >= 0)
		(void)set_cloexec(l->lock_fd, true);
}
