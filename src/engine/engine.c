/*
 * engine.c - the process's engine, and its handlers inside a write transaction.
 * Knows nothing of the request that an operation came from.
 */
#include "engine/answer.h"
#include "engine/walk.h"

#define KEY_MAX_BYTES (64 * 1024) /* all parts of a key, with their lengths */

static const char *const outcome_names[] = {
	[IDEM_O_UNPROTECTED] = "unprotected",
	[IDEM_O_CREATED] = "created",
	[IDEM_O_RELEASED] = "released",
	[IDEM_O_HELD] = "held",
	[IDEM_O_REPLAYED] = "replayed",
	[IDEM_O_MISMATCH] = "mismatch",
	[IDEM_O_RUNNING] = "running",
	[IDEM_O_UNKNOWN] = "unknown",
	[IDEM_O_REFUSED] = "refused",
	[IDEM_O_FULL] = "full",
	[IDEM_O_DOWN] = "down",
	[IDEM_O_LOST] = "lost",
};
_Static_assert(sizeof outcome_names / sizeof outcome_names[0] ==
    (size_t)IDEM_O_LOST + 1, "one name per outcome");

const char *
idem_outcome_name(enum idem_outcome o)
{
	return outcome_names[o];
}

enum idem_err
idem_engine_init(struct idem_engine *e, size_t max_bytes)
{
	/* Fields and body, and lengths and a status. */
	size_t encoded = 2 * max_bytes + 64;

	idem_buf_init(&e->key, KEY_MAX_BYTES);
	idem_buf_init(&e->input, encoded);
	idem_buf_init(&e->answer, encoded);
	idem_response_init(&e->scratch, max_bytes);
	return idem_fingerprinter_init(&e->fp, max_bytes);
}

void
idem_engine_free(struct idem_engine *e)
{
	idem_fingerprinter_free(&e->fp);
	idem_response_free(&e->scratch);
	idem_buf_free(&e->answer);
	idem_buf_free(&e->input);
	idem_buf_free(&e->key);
}

void
idem_engine_rest(struct idem_engine *e, size_t keep_bytes)
{
	struct idem_buf *const all[] = {
		&e->input, &e->answer, &e->scratch.fields, &e->scratch.body,
		&e->fp.text, &e->fp.pruned, &e->fp.spare,
		&e->fp.json.members, &e->fp.json.moved,
	};

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		idem_buf_trim(all[i], keep_bytes);
}

/* What a route's policy says of the answer travels in the operation. */
#define FLAG_KEEP_5XX (UINT32_C(1) << 31)
#define FLAG_OTHER (UINT32_C(1) << 30)
#define MAX_RESPONSE_MASK (FLAG_OTHER - 1)

uint32_t
walk_apply_flags(const struct walk *w)
{
	const struct idem_policy *p = w->call->policy;
	uint32_t max = p->max_response_bytes > MAX_RESPONSE_MASK ?
	    MAX_RESPONSE_MASK : (uint32_t)p->max_response_bytes;

	return max | (p->keep_5xx ? FLAG_KEEP_5XX : 0) |
	    (w->other ? FLAG_OTHER : 0);
}

/* IDEM_KEEP and IDEM_KEEP_HEADERS are the process's own. */
static enum idem_effect
effect_of(struct idem_engine *e, const struct idem_op *op,
    enum idem_effect said, const struct idem_response *res)
{
	const struct walk_judge judge = { e->policy->keep,
		(op->apply_flags & FLAG_KEEP_5XX) != 0,
		(op->apply_flags & FLAG_OTHER) != 0 };

	return walk_effect(e, &judge, said, res);
}

static const struct idem_handler *
find_handler(const struct idem_engine *e, uint16_t number)
{
	for (size_t i = 0; i < e->nhandlers; i++)
		if (e->handlers[i]->number == number)
			return e->handlers[i];
	return NULL;
}

enum idem_err
idem_engine_apply(void *arg, struct idem_tables *t, const struct idem_op *op,
    struct idem_buf *answer, struct idem_applied *out)
{
	struct idem_engine *e = arg;
	const struct idem_handler *handler = find_handler(e, op->apply);
	struct idem_response *res = &e->scratch;
	enum idem_effect said;

	*out = (struct idem_applied){ .effect = IDEM_NONE };
	if (op->apply == WALK_APPLY_NOTHING)
		return IDEM_OK;
	if (handler == NULL || handler->commit == NULL) {
		idem_log(e->log, IDEM_ERROR, "no handler number %u here: "
		    "another version of the program asks", op->apply);
		return IDEM_EREFUSED;
	}
	idem_response_reset(res);
	said = handler->commit(e->app, t, op, res);
	out->effect = effect_of(e, op, said, res);
	out->undo = out->effect == IDEM_DONE && res->status >= 500;
	return answer_encode(res, &(struct answer_rules){
	    .keep_headers = e->policy->keep_headers,
	    .max_body_bytes = op->apply_flags & MAX_RESPONSE_MASK },
	    answer, &out->kept_bytes);
}
