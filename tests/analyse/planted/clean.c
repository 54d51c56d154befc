/*
 * clean.c - nothing is wrong here: whoever finds something finds too much.
 */
#include <stdlib.h>
#include <string.h>

char *copy_of(const char *text);

char *
copy_of(const char *text)
{
	size_t n = strlen(text) + 1;
	char *p = malloc(n);

	if (p != NULL)
		memcpy(p, text, n);
	return p;
}
