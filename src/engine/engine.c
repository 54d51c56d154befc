/*
 * engine.c - the process's engine: its buffers, and the words for how a request
 * ended.  Knows no request.
 */
#include "idem/wrap.h"

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
