/*
 * test_backend_cgi.c - programs that answer, die at every place, keep silent or
 * will not leave; and what they find around them.
 */
#include "backendkit.h"
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"

static char folder[] = "/tmp/idem-cgi-XXXXXX";

#define SH "#!/bin/sh\n"
#define HI "printf 'A: b\\n\\nhello'\n"

static const struct {
	const char *name;
	const char *script;
	mode_t mode;
	enum backend_end end;
	unsigned status;
	struct idem_span body;
	const char *log; /* NULL: silent */
} rows[] = {
	{ "whole", SH HI, 0700, BACKEND_WHOLE, 200, IDEM_LIT_INIT("hello"),
	  NULL },
	{ "an exit status", SH HI "exit 3\n", 0700, BACKEND_WHOLE, 200,
	  IDEM_LIT_INIT("hello"), NULL },
	{ "reads its body", SH "printf 'A: b\\n\\n'; cat\n", 0700,
	  BACKEND_WHOLE, 200, IDEM_LIT_INIT("bo\0dy"), NULL },
	{ "a status of its own", SH "printf 'Status: 500 Ouch\\n\\n'\n", 0700,
	  BACKEND_WHOLE, 500, IDEM_LIT_INIT(""), NULL },
	{ "NUL bytes", SH "printf 'A: b\\n\\nx\\0y'\n", 0700, BACKEND_WHOLE,
	  200, IDEM_LIT_INIT("x\0y"), NULL },
	{ "is not there", NULL, 0, BACKEND_NOTHING, 0, IDEM_LIT_INIT(""),
	  "program: No such file or directory\n" },
	{ "is no program", SH HI, 0600, BACKEND_NOTHING, 0, IDEM_LIT_INIT(""),
	  "program: Permission denied\n" },
	{ "has no interpreter", "#!/no/such/shell\n", 0700, BACKEND_NOTHING,
	  0, IDEM_LIT_INIT(""), "program: No such file or directory\n" },
	{ "has no #! line", "echo\n", 0700, BACKEND_NOTHING, 0,
	  IDEM_LIT_INIT(""), "program: Exec format error\n" },
	{ "says nothing", SH "exit 0\n", 0700, BACKEND_BROKEN, 0,
	  IDEM_LIT_INIT(""), NULL },
	{ "dies before its answer", SH "kill -9 $$\n", 0700, BACKEND_BROKEN,
	  0, IDEM_LIT_INIT(""), NULL },
	{ "dies in the head", SH "printf 'A: b\\n'; kill -9 $$\n", 0700,
	  BACKEND_BROKEN, 0, IDEM_LIT_INIT(""), NULL },
	{ "dies in the body", SH HI "kill -9 $$\n", 0700, BACKEND_BROKEN,
	  200, IDEM_LIT_INIT("hello"), NULL },
	{ "dies after its answer", SH HI "exec >&-; kill -9 $$\n", 0700,
	  BACKEND_BROKEN, 200, IDEM_LIT_INIT("hello"), NULL },
	{ "no head", SH "echo A: b\n", 0700, BACKEND_BROKEN, 0,
	  IDEM_LIT_INIT(""), NULL },
	{ "garbage", SH "echo hello; echo\n", 0700, BACKEND_BROKEN, 0,
	  IDEM_LIT_INIT(""), NULL },
	{ "much garbage", SH "head -c 1000000 /dev/zero\n", 0700,
	  BACKEND_BROKEN, 0, IDEM_LIT_INIT(""), NULL },
	{ "shorter than it says", SH "printf 'Content-Length: 6\\n\\nhello'\n",
	  0700, BACKEND_BROKEN, 200, IDEM_LIT_INIT("hello"), NULL },
	{ "longer than it says", SH "printf 'Content-Length: 4\\n\\nhello'\n",
	  0700, BACKEND_WHOLE, 200, IDEM_LIT_INIT("hell"), NULL },
	{ "never answers", SH "exec sleep 600\n", 0700, BACKEND_LATE, 0,
	  IDEM_LIT_INIT(""), NULL },
	{ "stops in the middle", SH HI "exec sleep 600\n", 0700, BACKEND_LATE,
	  200, IDEM_LIT_INIT("hello"), NULL },
	{ "does not end", SH HI "exec >&-; exec sleep 600\n", 0700,
	  BACKEND_LATE, 200, IDEM_LIT_INIT("hello"), NULL },
	{ "will not leave", SH "trap '' TERM; " HI "sleep 600\n", 0700,
	  BACKEND_LATE, 200, IDEM_LIT_INIT("hello"), NULL },
};

static void
assert_no_children(void)
{
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void
ends_as_it_is_known(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *path = folder_program(rows[i].script);
		struct asking asking;

		print_message("row %zu: %s\n", i, rows[i].name);
		if (rows[i].script != NULL)
			assert_int_equal(chmod(path, rows[i].mode), 0);
		asking_open(&asking);
		asking.job.body = IDEM_LIT("bo\0dy");
		if (rows[i].end == BACKEND_LATE)
			asking.job.timeout_ms = rows[i].status == 0 ?
			    SHORT_MS : MIDDLE_MS;
		assert_int_equal(backend_cgi(path, &asking.job), rows[i].end);
		assert_answer(&asking, rows[i].status, rows[i].body);
		if (rows[i].log != NULL)
			assert_log(&asking, rows[i].log);
		else
			assert_int_equal(asking.said.n, 0);
		asking_close(&asking);
		assert_no_children();
	}
}

static void
run(struct asking *a, const char *script)
{
	asking_again(a);
	assert_int_equal(backend_cgi(folder_program(script), &a->job),
	    BACKEND_WHOLE);
}

/* Nothing of this process: descriptors, signals, variables, folder, group. */
static void
finds_a_clean_place(void **state)
{
	static const char *const vars[] = { "PATH=/usr/bin:/bin", "X=y z",
		NULL };
	struct asking a;
	char want[128];

	(void)state;
	asking_open(&a);
	a.job.vars = vars;
	(void)signal(SIGUSR2, SIG_IGN);
	/* one that is not close-on-exec; 3 is what the shell looks with, and
	 * its script is at 10 or above */
	assert_int_equal(dup2(STDERR_FILENO, 9), 9);
	run(&a, SH "echo A: b; echo; cd /proc/$$/fd; echo [0-24-9]\n");
	assert_answer(&a, 200, IDEM_LIT("0 1 2\n"));
	assert_int_equal(close(9), 0);
	/* those up to 28: the C library does not let go of 32 and 33 */
	run(&a, SH "echo A: b; echo; sed -n 's/^\\(Sig[BI].*\\):.*"
	    "\\(.......\\)$/\\1 \\2/p' /proc/self/status\n");
	assert_answer(&a, 200, IDEM_LIT("SigBlk 0000000\nSigIgn 0000000\n"));
	run(&a, SH "echo A: b; echo; tr '\\0' '\\n' </proc/$$/environ\n");
	assert_answer(&a, 200, IDEM_LIT("PATH=/usr/bin:/bin\nX=y z\n"));
	run(&a, SH "echo A: b; echo; pwd\n");
	assert_int_equal(text_format(want, sizeof want, "%s\n", folder),
	    IDEM_OK);
	assert_answer(&a, 200, span_of(want));
	run(&a, SH "echo A: b; echo; read -r _ _ _ _ g _ </proc/$$/stat\n"
	    "test $g = $$ && echo leads\n");
	assert_answer(&a, 200, IDEM_LIT("leads\n"));
	run(&a, SH "echo A: b; echo; echo $#\n");
	assert_answer(&a, 200, IDEM_LIT("0\n"));
	asking_close(&a);
	(void)signal(SIGUSR2, SIG_DFL);
}

/* 3 MiB up and 5 MiB down, in either order, and a body that nobody reads. */
static void
does_not_deadlock(void **state)
{
	static char body[3 << 20];
	static const struct { const char *script; size_t n; } scripts[] = {
		{ SH "echo A: b; echo; head -c 5242880 /dev/zero; cat\n",
		  (5 << 20) + sizeof body },
		{ SH "echo A: b; echo; cat; head -c 5242880 /dev/zero\n",
		  (5 << 20) + sizeof body },
		{ SH "echo A: b; echo; head -c 5242880 /dev/zero\n", 5 << 20 },
	};
	struct asking a;

	(void)state;
	memset(body, 'b', sizeof body);
	asking_open(&a);
	a.job.body = (struct idem_span){ body, sizeof body };
	for (size_t i = 0; i < COUNT(scripts); i++) {
		print_message("row %zu\n", i);
		run(&a, scripts[i].script);
		assert_int_equal(a.body.n, scripts[i].n);
	}
	asking_close(&a);
}

/* The worker of a program is killed: the program too, or it finishes. */
static void
outlives_its_worker_or_not(void **state)
{
	char go[128], done[128], script[512], got[8] = "";

	(void)state;
	memcpy(go, folder_path("go"), sizeof go);
	memcpy(done, folder_path("done"), sizeof done);
	assert_int_equal(mkfifo(go, 0600), 0);
	assert_int_equal(mkfifo(done, 0600), 0);
	assert_int_equal(text_format(script, sizeof script, SH
	    "read x <%s\necho $x >%s\n", go, done), IDEM_OK);
	for (int die = 0; die < 2; die++) {
		const char *path = folder_program(script);
		struct pollfd gone = { .events = POLLOUT };
		pid_t pid = fork();
		struct asking a;
		int fd;

		if (pid == 0) {
			asking_open(&a);
			a.job.die_with_us = die == 1;
			_exit((int)backend_cgi(path, &a.job));
		}
		assert_true(pid > 0);
		/* opens when the program is there to read */
		gone.fd = open(go, O_WRONLY);
		assert_true(gone.fd >= 0);
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		if (die == 1) {
			gone.events = 0;
			assert_int_equal(poll(&gone, 1, PATIENT_MS), 1);
			assert_true((gone.revents & POLLERR) != 0);
		} else {
			assert_int_equal(io_write(gone.fd, "hi\n", 3),
			    IDEM_OK);
			assert_true((fd = open(done, O_RDONLY)) >= 0);
			assert_int_equal(io_read(fd, got, sizeof got), 3);
			assert_memory_equal(got, "hi\n", 3);
			(void)close(fd);
		}
		(void)close(gone.fd);
	}
	assert_int_equal(unlink(go), 0);
	assert_int_equal(unlink(done), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_as_it_is_known),
		cmocka_unit_test(finds_a_clean_place),
		cmocka_unit_test(does_not_deadlock),
		cmocka_unit_test(outlives_its_worker_or_not),
	};
	sigset_t child;
	int failed;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &child, NULL) != 0)
		return 1;
	folder_make(folder);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	folder_remove();
	return failed;
}
