/*
 * liveness.h - is the worker of a claim alive?  A claim is a lock on one byte
 * of a file, which the kernel drops when its process ends, however it ends.
 *
 * The byte's offset is taken from the claim's random token, so "dead" is for
 * ever and there is nothing to clean up.  Every program of the store takes it
 * in the same way: the first 8 bytes of the token, big-endian, without the
 * lowest 2 bits.
 */
#ifndef STORE_LIVENESS_H
#define STORE_LIVENESS_H

#include "idem/store.h"

#define LIVENESS_HELD_MAX 16 /* claims of one process at a time */

struct liveness {
	int fd;      /* -1: no other process can ask */
	bool posix;  /* open-file-description locks are refused here */
	size_t nheld;
	/* A process does not see its own locks, so it remembers them. */
	unsigned char held[LIVENESS_HELD_MAX][IDEM_TOKEN_BYTES];
	const struct idem_log *log;
};

/*
 * Open the file, made if it is not there; path NULL: a store of one process.
 * After fork, and once a process: where only POSIX locks can be had, closing
 * any other descriptor of this file drops them all.
 * IDEM_ESTORE with a log line.
 */
IDEM_MUST_CHECK enum idem_err
liveness_open(struct liveness *l, const char *path, const struct idem_log *log);
void liveness_close(struct liveness *l);

/*
 * Lock the byte of this token.  A token that is held already stays so.
 * IDEM_EBUSY with a log line: somebody else holds it, or no lock is to be had.
 */
IDEM_MUST_CHECK enum idem_err
liveness_hold(struct liveness *l, const unsigned char token[IDEM_TOKEN_BYTES]);

/* Unlock it; one that is not held is fine. */
void liveness_drop(struct liveness *l,
    const unsigned char token[IDEM_TOKEN_BYTES]);

/* true: locked by anybody, or nobody can say. */
bool liveness_alive(const struct liveness *l,
    const unsigned char token[IDEM_TOKEN_BYTES]);

#endif
