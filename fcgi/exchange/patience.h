/*
 * patience.h - how long a peer may still let an answer stand.  Knows neither a
 * clock nor a socket.
 *
 * A web server takes what it has room for, and has room again when a third of
 * what it holds for its client has gone: Apache holds up to 4 MiB (tcp_wmem),
 * so that 1.4 MB are a step, and at 20 KB a second that is 70 s.  Who took that
 * much before may let us wait for it; who takes nothing may not.
 */
#ifndef FRONT_PATIENCE_H
#define FRONT_PATIENCE_H

#include "idem/base.h"

/* So many bytes buy first_ms again: with 10 s that is 0.8 KiB a second. */
#define PATIENCE_PACE_BYTES 8192
/* What is saved up for one wait may be first_ms, and as much again for each so
 * many bytes: with 10 s and 4 MiB taken, a third of them at 5.3 KB a second. */
#define PATIENCE_STEP_BYTES (160 * 1024)
/* With 10 s this is 300 s, after which Apache gives its client up (Debian's
 * Timeout). */
#define PATIENCE_TIMES_MAX 30

struct patience {
	int first_ms;     /* for a peer that takes nothing */
	int left_ms;      /* 0: it is at an end */
	uint64_t ntaken;  /* bytes of the answer */
};

void patience_begin(struct patience *p, int first_ms);
/* The peer has taken so many bytes in all; fewer than before count as none. */
void patience_taken(struct patience *p, uint64_t ntaken);

#endif
