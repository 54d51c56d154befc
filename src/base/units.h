/*
 * units.h - durations and sizes as people write them in settings.
 */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include "idem/base.h"

/*
 * "300ms", "25s", "15m", "24h", "30d" to milliseconds.  "0" alone is 0; any
 * other bare number is refused: nobody knows which unit was meant.
 * IDEM_ESYNTAX, or IDEM_ETOOBIG past INT64_MAX.
 */
IDEM_MUST_CHECK enum idem_err parse_duration(struct idem_span s, int64_t *ms);

/* "512B", "64K", "1M", "1G" (powers of 1,024) to bytes; "0" alone is 0. */
IDEM_MUST_CHECK enum idem_err parse_size(struct idem_span s, uint64_t *bytes);

#endif
