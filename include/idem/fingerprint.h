/*
 * fingerprint.h - the hash of what is asked.
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
};
/* Ceiling of text: what a body of max_body_bytes can grow to. */
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

#ifdef __cplusplus
}
#endif
#endif
