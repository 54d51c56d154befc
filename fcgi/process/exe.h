/*
 * exe.h - the program's own file: where it lies, and whether it was replaced.
 */
#ifndef FRONT_EXE_H
#define FRONT_EXE_H

#include <limits.h>
#include <sys/types.h>

#include "idem/base.h"

struct exe {
	char path[PATH_MAX]; /* "": unknown, and then never replaced */
	dev_t dev;
	ino_t ino;
};

/* At the start: later the path would be that of a deleted file. */
void exe_find(struct exe *e);

/*
 * A number that names the running file, by its device, inode and time of the
 * last change: two processes with equal ones run the same code.  0: not known.
 */
uint64_t exe_number(void);

/* Does another file stand at the path now?  A missing one does not count: who
 * left would not come back. */
bool exe_replaced(const struct exe *e);

#endif
