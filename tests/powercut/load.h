/*
 * load.h - what the processes of a load share, and what one of them does.
 */
#ifndef LOAD_H
#define LOAD_H

#include "deed.h"
#include "trace.h"

#define WORKERS 4

/* What all processes see. */
struct board {
	unsigned done[WORKERS];  /* deeds begun */
	unsigned char latest[WORKERS][IDEM_ID_BYTES];
	unsigned nworking;
};

struct load {
	const char *dir, *log_path;
	int log;
	uint64_t seed;
	unsigned ndeeds;  /* of each worker */
	bool nosync, early, plain, mixed, huge, lone; /* the words */
	struct board *board;
	unsigned me;
	struct idem_store *store;
	struct idem_buf answer;
};

/* Anything else than IDEM_OK ends the process, with a line. */
void load_must(enum idem_err err, const char *what);

/* One mark in the log: what a client asked or was told, at this moment. */
void load_say(struct load *l, enum mark_kind kind, const unsigned char *id,
    struct idem_span answer);

/* A worker's next deed, from its request to its answer. */
void load_deed(struct load *l, unsigned number);

/* The client of the one that was killed asks again, here. */
void load_insist(struct load *l, const unsigned char *id);

#endif
