/*
 * record.c - a record as a claim makes it, and its stored form.  It knows no
 * back end.
 */
#include <string.h>

#include "store/record.h"

#include "base/bytes.h"
#include "base/sha256.h"
#include "base/text.h"

#define FLAG_RETRY 0x01
#define ID_AT 4 /* behind the sum: state, recipe, seal, flags */

/* One row a version: what stands between its byte and the state. */
static const struct {
	size_t sum_bytes;
} versions[] = {
	[1] = { 0 },
	[RECORD_VERSION] = { RECORD_SUM_BYTES },
};
#define NVERSIONS (sizeof versions / sizeof versions[0])

/* The sum of a value whose head stands up to its own sum in head, and the rest
 * of it in two parts. */
static enum idem_err
sum_of(struct idem_span version, struct idem_span head,
    struct idem_span answer, unsigned char sum[SHA256_BYTES])
{
	const struct idem_span parts[] = { version, head, answer };

	return sha256_of(parts, sizeof parts / sizeof parts[0], sum);
}

/* Into the place that was kept for it. */
static void
put_sum(struct idem_buf *b, size_t at, struct idem_span answer)
{
	struct idem_span whole = idem_buf_span(b);
	unsigned char sum[SHA256_BYTES];

	if (b->err != IDEM_OK)
		return;
	whole = span_from(whole, at);
	b->err = sum_of(span_first(whole, 1),
	    span_from(whole, 1 + RECORD_SUM_BYTES), answer, sum);
	memcpy(b->p + at + 1, sum, RECORD_SUM_BYTES);
}

void
record_head(struct idem_buf *b, const struct idem_record *r)
{
	static const unsigned char no_sum[RECORD_SUM_BYTES];
	size_t at = b->n;

	if (r->answer.n > RECORD_ANSWER_MAX) {
		b->err = IDEM_ETOOBIG;
		return;
	}
	wr_u8(b, RECORD_VERSION);
	idem_buf_put(b, no_sum, sizeof no_sum);
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
	put_sum(b, at, r->answer);
}

/* Read the sum, where the version has one, and compare. */
static enum idem_err
check_sum(struct reader *r, struct idem_span value, size_t sum_bytes)
{
	struct idem_span stored = rd_bytes(r, sum_bytes);
	unsigned char sum[SHA256_BYTES];
	enum idem_err err;

	if (r->bad || sum_bytes == 0)
		return r->bad ? IDEM_ECORRUPT : IDEM_OK;
	if ((err = sum_of(span_first(value, 1), r->rest, IDEM_ABSENT, sum)) !=
	    IDEM_OK)
		return err;
	return memcmp(stored.p, sum, sum_bytes) == 0 ? IDEM_OK : IDEM_ECORRUPT;
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
	enum idem_err err;

	if (version >= NVERSIONS)
		return IDEM_ENEWER;
	if ((err = check_sum(&r, value, versions[version].sum_bytes)) !=
	    IDEM_OK)
		return err;
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
	if (r.bad || r.rest.n != 0 || version == 0 ||
	    out->recipe == 0 || (flags & ~FLAG_RETRY) != 0 || !consistent(out))
		return IDEM_ECORRUPT;
	return IDEM_OK;
}

bool
record_has_id(struct idem_span value, const unsigned char id[IDEM_ID_BYTES])
{
	struct reader r = reader_of(value);
	uint8_t version = rd_u8(&r);
	struct idem_span stored;

	if (version >= NVERSIONS)
		return false;
	(void)rd_bytes(&r, versions[version].sum_bytes);
	(void)rd_bytes(&r, ID_AT);
	stored = rd_bytes(&r, IDEM_ID_BYTES);
	return stored.p != NULL && memcmp(stored.p, id, IDEM_ID_BYTES) == 0;
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
