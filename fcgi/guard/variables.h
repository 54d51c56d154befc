/*
 * variables.h - the variables that an application gets: those of its request,
 * less what is the guard's own.  Knows no meaning beyond names.
 */
#ifndef GUARD_VARIABLES_H
#define GUARD_VARIABLES_H

#include "idem/buf.h"

/* Another value for a variable, whether it came or not. */
struct variables_change {
	struct idem_span name;
	struct idem_span value; /* absent: the variable goes */
};

struct variables {
	struct idem_buf text; /* of changed ones */
	struct idem_buf list; /* of const char *, ended by NULL */
};

void variables_init(struct variables *v);
void variables_free(struct variables *v);

/*
 * Make the list: vars without IDEM_*, REDIRECT_IDEM_* (however often
 * redirected) and HTTP_PROXY, which a client could set for programs that take
 * it for their proxy; then the changes.  *list borrows from v and vars.
 * IDEM_ENOMEM, IDEM_ETOOBIG.
 */
IDEM_MUST_CHECK enum idem_err
variables_make(struct variables *v, const char *const *vars,
    const struct variables_change *changes, size_t nchanges,
    const char *const **list);

#endif
