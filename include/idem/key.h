/*
 * key.h - the Idempotency-Key request field.
 */
#ifndef IDEM_KEY_H
#define IDEM_KEY_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IDEM_KEY_MAX 255 /* bytes, after unquoting */

/* Plain value type: copy it, keep it, no release needed. */
struct idem_key {
	size_t n;
	char b[IDEM_KEY_MAX];
};

/*
 * Parse a field value: a Structured Field String ("..." with \" and \\ as the
 * only escapes, RFC 9651 4.2.5), parameters after it (4.2.3.2) checked and
 * dropped; or bare: visible ASCII except '"' '\' ',' ';'.  Space and
 * tab around the value are dropped.  Repeated field lines arrive joined by a
 * comma, which is a syntax error, as it should be.
 *
 * Returns IDEM_OK; IDEM_ESYNTAX (also for an empty or absent key);
 * IDEM_ETOOBIG past IDEM_KEY_MAX.  On error *out is zeroed.
 */
IDEM_MUST_CHECK enum idem_err
idem_key_parse(struct idem_span field, struct idem_key *out);

#ifdef __cplusplus
}
#endif
#endif
