/*
 * room.c - planted: memory is written that nobody knows to be there.
 */
#include <stdlib.h>

char *one_byte(void);

char *
one_byte(void)
{
	char *p = malloc(1);

	*p = 'x'; /* FAULT: gcc */
	return p;
}
