/*
 * lend.h - values that are lent until the next write or the end of a
 * transaction.  LMDB's map stays readable after that, so that a pointer kept
 * too long seems to work; under AddressSanitizer a value is lent as a copy that
 * is freed when its time is over, and the pointer is found.
 */
#ifndef STORE_LEND_H
#define STORE_LEND_H

#include "idem/base.h"

struct lent; /* one copy */

/* s itself or a copy of it on the list. */
struct idem_span lend(struct lent **list, struct idem_span s);
/* The time of all on the list is over. */
void lend_end(struct lent **list);

#endif
