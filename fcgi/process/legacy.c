/*
 * legacy.c - the running workers left to the next program.
 */
#include <stdlib.h>
#include <sys/wait.h>

#include "base/text.h"
#include "process/legacy.h"

#define NAME "FRONT_WORKERS"
#define LIST_BYTES 8192 /* 512 pids of up to ten digits, with commas */

void
legacy_add(pid_t pid)
{
	const char *before = getenv(NAME);
	char list[LIST_BYTES];

	if (text_format(list, sizeof list, "%s%s%ld",
	    before != NULL ? before : "", before != NULL ? "," : "",
	    (long)pid) == IDEM_OK)
		(void)setenv(NAME, list, 1);
}

/* Anybody can write an environment: a child of ours is believed, no other. */
static bool
is_running_child(pid_t pid)
{
	int status;

	return pid > 0 && waitpid(pid, &status, WNOHANG) == 0;
}

pid_t
legacy_next(void)
{
	struct idem_span rest = span_of(getenv(NAME)), one;
	pid_t found = 0;
	uint64_t pid;
	char list[LIST_BYTES];

	while (found == 0 && span_next(&rest, ',', &one))
		if (parse_u64(one, INT32_MAX, &pid) == IDEM_OK &&
		    is_running_child((pid_t)pid))
			found = (pid_t)pid;
	if (rest.p == NULL || text_format(list, sizeof list, "%.*s",
	    IDEM_FMT(rest)) != IDEM_OK)
		(void)unsetenv(NAME);
	else
		(void)setenv(NAME, list, 1);
	return found;
}

void
legacy_clear(void)
{
	(void)unsetenv(NAME);
}
