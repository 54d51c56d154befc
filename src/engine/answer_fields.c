/*
 * answer_fields.c - names of fields and what they say of an answer.
 */
#include "base/text.h"
#include "engine/answer_fields.h"

bool
answer_is_own(struct idem_span name)
{
	return span_starts_nocase(name, IDEM_LIT("Idempotency-"));
}

bool
answer_is_cache_control(struct idem_span name)
{
	return span_eq_nocase(name, IDEM_LIT("Cache-Control"));
}

bool
answer_is_cors(struct idem_span name)
{
	return span_starts_nocase(name, IDEM_LIT("Access-Control-"));
}

bool
answer_is_of_content(struct idem_span name)
{
	return span_eq_nocase(name, IDEM_LIT("Content-Type")) ||
	    span_eq_nocase(name, IDEM_LIT("Content-Encoding"));
}

bool
answer_is_page(struct idem_span lines)
{
	struct idem_span type = idem_fields_value(lines,
	    IDEM_LIT("Content-Type"));
	struct idem_span media = span_trim(span_first(type,
	    span_find(type, ';')));

	return span_eq_nocase(media, IDEM_LIT("text/html")) ||
	    span_eq_nocase(media, IDEM_LIT("application/xhtml+xml"));
}

bool
answer_has_cors(struct idem_span lines)
{
	struct idem_span name, value;

	while (idem_fields_next(&lines, &name, &value))
		if (answer_is_cors(name))
			return true;
	return false;
}

struct idem_span
answer_origin(struct idem_span lines)
{
	return idem_fields_value(lines, ANSWER_ORIGIN);
}
