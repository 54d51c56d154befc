/*
 * claim.h - take a key, waiting for the request that has it.
 */
#ifndef ENGINE_CLAIM_H
#define ENGINE_CLAIM_H

#include "engine/walk.h"

/*
 * Take the key as kind, with e->input or without; where its record is running
 * elsewhere, wait for its end and ask again, as long as IDEM_WAIT and the
 * request's Prefer allow.  false: answered from the record.  true: the store
 * was asked and said *err; where that is IDEM_OK, w->op.verdict counts.
 */
bool claim_key(struct walk *w, enum idem_op_kind kind, enum idem_err *err);

#endif
