/*
 * policy.c - decisions that follow from the settings and an answer alone.
 * Knows nothing of the store's state.
 */
#include "base/text.h"
#include "idem/policy.h"

typedef bool (*equal_fn)(struct idem_span a, struct idem_span b);

/* Is s in a list separated by commas? */
static bool
is_listed(struct idem_span list, struct idem_span s, equal_fn equal)
{
	struct idem_span element;

	while (span_next(&list, ',', &element))
		if (equal(span_trim(element), s))
			return true;
	return false;
}

bool
idem_policy_protects(const struct idem_policy *p, struct idem_span method)
{
	return method.n > 0 && is_listed(p->methods, method, span_eq);
}

#define ROW(name) IDEM_LIT_INIT(name),
static const struct idem_span kept_fields[] = { IDEM_KEPT_FIELDS(ROW) };
#undef ROW

/* Not kept, named in IDEM_KEEP_HEADERS or not: they belong to one connection,
 * one moment or one request, or a replay has its own. */
static const struct idem_span never_kept_fields[] = {
	IDEM_LIT_INIT("WWW-Authenticate"),
	IDEM_LIT_INIT("Connection"),
	IDEM_LIT_INIT("Keep-Alive"),
	IDEM_LIT_INIT("Proxy-Authenticate"),
	IDEM_LIT_INIT("Proxy-Authentication-Info"),
	IDEM_LIT_INIT("Proxy-Connection"),
	IDEM_LIT_INIT("TE"),
	IDEM_LIT_INIT("Trailer"),
	IDEM_LIT_INIT("Transfer-Encoding"),
	IDEM_LIT_INIT("Upgrade"),
	IDEM_LIT_INIT("Date"),
	IDEM_LIT_INIT("Age"),
	IDEM_LIT_INIT("Server"),
	IDEM_LIT_INIT("Status"),
	IDEM_LIT_INIT("Content-Length"),
	IDEM_LIT_INIT("X-Request-Id"),
	IDEM_LIT_INIT("Request-Id"),
	IDEM_LIT_INIT("X-Correlation-Id"),
};

static bool
is_among(const struct idem_span *names, size_t n, struct idem_span name)
{
	for (size_t i = 0; i < n; i++)
		if (span_eq_nocase(names[i], name))
			return true;
	return false;
}
#define IS_AMONG(table, name) \
	is_among((table), sizeof(table) / sizeof (table)[0], (name))

static bool
is_never_kept(struct idem_span name)
{
	return span_starts_nocase(name, IDEM_LIT("Idempotency-")) ||
	    span_starts_nocase(name, IDEM_LIT("Access-Control-")) ||
	    IS_AMONG(never_kept_fields, name);
}

bool
idem_policy_keeps_field(struct idem_span keep_headers, struct idem_span name)
{
	return IS_AMONG(kept_fields, name) ||
	    span_starts_nocase(name, IDEM_LIT("Cross-Origin-")) ||
	    (is_listed(keep_headers, name, span_eq_nocase) &&
	    !is_never_kept(name));
}

/* Answers that say "not now" or "not you": the same request may well get
 * another one later. */
static bool
is_passing(unsigned status)
{
	static const unsigned passing[] = {
		401, 403, 407, 408, 412, 421, 423, 425, 428, 429,
	};

	for (size_t i = 0; i < sizeof passing / sizeof passing[0]; i++)
		if (passing[i] == status)
			return true;
	return false;
}

enum idem_effect
idem_policy_effect(bool keep_5xx, enum idem_effect said,
    const struct idem_response *res)
{
	if (said != IDEM_BY_STATUS)
		return said;
	if (res->status >= 500)
		return keep_5xx ? IDEM_DONE : IDEM_NONE;
	if (is_passing(res->status) || (res->status >= 300 &&
	    idem_fields_value(idem_buf_span(&res->fields),
	    IDEM_LIT("Retry-After")).p != NULL))
		return IDEM_NONE;
	return IDEM_DONE;
}
