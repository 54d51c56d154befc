/*
 * hunt.h - one run over a log: what is where, and what was found.
 */
#ifndef HUNT_H
#define HUNT_H

#include <sys/types.h>

#include "disk.h"
#include "judge.h"
#include "state.h"

#define LANES 2           /* states judged at once */

struct lane {
	pid_t pid;
	struct verdict *verdict; /* shared with the child */
	char dir[4096];
	uint64_t entry;
	char how[64];
};

struct figures {
	uint64_t nstates, ncuts, nrefused, nlost, nbad, nretried, nrequests,
	    nanswers;
};

struct hunt {
	const char *log_path;
	const char *with;
	const unsigned char *log;
	uint64_t over;        /* bytes of the log, at this cut */
	uint64_t nsent;       /* answers of FastCGI, so far */
	uint64_t nlog, seed, wanted;
	struct disk disk;
	struct tale tale;
	struct state state;
	uint64_t per_open;    /* states of a cut with something pending */
	double share;         /* of all that would be too many */
	double due;
	bool copied;          /* who asked for the copy was told that it is */
	struct lane lane[LANES];
	struct figures f;
};

/* Have the chosen state judged, behind entry number entry of the log; waits for
 * a free lane only. */
void hunt_launch(struct hunt *h, uint64_t entry);
void hunt_wait(struct hunt *h); /* until all lanes are free, and empty */
/* Remove a directory of files. */
void hunt_empty(const char *dir);

#endif
