/*
 * log.c - one message, made safe for a line of a log file, to the sink.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "idem/log.h"

void
idem_log(const struct idem_log *log, enum idem_level level,
    const char *fmt, ...)
{
	char line[IDEM_LOG_MAX + 1];
	va_list ap;
	int n;

	if (log == NULL || log->line == NULL)
		return;
	va_start(ap, fmt);
	n = vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	if ((size_t)n >= sizeof line)
		memcpy(line + sizeof line - 4, "...", 4);
	for (char *p = line; *p != '\0'; p++)
		if (*p < 0x20 || *p > 0x7e)
			*p = '?';
	log->line(log->arg, level, line);
}
