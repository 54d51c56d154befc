/*
 * policy.h - the settings of the engine for one route, and the decisions that
 * follow from them alone.
 */
#ifndef IDEM_POLICY_H
#define IDEM_POLICY_H

#include "http.h"
#include "problem.h"
#include "scope.h"
#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Spans are borrowed from whoever read the settings. */
struct idem_policy {
	struct idem_span methods;      /* IDEM_METHODS: "POST,PATCH" */
	bool require_key;              /* IDEM_REQUIRE_KEY */
	struct idem_scope_rule scope;  /* IDEM_SCOPE */
	bool anonymous;                /* IDEM_ANONYMOUS=allow */
	bool keep_5xx;                 /* IDEM_KEEP_5XX */
	bool retry_unknown;            /* IDEM_ON_UNKNOWN=retry */
	bool evict;                    /* IDEM_WHEN_FULL=evict */
	struct idem_span keep_headers; /* IDEM_KEEP_HEADERS: names, by commas */
	int64_t ttl_ms;                /* IDEM_TTL */
	int64_t unknown_ttl_ms;        /* IDEM_UNKNOWN_TTL */
	int64_t min_keep_ms;           /* IDEM_MIN_KEEP */
	uint64_t max_keys;             /* IDEM_MAX_KEYS */
	size_t max_body_bytes;         /* IDEM_MAX_BODY */
	size_t max_response_bytes;     /* IDEM_MAX_RESPONSE */
	enum idem_lang lang;           /* IDEM_LANG */
	struct idem_span problem_base; /* IDEM_PROBLEM_BASE */
	int64_t wait_ms;               /* IDEM_WAIT; -1: 0 for a key from
	                                * headers, 25 s for any other */
	int64_t max_wait_ms;           /* IDEM_MAX_WAIT */
	/* Texts that were checked; absent: the default. */
	struct idem_span key_from;     /* IDEM_KEY_FROM */
	struct idem_span when;         /* IDEM_WHEN */
	struct idem_span keep;         /* IDEM_KEEP */
	struct idem_span fingerprint;  /* IDEM_FINGERPRINT */
	struct idem_span fingerprint_ignore; /* IDEM_FINGERPRINT_IGNORE */
};

/* Does IDEM_METHODS name this method?  Byte for byte (RFC 9110 9.1); an absent
 * one is never protected. */
bool idem_policy_protects(const struct idem_policy *p, struct idem_span method);

/* The fields that every record keeps, each to be made into a row of a table or
 * a piece of text; those that begin with Cross-Origin- come with them. */
#define IDEM_KEPT_FIELDS(each) \
	each("Content-Type") \
	each("Content-Language") \
	each("Content-Disposition") \
	each("Content-Encoding") \
	each("Location") \
	each("Content-Location") \
	each("Refresh") \
	each("ETag") \
	each("Last-Modified") \
	each("Link") \
	each("Allow") \
	each("Vary") \
	each("Content-Security-Policy") \
	each("X-Content-Type-Options") \
	each("X-Frame-Options") \
	each("Referrer-Policy")

/* Does a replay carry this field?  keep_headers: as in struct idem_policy. */
bool idem_policy_keeps_field(struct idem_span keep_headers,
    struct idem_span name);

/*
 * What becomes of the record, from what the handler said and its answer.
 * IDEM_BY_STATUS: below 500 done, except 401, 403, 407, 408, 412, 421, 423,
 * 425, 428, 429 and any 3xx or 4xx with Retry-After, which are NONE; 5xx as
 * keep_5xx says.  Any other effect stays as it is.  IDEM_BY_STATUS is never
 * returned.
 */
enum idem_effect idem_policy_effect(bool keep_5xx, enum idem_effect said,
    const struct idem_response *res);

#ifdef __cplusplus
}
#endif
#endif
