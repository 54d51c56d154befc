/*
 * key_place.h - where a request's key stands: IDEM_KEY_FROM.  Words between
 * spaces are tried in order; parts of one, joined by '+', are all needed.
 * Knows no record.
 */
#ifndef REQUEST_KEY_PLACE_H
#define REQUEST_KEY_PLACE_H

#include "idem/key.h"
#include "request/source.h"

#define KEY_PLACE_DEFAULT IDEM_LIT("header:Idempotency-Key")
#define KEY_PART_MAX 4096 /* bytes, of a part that is no promise */

bool key_place_is_good(struct idem_span key_from);

/*
 * Is every part of this word a header?  Then the key is a promise of the
 * client's; else it is something that the application happens to send.
 */
bool key_place_is_promise(struct idem_span word);

/* Is one of these kinds (bits) in it, of which a body of this request may hold
 * values?  Kinds outside the body always may. */
bool key_place_fits(struct idem_span word, unsigned kinds,
    const struct idem_request *req);

enum key_place_found {
	KEY_PLACE_ABSENT,  /* a part is not there */
	KEY_PLACE_FOUND,
	KEY_PLACE_UNUSABLE /* something stands there that is no key */
};

/*
 * Read a promise.  *parts (reset first) holds each part's key as a run.
 * KEY_PLACE_UNUSABLE: a malformed key, or one that came twice; IDEM_ENOMEM
 * sticks to parts.
 */
enum key_place_found
key_place_promise(struct idem_span word, const struct idem_request *req,
    struct idem_buf *parts);

/*
 * Read the other ones: each value as it is after decoding, 1 to KEY_PART_MAX
 * bytes; canonical as for source_find().  As above; UNUSABLE: empty, too long,
 * or more than once.
 */
enum key_place_found
key_place_value(struct idem_span word, const struct idem_request *req,
    struct idem_span canonical, struct idem_buf *parts);

#endif
