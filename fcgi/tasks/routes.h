/*
 * routes.h - which request is answered by what.
 */
#ifndef TASKS_ROUTES_H
#define TASKS_ROUTES_H

#include "tasks/turn.h"

/*
 * Answer t, whose path is set: by its route, or with 404, or with 405 and
 * Allow; OPTIONS with Allow and, to a preflight, with what CORS allows.
 */
void routes_answer(struct turn *t);

#endif
