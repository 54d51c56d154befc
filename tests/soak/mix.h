/*
 * mix.h - what the clients of the soak ask, and what must come of it.  It knows
 * nothing of connections.
 */
#ifndef SOAK_MIX_H
#define SOAK_MIX_H

#include "idem/buf.h"

enum mix_kind {
	MIX_NEW,      /* a fresh key */
	MIX_REPLAY,   /* a key that has its answer, half of them spelt anew */
	MIX_TWIN,     /* one fresh key on two connections at once */
	MIX_MISMATCH, /* a key that has its answer, with another body */
	MIX_BAD_KEY,
	MIX_UNKEYED,
	MIX_BAD_JSON, /* a fresh key */
	MIX_GET_ONE,  /* a task whose creation was answered */
	MIX_GET_LIST,
	MIX_GET_NONE, /* a task that cannot be */
	MIX_NKINDS
};
extern const char *const mix_names[MIX_NKINDS];

#define MIX_BODY_MAX 400
#define MIX_KEPT_MS 60000 /* an older answer is not asked for again */

/* An intent that was answered: its number is its text. */
struct mix_kept {
	uint32_t number;
	int64_t at_ms; /* when it was answered */
	size_t nbody;
	char body[MIX_BODY_MAX];
};

struct mix_asked {
	enum mix_kind kind;
	struct mix_kept of; /* number, and the first answer if there is one */
	size_t pair;        /* MIX_TWIN */
};

struct mix_got {
	unsigned status;
	bool replayed; /* marked as one */
	bool retry_after;
	struct idem_span body;
};

struct mix;

struct mix *mix_new(uint64_t seed);
void mix_free(struct mix *m);
/* A number below that. */
uint32_t mix_draw(struct mix *m, uint32_t below);

/* Choose the next request and append its bytes (HTTP/1.1) to out. */
void mix_ask(struct mix *m, struct mix_asked *a, struct idem_buf *out);

/* Is it the answer that a has to get?  NULL, or what is wrong. */
const char *mix_judge(struct mix *m, const struct mix_asked *a,
    const struct mix_got *got);

/* How many tasks there must be now; how often a twin was told 409. */
uint64_t mix_effects(const struct mix *m);
uint64_t mix_conflicts(const struct mix *m);

#endif
