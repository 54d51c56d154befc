/*
 * sha256.h - SHA-256 (FIPS 180-4) by libcrypto: the only file that knows it.
 */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include "idem/base.h"

#define SHA256_BYTES 32

/* One running hash; made once, used again and again without allocating. */
struct sha256;

/* IDEM_ENOMEM, or IDEM_OK with *out owned by the caller. */
IDEM_MUST_CHECK enum idem_err sha256_create(struct sha256 **out);
void sha256_destroy(struct sha256 **h); /* sets NULL; NULL is fine */

/*
 * start, update any number of times, finish; nothing allocates.  A failure
 * sticks and comes out of finish as IDEM_ENOMEM, with out zeroed.
 */
void sha256_start(struct sha256 *h);
void sha256_update(struct sha256 *h, struct idem_span s);
/* The length as 8 bytes, then the bytes: ("a","bc") never equals ("ab","c"). */
void sha256_update_run(struct sha256 *h, struct idem_span s);
IDEM_MUST_CHECK enum idem_err
sha256_finish(struct sha256 *h, unsigned char out[SHA256_BYTES]);

/* The same in one call: of n parts, one right behind the other. */
IDEM_MUST_CHECK enum idem_err
sha256_of(const struct idem_span *parts, size_t n,
    unsigned char out[SHA256_BYTES]);

#endif
