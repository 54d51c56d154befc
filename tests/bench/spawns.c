/*
 * spawns.c - how long one plain CGI request takes, from fork to exit.
 *
 *   spawns N PROGRAM
 * runs PROGRAM N times with this environment, a fresh key and a body each, and
 * prints the median in microseconds.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "kit.h"

#define N_MAX 10000

static void
child(const char *program, int in)
{
	char key[48];
	unsigned char random[16];
	char hex[33] = "";
	int out = open("/dev/null", O_WRONLY);

	kit_random(random, sizeof random);
	hex_lower(random, sizeof random, hex);
	kit_check("key", text_format(key, sizeof key, "%s", hex));
	if (setenv("HTTP_IDEMPOTENCY_KEY", key, 1) != 0 || dup2(in, 0) < 0 ||
	    dup2(out, 1) < 0)
		kit_die("child", IDEM_EIO);
	(void)execl(program, program, (char *)NULL);
	kit_die(program, IDEM_EIO);
}

static uint32_t
once(const char *program)
{
	static const char body[] = "{\"matn\":\"Non olish #uy\"}";
	int64_t began = kit_now_us();
	int pipes[2], status;
	pid_t pid;

	if (pipe(pipes) != 0 || (pid = fork()) < 0)
		kit_die("fork", IDEM_EIO);
	if (pid == 0) {
		(void)close(pipes[1]);
		child(program, pipes[0]);
	}
	(void)close(pipes[0]);
	kit_check("body", io_write(pipes[1], body, sizeof body - 1));
	(void)close(pipes[1]);
	if (waitpid(pid, &status, 0) != pid || status != 0)
		kit_die(program, IDEM_EIO);
	return (uint32_t)(kit_now_us() - began);
}

int
main(int argc, char **argv)
{
	static uint32_t us[N_MAX];
	size_t n;

	if (argc != 3) {
		fputs("usage: spawns N PROGRAM\n", stderr);
		return 2;
	}
	n = (size_t)kit_number(argv[1], N_MAX);
	for (size_t i = 0; i < n; i++)
		us[i] = once(argv[2]);
	printf("%u\n", kit_quantile(us, n, 0.5));
	return 0;
}
