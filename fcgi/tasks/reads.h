/*
 * reads.h - the answers to GET on tasks, read without the writer's lock.
 */
#ifndef TASKS_READS_H
#define TASKS_READS_H

#include "tasks/turn.h"

void reads_list(struct turn *t);
void reads_task(struct turn *t);

#endif
