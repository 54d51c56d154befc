/*
 * selection.h - which parts of a request count in its fingerprint:
 * IDEM_FINGERPRINT, IDEM_FINGERPRINT_IGNORE and the key's own field.
 */
#ifndef REQUEST_SELECTION_H
#define REQUEST_SELECTION_H

#include "base/sha256.h"
#include "idem/fingerprint.h"
#include "request/source.h"

/* Is it "body", "none", or a list of json, form and query places? */
bool selection_is_good(struct idem_span only);
/* Is it a list of such places? */
bool selection_ignore_is_good(struct idem_span ignore);

/* Is only what IDEM_FINGERPRINT lists to count? */
bool selection_is_list(struct idem_span only);

/* Does this place, as a request writes its name, not count? */
bool selection_ignores(const struct idem_selection *sel,
    enum source_kind kind, struct spelled name);

/* Is there one of these kinds (bits) among what does not count? */
bool selection_ignores_any(const struct idem_selection *sel, unsigned kinds);

/* Is there one of these kinds (bits) in the list? */
bool selection_lists_any(const struct idem_selection *sel, unsigned kinds);

/*
 * Hash each listed place's name as its setting writes it, and its value, as
 * netstrings; all values of one that stands more than once, "-," for one that
 * is absent or ignored.  Of JSON it is the canonical form of the value.
 */
void selection_hash(const struct idem_selection *sel,
    const struct idem_request *req, struct idem_span canonical,
    struct sha256 *h);

/* Append canonical to out without what is ignored in it, by way of spare. */
IDEM_MUST_CHECK enum idem_err
selection_prune(const struct idem_selection *sel, struct idem_span canonical,
    struct idem_buf *out, struct idem_buf *spare);

#endif
