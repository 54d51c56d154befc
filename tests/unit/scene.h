/*
 * scene.h - a store and the processes on it: a child that opens it by itself,
 * and the two pipes by which parent and child wait for each other.
 */
#ifndef UNIT_SCENE_H
#define UNIT_SCENE_H

#include <sys/types.h>

#include "storekit.h"

#define MIB (1024 * 1024)

struct scene {
	struct kit kit;
	int to_child[2];
	int to_parent[2];
};

/* cmocka's setup and teardown: *state is a struct scene whose store is open. */
int scene_set(void **state);
int scene_strike(void **state);
#define SCENE(f) cmocka_unit_test_setup_teardown(f, scene_set, scene_strike)

/* One word over a pipe of the scene; the process ends where it is broken. */
void scene_tell(const int fds[2]);
/* Wait for one. */
void scene_hear(const int fds[2]);

/* A process that opens the store by itself and runs fn; it ends with the code
 * of fn. */
pid_t scene_child(struct scene *s, int (*fn)(struct scene *s));
/* It must not have ended by itself. */
void scene_kill(pid_t pid);

/* Put n bytes "x" into table 0, in an operation of its own. */
IDEM_MUST_CHECK enum idem_err
scene_put_big(struct kit *k, const char *key, size_t n);

#endif
