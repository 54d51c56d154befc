/*
 * backend.c - what all back ends share.  It knows none of them.
 */
#include <inttypes.h>
#include <string.h>

#include "store/backend.h"

#define MINUTE_MS 60000
/* So many commits behind, a reader is no request that is a little slow. */
#define READER_BEHIND 1000

void
store_start(struct idem_op *op)
{
	op->verdict = IDEM_ABSENT_KEY;
	op->took_over = false;
	if (op->answer != NULL)
		idem_buf_reset(op->answer);
}

/* Held ones go by a person's hand, or when their time is over. */
static const char *
what_to_do(const struct store_full *full)
{
	if (full->evicts)
		return "the oldest go";
	if (full->nheld > full->nlooked / 2)
		return "new keys are refused: most of them are of unknown "
		    "outcome, see \"idem list --state unknown\" and \"idem "
		    "resolve\", or raise it";
	return "new keys are refused: run \"idem sweep\", or raise it";
}

void
idem_room_warn(const struct idem_log *log, int reader_pid,
    uint64_t reader_behind)
{
	if (reader_behind >= READER_BEHIND)
		idem_log(log, IDEM_WARN, "process %d has been reading the "
		    "store for %" PRIu64 " commits: what is deleted makes no "
		    "room before it ends: end it", reader_pid, reader_behind);
}

void
store_tell_full(struct idem_store *s, int64_t now_ms,
    const struct store_full *full)
{
	/* A clock that was set back must not silence the line. */
	if (s->told_full && now_ms >= s->told_full_ms &&
	    now_ms - s->told_full_ms < MINUTE_MS)
		return;
	s->told_full = true;
	s->told_full_ms = now_ms;
	idem_log(s->log, IDEM_WARN, "the store is full: %s=%" PRIu64
	    " is met, %" PRIu64 " records are held; %s", full->name,
	    full->limit, full->nrecords, what_to_do(full));
	idem_room_warn(s->log, full->reader_pid, full->reader_behind);
}

enum idem_err
store_look_at(const struct idem_store *s, const struct idem_record *r,
    struct idem_op *op)
{
	if (r->recipe != op->recipe)
		return IDEM_ENEWER;
	if (memcmp(r->fingerprint, op->fingerprint, sizeof r->fingerprint) != 0)
		op->verdict = IDEM_MISMATCH;
	else if (r->state == IDEM_STATE_DONE)
		op->verdict = IDEM_REPLAY;
	else if (r->state == IDEM_STATE_RUNNING &&
	    liveness_alive(&s->live, r->token))
		op->verdict = IDEM_RUNNING;
	return IDEM_OK;
}

int64_t
store_expiry(int64_t now_ms, int64_t ttl_ms)
{
	return now_ms > 0 && ttl_ms > INT64_MAX - now_ms ? INT64_MAX :
	    now_ms + ttl_ms;
}
