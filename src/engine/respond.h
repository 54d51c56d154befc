/*
 * respond.h - the engine's own answers.  Each sets *res and the outcome of the
 * call.  Those that are bool are always false, so that a step may return them:
 * the request is answered.
 */
#ifndef ENGINE_RESPOND_H
#define ENGINE_RESPOND_H

#include "engine/walk.h"

bool respond_problem(struct walk *w, enum idem_problem problem,
    enum idem_outcome outcome);

/* For an error of our own, before the store was asked: the log says what the
 * answer does not. */
bool respond_cannot(struct walk *w, enum idem_err err);

/* For an operation that failed: nothing happened. */
bool respond_failed(struct walk *w, enum idem_err err);

/* For a verdict that leaves the key with another request: a replay of
 * e->answer, or a problem. */
void respond_verdict(struct walk *w);

/* The answer that commit() left in e->answer. */
void respond_committed(struct walk *w, enum idem_outcome outcome);

#endif
