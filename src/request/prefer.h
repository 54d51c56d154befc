/*
 * prefer.h - the Prefer request field (RFC 7240).  Knows one preference.
 */
#ifndef REQUEST_PREFER_H
#define REQUEST_PREFER_H

#include "idem/base.h"

/*
 * "wait=N" (4.3), N in whole seconds, as milliseconds; the first one counts.
 * false: there is none, or it is no number.
 */
bool prefer_wait_ms(struct idem_span prefer, int64_t *ms);

#endif
