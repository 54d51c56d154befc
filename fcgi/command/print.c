/*
 * print.c - what stands in a record, for people and as JSON; it knows no
 * command.
 */
#include <time.h>

#include "base/text.h"
#include "command/print.h"

#include "idem/json.h"

#define SECONDS_MAX 253402300799 /* 9999-12-31T23:59:59Z */

static const char *const names[] = {
	[CENSUS_RUNNING] = "running",
	[CENSUS_ORPHANED] = "orphaned",
	[CENSUS_DONE] = "done",
	[CENSUS_UNKNOWN] = "unknown",
	[CENSUS_EXPIRED] = "expired",
	[CENSUS_DAMAGED] = "damaged",
};
_Static_assert(sizeof names / sizeof names[0] == CENSUS_NCLASSES,
    "one name a class");

const char *
print_class(enum census_class class)
{
	return names[class];
}

bool
print_class_named(const char *word, enum census_class *out)
{
	for (size_t i = 0; i < CENSUS_NCLASSES; i++)
		if (span_eq(span_of(word), span_of(names[i]))) {
			*out = (enum census_class)i;
			return true;
		}
	return false;
}

bool
print_time(struct idem_buf *out, int64_t ms)
{
	time_t s = (time_t)(ms / 1000);
	struct tm tm = { 0 };

	if (ms <= 0 || s > SECONDS_MAX || gmtime_r(&s, &tm) == NULL)
		return false;
	idem_buf_printf(out, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
	    tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
	    tm.tm_min, tm.tm_sec, (int)(ms % 1000));
	return true;
}

void
print_time_json(struct idem_buf *out, int64_t ms)
{
	size_t before = out->n;

	idem_buf_putc(out, '"');
	if (print_time(out, ms)) {
		idem_buf_putc(out, '"');
		return;
	}
	if (idem_buf_err(out) == IDEM_OK)
		idem_buf_cut(out, before);
	idem_buf_puts(out, IDEM_LIT("null"));
}

void
print_id(struct idem_buf *out, const unsigned char id[IDEM_ID_BYTES], size_t n)
{
	char digits[2 * IDEM_ID_BYTES];

	hex_lower(id, IDEM_ID_BYTES, digits);
	idem_buf_put(out, digits, n);
}

void
print_json(struct idem_buf *out, struct idem_span s)
{
	struct idem_buf text;

	if (utf8_is_all(s)) {
		idem_json_string(out, s);
		return;
	}
	idem_buf_init(&text, 2 * s.n);
	for (size_t i = 0; i < s.n; i++)
		utf8_put(&text, (unsigned char)s.p[i]);
	if (idem_buf_err(&text) == IDEM_OK)
		idem_json_string(out, idem_buf_span(&text));
	else
		out->err = idem_buf_err(&text);
	idem_buf_free(&text);
}
