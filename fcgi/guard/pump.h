/*
 * pump.h - the one loop that writes to an application while it listens to it.
 * Two descriptors, a clock and bytes; it knows no protocol.
 */
#ifndef GUARD_PUMP_H
#define GUARD_PUMP_H

#include "idem/base.h"

/* What became of some bytes that were heard. */
enum pump_step {
	PUMP_ON,   /* go on */
	PUMP_STOP  /* nothing more is wanted */
};

enum pump_end {
	PUMP_ENDED,   /* the application closed its side, or broke off */
	PUMP_STOPPED, /* heard() said so */
	PUMP_LATE     /* nothing went either way for timeout_ms, or hurry and
	               * it was not over by then */
};

struct pump {
	int to_fd;   /* non-blocking; -1: nothing to write */
	int from_fd; /* non-blocking; may be to_fd */
	int64_t timeout_ms;
	bool hurry;  /* what is heard gives no more time (set by heard()) */

	/* The next bytes to write, borrowed until the next call; false: there
	 * are no more.  Where to_fd is a descriptor of its own it is then
	 * closed, as it is when nobody reads from it. */
	bool (*next)(void *arg, struct idem_span *bytes);
	enum pump_step (*heard)(void *arg, struct idem_span bytes);
	void *arg;

	uint64_t nwritten; /* bytes; 0 before */
};

/*
 * Run until the end.  from_fd stays the caller's; to_fd too where it is
 * from_fd or still open (not -1).  An application that reads no further is no
 * failure: it may answer before it has heard everything.
 */
enum pump_end pump_run(struct pump *p);

#endif
