/*
 * charge.c - a CGI program behind the guard that knows nothing of keys: every
 * request charges, and each charge is a line in a ledger outside.
 *
 * The body is "intent=NAME&before=MS&after=MS": the ledger's line, and how long
 * it works before and after that.  No two answers are the same.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BODY_BYTES 512

static void
work(const char *body, const char *name)
{
	const char *at = strstr(body, name);
	long ms = at == NULL ? 0 : strtol(at + strlen(name), NULL, 10);
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
	char body[BODY_BYTES + 1];
	size_t n = fread(body, 1, BODY_BYTES, stdin);
	struct timespec now;
	const char *intent;

	body[n] = '\0';
	intent = strstr(body, "intent=");
	if (intent == NULL)
		return 1;
	intent += strlen("intent=");
	work(body, "before=");
	if (!append(intent, (int)strcspn(intent, "&")))
		return 1;
	work(body, "after=");
	clock_gettime(CLOCK_REALTIME, &now);
	printf("Status: 201\r\nContent-Type: application/json\r\n"
	    "Location: /charge.php?number=%ld-%ld\r\n\r\n"
	    "{\"process\":%ld,\"at\":%ld}\n", (long)getpid(), now.tv_nsec,
	    (long)getpid(), (long)now.tv_nsec);
	return fflush(stdout) != 0;
}
