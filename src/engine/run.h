/*
 * run.h - the handler's two steps outside a transaction.
 */
#ifndef ENGINE_RUN_H
#define ENGINE_RUN_H

#include "engine/walk.h"

/* Call prepare(), if there is one.  true: e->input is ready for work() and
 * commit(); false: *res is the answer.  Sets w->said. */
bool run_prepare(struct walk *w);

/* Call work().  true: commit() is to follow; false: *res is the answer.  Sets
 * w->said. */
bool run_work(struct walk *w);

#endif
