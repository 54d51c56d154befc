/*
 * op.c - an operation and its outcome as bytes.
 */
#include <string.h>

#include "base/bytes.h"
#include "store/op.h"

enum { FLAG_RETRY = 1, FLAG_EVICT = 2, FLAG_INPUT = 4, FLAG_TOOK_OVER = 1 };

void
op_encode(const struct idem_op *op, op_program program, struct idem_buf *out)
{
	unsigned flags = (op->retry ? FLAG_RETRY : 0u) |
	    (op->evict ? FLAG_EVICT : 0u) |
	    (op->input.p != NULL ? FLAG_INPUT : 0u);

	wr_u64(out, program);
	wr_u16(out, op->apply);
	wr_u8(out, (uint8_t)op->kind);
	wr_u8(out, (uint8_t)flags);
	wr_u8(out, op->recipe);
	wr_u32(out, op->apply_flags);
	idem_buf_put(out, op->id, sizeof op->id);
	idem_buf_put(out, op->fingerprint, sizeof op->fingerprint);
	idem_buf_put(out, op->token, sizeof op->token);
	idem_buf_put(out, op->random, sizeof op->random);
	wr_i64(out, op->now_ms);
	wr_i64(out, op->ttl_ms);
	wr_i64(out, op->unknown_ttl_ms);
	wr_i64(out, op->min_keep_ms);
	wr_u64(out, op->max_keys);
	wr_u64(out, op->kept_bytes);
	wr_u64(out, op->answer == NULL ? 0 : op->answer->max_bytes);
	wr_run(out, op->input);
}

static bool
sound(const struct reader *r, const struct idem_op *op, unsigned flags,
    size_t room)
{
	bool handler = op->apply != 0;

	return !r->bad && r->rest.n == 0 && (unsigned)op->kind < IDEM_NOPS &&
	    flags <= (FLAG_RETRY | FLAG_EVICT | FLAG_INPUT) &&
	    ((flags & FLAG_INPUT) != 0 || op->input.n == 0) &&
	    op->kept_bytes <= op->input.n && (!handler || room > 0) &&
	    (handler || op->kind != IDEM_OP_APPLY);
}

enum idem_err
op_decode(struct idem_span bytes, struct idem_op *out, size_t *room)
{
	struct reader r = reader_of(bytes);
	struct idem_op op = { .verdict = IDEM_ABSENT_KEY };
	unsigned flags;
	size_t answer_max;

	(void)rd_u64(&r); /* the program: see op_is_for() */
	op.apply = rd_u16(&r);
	op.kind = (enum idem_op_kind)rd_u8(&r);
	flags = rd_u8(&r);
	op.recipe = rd_u8(&r);
	op.apply_flags = rd_u32(&r);
	rd_copy(&r, op.id, sizeof op.id);
	rd_copy(&r, op.fingerprint, sizeof op.fingerprint);
	rd_copy(&r, op.token, sizeof op.token);
	rd_copy(&r, op.random, sizeof op.random);
	op.now_ms = rd_i64(&r);
	op.ttl_ms = rd_i64(&r);
	op.unknown_ttl_ms = rd_i64(&r);
	op.min_keep_ms = rd_i64(&r);
	op.max_keys = rd_u64(&r);
	op.kept_bytes = rd_u64(&r);
	answer_max = rd_u64(&r);
	op.input = rd_run(&r);
	if (!sound(&r, &op, flags, answer_max))
		return IDEM_ECORRUPT;
	op.retry = flags & FLAG_RETRY;
	op.evict = flags & FLAG_EVICT;
	if (!(flags & FLAG_INPUT))
		op.input = IDEM_ABSENT;
	*out = op;
	*room = answer_max;
	return IDEM_OK;
}

bool
op_is_for(struct idem_span bytes, op_program program)
{
	struct reader r = reader_of(bytes);
	op_program whose = rd_u64(&r);
	uint16_t apply = rd_u16(&r);

	return apply == 0 || (whose == program && whose != 0);
}

void
op_encode_outcome(const struct idem_op *op, enum idem_err err,
    struct idem_buf *out)
{
	wr_u8(out, (uint8_t)err);
	wr_u8(out, (uint8_t)op->verdict);
	wr_u8(out, op->took_over ? FLAG_TOOK_OVER : 0);
	wr_run(out, op->answer == NULL || err != IDEM_OK ? IDEM_LIT("") :
	    idem_buf_span(op->answer));
}

enum idem_err
op_decode_outcome(struct idem_span bytes, struct idem_op *op,
    enum idem_err *err)
{
	struct reader r = reader_of(bytes);
	unsigned code = rd_u8(&r), verdict = rd_u8(&r), flags = rd_u8(&r);
	struct idem_span answer = rd_run(&r);
	enum idem_err copied = IDEM_OK;

	if (r.bad || r.rest.n > 0 || code >= IDEM_NERRORS ||
	    verdict >= IDEM_NVERDICTS || flags > FLAG_TOOK_OVER ||
	    (code != IDEM_OK && answer.n > 0))
		return IDEM_ECORRUPT;
	if (op->answer != NULL) {
		idem_buf_reset(op->answer);
		idem_buf_puts(op->answer, answer);
		copied = idem_buf_err(op->answer);
	}
	if (copied != IDEM_OK)
		return copied;
	op->verdict = (enum idem_verdict)verdict;
	op->took_over = flags & FLAG_TOOK_OVER;
	*err = (enum idem_err)code;
	return IDEM_OK;
}
