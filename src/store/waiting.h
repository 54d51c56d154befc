/*
 * waiting.h - waiting for the end of somebody else's work: words that the
 * processes of a store share, woken by whoever ends a record; and how many wait
 * among how many.  Knows no records.
 *
 * The file's front is a table of words.  Behind it nothing is ever written:
 * each worker holds a lock on one byte there while it is attached, and on
 * another one while it waits; the kernel drops both when it ends.  Workers are
 * counted by their program: those of another one answer no request of this.
 */
#ifndef STORE_WAITING_H
#define STORE_WAITING_H

#include "idem/store.h"

#define WAITING_SLOTS 1024      /* a power of two; 8 KiB */
#define WAITING_SEATS_MAX 4096  /* workers of one store that may wait */
#define WAITING_LOOK_MS 1000    /* how often the owner's lock is looked at */
#define WAITING_SLICE_MS 100    /* how often it is asked whether to stop */

struct waiting_slot {
	_Atomic uint32_t ends;    /* goes up with every end of a record */
	_Atomic uint32_t sleepers; /* one that was killed stays counted: it
	                            * only costs a needless wake-up call */
};

struct waiting {
	int fd;                     /* -1: nobody can wait */
	struct waiting_slot *slots; /* mapped; NULL: there is no table */
	bool worker;                /* holds a seat among the attached */
	uint64_t program;           /* among whose workers it counts */
};

/*
 * Open the file, made if it is not there; path NULL: nobody ever waits.
 * worker: this process serves requests, and counts among the program's workers,
 * of which half may wait.  A failure is logged, and then this process never
 * waits.
 */
void waiting_open(struct waiting *w, const char *path, bool worker,
    uint64_t program, const struct idem_log *log);
void waiting_close(struct waiting *w);

/* A record ended: wake all who wait for it. */
void waiting_ended(struct waiting *w, const unsigned char id[IDEM_ID_BYTES]);

/* Does the work go on? */
typedef bool (*waiting_runs)(void *arg,
    const unsigned char id[IDEM_ID_BYTES]);

/*
 * Sleep until the record has ended, at most *left_ms, which goes down by what
 * it took.  runs is asked before sleeping, whenever some record ended, and each
 * WAITING_LOOK_MS.  true: it has ended.  false: the time is over; stop (NULL:
 * never) says so, heard within WAITING_SLICE_MS; or half of the attached
 * workers wait already.
 */
struct waiting_for {
	const unsigned char *id; /* IDEM_ID_BYTES */
	waiting_runs runs;
	void *runs_arg;
	bool (*stop)(void *arg);
	void *stop_arg;
};
bool waiting_for(struct waiting *w, const struct waiting_for *what,
    int64_t *left_ms);

#endif
