/*
 * fingerprint.h - the hash of what is asked: SHA-256 over
 *
 *   METHOD SP target LF body
 *
 * where target is as received, and body is "null" where there is none; the
 * canonical form (json.h) of application/json; media type LF canonical form of
 * another JSON type; the parts of a multipart form (multipart.h) behind its
 * type; and media type LF raw bytes of all else, and of JSON without such a
 * form.  The media type is in lower case and without parameters.
 * draft-ietf-httpapi-idempotency-key-header asks for such a fingerprint and
 * leaves its recipe to the server.
 */
#ifndef IDEM_FINGERPRINT_H
#define IDEM_FINGERPRINT_H

#include "http.h"
#include "json.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IDEM_FINGERPRINT_BYTES 32
#define IDEM_FINGERPRINT_CHARS 43 /* base64url without padding */
#define IDEM_RECIPE 1 /* goes up whenever the same request hashes otherwise */

struct sha256;

/* What hashing needs and leaves behind; made once, used for every request. */
struct idem_fingerprinter {
	struct sha256 *hash;        /* owned */
	struct idem_json_work json;
	struct idem_buf text;       /* canonical form of the body, if any */
	struct idem_buf pruned;     /* the same without what does not count */
	struct idem_buf spare;      /* while it is made */
};

/*
 * What counts, by settings that were checked.  In a JSON body an element of an
 * array that does not count is as null, any other value as if it was absent.
 */
struct idem_selection {
	/* IDEM_FINGERPRINT.  "body" or absent: the whole target and body.
	 * "none": the body is not looked at.  A list ("json:/p form:NAME"):
	 * only these of the body and, where it names some of the query, of
	 * that; but all of a body that holds none of the kinds listed. */
	struct idem_span only;
	struct idem_span ignore; /* IDEM_FINGERPRINT_IGNORE; absent: nothing */
	struct idem_span key;    /* the places, by '+', that the key came from,
	                          * which do not count; absent: a header.  Then
	                          * urlencoded bodies count as they are, else
	                          * as decoded pairs in their order. */
};

/* Ceiling of text: what a body of max_body_bytes can grow to.  IDEM_OK or
 * IDEM_ENOMEM. */
IDEM_MUST_CHECK enum idem_err
idem_fingerprinter_init(struct idem_fingerprinter *f, size_t max_body_bytes);
void idem_fingerprinter_free(struct idem_fingerprinter *f);

/*
 * SHA-256 over method, target and body of req (var METHOD, target, media,
 * var CONTENT_TYPE, body; an absent body counts as empty).
 *
 * *canonical (NULL: not wanted) is the canonical form of a JSON body, borrowed
 * until the next call: present exactly where the media type is JSON and the
 * body has one, so that nobody needs to parse the body again.
 * IDEM_OK or IDEM_ENOMEM.
 */
IDEM_MUST_CHECK enum idem_err
idem_fingerprint(struct idem_fingerprinter *f, const struct idem_request *req,
    unsigned char out[IDEM_FINGERPRINT_BYTES], struct idem_span *canonical);

/*
 * The same over what sel lets count.  *canonical comes in, too: present where
 * idem_fingerprint_json() has made it for this request.  Codes as above.
 */
IDEM_MUST_CHECK enum idem_err
idem_fingerprint_selected(struct idem_fingerprinter *f,
    const struct idem_request *req, const struct idem_selection *sel,
    unsigned char out[IDEM_FINGERPRINT_BYTES], struct idem_span *canonical);

/*
 * The canonical form of text; absent where it has none.  Borrowed until the
 * next call.  IDEM_OK, IDEM_ENOMEM or IDEM_ETOOBIG.
 */
IDEM_MUST_CHECK enum idem_err
idem_fingerprint_json(struct idem_fingerprinter *f, struct idem_span text,
    struct idem_span *canonical);

#ifdef __cplusplus
}
#endif
#endif
