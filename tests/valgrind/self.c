/*
 * self.c - in each program that memcheck is to look at: it starts itself again
 * under valgrind, so that a test installs and starts the program as ever; and
 * /proc/self/exe, which is valgrind's then, is the program's for stat().
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <valgrind/valgrind.h>

#define WORDS_MAX 256
#define COMMENT "--xml-user-comment="

int __real_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st);

/* The command to be run under, a word a line: valgrind.py puts it into a copy
 * of the program.  Where it did not, the program just runs. */
char valgrind_words[4096] = "the words of valgrind stand here";

static size_t
self_path(char *path, size_t n)
{
	ssize_t len = readlink("/proc/self/exe", path, n - 1);

	path[len < 0 ? 0 : len] = '\0';
	return len < 0 ? 0 : (size_t)len;
}

/* The harness finds the process by the comment among valgrind's options. */
__attribute__((constructor)) static void
run_again(int argc, char **argv)
{
	static char comment[4096] = COMMENT;
	char *all[WORDS_MAX], *self = comment + strlen(COMMENT);
	int n = 0;

	if (RUNNING_ON_VALGRIND || valgrind_words[0] != '/')
		return;
	for (char *word = strtok(valgrind_words, "\n"); word != NULL;
	    word = strtok(NULL, "\n"))
		all[n++] = word;
	if (self_path(self, sizeof comment - strlen(COMMENT)) > 0 &&
	    n + argc + 2 <= WORDS_MAX) {
		all[n++] = comment;
		all[n++] = self;
		for (int i = 1; i < argc; i++)
			all[n++] = argv[i];
		all[n] = NULL;
		execv(all[0], all);
	}
	perror(all[0]);
	_exit(127);
}

int
__wrap_stat(const char *path, struct stat *st)
{
	char self[4096];

	if (strcmp(path, "/proc/self/exe") != 0)
		return __real_stat(path, st);
	return self_path(self, sizeof self) > 0 ? __real_stat(self, st) : -1;
}
