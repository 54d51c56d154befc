/*
 * caught.c - a log sink that keeps what was said, for tests to compare.
 */
#include <string.h>

#include "caught.h"

static void
catch_line(void *arg, enum idem_level level, const char *text)
{
	struct caught *c = arg;

	c->nlines++;
	c->level = level;
	memcpy(c->text, text, strlen(text) + 1);
}

struct idem_log
caught_log(struct caught *c)
{
	memset(c, 0, sizeof *c);
	return (struct idem_log){ catch_line, c };
}
