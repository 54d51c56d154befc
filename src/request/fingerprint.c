/*
 * fingerprint.c - the hash of what is asked: method, target, body.  Does not
 * know who asks or what becomes of it.
 */
#include "base/sha256.h"
#include "base/text.h"
#include "idem/fingerprint.h"
#include "request/multipart.h"

_Static_assert(IDEM_FINGERPRINT_BYTES == SHA256_BYTES, "the hash as it is");
_Static_assert(IDEM_FINGERPRINT_CHARS ==
    BASE64URL_BYTES(IDEM_FINGERPRINT_BYTES), "and as text");

enum body_kind { BODY_JSON, BODY_OTHER_JSON, BODY_MULTIPART, BODY_RAW };

enum idem_err
idem_fingerprinter_init(struct idem_fingerprinter *f, size_t max_body_bytes)
{
	enum idem_err err = sha256_create(&f->hash);

	if (err != IDEM_OK)
		return err;
	idem_json_work_init(&f->json);
	idem_buf_init(&f->text, max_body_bytes > SIZE_MAX / 6 ? SIZE_MAX :
	    IDEM_JSON_ROOM(max_body_bytes));
	return IDEM_OK;
}

void
idem_fingerprinter_free(struct idem_fingerprinter *f)
{
	sha256_destroy(&f->hash);
	idem_json_work_free(&f->json);
	idem_buf_free(&f->text);
}

static enum body_kind
kind_of(struct idem_span media)
{
	static const struct idem_span suffix = IDEM_LIT_INIT("+json");

	if (span_eq_nocase(media, IDEM_LIT("application/json")))
		return BODY_JSON;
	if (span_eq_nocase(media, IDEM_LIT("multipart/form-data")))
		return BODY_MULTIPART;
	if (span_starts_nocase(media, IDEM_LIT("application/")) &&
	    media.n > suffix.n &&
	    span_eq_nocase(span_from(media, media.n - suffix.n), suffix))
		return BODY_OTHER_JSON;
	return BODY_RAW;
}

static void
start(struct sha256 *h, const struct idem_request *req)
{
	sha256_start(h);
	sha256_update(h, req->var[IDEM_VAR_METHOD]);
	sha256_update(h, IDEM_LIT(" "));
	sha256_update(h, req->target);
	sha256_update(h, IDEM_LIT("\n"));
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

/* As put_typed(), or without the random boundary where the body parses. */
static void
put_multipart(struct sha256 *h, const struct idem_request *req)
{
	sha256_update(h, IDEM_LIT("multipart/form-data;parts\n"));
	if (multipart_hash(req->var[IDEM_VAR_CONTENT_TYPE], req->body, h) ==
	    IDEM_OK)
		return;
	start(h, req);
	put_typed(h, req->media, req->body);
}

/* *text: the canonical form, or absent where the body has none. */
static enum idem_err
find_canonical(struct idem_fingerprinter *f, struct idem_span body,
    struct idem_span *text)
{
	enum idem_err err;

	idem_buf_reset(&f->text);
	err = idem_json_canonical(&f->json, body, &f->text, NULL);
	*text = err == IDEM_OK ? idem_buf_span(&f->text) : IDEM_ABSENT;
	return err == IDEM_ESYNTAX || err == IDEM_EINEXACT ? IDEM_OK : err;
}

static enum idem_err
put_body(struct idem_fingerprinter *f, const struct idem_request *req,
    struct idem_span *canonical)
{
	enum body_kind kind = kind_of(req->media);
	enum idem_err err = IDEM_OK;

	if (req->body.n == 0) {
		sha256_update(f->hash, IDEM_LIT("null"));
		return IDEM_OK;
	}
	if (kind == BODY_MULTIPART) {
		put_multipart(f->hash, req);
		return IDEM_OK;
	}
	if (kind != BODY_RAW)
		err = find_canonical(f, req->body, canonical);
	if (canonical->p == NULL)
		put_typed(f->hash, req->media, req->body);
	else if (kind == BODY_OTHER_JSON)
		put_typed(f->hash, req->media, *canonical);
	else
		sha256_update(f->hash, *canonical);
	return err;
}

enum idem_err
idem_fingerprint(struct idem_fingerprinter *f, const struct idem_request *req,
    unsigned char out[IDEM_FINGERPRINT_BYTES], struct idem_span *canonical)
{
	struct idem_span text = IDEM_ABSENT;
	enum idem_err err, bad;

	start(f->hash, req);
	bad = put_body(f, req, &text);
	err = sha256_finish(f->hash, out);
	if (canonical != NULL)
		*canonical = text;
	return bad != IDEM_OK ? bad : err;
}
