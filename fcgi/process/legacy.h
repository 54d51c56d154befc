/*
 * legacy.h - the running workers that a supervisor leaves to the program it
 * executes anew: their pids, in the environment.
 */
#ifndef FRONT_LEGACY_H
#define FRONT_LEGACY_H

#include <sys/types.h>

/* Leave one more; where there is no room it will end unwatched. */
void legacy_add(pid_t pid);

/* Take the next one that is a running child of this process; 0: no more. */
pid_t legacy_next(void);

void legacy_clear(void);

#endif
