/*
 * deed.h - what the load asks of the store, and how to know afterwards what
 * ought to be there: keys, answers and rows are made from a few numbers.
 */
#ifndef DEED_H
#define DEED_H

#include "idem/store.h"

enum deed_kind {
	DEED_ONCE = 1, /* effect, record and answer in one commit */
	DEED_BIG,      /* the same, with an answer of several pages */
	DEED_SHORT,    /* the same, and expired as soon as it is stored */
	DEED_WORK,     /* claim, work in the world, then effect and answer */
	DEED_OUTSIDE,  /* claim, work in the world, then the answer alone */
	DEED_HOLD,     /* claim, work, and nobody knows how it ended */
	DEED_RELEASE,  /* claim, and nothing was done */
	DEED_LEFT,     /* claim, work, and its worker forgets it */
	DEED_APPLY,    /* an effect without a key */
	DEED_HUGE      /* as DEED_BIG, so big that the map soon has to grow */
};
#define DEED_KINDS ((unsigned)DEED_HUGE + 1)

/* The clock of a load: it stands still, so that only what is short expires. */
#define DEED_NOW INT64_C(1800000000000)
#define DEED_TTL (INT64_C(24) * 3600 * 1000)
#define DEED_LATER 1000 /* ms: what is short is over */
#define DEED_ANSWER_MAX 524288

/* The table of the effects: number (8, big-endian) -> id (32), random (16). */
#define DEED_ROW_BYTES 48

/* A key: kind, worker and number stand at its end, and what is before is as
 * good as random. */
void deed_id(unsigned char id[IDEM_ID_BYTES], enum deed_kind kind,
    unsigned worker, unsigned number);
enum deed_kind deed_kind_of(const unsigned char id[IDEM_ID_BYTES]);

/* Has it a row where it has a stored record? */
bool deed_has_row(enum deed_kind kind);

/* An operation on this key; token and random are drawn from *seed. */
void deed_op(struct idem_op *op, enum idem_op_kind what,
    const unsigned char id[IDEM_ID_BYTES], uint64_t *seed,
    struct idem_buf *answer);

/* The answer of DEED_OUTSIDE, into out. */
void deed_outside(const unsigned char id[IDEM_ID_BYTES],
    struct idem_buf *out);

/* Open the store as the load does; apply counts tasks and answers. */
IDEM_MUST_CHECK enum idem_err
deed_open(const char *dir, bool durable, const struct idem_log *log,
    struct idem_store **out);

/* What an answer of an effect says: the number of its row and the random bytes
 * that stand there.  false: it is no such answer. */
bool deed_read_answer(struct idem_span answer, uint64_t *number,
    unsigned char random[IDEM_RANDOM_BYTES]);

uint64_t deed_random(uint64_t *seed);

/* Text for people, cut where it does not fit. */
void deed_say(char *to, size_t cap, const char *fmt, ...) IDEM_PRINTF(3, 4);

#endif
