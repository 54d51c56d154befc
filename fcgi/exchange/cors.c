/*
 * cors.c - the fields of the CORS protocol.
 */
#include "exchange/cors.h"

#include "base/text.h"

#define MAY_SEND \
	"Content-Type, Idempotency-Key, X-Request-Id, If-Match, Prefer"
#define MAY_READ "Location, ETag, X-Request-Id, Idempotency-Replayed, " \
	"Idempotency-Body, Retry-After"
#define MAX_AGE_S "600"

static const struct idem_span any = IDEM_LIT_INIT("*");

/* What stands in Access-Control-Allow-Origin; absent: the origin is not
 * listed.  Origins are compared byte for byte, as browsers write them. */
static struct idem_span
allowed_origin(struct idem_span origins, struct idem_span origin)
{
	struct idem_span one;

	if (origin.n == 0)
		return IDEM_ABSENT;
	while (span_next(&origins, ',', &one)) {
		one = span_trim(one);
		if (span_eq(one, any))
			return any;
		if (span_eq(one, origin))
			return origin;
	}
	return IDEM_ABSENT;
}

/* false: the origin may not read the answer. */
static bool
allow(struct idem_span origins, const struct idem_request *req,
    struct idem_response *res)
{
	struct idem_span origin =
	    allowed_origin(origins, req->var[IDEM_VAR_ORIGIN]);

	if (origins.n == 0)
		return false;
	/* for every origin, and none: a cache must not mix them up */
	idem_response_field(res, IDEM_LIT("Vary"), IDEM_LIT("Origin"));
	if (origin.p == NULL)
		return false;
	idem_response_field(res, IDEM_LIT("Access-Control-Allow-Origin"),
	    origin);
	return true;
}

void
cors_expose(struct idem_span origins, const struct idem_request *req,
    struct idem_response *res)
{
	if (allow(origins, req, res))
		idem_response_field(res,
		    IDEM_LIT("Access-Control-Expose-Headers"),
		    IDEM_LIT(MAY_READ));
}

bool
cors_is_preflight(const struct idem_request *req)
{
	return req->var[IDEM_VAR_ORIGIN].n > 0 &&
	    req->var[IDEM_VAR_CORS_METHOD].n > 0;
}

void
cors_preflight(struct idem_span origins, const struct idem_request *req,
    struct idem_span methods, struct idem_response *res)
{
	if (!allow(origins, req, res))
		return;
	idem_response_field(res, IDEM_LIT("Access-Control-Allow-Methods"),
	    methods);
	idem_response_field(res, IDEM_LIT("Access-Control-Allow-Headers"),
	    IDEM_LIT(MAY_SEND));
	idem_response_field(res, IDEM_LIT("Access-Control-Max-Age"),
	    IDEM_LIT(MAX_AGE_S));
}
