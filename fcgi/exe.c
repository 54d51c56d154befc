/*
 * exe.c - the program's own file.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exe.h"

#define SELF "/proc/self/exe"

void
exe_find(struct exe *e)
{
	struct stat st;
	ssize_t n;

	memset(e, 0, sizeof *e);
	if (stat(SELF, &st) != 0)
		return;
	n = readlink(SELF, e->path, sizeof e->path);
	if (n < 0 || (size_t)n == sizeof e->path)
		e->path[0] = '\0';
	e->dev = st.st_dev;
	e->ino = st.st_ino;
}

bool
exe_replaced(const struct exe *e)
{
	struct stat st;

	return e->path[0] != '\0' && stat(e->path, &st) == 0 &&
	    (st.st_dev != e->dev || st.st_ino != e->ino);
}
