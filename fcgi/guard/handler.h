/*
 * handler.h - the guard's one handler: the work is the application's.
 */
#ifndef GUARD_HANDLER_H
#define GUARD_HANDLER_H

#include "idem/handler.h"

/* A call's address is that of its struct errand. */
extern const struct idem_handler guard_handler;

#endif
