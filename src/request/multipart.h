/*
 * multipart.h - multipart/form-data (RFC 7578) as the fingerprint sees it: the
 * random boundary does not count.
 */
#ifndef REQUEST_MULTIPART_H
#define REQUEST_MULTIPART_H

#include "base/sha256.h"
#include "idem/base.h"

/*
 * Parse body by the boundary in content_type and, if all of it parses, hash
 * for each part in order name, filename, content type and bytes, each as a
 * netstring ("5:a.bin,"; absent: "-,").  Nothing is hashed before the whole
 * body was found good.  Of names and file names it is what stands between the
 * quotes that counts, with \" undone.
 *
 * All of it parses: no part has another header or another parameter of
 * Content-Disposition, nor a NUL in a header; lines end in CR LF; nothing but
 * line ends stands before the first boundary and behind the last; and the
 * boundary stands nowhere that only some readers would take for one.
 * IDEM_OK or IDEM_ESYNTAX (then the raw bytes count).
 */
IDEM_MUST_CHECK enum idem_err
multipart_hash(struct idem_span content_type, struct idem_span body,
    struct sha256 *h);

#endif
