/*
 * exe.c - the program's own file.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/exe.h"

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

uint64_t
exe_number(void)
{
	const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
	struct stat st;
	uint64_t n;

	if (stat(SELF, &st) != 0)
		return 0;
	n = (uint64_t)st.st_ino ^ (uint64_t)st.st_dev << 48;
	n = n * odd ^ (uint64_t)st.st_ctim.tv_sec;
	return n * odd ^ (uint64_t)st.st_ctim.tv_nsec;
}

bool
exe_replaced(const struct exe *e)
{
	struct stat st;

	return e->path[0] != '\0' && stat(e->path, &st) == 0 &&
	    (st.st_dev != e->dev || st.st_ino != e->ino);
}
