/*
 * log.h - where messages go.  The library prints nothing by itself: whoever
 * opens it passes a sink.
 */
#ifndef IDEM_LOG_H
#define IDEM_LOG_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum idem_level { IDEM_INFO, IDEM_WARN, IDEM_ERROR };

/* line() gets one message: printable, without line ends, NUL-terminated. */
struct idem_log {
	void (*line)(void *arg, enum idem_level level, const char *text);
	void *arg;
};

/*
 * Format one message of at most IDEM_LOG_MAX bytes and hand it to the sink.
 * Bytes outside printable ASCII become '?', so a path or a value from outside
 * cannot forge a line; what does not fit is cut and ends in "...".
 * log == NULL or log->line == NULL: nothing happens.
 */
#define IDEM_LOG_MAX 1000 /* bytes */
#define IDEM_LOG_PATH 400 /* bytes of a path in it, so that advice fits */
void idem_log(const struct idem_log *log, enum idem_level level,
    const char *fmt, ...) IDEM_PRINTF(3, 4);

#ifdef __cplusplus
}
#endif
#endif
