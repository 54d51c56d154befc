/*
 * charge.c - a CGI program behind the guard that knows nothing of keys: every
 * request charges, and each charge is a line in a ledger outside.
 *
 * The body is "intent=NAME&before=MS&after=MS&fill=N": the ledger's line, how
 * long it works before and after that, and how many bytes more the answer has.
 * No two answers are the same.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BODY_BYTES 512
#define FILL_MAX 100000

static long
number(const char *body, const char *name)
{
	const char *at = strstr(body, name);

	return at == NULL ? 0 : strtol(at + strlen(name), NULL, 10);
}

static void
work(long ms)
{
	struct timespec t = { .tv_nsec = ms % 1000 * 1000000 };

	(void)nanosleep(&t, NULL);
}

static int
append(const char *intent, int n)
{
	char path[1024], line[BODY_BYTES + 1];
	const char *root = getenv("DOCUMENT_ROOT");
	int fd, length;

	snprintf(path, sizeof path, "%s/../run/ledger",
	    root == NULL ? "" : root);
	length = snprintf(line, sizeof line, "%.*s\n", n, intent);
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT, 0666);
	return fd >= 0 && write(fd, line, (size_t)length) == length &&
	    close(fd) == 0;
}

int
main(void)
{
	static char fill[FILL_MAX];
	char body[BODY_BYTES + 1];
	size_t n = fread(body, 1, BODY_BYTES, stdin);
	struct timespec now;
	const char *intent;

	body[n] = '\0';
	intent = strstr(body, "intent=");
	if (intent == NULL)
		return 1;
	intent += strlen("intent=");
	work(number(body, "before="));
	if (!append(intent, (int)strcspn(intent, "&")))
		return 1;
	work(number(body, "after="));
	clock_gettime(CLOCK_REALTIME, &now);
	for (long i = number(body, "fill="); i > 0 && i < FILL_MAX; i--)
		fill[i - 1] = 'x';
	printf("Status: 201\r\nContent-Type: application/json\r\n"
	    "Location: /charge.php?number=%ld-%ld\r\n\r\n"
	    "{\"process\":%ld,\"at\":%ld,\"fill\":\"%s\"}\n", (long)getpid(),
	    now.tv_nsec, (long)getpid(), now.tv_nsec, fill);
	return fflush(stdout) != 0;
}
