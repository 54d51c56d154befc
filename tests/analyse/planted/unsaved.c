/*
 * unsaved.c - planted: nobody asks whether what was written came to the disk.
 */
#include <stdio.h>

void save(FILE *f, const char *text);

void
save(FILE *f, const char *text)
{
	if (fputs(text, f) < 0)
		perror("fputs");
	fclose(f); /* FAULT: clang-tidy */
}
