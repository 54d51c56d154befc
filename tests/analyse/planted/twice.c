/*
 * twice.c - planted: a block is freed twice where something went wrong.
 */
#include <stdlib.h>

int use(int bad);

int
use(int bad)
{
	char *p = malloc(4);

	if (p == NULL)
		return -1;
	if (bad)
		free(p);
	free(p); /* FAULT: gcc, clang, clang-tidy */
	return 0;
}
