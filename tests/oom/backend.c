/*
 * backend.c - the application behind the guard.  As a FastCGI server it is a
 * process of its own, one for each scenario.
 */
#include "backend.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/io.h"

#define HEAD "Status: 201 Created\r\nContent-Type: text/plain\r\n" \
	"Location: /made/1\r\n\r\n"
#define NAME_BYTES 128

static char dir[64], ledger[NAME_BYTES], program[NAME_BYTES],
    place[NAME_BYTES], cgi[NAME_BYTES], fcgi[NAME_BYTES];

static void
name(char out[NAME_BYTES], const char *format, const char *last)
{
	must(text_format(out, NAME_BYTES, format, dir, last) == IDEM_OK);
}

static bool
put(int fd, const void *p, size_t n)
{
	return io_write(fd, p, n) == IDEM_OK;
}

static bool
get(int fd, void *p, size_t n)
{
	char *at = p;
	long got;

	for (; n > 0; n -= (size_t)got, at += got)
		if ((got = io_read(fd, at, n)) <= 0)
			return false;
	return true;
}

static void
note(void)
{
	int fd = open(ledger, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	must(put(fd, "x", 1));
	(void)close(fd);
}

/* Read up to the record that ends STDIN; false: the guard is gone. */
static bool
read_request(int fd)
{
	static char content[65535 + 255];
	unsigned char head[8];
	size_t n;

	do {
		if (!get(fd, head, sizeof head))
			return false;
		n = (size_t)head[4] << 8 | head[5];
		if (!get(fd, content, n + head[6]))
			return false;
	} while (head[1] != 5 || n > 0);
	return true;
}

static void
answer(int fd)
{
	static const char text[] = HEAD BACKEND_BODY;
	const unsigned char out[8] = { 1, 6, 0, 1, 0,
		(unsigned char)(sizeof text - 1), 0, 0 };
	static const unsigned char end[16] = { 1, 3, 0, 1, 0, 8 };

	/* who is gone does not hear it */
	(void)(put(fd, out, sizeof out) && put(fd, text, sizeof text - 1) &&
	    put(fd, end, sizeof end));
}

static void
serve(int listen_fd)
{
	int fd;

	while ((fd = accept(listen_fd, NULL, NULL)) >= 0) {
		if (read_request(fd)) {
			note();
			answer(fd);
		}
		(void)close(fd);
	}
	_exit(0);
}

static void
start_server(void)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pid_t pid;

	must(text_format(sa.sun_path, sizeof sa.sun_path, "%s", place) ==
	    IDEM_OK);
	assert_int_equal(bind(fd, (const struct sockaddr *)&sa, sizeof sa), 0);
	assert_int_equal(listen(fd, 16), 0);
	if ((pid = fork()) == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(fd);
	}
	assert_true(pid > 0);
	(void)close(fd);
}

static void
write_program(void)
{
	char text[512];
	int fd = open(program, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);

	must(text_format(text, sizeof text, "#!/bin/sh\nprintf x >>%s\n"
	    "cat >/dev/null\nprintf 'Status: 201 Created\\r\\nContent-Type: "
	    "text/plain\\r\\nLocation: /made/1\\r\\n\\r\\n%s\\n'\n", ledger,
	    "made by the application") == IDEM_OK);
	must(io_write(fd, text, strlen(text)) == IDEM_OK);
	(void)close(fd);
}

void
backend_make(void)
{
	if (dir[0] == '\0') {
		memcpy(dir, oom_dir_for_all(), strlen(oom_dir_for_all()) + 1);
		name(ledger, "%s/%s", "ledger");
		name(program, "%s/%s", "program");
		name(place, "%s/%s", "server");
		name(cgi, "cgi:%s/%s", "program");
		name(fcgi, "fcgi:unix:%s/%s", "server");
		write_program();
		start_server();
	}
	(void)unlink(ledger);
}

struct idem_span
backend_cgi_setting(void)
{
	return span_of(cgi);
}

struct idem_span
backend_fcgi_setting(void)
{
	return span_of(fcgi);
}

unsigned
backend_count(void)
{
	struct stat st;

	return stat(ledger, &st) != 0 ? 0 : (unsigned)st.st_size;
}
