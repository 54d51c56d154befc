/*
 * multipart.h - multipart/form-data (RFC 7578) as the fingerprint sees it: the
 * random boundary does not count.
 */
#ifndef REQUEST_MULTIPART_H
#define REQUEST_MULTIPART_H

#include "base/sha256.h"
#include "idem/base.h"

#define MULTIPART_BOUNDARY_MAX 70 /* RFC 2046 5.1.1 */

/* Where the reader stands; all of it is the reader's own. */
struct multipart {
	struct idem_span rest; /* from behind a boundary */
	char mark[3 + MULTIPART_BOUNDARY_MAX]; /* LF, two hyphens, boundary */
	size_t nmark;
};

/* All borrowed from the body; absent where there is none. */
struct multipart_part {
	struct idem_span name, filename; /* between the quotes, as they are */
	struct idem_span type;
	struct idem_span content;
};

/*
 * Parse body by the boundary in content_type.  true: all of it parses, and
 * multipart_next() gives its parts in their order.
 *
 * All of it parses: no part has another header or another parameter of
 * Content-Disposition, nor a NUL in a header; lines end in CR LF; nothing but
 * line ends stands before the first boundary and behind the last; and the
 * boundary stands nowhere that only some readers would take for one.
 */
bool multipart_open(struct multipart *m, struct idem_span content_type,
    struct idem_span body);
bool multipart_next(struct multipart *m, struct multipart_part *part);

/* true: the part does not count. */
typedef bool (*multipart_skip)(const void *arg,
    const struct multipart_part *part);

/*
 * Where all of body parses, hash for each part in order name, filename, content
 * type and bytes, each as a netstring ("5:a.bin,"; absent: "-,"), but for parts
 * that skip (may be NULL) says.  Nothing is hashed before the whole body was
 * found good.  Of names and file names it is what stands between the quotes
 * that counts, with \" undone.
 * IDEM_OK or IDEM_ESYNTAX (then the raw bytes count).
 */
IDEM_MUST_CHECK enum idem_err
multipart_hash(struct idem_span content_type, struct idem_span body,
    multipart_skip skip, const void *arg, struct sha256 *h);

#endif
