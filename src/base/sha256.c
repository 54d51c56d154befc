/*
 * sha256.c - SHA-256 by libcrypto.
 *
 * The plain functions rather than EVP: EVP allocates at every start, and
 * fetching an algorithm loads providers and reads openssl.cnf, which costs a
 * CGI process more than its whole request.  OpenSSL 3 calls them deprecated and
 * keeps them.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/sha256.h"

struct sha256 {
	SHA256_CTX ctx;
	bool bad;
};

enum idem_err
sha256_create(struct sha256 **out)
{
	*out = calloc(1, sizeof **out);
	return *out == NULL ? IDEM_ENOMEM : IDEM_OK;
}

void
sha256_destroy(struct sha256 **h)
{
	free(*h);
	*h = NULL;
}

void
sha256_start(struct sha256 *h)
{
	h->bad = SHA256_Init(&h->ctx) != 1;
}

void
sha256_update(struct sha256 *h, struct idem_span s)
{
	if (s.n > 0 && !h->bad)
		h->bad = SHA256_Update(&h->ctx, s.p, s.n) != 1;
}

void
sha256_update_run(struct sha256 *h, struct idem_span s)
{
	unsigned char n[8];

	u64_to_key(s.n, n);
	sha256_update(h, (struct idem_span){ (const char *)n, sizeof n });
	sha256_update(h, s);
}

enum idem_err
sha256_finish(struct sha256 *h, unsigned char out[SHA256_BYTES])
{
	if (!h->bad && SHA256_Final(out, &h->ctx) == 1)
		return IDEM_OK;
	memset(out, 0, SHA256_BYTES);
	return IDEM_ENOMEM;
}

enum idem_err
sha256_of(const struct idem_span *parts, size_t n,
    unsigned char out[SHA256_BYTES])
{
	struct sha256 h;

	sha256_start(&h);
	for (size_t i = 0; i < n; i++)
		sha256_update(&h, parts[i]);
	return sha256_finish(&h, out);
}
