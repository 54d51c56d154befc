/*
 * conditions.h - If-Match and If-None-Match (RFC 9110 13.1).  Knows no tasks.
 */
#ifndef TASKS_CONDITIONS_H
#define TASKS_CONDITIONS_H

#include "idem/base.h"

/*
 * Does the field value name etag, which is strong?  "*" names everything that
 * exists.  Strong: a tag with W/ never matches (RFC 9110 8.8.3.2).  What does
 * not parse matches nothing from there on.
 */
enum etag_comparison { ETAG_STRONG, ETAG_WEAK };
bool conditions_name(struct idem_span field, struct idem_span etag,
    enum etag_comparison how);

/* Is a change of what has this etag allowed?  Absent fields allow it. */
bool conditions_allow(struct idem_span if_match, struct idem_span if_none_match,
    struct idem_span etag);

#endif
