/*
 * told.h - what clients were told up to a point of the log: what must still
 * hold after a power cut there.
 */
#ifndef TOLD_H
#define TOLD_H

#include "deed.h"
#include "trace.h"

#define TOLD_MAX 8192

struct told {
	enum mark_kind what;      /* the last that was said of this key */
	enum deed_kind deed;
	unsigned char id[IDEM_ID_BYTES];
	struct idem_span answer;  /* in the log; empty: which one is not said */
};

struct tale {
	struct told told[TOLD_MAX];
	size_t n;
	size_t nanswers;          /* answered, held, released, applied */
	uint32_t at[2 * TOLD_MAX]; /* by id: 1 + its place */
	bool two;                 /* one key, two answers */
};

/* Take a mark of the log. */
void tale_add(struct tale *t, const struct trace_entry *e);
/* NULL: nobody asked for it. */
struct told *tale_find(struct tale *t, const unsigned char *id);

#endif
