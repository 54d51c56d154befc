/*
 * failpoint.h - places where a test may kill, stop or delay the process.  In
 * the shipped programs they are nothing at all.
 */
#ifndef STORE_FAILPOINT_H
#define STORE_FAILPOINT_H

#ifdef IDEM_FAILPOINTS
#include <stdbool.h>

/*
 * The process passes the place of that name.  Names stand in a table; one that
 * does not is an abort, so that a test can go through all of them.
 *
 * IDEM_FAILPOINT="name:action[:when]" in the environment arms one, from the
 * first pass on:
 *   name    of a place, or * for all
 *   action  kill (SIGKILL to oneself), stop (SIGSTOP), delay=MILLISECONDS
 *   when    N: at the Nth pass only (default 1)
 *           1/N/SEED: at each pass with a chance of one in N; every process
 *           draws its own numbers from the seed
 */
void failpoint(const char *name);
#define FAILPOINT(name) failpoint(name)

/* Arm by hand what the environment would; NULL: nothing.  false: no such name
 * or action. */
bool failpoint_arm(const char *spec);

/* The names, one by one; NULL behind the last. */
const char *failpoint_name(unsigned i);
#else
#define FAILPOINT(name) ((void)0)
#endif

#endif
