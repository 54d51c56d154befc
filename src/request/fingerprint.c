/*
 * fingerprint.c - the hash of what is asked: method, target, body.  Does not
 * know who asks or what becomes of it.
 */
#include "base/sha256.h"
#include "base/text.h"
#include "idem/fingerprint.h"
#include "request/netstring.h"
#include "request/selection.h"

_Static_assert(IDEM_FINGERPRINT_BYTES == SHA256_BYTES, "the hash as it is");
_Static_assert(IDEM_FINGERPRINT_CHARS ==
    BASE64URL_BYTES(IDEM_FINGERPRINT_BYTES), "and as text");

enum body_kind { BODY_JSON, BODY_OTHER_JSON, BODY_MULTIPART, BODY_PAIRS,
	BODY_RAW };

/* One request while it is hashed. */
struct hashing {
	struct sha256 *h;
	const struct idem_request *req;
	const struct idem_selection *sel;
	bool listed; /* only what the selection lists counts */
};

enum idem_err
idem_fingerprinter_init(struct idem_fingerprinter *f, size_t max_body_bytes)
{
	size_t max = max_body_bytes > SIZE_MAX / 6 ? SIZE_MAX :
	    IDEM_JSON_ROOM(max_body_bytes);
	enum idem_err err = sha256_create(&f->hash);

	if (err != IDEM_OK)
		return err;
	idem_json_work_init(&f->json);
	idem_buf_init(&f->text, max);
	idem_buf_init(&f->pruned, max);
	idem_buf_init(&f->spare, max);
	return IDEM_OK;
}

void
idem_fingerprinter_free(struct idem_fingerprinter *f)
{
	sha256_destroy(&f->hash);
	idem_json_work_free(&f->json);
	idem_buf_free(&f->text);
	idem_buf_free(&f->pruned);
	idem_buf_free(&f->spare);
}

static bool
is_about_json(const struct idem_selection *sel)
{
	unsigned json = SOURCE_BIT(SOURCE_JSON);

	return selection_ignores_any(sel, json) ||
	    selection_lists_any(sel, json);
}

/* Old types and spellings count only where a setting asks for them: the
 * published rows have them as raw bytes. */
static enum body_kind
kind_of(const struct idem_request *req, const struct idem_selection *sel)
{
	if (span_eq_nocase(req->media, IDEM_LIT("application/json")))
		return BODY_JSON;
	if (form_kind_of(req->media) == FORM_MULTIPART)
		return BODY_MULTIPART;
	if (form_kind_of(req->media) == FORM_PAIRS)
		return sel->key.p != NULL || selection_ignores_any(sel,
		    SOURCE_BIT(SOURCE_FORM)) ? BODY_PAIRS : BODY_RAW;
	if (source_is_json(req->media) &&
	    (!span_eq_nocase(req->media, IDEM_LIT("text/json")) ||
	    is_about_json(sel)))
		return BODY_OTHER_JSON;
	return BODY_RAW;
}

/* The query without the pairs that do not count; all that is left of it is
 * raw. */
static void
put_query(const struct hashing *g)
{
	struct idem_span query = idem_request_query(g->req), raw, name, value;
	bool first = true;

	while (form_next(&query, &raw, &name, &value)) {
		if (selection_ignores(g->sel, SOURCE_QUERY,
		    (struct spelled){ name, SPELLED_FORM }))
			continue;
		sha256_update(g->h, first ? IDEM_LIT("?") : IDEM_LIT("&"));
		sha256_update(g->h, raw);
		first = false;
	}
}

static void
put_target(const struct hashing *g)
{
	struct idem_span target = g->req->target;
	unsigned query = SOURCE_BIT(SOURCE_QUERY);
	bool listed = g->listed && selection_lists_any(g->sel, query);

	if (!listed && !selection_ignores_any(g->sel, query)) {
		sha256_update(g->h, target);
		return;
	}
	sha256_update(g->h, span_first(target, span_find(target, '?')));
	if (!listed)
		put_query(g);
}

static void
start(const struct hashing *g)
{
	sha256_start(g->h);
	sha256_update(g->h, g->req->var[IDEM_VAR_METHOD]);
	sha256_update(g->h, IDEM_LIT(" "));
	put_target(g);
	sha256_update(g->h, IDEM_LIT("\n"));
}

static void
put_lower(struct sha256 *h, struct idem_span s)
{
	char lower[64];

	while (s.n > 0) {
		size_t n = s.n < sizeof lower ? s.n : sizeof lower;

		for (size_t i = 0; i < n; i++)
			lower[i] = ascii_lower(s.p[i]);
		sha256_update(h, (struct idem_span){ lower, n });
		s = span_from(s, n);
	}
}

static void
put_typed(struct sha256 *h, struct idem_span media, struct idem_span body)
{
	put_lower(h, media);
	sha256_update(h, IDEM_LIT("\n"));
	sha256_update(h, body);
}

static bool
skips_part(const void *arg, const struct multipart_part *part)
{
	const struct hashing *g = arg;

	return selection_ignores(g->sel, SOURCE_FORM, (struct spelled){
	    part->name, SPELLED_QUOTED });
}

/* As put_typed(), or without the random boundary where the body parses. */
static void
put_multipart(const struct hashing *g)
{
	const struct idem_request *req = g->req;

	sha256_update(g->h, IDEM_LIT("multipart/form-data;parts\n"));
	if (multipart_hash(req->var[IDEM_VAR_CONTENT_TYPE], req->body,
	    skips_part, g, g->h) == IDEM_OK)
		return;
	start(g);
	put_typed(g->h, req->media, req->body);
}

/* Spaces as '+' or %20, escapes in either case: one form may be sent in more
 * spellings than one. */
static void
put_pairs(const struct hashing *g)
{
	struct idem_span rest = g->req->body, name, value;

	sha256_update(g->h,
	    IDEM_LIT("application/x-www-form-urlencoded;pairs\n"));
	while (form_next(&rest, NULL, &name, &value)) {
		struct spelled n = { name, SPELLED_FORM };

		if (selection_ignores(g->sel, SOURCE_FORM, n))
			continue;
		netstring_hash(g->h, n);
		netstring_hash(g->h, (struct spelled){ value, SPELLED_FORM });
	}
}

enum idem_err
idem_fingerprint_json(struct idem_fingerprinter *f, struct idem_span text,
    struct idem_span *canonical)
{
	enum idem_err err;

	idem_buf_reset(&f->text);
	err = idem_json_canonical(&f->json, text, &f->text, NULL);
	*canonical = err == IDEM_OK ? idem_buf_span(&f->text) : IDEM_ABSENT;
	return err == IDEM_ESYNTAX || err == IDEM_EINEXACT ? IDEM_OK : err;
}

/* Can a body of this kind hold any of what is listed? */
static bool
list_fits(const struct hashing *g, enum body_kind kind,
    struct idem_span canonical)
{
	const struct idem_request *req = g->req;
	struct multipart m;

	if (!selection_is_list(g->sel->only))
		return false;
	if (req->body.n == 0 || !selection_lists_any(g->sel, SOURCES_IN_BODY))
		return true;
	if (canonical.p != NULL)
		return selection_lists_any(g->sel, SOURCE_BIT(SOURCE_JSON));
	if (!selection_lists_any(g->sel, SOURCE_BIT(SOURCE_FORM)))
		return false;
	if (kind == BODY_MULTIPART)
		return multipart_open(&m, req->var[IDEM_VAR_CONTENT_TYPE],
		    req->body);
	return form_kind_of(req->media) == FORM_PAIRS;
}

static void
put_body(const struct hashing *g, enum body_kind kind,
    struct idem_span canonical)
{
	const struct idem_request *req = g->req;

	if (g->listed) {
		sha256_update(g->h, IDEM_LIT("selected\n"));
		selection_hash(g->sel, req, canonical, g->h);
	} else if (req->body.n == 0) {
		sha256_update(g->h, IDEM_LIT("null"));
	} else if (kind == BODY_MULTIPART) {
		put_multipart(g);
	} else if (kind == BODY_PAIRS) {
		put_pairs(g);
	} else if (canonical.p == NULL) {
		put_typed(g->h, req->media, req->body);
	} else if (kind == BODY_OTHER_JSON) {
		put_typed(g->h, req->media, canonical);
	} else {
		sha256_update(g->h, canonical);
	}
}

/* The part of the text that comes of the body. */
static enum idem_err
hash_body(struct idem_fingerprinter *f, struct hashing *g,
    struct idem_span *canonical)
{
	enum body_kind kind = kind_of(g->req, g->sel);
	struct idem_span counts = IDEM_ABSENT;
	enum idem_err err = IDEM_OK;

	if (span_eq(g->sel->only, IDEM_LIT("none"))) {
		start(g);
		sha256_update(g->h, IDEM_LIT("none"));
		return IDEM_OK;
	}
	if (g->req->body.n > 0 && (kind == BODY_JSON ||
	    kind == BODY_OTHER_JSON)) {
		if (canonical->p == NULL)
			err = idem_fingerprint_json(f, g->req->body,
			    canonical);
		counts = *canonical;
	}
	if (err == IDEM_OK && counts.p != NULL &&
	    selection_ignores_any(g->sel, SOURCE_BIT(SOURCE_JSON))) {
		err = selection_prune(g->sel, counts, &f->pruned, &f->spare);
		counts = idem_buf_span(&f->pruned);
	}
	if (err != IDEM_OK)
		return err;
	g->listed = list_fits(g, kind, counts);
	start(g);
	put_body(g, kind, counts);
	return IDEM_OK;
}

enum idem_err
idem_fingerprint_selected(struct idem_fingerprinter *f,
    const struct idem_request *req, const struct idem_selection *sel,
    unsigned char out[IDEM_FINGERPRINT_BYTES], struct idem_span *canonical)
{
	struct hashing g = { .h = f->hash, .req = req, .sel = sel };
	enum idem_err err = hash_body(f, &g, canonical);

	return err != IDEM_OK ? err : sha256_finish(f->hash, out);
}

enum idem_err
idem_fingerprint(struct idem_fingerprinter *f, const struct idem_request *req,
    unsigned char out[IDEM_FINGERPRINT_BYTES], struct idem_span *canonical)
{
	static const struct idem_selection all = { .only = { NULL, 0 } };
	struct idem_span text = IDEM_ABSENT;
	enum idem_err err = idem_fingerprint_selected(f, req, &all, out, &text);

	if (canonical != NULL)
		*canonical = err == IDEM_OK ? text : IDEM_ABSENT;
	return err;
}
