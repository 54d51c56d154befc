/*
 * record.h - what of a record is alike on every back end, and how it is laid
 * out in the log: the one encoder and the one decoder.
 *
 * Fixed head, then the answer to the end of the value:
 *   version 1, sum 8, state 1, recipe 1, seal 1, flags 1, id 32,
 *   fingerprint 32, token 16, claimed 8, stored 8, expires 8, length of the
 *   answer 4
 * Flags: bit 0 says that an orphan may be claimed anew.  The others are 0.
 * Sum: the first bytes of SHA-256 over all other bytes of the value, since
 * LMDB has no checksums and a flipped bit is not to be replayed to anybody.
 * Version 1 had none.
 */
#ifndef STORE_RECORD_H
#define STORE_RECORD_H

#include "idem/store.h"

#define RECORD_VERSION 2
#define RECORD_SUM_BYTES 8
#define RECORD_HEAD_BYTES 121
#define RECORD_ANSWER_MAX (UINT32_MAX - RECORD_HEAD_BYTES) /* bytes */

/*
 * Append the head of r to b.  The value to be stored is the head and, right
 * behind it, the bytes of r->answer.  An answer over RECORD_ANSWER_MAX sets
 * IDEM_ETOOBIG in b.
 */
void record_head(struct idem_buf *b, const struct idem_record *r);

/*
 * Decode a stored value; out->answer is borrowed from it.
 * IDEM_ENEWER: of a version that this program does not know.  IDEM_ECORRUPT:
 * its sum is another one, cut short, too long, or something no encoder writes.
 * IDEM_ENOMEM: it could not be summed.  *out is then undefined.
 */
IDEM_MUST_CHECK enum idem_err
record_decode(struct idem_span value, struct idem_record *out);

/* Is this the id in a stored value, sound or not?  Costs no sum. */
bool record_has_id(struct idem_span value,
    const unsigned char id[IDEM_ID_BYTES]);

/* What a claim makes of op. */
struct idem_record record_running(const struct idem_op *op);

/* done or unknown, and its time is over: it counts as absent. */
bool record_expired(const struct idem_record *r, int64_t now_ms);

#endif
