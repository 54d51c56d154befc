/*
 * freed.c - planted: a block is read after it was freed.
 */
#include <stdlib.h>

struct link {
	struct link *next;
};

void free_all(struct link *l);

void
free_all(struct link *l)
{
	while (l != NULL) {
		free(l);
		l = l->next; /* FAULT: gcc, clang, clang-tidy */
	}
}
