/*
 * keep.h - does an answer count as done?
 */
#ifndef ENGINE_KEEP_H
#define ENGINE_KEEP_H

#include "engine/walk.h"

/* What decides on an answer whose handler does not say what it did. */
struct keep_rules {
	struct idem_span keep; /* IDEM_KEEP; absent: not set */
	bool keep_5xx;
	bool other;            /* the key comes from no header */
};
struct keep_rules keep_rules_of(const struct walk *w);

/* As idem_policy_effect(), by IDEM_KEEP too; never IDEM_BY_STATUS.  Uses
 * e->fp.pruned. */
enum idem_effect keep_effect(struct idem_engine *e,
    const struct keep_rules *rules, enum idem_effect said,
    const struct idem_response *res);

#endif
