/*
 * main.c - tasks.fcgi: the tasks API as a program of the shared front.
 */
#include "process/program.h"
#include "tasks/service.h"

static const struct program tasks = {
	.id = SETTINGS_TASKS,
	.name = "tasks.fcgi",
	.summary = "the tasks API, its changes protected by Idempotency-Key",
	.open = service_open,
	.serve = service_serve,
	.idle = service_idle,
	.leave = service_leave,
	.close = service_close,
};

int
main(int argc, char **argv)
{
	return front_main(&tasks, argc, argv);
}
