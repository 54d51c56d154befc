/*
 * prefer.c - RFC 7240 2: preferences by commas, each with a value and
 * parameters behind semicolons.
 */
#include "base/text.h"
#include "request/prefer.h"

#define WAIT_MAX_S 86400 /* more means the same */

/* A quoted word is the same as one without quotes. */
static struct idem_span
unquoted(struct idem_span s)
{
	if (s.n >= 2 && s.p[0] == '"' && s.p[s.n - 1] == '"')
		return span_first(span_from(s, 1), s.n - 2);
	return s;
}

bool
prefer_wait_ms(struct idem_span prefer, int64_t *ms)
{
	struct idem_span one;

	while (span_next(&prefer, ',', &one)) {
		size_t equals;
		enum idem_err err;
		uint64_t s;

		one = span_first(one, span_find(one, ';'));
		equals = span_find(one, '=');
		if (equals == one.n || !span_eq_nocase(span_trim(span_first(
		    one, equals)), IDEM_LIT("wait")))
			continue;
		err = parse_u64(unquoted(span_trim(span_from(one,
		    equals + 1))), WAIT_MAX_S, &s);
		if (err == IDEM_ETOOBIG)
			s = WAIT_MAX_S;
		else if (err != IDEM_OK)
			return false;
		*ms = (int64_t)s * 1000;
		return true;
	}
	return false;
}
