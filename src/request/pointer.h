/*
 * pointer.h - a value inside a JSON text in canonical form, by JSON Pointer
 * (RFC 6901).  Knows no settings.
 */
#ifndef REQUEST_POINTER_H
#define REQUEST_POINTER_H

#include "request/spelling.h"

/* "/a/0/b~1c", each segment SPELLED_POINTER; never empty. */
bool pointer_is_good(struct idem_span pointer);

/* Where a value stands; both borrowed from the text. */
struct pointer_value {
	struct idem_span text;   /* of the value: its own canonical form */
	struct idem_span member; /* with its name; in an array: as text */
	bool in_array;
};

/* Find it in json, a text in canonical form (absent or empty: no text).
 * false: there is no such value. */
bool pointer_find(struct idem_span json, struct idem_span pointer,
    struct pointer_value *out);

/*
 * What the value is as text: a string unescaped, all else as it stands.
 * absent (p == NULL) for null.
 */
struct spelled pointer_text(struct idem_span value);

/*
 * Append json without the value: a member goes with its name, an element of an
 * array becomes null, so that the others keep their places.
 */
void pointer_cut(struct idem_span json, const struct pointer_value *value,
    struct idem_buf *out);

#endif
