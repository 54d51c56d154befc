/*
 * ask.h - the store is asked: w->op is filled in and carried out.
 */
#ifndef ENGINE_ASK_H
#define ENGINE_ASK_H

#include "engine/walk.h"

/* What changes nothing needs no writer's lock; the rest is for the claim.
 * false: answered from it, or the store cannot answer; true: verdict RUNNING
 * spares the claim. */
bool ask_look(struct walk *w);

/* Fill in what the policy says, a token for this claim and random bytes for
 * its handler.  false: answered, nothing can be asked of the store. */
bool ask_begin(struct walk *w);

/* The operation runs the handler of this number on e->input; 0: none, and no
 * answer. */
void ask_handler(struct walk *w, uint16_t number);

/* The operation's answer is *res, encoded in place of e->input.  As
 * answer_encode(). */
IDEM_MUST_CHECK enum idem_err ask_answer(struct walk *w);

/* Carry the operation out as kind, at the time it is now.  As
 * idem_store_submit(). */
IDEM_MUST_CHECK enum idem_err
ask_submit(struct walk *w, enum idem_op_kind kind);

#endif
