/*
 * scope.h - who is asking, and the id of the record of a key.
 */
#ifndef IDEM_SCOPE_H
#define IDEM_SCOPE_H

#include "http.h"
#include "key.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IDEM_ID_BYTES 32

struct sha256;

/* Where to look: IDEM_SCOPE parsed.  The name is borrowed from the setting. */
enum idem_scope_from {
	IDEM_SCOPE_DEFAULT,     /* REMOTE_USER, else Basic or Bearer */
	IDEM_SCOPE_REMOTE_USER,
	IDEM_SCOPE_COOKIE,      /* cookie:NAME */
	IDEM_SCOPE_HEADER,      /* header:NAME */
	IDEM_SCOPE_PARAM        /* param:NAME, a variable of the web server */
};
struct idem_scope_rule {
	enum idem_scope_from from;
	struct idem_span name;
};

/* A source and its value; both borrowed from the request. */
struct idem_scope {
	struct idem_span source; /* "REMOTE_USER", "cookie"; empty: anonymous */
	struct idem_span name;   /* of cookie, header, parameter; else empty */
	struct idem_span value;
};

/*
 * Parse the text of IDEM_SCOPE; empty gives IDEM_SCOPE_DEFAULT.
 * IDEM_ESYNTAX: another text, or a NAME that is no token.
 */
IDEM_MUST_CHECK enum idem_err
idem_scope_rule_parse(struct idem_span text, struct idem_scope_rule *out);

/*
 * Find who is asking.  true: *out is set.  false: the source is absent or
 * empty; *out is then the anonymous scope.  A header that came twice counts as
 * absent; a cookie that stands more than once counts by its first value.
 */
bool idem_scope_find(const struct idem_scope_rule *rule,
    const struct idem_request *req, struct idem_scope *out);

/*
 * SHA-256 over source, name, value and key, each with its length before it.
 * IDEM_OK or IDEM_ENOMEM from the hash (id is then zeroed).
 */
IDEM_MUST_CHECK enum idem_err
idem_record_id(struct sha256 *h, const struct idem_scope *scope,
    struct idem_span key, unsigned char id[IDEM_ID_BYTES]);

/*
 * The same for a key of more parts than one (encoded, each behind its length),
 * or from another place than a header: then other content is another request,
 * so fingerprint is there, else absent.  place is IDEM_KEY_FROM's word.
 */
IDEM_MUST_CHECK enum idem_err
idem_record_id_of_parts(struct sha256 *h, const struct idem_scope *scope,
    struct idem_span place, struct idem_span parts,
    struct idem_span fingerprint, unsigned char id[IDEM_ID_BYTES]);

#ifdef __cplusplus
}
#endif
#endif
