/*
 * fault.h - allocations that fail on purpose: every malloc(), calloc(),
 * realloc(), strdup() and mmap() of the process and its libraries is counted,
 * and the nth may fail.
 */
#ifndef OOM_FAULT_H
#define OOM_FAULT_H

#include <stdint.h>

enum fault_mode {
	FAULT_COUNT, /* none fails */
	FAULT_ONE,   /* the nth alone */
	FAULT_FROM,  /* the nth and all that follow */
};

/*
 * One for a process; in a program that was preloaded, the file that $OOM_FILE
 * names holds it, so that a test can set and read it.
 */
struct fault {
	uint32_t mode;
	uint32_t armed;
	uint64_t n;       /* from 1 */
	uint64_t ncalls;  /* while armed */
	uint64_t nfailed;
	int64_t nlive;    /* blocks and maps that were not given back */
	uint32_t trace;   /* say on descriptor 2 where one failed */
	uint32_t attached;
};
extern struct fault *fault;

void fault_arm(enum fault_mode mode, uint64_t n);
void fault_disarm(void);

#endif
