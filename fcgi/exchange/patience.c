/*
 * patience.c - time that is bought by bytes taken, and how much of it can be
 * saved.
 */
#include "exchange/patience.h"

#define STEPS_BYTES ((uint64_t)PATIENCE_STEP_BYTES * (PATIENCE_TIMES_MAX - 1))

void
patience_begin(struct patience *p, int first_ms)
{
	*p = (struct patience){ .first_ms = first_ms, .left_ms = first_ms };
}

/* first_ms for each `each` bytes; n is bounded by the caller. */
static int64_t
bought_ms(const struct patience *p, uint64_t n, uint64_t each)
{
	return (int64_t)(n * (uint64_t)p->first_ms / each);
}

static uint64_t
at_most(uint64_t n, uint64_t most)
{
	return n < most ? n : most;
}

void
patience_taken(struct patience *p, uint64_t ntaken)
{
	int64_t most_ms, left_ms;

	if (ntaken <= p->ntaken)
		return;
	left_ms = p->left_ms + bought_ms(p, at_most(ntaken - p->ntaken,
	    STEPS_BYTES), PATIENCE_PACE_BYTES);
	most_ms = p->first_ms + bought_ms(p, at_most(ntaken, STEPS_BYTES),
	    PATIENCE_STEP_BYTES);
	p->left_ms = (int)(left_ms < most_ms ? left_ms : most_ms);
	p->ntaken = ntaken;
}
