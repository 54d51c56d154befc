/*
 * listen.c - a listening socket of our own: unix, with a lock file, or TCP.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "process/address.h"
#include "base/text.h"
#include "process/listen.h"
#include "process/names.h"

/* nginx fails at once where a unix socket's backlog is full. */
#define BACKLOG 1024

static enum idem_err
fail(const struct idem_log *log, const char *call, const char *object)
{
	idem_log(log, IDEM_ERROR, "--listen: %s %s: %s", call, object,
	    strerror(errno));
	return IDEM_EIO;
}

static enum idem_err
busy(const struct idem_log *log, const char *path)
{
	idem_log(log, IDEM_ERROR, "--listen: another process listens at %s; "
	    "stop it first, or choose another path", path);
	return IDEM_EBUSY;
}

/* Held as long as the socket is ours; the file stays, or two would hold it. */
static enum idem_err
take_lock(struct listener *l, const struct idem_log *log)
{
	char name[LISTEN_PATH_BYTES + sizeof ".lock"];

	if (text_format(name, sizeof name, "%s.lock", l->path) != IDEM_OK)
		return IDEM_ETOOBIG; /* cannot happen: the path fits */
	l->lock_fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
	    0600);
	if (l->lock_fd < 0)
		return fail(log, "open", name);
	if (flock(l->lock_fd, LOCK_EX | LOCK_NB) == 0)
		return IDEM_OK;
	return errno == EWOULDBLOCK ? busy(log, l->path) :
	    fail(log, "flock", name);
}

static struct sockaddr_un
unix_address(const char *path)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };

	memcpy(sa.sun_path, path, strlen(path) + 1);
	return sa;
}

/*
 * Remove a socket file that nobody listens at.  A process without our lock file
 * may do so: only a refused connection proves that nobody does.
 */
static enum idem_err
clear_path(const struct listener *l, const struct idem_log *log)
{
	const struct sockaddr_un sa = unix_address(l->path);
	struct stat st;
	int rc, saved;

	if (lstat(l->path, &st) != 0)
		return errno == ENOENT ? IDEM_OK : fail(log, "stat", l->path);
	if (!S_ISSOCK(st.st_mode)) {
		idem_log(log, IDEM_ERROR, "--listen: %s is there and is no "
		    "socket; it is not removed", l->path);
		return IDEM_EBUSY;
	}
	rc = connect(l->fd, (const struct sockaddr *)&sa, sizeof sa);
	saved = errno;
	if (rc == 0 || saved == EAGAIN)
		return busy(log, l->path);
	errno = saved;
	if (saved != ECONNREFUSED)
		return fail(log, "connect", l->path);
	return unlink(l->path) == 0 ? IDEM_OK : fail(log, "unlink", l->path);
}

static enum idem_err
bind_unix(struct listener *l, mode_t mode, const struct idem_log *log)
{
	const struct sockaddr_un sa = unix_address(l->path);
	mode_t before = umask(0777 & ~mode);
	int rc = bind(l->fd, (const struct sockaddr *)&sa, sizeof sa);
	int saved = errno;

	(void)umask(before);
	errno = saved;
	if (rc != 0)
		return fail(log, "bind", l->path);
	return listen(l->fd, BACKLOG) == 0 ? IDEM_OK :
	    fail(log, "listen", l->path);
}

static enum idem_err
open_unix(struct listener *l, const struct address *a,
    const struct idem_log *log)
{
	enum idem_err err;

	memcpy(l->path, a->path, sizeof l->path);
	if ((err = take_lock(l, log)) != IDEM_OK)
		return err;
	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0)
		return fail(log, "socket", l->path);
	if ((err = clear_path(l, log)) != IDEM_OK)
		return err;
	return bind_unix(l, a->mode, log);
}

/* FastCGI knows no password: who can connect can be any user. */
static void
warn_open(const struct sockaddr *sa, const char *where,
    const struct idem_log *log)
{
	const struct sockaddr_in *v4 = (const void *)sa;
	const struct sockaddr_in6 *v6 = (const void *)sa;

	if (sa->sa_family == AF_INET ?
	    ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET :
	    IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr))
		return;
	idem_log(log, IDEM_WARN, "--listen: other machines may reach %s, and "
	    "FastCGI asks for no password; set FCGI_WEB_SERVER_ADDRS or use "
	    "127.0.0.1", where);
}

static int
bind_one(const struct names_address *a)
{
	const struct sockaddr *sa = (const void *)&a->sa;
	const int on = 1;
	int saved, fd = socket(sa->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	/* else a restart must wait for old connections to be forgotten */
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, sa, a->n) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	saved = errno;
	(void)close(fd);
	errno = saved;
	return -1;
}

static enum idem_err
open_tcp(struct listener *l, const char *where, const struct address *a,
    const struct idem_log *log)
{
	struct names_address list[NAMES_ADDRESSES_MAX];
	const char *why;
	size_t n;

	if (names_addresses(a->host, a->port, list, &n, &why) != IDEM_OK) {
		idem_log(log, IDEM_ERROR, "--listen: %s: %s", where, why);
		return IDEM_EIO;
	}
	for (size_t i = 0; i < n && l->fd < 0; i++) {
		l->fd = bind_one(&list[i]);
		if (l->fd >= 0)
			warn_open((const void *)&list[i].sa, where, log);
	}
	if (l->fd >= 0)
		return IDEM_OK;
	return errno == EADDRINUSE ? busy(log, where) :
	    fail(log, "bind", where);
}

static enum idem_err
parse(const char *where, const struct idem_log *log, struct address *a)
{
	enum idem_err err = address_parse(span_of(where), a);

	if (err == IDEM_ESYNTAX)
		idem_log(log, IDEM_ERROR, "--listen=%s is refused; allowed: "
		    "unix:PATH, unix:PATH:MODE or HOST:PORT", where);
	if (err == IDEM_ETOOBIG)
		idem_log(log, IDEM_ERROR, "--listen=%s is refused; a socket's "
		    "path has at most %d bytes", where, LISTEN_PATH_BYTES - 1);
	return err == IDEM_ETOOBIG ? IDEM_ESYNTAX : err;
}

enum idem_err
listen_check(const char *where, const struct idem_log *log)
{
	struct address a;

	return parse(where, log, &a);
}

enum idem_err
listen_open(const char *where, const struct idem_log *log,
    struct listener *out)
{
	struct address a;
	enum idem_err err = parse(where, log, &a);

	*out = (struct listener){ .fd = -1, .lock_fd = -1 };
	if (err != IDEM_OK)
		return err;
	err = a.is_unix ? open_unix(out, &a, log) :
	    open_tcp(out, where, &a, log);
	if (err != IDEM_OK) {
		out->path[0] = '\0'; /* not ours to remove */
		listen_close(out);
	}
	return err;
}

void
listen_drop_lock(struct listener *l)
{
	if (l->lock_fd >= 0)
		(void)close(l->lock_fd);
	l->lock_fd = -1;
	l->path[0] = '\0';
}

void
listen_close(struct listener *l)
{
	if (l->path[0] != '\0' && l->lock_fd >= 0)
		(void)unlink(l->path); /* a stale one is removed at start */
	if (l->fd >= 0)
		(void)close(l->fd);
	l->fd = -1;
	listen_drop_lock(l);
}
