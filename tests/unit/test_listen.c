/*
 * test_listen.c - what --listen may say, who may remove a socket file, and
 * sockets that come from elsewhere.
 */
#include "tests.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/address.h"
#include "caught.h"
#include "process/listen.h"

static void
addresses(void **state)
{
	static const struct {
		const char *text;
		enum idem_err err;
		const char *path;
		mode_t mode;
		const char *host, *port;
	} rows[] = {
		{ "unix:/run/x.sock", IDEM_OK, "/run/x.sock", 0660, "", "" },
		{ "unix:/run/x.sock:0600", IDEM_OK, "/run/x.sock", 0600, "",
		    "" },
		{ "unix:/run/x.sock:666", IDEM_OK, "/run/x.sock", 0666, "",
		    "" },
		{ "unix:x", IDEM_OK, "x", 0660, "", "" },
		{ "unix:/a:b", IDEM_OK, "/a:b", 0660, "", "" },
		{ "unix:/a:0680", IDEM_OK, "/a:0680", 0660, "", "" },
		{ "unix:/a:66", IDEM_OK, "/a:66", 0660, "", "" },
		{ "unix:/a:1777", IDEM_OK, "/a:1777", 0660, "", "" },
		{ "unix:", IDEM_ESYNTAX, "", 0, "", "" },
		{ "unix::0600", IDEM_ESYNTAX, "", 0, "", "" },
		{ "127.0.0.1:9000", IDEM_OK, "", 0, "127.0.0.1", "9000" },
		{ "localhost:0", IDEM_OK, "", 0, "localhost", "0" },
		{ "[::1]:65535", IDEM_OK, "", 0, "::1", "65535" },
		{ "::1:9000", IDEM_ESYNTAX, "", 0, "", "" },
		{ "[]:9000", IDEM_ESYNTAX, "", 0, "", "" },
		{ ":9000", IDEM_ESYNTAX, "", 0, "", "" },
		{ "9000", IDEM_ESYNTAX, "", 0, "", "" },
		{ "localhost:", IDEM_ESYNTAX, "", 0, "", "" },
		{ "localhost:65536", IDEM_ESYNTAX, "", 0, "", "" },
		{ "localhost:http", IDEM_ESYNTAX, "", 0, "", "" },
		{ "localhost:000080", IDEM_ESYNTAX, "", 0, "", "" },
		{ "/run/x.sock", IDEM_ESYNTAX, "", 0, "", "" },
		{ "", IDEM_ESYNTAX, "", 0, "", "" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct address a;

		assert_int_equal(address_parse(span_of(rows[i].text), &a),
		    rows[i].err);
		if (rows[i].err != IDEM_OK)
			continue;
		assert_string_equal(a.path, rows[i].path);
		assert_int_equal(a.is_unix, a.path[0] != '\0');
		if (a.is_unix)
			assert_int_equal(a.mode, rows[i].mode);
		assert_string_equal(a.host, rows[i].host);
		assert_string_equal(a.port, rows[i].port);
	}
}

static void
a_path_has_107_bytes_at_most(void **state)
{
	char text[200] = "unix:/";
	struct address a;

	(void)state;
	memset(text + 6, 'x', 106);
	assert_int_equal(address_parse(span_of(text), &a), IDEM_OK);
	assert_int_equal(strlen(a.path), 107);
	text[112] = 'x';
	assert_int_equal(address_parse(span_of(text), &a), IDEM_ETOOBIG);
}

/* --- sockets of our own -------------------------------------------------- */

struct fixture {
	char dir[64], path[100], lock[110], where[120];
	struct caught caught;
	struct idem_log log;
};

static int
setup(void **state)
{
	struct fixture *f = test_calloc(1, sizeof *f);

	memcpy(f->dir, "/tmp/idem-listen-XXXXXX", 24);
	assert_non_null(mkdtemp(f->dir));
	assert_int_equal(text_format(f->path, sizeof f->path, "%s/s", f->dir),
	    IDEM_OK);
	assert_int_equal(text_format(f->lock, sizeof f->lock, "%s.lock",
	    f->path), IDEM_OK);
	assert_int_equal(text_format(f->where, sizeof f->where, "unix:%s",
	    f->path), IDEM_OK);
	f->log = caught_log(&f->caught);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	(void)unlink(f->path); /* where the test left it */
	(void)unlink(f->lock);
	assert_int_equal(rmdir(f->dir), 0);
	test_free(f);
	return 0;
}

static void
expect_said(const struct fixture *f, const char *before, const char *after)
{
	char want[400];

	assert_int_equal(text_format(want, sizeof want, "%s%s%s", before,
	    f->path, after), IDEM_OK);
	assert_string_equal(f->caught.text, want);
}

static int
unix_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	return fd;
}

static struct sockaddr_un
address_of(const struct fixture *f)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };

	memcpy(sa.sun_path, f->path, sizeof f->path);
	return sa;
}

static bool
can_connect(const struct fixture *f)
{
	const struct sockaddr_un sa = address_of(f);
	int fd = unix_socket();
	int rc = connect(fd, (const struct sockaddr *)&sa, sizeof sa);

	assert_int_equal(close(fd), 0);
	return rc == 0;
}

static void
open_and_close(void **state)
{
	static const struct {
		const char *mode;
		mode_t want;
	} rows[] = { { "", 0660 }, { ":0600", 0600 }, { ":666", 0666 } };
	struct fixture *f = *state;
	mode_t before = umask(077);

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct listener l;
		struct stat st;
		char where[150];

		assert_int_equal(text_format(where, sizeof where, "%s%s",
		    f->where, rows[i].mode), IDEM_OK);
		assert_int_equal(listen_open(where, &f->log, &l), IDEM_OK);
		assert_int_equal(stat(f->path, &st), 0);
		assert_true(S_ISSOCK(st.st_mode));
		assert_int_equal(st.st_mode & 07777, rows[i].want);
		assert_int_equal(fcntl(l.fd, F_GETFD), FD_CLOEXEC);
		assert_int_equal(fcntl(l.lock_fd, F_GETFD), FD_CLOEXEC);
		assert_true(can_connect(f));
		listen_close(&l);
		assert_int_equal(l.fd, -1);
		assert_int_equal(stat(f->path, &st), -1);
		assert_int_equal(stat(f->lock, &st), 0); /* stays */
	}
	assert_int_equal(umask(before), 077); /* as it was */
	assert_int_equal(f->caught.nlines, 0);
}

static void
the_lock_speaks_for_the_socket(void **state)
{
	struct fixture *f = *state;
	struct listener first, second;

	assert_int_equal(listen_open(f->where, &f->log, &first), IDEM_OK);
	assert_int_equal(listen_open(f->where, &f->log, &second), IDEM_EBUSY);
	expect_said(f, "--listen: another process listens at ",
	    "; stop it first, or choose another path");
	assert_int_equal(second.fd, -1);
	assert_int_equal(second.lock_fd, -1);
	assert_true(can_connect(f));

	assert_int_equal(unlink(f->path), 0); /* even where nobody answers */
	assert_int_equal(listen_open(f->where, &f->log, &second), IDEM_EBUSY);
	listen_close(&first);
}

/* A worker closes the lock and the socket; both stay with the supervisor. */
static void
a_worker_ends_without_harm(void **state)
{
	struct fixture *f = *state;
	struct listener first, second;
	int status;
	pid_t pid;

	assert_int_equal(listen_open(f->where, &f->log, &first), IDEM_OK);
	pid = fork();
	if (pid == 0) {
		listen_drop_lock(&first);
		listen_close(&first);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(can_connect(f));
	assert_int_equal(listen_open(f->where, &f->log, &second), IDEM_EBUSY);
	listen_close(&first);
}

/* Somebody without our lock file listens there. */
static void
a_live_socket_is_not_removed(void **state)
{
	struct fixture *f = *state;
	const struct sockaddr_un sa = address_of(f);
	struct listener l;
	int fd = unix_socket();

	assert_int_equal(bind(fd, (const struct sockaddr *)&sa, sizeof sa), 0);
	assert_int_equal(listen(fd, 0), 0);
	assert_int_equal(listen_open(f->where, &f->log, &l), IDEM_EBUSY);
	expect_said(f, "--listen: another process listens at ",
	    "; stop it first, or choose another path");
	/* the first attempt fills its queue of one: it is alive all the same */
	assert_int_equal(listen_open(f->where, &f->log, &l), IDEM_EBUSY);
	assert_int_equal(access(f->path, F_OK), 0);
	assert_int_equal(close(fd), 0);

	/* now nobody does */
	assert_int_equal(listen_open(f->where, &f->log, &l), IDEM_OK);
	assert_true(can_connect(f));
	listen_close(&l);
}

static void
a_file_that_is_no_socket_stays(void **state)
{
	struct fixture *f = *state;
	struct listener l;
	int fd = open(f->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
	assert_int_equal(listen_open(f->where, &f->log, &l), IDEM_EBUSY);
	expect_said(f, "--listen: ", " is there and is no socket; it is not "
	    "removed");
	assert_int_equal(access(f->path, F_OK), 0);
}

static void
what_cannot_be_opened(void **state)
{
	static const struct {
		const char *where;
		enum idem_err err;
		const char *said;
	} rows[] = {
		{ "unix:/nonexistent/s", IDEM_EIO, "--listen: open "
		    "/nonexistent/s.lock: No such file or directory" },
		{ "nowhere", IDEM_ESYNTAX, "--listen=nowhere is refused; "
		    "allowed: unix:PATH, unix:PATH:MODE or HOST:PORT" },
		{ "192.0.2.1:1", IDEM_EIO, "--listen: bind 192.0.2.1:1: Cannot "
		    "assign requested address" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct listener l;

		assert_int_equal(listen_open(rows[i].where, &f->log, &l),
		    rows[i].err);
		assert_string_equal(f->caught.text, rows[i].said);
		assert_int_equal(l.fd, -1);
	}
}

static void
tcp(void **state)
{
	static const struct {
		const char *host;
		unsigned nwarnings;
	} rows[] = {
		{ "127.0.0.1", 0 },
		{ "localhost", 0 },
		{ "0.0.0.0", 1 },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct sockaddr_storage sa;
		socklen_t n = sizeof sa;
		struct listener l, second;
		char where[100];

		f->log = caught_log(&f->caught);
		assert_int_equal(text_format(where, sizeof where, "%s:0",
		    rows[i].host), IDEM_OK);
		assert_int_equal(listen_open(where, &f->log, &l), IDEM_OK);
		assert_int_equal(l.lock_fd, -1);
		assert_int_equal(f->caught.nlines, rows[i].nwarnings);
		assert_int_equal(getsockname(l.fd, (struct sockaddr *)&sa,
		    &n), 0);
		if (sa.ss_family == AF_INET) {
			const struct sockaddr_in *v4 = (const void *)&sa;

			assert_int_equal(text_format(where, sizeof where,
			    "%s:%u", rows[i].host, ntohs(v4->sin_port)),
			    IDEM_OK);
			assert_int_equal(listen_open(where, &f->log, &second),
			    IDEM_EBUSY);
		}
		listen_close(&l);
	}
}

/* --- sockets from elsewhere ---------------------------------------------- */

/* Run check(f) in a process of its own, where descriptors may be moved; its
 * result is true. */
static void
in_a_child(const struct fixture *f, bool (*check)(const struct fixture *f))
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(check(f) ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static bool
nothing_comes(const struct fixture *f)
{
	struct listener l;
	int fds[2];

	(void)f; /* the environment is as the test found it */
	if (pipe(fds) != 0 || dup2(fds[0], 0) != 0)
		return false;
	listen_inherited(&l);
	return l.fd == -1 && !listen_handed_on(NULL, &l);
}

static bool
descriptor_0_comes(const struct fixture *f)
{
	struct listener made, l;

	if (listen_open(f->where, &f->log, &made) != IDEM_OK ||
	    dup2(made.fd, 0) != 0)
		return false;
	listen_inherited(&l);
	return l.fd == 0 && l.lock_fd == -1 && l.path[0] == '\0';
}

/* A connected socket, or a bound one, is none that we could accept from. */
static bool
other_sockets_at_0_do_not(const struct fixture *f)
{
	struct listener l;
	int fds[2];

	(void)f;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0 ||
	    dup2(fds[0], 0) != 0)
		return false;
	listen_inherited(&l);
	return l.fd == -1;
}

static bool
set_pid(const char *name, long pid)
{
	char text[24];

	return text_format(text, sizeof text, "%ld", pid) == IDEM_OK &&
	    setenv(name, text, 1) == 0;
}

static bool
listen_fds_with(const struct fixture *f, long pid, const char *n,
    int want)
{
	struct listener made, l;

	if (listen_open(f->where, &f->log, &made) != IDEM_OK ||
	    dup2(open("/dev/null", O_RDWR | O_CLOEXEC), 0) != 0 ||
	    dup2(made.fd, 3) != 3 || !set_pid("LISTEN_PID", pid) ||
	    setenv("LISTEN_FDS", n, 1) != 0)
		return false;
	listen_inherited(&l);
	return l.fd == want && getenv("LISTEN_FDS") == NULL &&
	    getenv("LISTEN_PID") == NULL &&
	    (want == -1 || fcntl(3, F_GETFD) == FD_CLOEXEC);
}

static bool
listen_fds_come(const struct fixture *f)
{
	return listen_fds_with(f, getpid(), "1", 3);
}

static bool
listen_fds_of_another_process(const struct fixture *f)
{
	return listen_fds_with(f, getppid(), "1", -1);
}

static bool
no_listen_fds(const struct fixture *f)
{
	return listen_fds_with(f, getpid(), "0", -1);
}

static bool
handed_on(const struct fixture *f)
{
	struct listener made, l;

	if (listen_open(f->where, &f->log, &made) != IDEM_OK ||
	    listen_hand_on(&made) != IDEM_OK ||
	    fcntl(made.fd, F_GETFD) != 0 || fcntl(made.lock_fd, F_GETFD) != 0)
		return false;
	return listen_handed_on(f->where, &l) && l.fd == made.fd &&
	    l.lock_fd == made.lock_fd && strcmp(l.path, f->path) == 0 &&
	    fcntl(l.fd, F_GETFD) == FD_CLOEXEC &&
	    fcntl(l.lock_fd, F_GETFD) == FD_CLOEXEC &&
	    !listen_handed_on(f->where, &l); /* once */
}

/* What a child inherits of its parent's environment is not for it. */
static bool
handed_on_to_another_process(const struct fixture *f)
{
	struct listener made, l;
	char text[40];

	return listen_open(f->where, &f->log, &made) == IDEM_OK &&
	    text_format(text, sizeof text, "%ld:%d", (long)getppid(),
	    made.fd) == IDEM_OK && setenv("FRONT_SOCKET", text, 1) == 0 &&
	    !listen_handed_on(f->where, &l) && l.fd == -1;
}

static bool
taken_back(const struct fixture *f)
{
	struct listener made, l;

	if (listen_open(f->where, &f->log, &made) != IDEM_OK ||
	    listen_hand_on(&made) != IDEM_OK)
		return false;
	listen_take_back(&made);
	return !listen_handed_on(f->where, &l) &&
	    fcntl(made.fd, F_GETFD) == FD_CLOEXEC &&
	    fcntl(made.lock_fd, F_GETFD) == FD_CLOEXEC;
}

static void
from_elsewhere(void **state)
{
	static bool (*const checks[])(const struct fixture *f) = {
		nothing_comes, descriptor_0_comes, other_sockets_at_0_do_not,
		listen_fds_come, listen_fds_of_another_process, no_listen_fds,
		handed_on, handed_on_to_another_process, taken_back,
	};

	for (size_t i = 0; i < COUNT(checks); i++)
		in_a_child(*state, checks[i]);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses),
		cmocka_unit_test(a_path_has_107_bytes_at_most),
		IN_FOLDER(open_and_close),
		IN_FOLDER(the_lock_speaks_for_the_socket),
		IN_FOLDER(a_worker_ends_without_harm),
		IN_FOLDER(a_live_socket_is_not_removed),
		IN_FOLDER(a_file_that_is_no_socket_stays),
		IN_FOLDER(what_cannot_be_opened),
		IN_FOLDER(tcp),
		IN_FOLDER(from_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
