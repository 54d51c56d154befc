/*
 * probe.h - asks a store, which may be damaged, everything that a worker and
 * the operator's command would ask it, in a process that may die of it.
 */
#ifndef FLIP_PROBE_H
#define FLIP_PROBE_H

#include "idem/store.h"

#define PROBE_KEYS_MAX 400
#define PROBE_ANSWER_MAX 20000
#define PROBE_SECONDS 4 /* a process that takes longer hangs */

/* A record of the good store. */
struct probe_known {
	enum idem_state state;
	unsigned char id[IDEM_ID_BYTES];
	unsigned char fingerprint[IDEM_FINGERPRINT_BYTES];
	size_t nanswer;
	char answer[PROBE_ANSWER_MAX];
};

/* In memory that a child shares. */
struct probe {
	char dir[200];
	int log_fd;         /* read and written by both */
	int64_t now_ms;
	size_t nknown;
	struct probe_known known[PROBE_KEYS_MAX];

	/* what came of it, as far as it got */
	bool opened;
	size_t nright, nerrors, nwrong;
	size_t nagain;      /* done once, and taken for new now */
	size_t nagain_told; /* of these, after an error line */
	bool check_ran;     /* to its end */
	uint64_t nbad;      /* that it found */
	bool finished;      /* up to a new request that was answered */
	char wrong[200];    /* the first wrong answer */
};

/* Read the good store: fills known. */
void probe_learn(struct probe *p);

enum probe_end {
	PROBE_DONE,
	PROBE_DIED,  /* by a signal */
	PROBE_HUNG
};
/* Fork, ask everything, wait. */
enum probe_end probe_run(struct probe *p);

/* Does a line of its log name the store? */
bool probe_said(const struct probe *p);

#endif
