/*
 * response.c - an answer being built: status, field lines checked on entry,
 * body.  Knows nothing of who sends it.
 */
#include <string.h>

#include "base/text.h"
#include "idem/http.h"

void
idem_response_init(struct idem_response *res, size_t max_bytes)
{
	*res = (struct idem_response){ .status = 0 };
	idem_buf_init(&res->fields, max_bytes);
	idem_buf_init(&res->body, max_bytes);
}

void
idem_response_free(struct idem_response *res)
{
	idem_buf_free(&res->fields);
	idem_buf_free(&res->body);
	res->status = 0;
	res->elsewhere_bytes = 0;
	res->err = IDEM_OK;
}

void
idem_response_reset(struct idem_response *res)
{
	idem_buf_reset(&res->fields);
	idem_buf_reset(&res->body);
	res->status = 0;
	res->elsewhere_bytes = 0;
	res->err = IDEM_OK;
}

static bool
is_field_value(struct idem_span value)
{
	for (size_t i = 0; i < value.n; i++)
		if (value.p[i] == '\r' || value.p[i] == '\n' ||
		    value.p[i] == '\0')
			return false;
	return true;
}

void
idem_response_field(struct idem_response *res, struct idem_span name,
    struct idem_span value)
{
	if (!is_token(name) || !is_field_value(value)) {
		if (res->err == IDEM_OK)
			res->err = IDEM_ESYNTAX;
		return;
	}
	idem_buf_puts(&res->fields, name);
	idem_buf_puts(&res->fields, IDEM_LIT(": "));
	idem_buf_puts(&res->fields, value);
	idem_buf_puts(&res->fields, IDEM_LIT("\r\n"));
}

enum idem_err
idem_response_err(const struct idem_response *res)
{
	enum idem_err err;

	if (res->err != IDEM_OK)
		return res->err;
	if (res->status < 100 || res->status > 599)
		return IDEM_ESYNTAX;
	if ((err = idem_buf_err(&res->fields)) != IDEM_OK)
		return err;
	return idem_buf_err(&res->body);
}

bool
idem_fields_next(struct idem_span *lines, struct idem_span *name,
    struct idem_span *value)
{
	size_t end = span_find(*lines, '\r');
	struct idem_span line = span_first(*lines, end);
	size_t colon = span_find(line, ':');

	if (!span_starts(span_from(*lines, end), IDEM_LIT("\r\n")) ||
	    !span_starts(span_from(line, colon), IDEM_LIT(": ")))
		return false;
	*name = span_first(line, colon);
	*value = span_from(line, colon + 2);
	*lines = span_from(*lines, end + 2);
	return true;
}

struct idem_span
idem_fields_value(struct idem_span lines, struct idem_span wanted)
{
	struct idem_span name, value;

	while (idem_fields_next(&lines, &name, &value))
		if (span_eq_nocase(name, wanted))
			return value;
	return IDEM_ABSENT;
}
