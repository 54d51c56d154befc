/*
 * apply.h - what of a request travels to its handler inside a transaction.
 */
#ifndef ENGINE_APPLY_H
#define ENGINE_APPLY_H

#include "engine/walk.h"

/* Number of no handler: an operation that finds out and changes nothing. */
#define APPLY_NOTHING UINT16_MAX

/* What of the policy and the key decides there, as struct idem_op carries it:
 * keep_5xx, max_response_bytes, other. */
uint32_t apply_flags(const struct walk *w);

#endif
