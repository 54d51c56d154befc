/*
 * caught.h - a log sink that keeps what was said, for tests to compare.
 */
#ifndef UNIT_CAUGHT_H
#define UNIT_CAUGHT_H

#include "idem/log.h"

struct caught {
	unsigned nlines;
	enum idem_level level;       /* of the last line */
	char text[IDEM_LOG_MAX + 1]; /* the last line; "" before the first */
};

/* A sink over c, which is emptied first. */
struct idem_log caught_log(struct caught *c);

#endif
