/*
 * cors.h - which origins may read an answer (the Fetch standard's CORS
 * protocol).  Knows no routes.
 */
#ifndef FRONT_CORS_H
#define FRONT_CORS_H

#include "idem/http.h"

/*
 * Add to res what this request's origin may see.  origins is
 * IDEM_CORS_ORIGINS: "*" or exact origins by commas; absent or empty: nothing
 * is added, not even Vary.
 */
void cors_expose(struct idem_span origins, const struct idem_request *req,
    struct idem_response *res);

/* Is this OPTIONS a preflight? */
bool cors_is_preflight(const struct idem_request *req);

/* As cors_expose(), and what the origin may send: methods as in Allow. */
void cors_preflight(struct idem_span origins, const struct idem_request *req,
    struct idem_span methods, struct idem_response *res);

#endif
