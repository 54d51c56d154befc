/*
 * main.c - guard.fcgi: idempotency in front of an application that knows
 * nothing of it, as a program of the shared front.
 */
#include "guard/service.h"
#include "process/program.h"

static const struct program guard = {
	.id = SETTINGS_GUARD,
	.name = "guard.fcgi",
	.summary = "an application behind it gets each keyed request once",
	.check = guard_check,
	.open = guard_open,
	.serve = guard_serve,
	.idle = guard_idle,
	.leave = guard_leave,
	.close = guard_close,
};

int
main(int argc, char **argv)
{
	return front_main(&guard, argc, argv);
}
