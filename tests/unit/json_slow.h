/*
 * json_slow.h - the canonical form a second time, written to be obvious and
 * not to be fast: what the real one is compared with.
 */
#ifndef UNIT_JSON_SLOW_H
#define UNIT_JSON_SLOW_H

#include "idem/buf.h"

/* As idem_json_canonical().  Recursive: for texts of a few thousand levels. */
enum idem_err json_slow(struct idem_span text, struct idem_buf *out,
    size_t *at);

#endif
