/*
 * json.h - the canonical form of a JSON text: RFC 8785, but numbers
 * keep their exact decimal value.
 */
#ifndef IDEM_JSON_H
#define IDEM_JSON_H

#include "base.h"
#include "buf.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IDEM_JSON_DEPTH 64 /* arrays and objects open at once */

/* What the canonical form of n bytes may need of out beside what out holds:
 * "1e20" becomes 21 digits.  Most texts need n + 16. */
#define IDEM_JSON_ROOM(n) (5 * (n) + 64)

/*
 * What the scanner needs beside its output: made once, used again and again;
 * it allocates while it grows to the largest document, then no more.
 */
struct idem_json_work {
	struct idem_buf members; /* one entry a member of the open objects */
	struct idem_buf moved;   /* an object's members while they are sorted */
};
void idem_json_work_init(struct idem_json_work *w);
void idem_json_work_free(struct idem_json_work *w);

/*
 * Append the canonical form of text (RFC 8259) to out.
 *
 * Returns IDEM_OK; IDEM_ESYNTAX: no JSON, which a byte order mark and invalid
 * UTF-8 are not, either; IDEM_EINEXACT: JSON, but a name twice in one object, a
 * lone surrogate, more than IDEM_JSON_DEPTH open, or an exponent beyond
 * +-999,999,999; IDEM_ENOMEM; IDEM_ETOOBIG past the ceiling of out (see
 * IDEM_JSON_ROOM), which sticks to out as always.  A text that is both (a name
 * twice, then a syntax error) is IDEM_ESYNTAX.
 *
 * On error out is cut back to what it held before.  On IDEM_ESYNTAX *at (NULL:
 * not wanted) is the offset of the first byte that cannot stand there, text.n
 * where the text ended too early; on IDEM_EINEXACT that of the first cause: the
 * second name, the escape, the number or the bracket.
 */
IDEM_MUST_CHECK enum idem_err
idem_json_canonical(struct idem_json_work *w, struct idem_span text,
    struct idem_buf *out, size_t *at);

/*
 * Append s as a JSON string with its quotes, escaped as RFC 8785 3.2.2.2 says.
 * s must be UTF-8.
 */
void idem_json_string(struct idem_buf *out, struct idem_span s);

#ifdef __cplusplus
}
#endif
#endif
