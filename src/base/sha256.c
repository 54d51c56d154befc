/*
 * sha256.c - SHA-256 by libcrypto.
 */
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/sha256.h"

struct sha256 {
	EVP_MD *md; /* fetched once: a look-up for each hash costs more than it */
	EVP_MD_CTX *ctx;
	bool bad;
};

enum idem_err
sha256_create(struct sha256 **out)
{
	struct sha256 *h = calloc(1, sizeof *h);

	if (h == NULL)
		return IDEM_ENOMEM;
	h->md = EVP_MD_fetch(NULL, "SHA256", NULL);
	h->ctx = EVP_MD_CTX_new();
	if (h->md == NULL || h->ctx == NULL) {
		sha256_destroy(&h);
		return IDEM_ENOMEM;
	}
	*out = h;
	return IDEM_OK;
}

void
sha256_destroy(struct sha256 **h)
{
	if (*h == NULL)
		return;
	EVP_MD_CTX_free((*h)->ctx);
	EVP_MD_free((*h)->md);
	free(*h);
	*h = NULL;
}

void
sha256_start(struct sha256 *h)
{
	h->bad = EVP_DigestInit_ex2(h->ctx, h->md, NULL) != 1;
}

void
sha256_update(struct sha256 *h, struct idem_span s)
{
	if (s.n > 0 && !h->bad)
		h->bad = EVP_DigestUpdate(h->ctx, s.p, s.n) != 1;
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
	if (!h->bad && EVP_DigestFinal_ex(h->ctx, out, NULL) == 1)
		return IDEM_OK;
	memset(out, 0, SHA256_BYTES);
	return IDEM_ENOMEM;
}
