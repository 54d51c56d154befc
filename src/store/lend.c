/*
 * lend.c - copies of lent values, in builds with AddressSanitizer.
 */
#include <stdlib.h>
#include <string.h>

#include "store/lend.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LEND_COPIES 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define LEND_COPIES 1
#endif

#ifdef LEND_COPIES

struct lent {
	struct lent *next;
	char bytes[];
};

struct idem_span
lend(struct lent **list, struct idem_span s)
{
	struct lent *copy;

	if (s.p == NULL || (copy = malloc(sizeof *copy + s.n)) == NULL)
		return s;
	memcpy(copy->bytes, s.p, s.n);
	copy->next = *list;
	*list = copy;
	return (struct idem_span){ copy->bytes, s.n };
}

void
lend_end(struct lent **list)
{
	struct lent *next;

	for (; *list != NULL; *list = next) {
		next = (*list)->next;
		free(*list);
	}
}

#else

struct idem_span
lend(struct lent **list, struct idem_span s)
{
	(void)list; /* the value itself is lent */
	return s;
}

void
lend_end(struct lent **list)
{
	(void)list; /* nothing was copied */
}

#endif
