/*
 * task_handlers.h - the handlers that change tasks.
 */
#ifndef TASKS_TASK_HANDLERS_H
#define TASKS_TASK_HANDLERS_H

#include "idem/handler.h"

/* Numbers stay what they are: an older worker may carry the operation out. */
enum task_handler {
	TASK_CREATE = 1,
	TASK_CREATE_SLOWLY = 2, /* waits IDEM_TASK_DELAY_MS outside the store */
	TASK_REPLACE = 3,
	TASK_PATCH = 4,
	TASK_DELETE = 5
};

/* For the engine's list; a call's app and call are those of struct turn. */
#define TASK_NHANDLERS 5
extern const struct idem_handler *const task_handlers[TASK_NHANDLERS];

const struct idem_handler *task_handler(enum task_handler number);

#endif
