/*
 * json.c - the canonical form against the slow one, canonical of canonical, and
 * the fingerprint that rests on it.
 */
#include "idem/fingerprint.h"
#include "idem/json.h"
#include "json_slow.h"
#include "kit.h"

#define TEXT_MAX 20000 /* bytes: the slow form is recursive */

/* Behind something that must stay, with no byte to spare where that will do. */
static enum idem_err
canonical(struct idem_json_work *work, struct idem_span text,
    struct idem_buf *out, size_t *at)
{
	static const struct idem_span before = IDEM_LIT_INIT("before ");
	enum idem_err err;

	idem_buf_init(out, before.n + text.n + 16);
	idem_buf_puts(out, before);
	err = idem_json_canonical(work, text, out, at);
	if (err == IDEM_ETOOBIG) {
		must(out->n == before.n);
		idem_buf_free(out);
		idem_buf_init(out, before.n + IDEM_JSON_ROOM(text.n));
		idem_buf_puts(out, before);
		err = idem_json_canonical(work, text, out, at);
	}
	must(span_starts(idem_buf_span(out), before));
	memmove(out->p, out->p + before.n, out->n - before.n);
	idem_buf_cut(out, out->n - before.n);
	return err;
}

/* The text that RFC 8785's rule and the README's list make of a body. */
static void
put_expected(struct idem_buf *text, struct idem_span body, bool good,
    struct idem_span form)
{
	idem_buf_puts(text, IDEM_LIT("POST /v?x=1\n"));
	if (body.n == 0)
		idem_buf_puts(text, IDEM_LIT("null"));
	else if (good)
		idem_buf_puts(text, form);
	else {
		idem_buf_puts(text, IDEM_LIT("application/json\n"));
		idem_buf_puts(text, body);
	}
}

static void
fingerprint_is_of(struct idem_span body, bool good, struct idem_span form)
{
	static const char *const vars[] = { "REQUEST_METHOD=POST",
		"REQUEST_URI=/v?x=1", "CONTENT_TYPE=application/JSON; a=b",
		NULL };
	static struct idem_fingerprinter f; /* as a worker's: never new */
	struct kit_dice dice = kit_dice_of(body);
	struct idem_buf *text = kit_buf();
	unsigned char got[32], want[32];
	struct idem_span canonical_form;
	struct idem_request req;

	if (f.hash == NULL)
		must(idem_fingerprinter_init(&f, TEXT_MAX) == IDEM_OK);
	must(idem_request_init(&req, vars, kit_buf()) == IDEM_OK);
	req.body = body;
	must(idem_fingerprint(&f, &req, got, &canonical_form) == IDEM_OK);
	must_be(canonical_form, good && body.n > 0 ? form : IDEM_ABSENT);
	put_expected(text, body, good, form);
	kit_hash(&dice, idem_buf_span(text), want);
	must(memcmp(got, want, sizeof want) == 0);
}

void
fuzz_json(struct idem_span input)
{
	static struct idem_json_work used; /* by the inputs before this one */
	struct idem_json_work fresh;
	struct idem_buf out, again, *want = kit_buf();
	size_t at = 0, want_at = 0;
	enum idem_err err, want_err;

	if (input.n > TEXT_MAX)
		return;
	if (used.members.max_bytes == 0)
		idem_json_work_init(&used);
	want_err = json_slow(input, want, &want_at);
	must(idem_buf_err(want) == IDEM_OK);
	err = canonical(&used, input, &out, &at);
	must(err == want_err);
	must(at == want_at);
	must(span_eq(idem_buf_span(&out), idem_buf_span(want)));
	if (err == IDEM_OK) {
		idem_json_work_init(&fresh);
		must(canonical(&fresh, kit_copy(idem_buf_span(&out)), &again,
		    NULL) == IDEM_OK);
		must_be(idem_buf_span(&again), idem_buf_span(want));
		idem_buf_free(&again);
		idem_json_work_free(&fresh);
	}
	idem_buf_free(&out);
	fingerprint_is_of(input, err == IDEM_OK, idem_buf_span(want));
}
