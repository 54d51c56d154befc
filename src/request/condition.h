/*
 * condition.h - IDEM_WHEN: does a request count as keyed?  IDEM_KEEP: does an
 * answer count as done?  Knows no keys and no records.
 *
 * In values, as in names, %41 stands for a byte.
 */
#ifndef REQUEST_CONDITION_H
#define REQUEST_CONDITION_H

#include "request/source.h"

/*
 * Is it a list of conditions between spaces: a place of form, query, json,
 * header or cookie, alone (it is there) or with "=a|b" (it is one of these)?
 */
bool condition_when_is_good(struct idem_span when);

/* Is there a condition on the body that a body of this request can meet? */
bool condition_when_reads_body(struct idem_span when,
    const struct idem_request *req);

/*
 * Do all hold?  when is checked.  A place with more than one value is there,
 * and is none of them; null is not there.
 */
bool condition_when_holds(struct idem_span when,
    const struct idem_request *req, struct idem_span canonical);

/*
 * Is it a list of: 2xx (1xx to 5xx), 303, json:/pointer, json:/pointer=a|b,
 * location:GLOB, where '*' stands for anything?
 */
bool condition_keep_is_good(struct idem_span keep);

bool condition_keep_reads_body(struct idem_span keep);

/* What conditions on an answer look at. */
struct condition_answer {
	unsigned status;
	struct idem_span location;  /* absent: none */
	struct idem_span canonical; /* of a JSON body; absent: none */
	bool unseen;                /* the body is too long to be looked at */
};

/*
 * Does one of them hold?  keep is checked.  A GLOB that begins with '/' is
 * compared without scheme and host.  A condition on a body that nobody could
 * look at holds below 400: to run the work again is worse than to keep.
 */
bool condition_keep_holds(struct idem_span keep,
    const struct condition_answer *answer);

/* Does one of them name the status, by class or by number? */
bool condition_keep_names(struct idem_span keep, unsigned status);

#endif
