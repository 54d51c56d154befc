/*
 * slow.h - decoding written a second time, to be obvious, for the targets.
 */
#ifndef FUZZ_SLOW_H
#define FUZZ_SLOW_H

#include "idem/buf.h"
#include "request/multipart.h"

/* Append s with %41 undone, and '+' as a space where plus is true; false where
 * a '%' had no two hex digits, which then stands for itself. */
bool slow_percent(struct idem_span s, bool plus, struct idem_buf *out);

/* The decimal digits of n, as a netstring's length. */
void slow_netstring(struct idem_span s, struct idem_buf *out);

/* Take the text before the next sep off the front; false at the end. */
bool slow_split(struct idem_span *rest, char sep, struct idem_span *part);

/* Take a string in canonical form off the front; append what it stands for. */
void slow_string(struct idem_span *rest, struct idem_buf *out);
/* The value at a pointer, as a setting writes it, in a canonical text. */
bool slow_find(struct idem_span json, struct idem_span pointer,
    struct idem_span *value);
/* The text without that value, if it is there; an element becomes null. */
struct idem_span slow_without(struct idem_span json,
    struct idem_span pointer);

#define SLOW_PARTS_MAX 100
/* The number of parts: from SLOW_PARTS_MAX on not all of them are set;
 * SIZE_MAX: it does not parse.  No NUL in content_type. */
size_t slow_parts(struct idem_span content_type, struct idem_span body,
    struct multipart_part parts[SLOW_PARTS_MAX]);
/* A name as it stands between its quotes with \" undone. */
struct idem_span slow_unescaped(struct idem_span s);

#endif
