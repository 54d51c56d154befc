/*
 * op.h - an operation and its outcome as bytes, so that another process can
 * carry it out.  One writer and one reader for each.
 */
#ifndef STORE_OP_H
#define STORE_OP_H

#include "idem/store.h"

/*
 * Which handlers a process has: only a process of the same program may run an
 * operation with a handler.  Operations without one are everybody's.  0: not
 * known, the same as no other.
 */
typedef uint64_t op_program;

/* Append op, of answer only how long it may get, without verdict and
 * took_over. */
void op_encode(const struct idem_op *op, op_program program,
    struct idem_buf *out);

/*
 * The operation again; input is borrowed from bytes, answer is NULL.  *room is
 * the ceiling of the asker's answer, 0: none is wanted.
 * IDEM_ECORRUPT: bytes that op_encode() did not write.
 */
IDEM_MUST_CHECK enum idem_err
op_decode(struct idem_span bytes, struct idem_op *out, size_t *room);

/* May a process of this program run what stands in bytes? */
bool op_is_for(struct idem_span bytes, op_program program);

#define OP_OUTCOME_BYTES 7 /* of an outcome, beside its answer */

/* Append what came of op: err, verdict, took_over, and its answer. */
void op_encode_outcome(const struct idem_op *op, enum idem_err err,
    struct idem_buf *out);

/*
 * Set verdict, took_over and *op->answer (where not NULL; reset first) from
 * bytes; *err is what carrying it out returned.  IDEM_ECORRUPT: nothing is set.
 * IDEM_ENOMEM, IDEM_ETOOBIG from *op->answer: nothing else is.
 */
IDEM_MUST_CHECK enum idem_err
op_decode_outcome(struct idem_span bytes, struct idem_op *op,
    enum idem_err *err);

#endif
