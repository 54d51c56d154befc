/*
 * record.c - a record as a claim makes it, and its stored form.  It knows no
 * back end.
 */
#include <string.h>

#include "store/record.h"

#include "base/bytes.h"

#define FLAG_RETRY 0x01

void
record_head(struct idem_buf *b, const struct idem_record *r)
{
	if (r->answer.n > RECORD_ANSWER_MAX) {
		b->err = IDEM_ETOOBIG;
		return;
	}
	wr_u8(b, RECORD_VERSION);
	wr_u8(b, (uint8_t)r->state);
	wr_u8(b, r->recipe);
	wr_u8(b, r->seal);
	wr_u8(b, r->retry ? FLAG_RETRY : 0);
	idem_buf_put(b, r->id, sizeof r->id);
	idem_buf_put(b, r->fingerprint, sizeof r->fingerprint);
	idem_buf_put(b, r->token, sizeof r->token);
	wr_i64(b, r->claimed_ms);
	wr_i64(b, r->stored_ms);
	wr_i64(b, r->expires_ms);
	wr_u32(b, (uint32_t)r->answer.n);
}

/* What each state implies for the other fields. */
static bool
consistent(const struct idem_record *r)
{
	switch (r->state) {
	case IDEM_STATE_RUNNING:
		return r->stored_ms == 0 && r->expires_ms == INT64_MAX &&
		    r->answer.n == 0;
	case IDEM_STATE_DONE:
		return true;
	case IDEM_STATE_UNKNOWN:
		return r->answer.n == 0;
	}
	return false;
}

enum idem_err
record_decode(struct idem_span value, struct idem_record *out)
{
	struct reader r = reader_of(value);
	uint8_t version = rd_u8(&r);
	uint8_t flags;

	if (!r.bad && version > RECORD_VERSION)
		return IDEM_ENEWER;
	out->state = (enum idem_state)rd_u8(&r);
	out->recipe = rd_u8(&r);
	out->seal = rd_u8(&r);
	flags = rd_u8(&r);
	out->retry = (flags & FLAG_RETRY) != 0;
	rd_copy(&r, out->id, sizeof out->id);
	rd_copy(&r, out->fingerprint, sizeof out->fingerprint);
	rd_copy(&r, out->token, sizeof out->token);
	out->claimed_ms = rd_i64(&r);
	out->stored_ms = rd_i64(&r);
	out->expires_ms = rd_i64(&r);
	out->answer = rd_run(&r);
	if (r.bad || r.rest.n != 0 || version != RECORD_VERSION ||
	    out->recipe == 0 || (flags & ~FLAG_RETRY) != 0 || !consistent(out))
		return IDEM_ECORRUPT;
	return IDEM_OK;
}

struct idem_record
record_running(const struct idem_op *op)
{
	struct idem_record r = {
		.state = IDEM_STATE_RUNNING,
		.recipe = op->recipe,
		.retry = op->retry,
		.claimed_ms = op->now_ms,
		.expires_ms = INT64_MAX,
	};

	memcpy(r.id, op->id, sizeof r.id);
	memcpy(r.fingerprint, op->fingerprint, sizeof r.fingerprint);
	memcpy(r.token, op->token, sizeof r.token);
	return r;
}

bool
record_expired(const struct idem_record *r, int64_t now_ms)
{
	return r->state != IDEM_STATE_RUNNING && r->expires_ms <= now_ms;
}
