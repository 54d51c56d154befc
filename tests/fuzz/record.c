/*
 * record.c - records: what decodes is what an encoder writes, what is encoded
 * decodes to itself.
 */
#include "base/bytes.h"
#include "kit.h"
#include "store/record.h"

#define OLD 1 /* the version without a sum */

/* version, sum over all but itself, rest. */
static struct idem_span
sealed(char version, struct idem_span rest)
{
	struct kit_dice dice = kit_dice_of(rest);
	struct idem_buf *b = kit_buf();
	unsigned char sum[32];

	idem_buf_putc(b, version);
	idem_buf_puts(b, rest);
	kit_hash(&dice, idem_buf_span(b), sum);
	idem_buf_reset(b);
	idem_buf_putc(b, version);
	idem_buf_put(b, sum, RECORD_SUM_BYTES);
	idem_buf_puts(b, rest);
	return kit_copy(idem_buf_span(b));
}

/* What an encoder writes for a record that was stored so; an old one comes out
 * as the newest. */
static struct idem_span
as_encoded(struct idem_span stored)
{
	return stored.p[0] == OLD ? sealed(RECORD_VERSION,
	    span_from(stored, 1)) : stored;
}

/* No record has bytes that an encoder would write otherwise.  true: it is
 * one. */
static bool
bytes_are_an_encoders(struct idem_span stored)
{
	static const unsigned char no_id[IDEM_ID_BYTES];
	struct idem_buf *again = kit_buf();
	struct idem_record r;
	enum idem_err err = record_decode(stored, &r);

	must(err == IDEM_OK || err == IDEM_ECORRUPT || err == IDEM_ENEWER);
	must((err == IDEM_ENEWER) == (stored.n > 0 &&
	    (unsigned char)stored.p[0] > RECORD_VERSION));
	if (err != IDEM_OK) {
		(void)record_has_id(stored, no_id); /* reads, and no more */
		return false;
	}
	must(record_has_id(stored, r.id));
	r.id[31] ^= 1;
	must(!record_has_id(stored, r.id));
	r.id[31] ^= 1;
	record_head(again, &r);
	idem_buf_puts(again, r.answer);
	must_be(idem_buf_span(again), as_encoded(stored));
	return true;
}

/* The input with the right sum, so that what is behind it is looked at. */
static void
the_rest_is_read(struct idem_span input)
{
	size_t head = input.p[0] == RECORD_VERSION ? 1 + RECORD_SUM_BYTES : 1;

	if (input.n >= head)
		(void)bytes_are_an_encoders(sealed(RECORD_VERSION,
		    span_from(input, head))); /* it may be none */
}

/* A record whose fields are the input's bytes, consistent or not. */
static bool
record_of(struct idem_span input, struct idem_record *r)
{
	struct reader in = reader_of(input);
	uint8_t bits = rd_u8(&in);

	*r = (struct idem_record){ .state = (enum idem_state)(bits % 4),
		.retry = (bits & 0x10) != 0 };
	r->recipe = rd_u8(&in);
	r->seal = rd_u8(&in);
	r->claimed_ms = rd_i64(&in);
	r->stored_ms = rd_i64(&in);
	r->expires_ms = (bits & 0x20) != 0 ? INT64_MAX : rd_i64(&in);
	rd_copy(&in, r->id, kit_below(&(struct kit_dice){ bits }, 32));
	rd_copy(&in, r->fingerprint, bits % 32);
	rd_copy(&in, r->token, bits % 16);
	r->answer = in.bad ? IDEM_LIT("") : in.rest;
	return !in.bad;
}

/* What the decoder may take, said once more. */
static bool
may_be(const struct idem_record *r)
{
	bool running = r->state == IDEM_STATE_RUNNING;

	if (r->state < IDEM_STATE_RUNNING || r->recipe == 0)
		return false;
	if (r->state != IDEM_STATE_DONE && r->answer.n > 0)
		return false;
	return !running || (r->stored_ms == 0 && r->expires_ms == INT64_MAX);
}

static void
must_be_record(const struct idem_record *a, const struct idem_record *b)
{
	must(a->state == b->state);
	must(a->recipe == b->recipe);
	must(a->seal == b->seal);
	must(a->retry == b->retry);
	must(memcmp(a->id, b->id, sizeof a->id) == 0);
	must(memcmp(a->fingerprint, b->fingerprint,
	    sizeof a->fingerprint) == 0);
	must(memcmp(a->token, b->token, sizeof a->token) == 0);
	must(a->claimed_ms == b->claimed_ms);
	must(a->stored_ms == b->stored_ms);
	must(a->expires_ms == b->expires_ms);
	must_be(a->answer, b->answer);
}

void
fuzz_record(struct idem_span input)
{
	struct kit_dice dice = kit_dice_of(input);
	struct idem_buf *stored = kit_buf();
	struct idem_record r, decoded;
	enum idem_err err;
	char *flipped;
	size_t bit;

	(void)bytes_are_an_encoders(input); /* it may be none */
	if (input.n > 0)
		the_rest_is_read(input);
	if (!record_of(input, &r))
		return;
	record_head(stored, &r);
	must(stored->n == RECORD_HEAD_BYTES);
	idem_buf_puts(stored, r.answer);
	err = record_decode(kit_copy(idem_buf_span(stored)), &decoded);
	must(err == (may_be(&r) ? IDEM_OK : IDEM_ECORRUPT));
	if (err != IDEM_OK)
		return;
	must_be_record(&r, &decoded);
	bit = kit_below(&dice, stored->n * 8);
	flipped = stored->p + bit / 8;
	*flipped = (char)(*flipped ^ 1 << bit % 8);
	must(!bytes_are_an_encoders(kit_copy(idem_buf_span(stored))));
}
