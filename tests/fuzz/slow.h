/*
 * slow.h - decoding written a second time, to be obvious, for the targets.
 */
#ifndef FUZZ_SLOW_H
#define FUZZ_SLOW_H

#include "idem/buf.h"

/* Append s with %41 undone, and '+' as a space where plus is true; false where
 * a '%' had no two hex digits, which then stands for itself. */
bool slow_percent(struct idem_span s, bool plus, struct idem_buf *out);

/* The decimal digits of n, as a netstring's length. */
void slow_netstring(struct idem_span s, struct idem_buf *out);

/* Take the text before the next sep off the front; false at the end. */
bool slow_split(struct idem_span *rest, char sep, struct idem_span *part);

#endif
