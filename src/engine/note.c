/*
 * note.c - what the log is told of a request.  Decides nothing.
 */
#include "base/bytes.h"
#include "base/text.h"
#include "engine/note.h"

#define ID_SHOWN_BYTES 4 /* of the record's name, in a line */

void
note_line(const struct walk *w, enum idem_level level, const char *what,
    const char *why)
{
	char id[2 * ID_SHOWN_BYTES];

	hex_lower(w->op.id, ID_SHOWN_BYTES, id);
	idem_log(w->e->log, level, "request=%s id=%.*s: %s%s%s",
	    w->call->request_id, (int)sizeof id, id, what,
	    why == NULL ? "" : ": ", why == NULL ? "" : why);
}

/* 64 bits that stand for key and fingerprint (FNV-1a over the key). */
static uint64_t
same_request(const struct walk *w)
{
	uint64_t h = u64_from_key(w->op.fingerprint);
	struct idem_span key = idem_buf_span(&w->e->key);

	for (size_t i = 0; i < key.n; i++)
		h = (h ^ (unsigned char)key.p[i]) *
		    UINT64_C(0x100000001b3);
	return h;
}

void
note_other_scope(struct walk *w)
{
	if (!idem_store_other_scope(w->e->store, same_request(w), w->op.id,
	    w->op.now_ms))
		return;
	note_line(w, IDEM_WARN, "the same key and content came under another "
	    "scope less than ten minutes ago; IDEM_SCOPE must not change "
	    "between two tries", NULL);
}

void
note_take_over(struct walk *w)
{
	if (w->op.took_over)
		note_line(w, IDEM_WARN, "done again, as an earlier try ended "
		    "without an answer", NULL);
}
