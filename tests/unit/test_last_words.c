/*
 * test_last_words.c - what a process says that dies of its store.
 */
#include "tests.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "process/last_words.h"

/* A page of a file that was cut short under the map. */
static void
read_what_is_gone(void)
{
	char path[] = "/tmp/idem-gone-XXXXXX";
	int fd = mkstemp(path);
	volatile const char *p;

	if (fd < 0 || unlink(path) != 0 || ftruncate(fd, 8192) != 0)
		_exit(1);
	p = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED || ftruncate(fd, 0) != 0)
		_exit(1);
	_exit(p[4096]);
}

static void
die(int sig, int fd)
{
	/* the sanitizer's handlers would keep them */
	(void)signal(sig, SIG_DFL);
	last_words(fd, "x[1] error: ", IDEM_LIT("/var/lib/s"));
	if (sig == SIGBUS)
		read_what_is_gone();
	if (sig == SIGABRT)
		abort();
	(void)raise(sig);
	_exit(1);
}

static void
each_signal_has_its_line(void **state)
{
	static const int deadly[] = { SIGBUS, SIGSEGV, SIGFPE, SIGABRT };
	char got[2000];

	(void)state;
	for (size_t i = 0; i < COUNT(deadly); i++) {
		int ends[2], status;
		pid_t pid;
		long n;

		assert_int_equal(pipe(ends), 0);
		pid = fork();
		if (pid == 0)
			die(deadly[i], ends[1]);
		assert_true(pid > 0);
		assert_int_equal(close(ends[1]), 0);
		n = io_read(ends[0], got, sizeof got);
		assert_true(n > 0);
		assert_text(((struct idem_span){ got, (size_t)n }),
		    "x[1] error: store /var/lib/s: this process dies of a "
		    "signal: one of its files is cut short or damaged, or "
		    "the disk is full or cannot be read (or this program has "
		    "a fault): see \"idem check\", and where it finds damage "
		    "put a copy of the store in its place\n");
		assert_int_equal(io_read(ends[0], got, sizeof got), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), deadly[i]);
		assert_int_equal(close(ends[0]), 0);
	}
}

/* A handler that stands is left alone. */
static void
others_handlers_stay(void **state)
{
	struct sigaction before, after;

	(void)state;
	(void)signal(SIGFPE, SIG_IGN);
	assert_int_equal(sigaction(SIGFPE, NULL, &before), 0);
	last_words(STDERR_FILENO, "x: ", IDEM_LIT("/s"));
	assert_int_equal(sigaction(SIGFPE, NULL, &after), 0);
	assert_ptr_equal(before.sa_handler, after.sa_handler);
	(void)signal(SIGFPE, SIG_DFL);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_signal_has_its_line),
		cmocka_unit_test(others_handlers_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
