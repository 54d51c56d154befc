/*
 * stream.c - planted: a file is left open, and what was written may be lost.
 */
#include <stdio.h>

int write_file(const char *path);

int
write_file(const char *path)
{
	FILE *f = fopen(path, "w");

	if (f == NULL)
		return -1;
	return fputs("x", f); /* FAULT: gcc */
}
