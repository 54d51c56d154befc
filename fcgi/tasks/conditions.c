/*
 * conditions.c - the lists of entity tags in If-Match and If-None-Match.
 */
#include "tasks/conditions.h"

#include "base/text.h"

/* RFC 9110 8.8.3: etagc is 0x21, 0x23 to 0x7E and 0x80 to 0xFF. */
static bool
is_etagc(char c)
{
	unsigned char u = (unsigned char)c;

	return u >= 0x21 && u != '"' && u != 0x7F;
}

/*
 * Take an entity tag off the front of *rest: *tag with its quotes, without W/.
 * false: there is none.
 */
static bool
take_tag(struct idem_span *rest, struct idem_span *tag, bool *weak)
{
	struct idem_span s = *rest;
	size_t n = 1;

	*weak = span_starts(s, IDEM_LIT("W/"));
	if (*weak)
		s = span_from(s, 2);
	if (s.n == 0 || s.p[0] != '"')
		return false;
	while (n < s.n && is_etagc(s.p[n]))
		n++;
	if (n == s.n || s.p[n] != '"')
		return false;
	*tag = span_first(s, n + 1);
	*rest = span_from(s, n + 1);
	return true;
}

/* Skip what stands between two tags; empty list elements are allowed. */
static bool
skip_commas(struct idem_span *rest)
{
	bool comma = false;

	*rest = span_trim(*rest);
	while (rest->n > 0 && rest->p[0] == ',') {
		comma = true;
		*rest = span_trim(span_from(*rest, 1));
	}
	return comma;
}

bool
conditions_name(struct idem_span field, struct idem_span etag,
    enum etag_comparison how)
{
	struct idem_span rest = span_trim(field), tag;
	bool weak;

	if (span_eq(rest, IDEM_LIT("*")))
		return true;
	(void)skip_commas(&rest); /* a list may begin with empty elements */
	while (take_tag(&rest, &tag, &weak)) {
		if (span_eq(tag, etag) && (how == ETAG_WEAK || !weak))
			return true;
		if (!skip_commas(&rest))
			return false;
	}
	return false;
}

bool
conditions_allow(struct idem_span if_match, struct idem_span if_none_match,
    struct idem_span etag)
{
	if (if_match.p != NULL && !conditions_name(if_match, etag, ETAG_STRONG))
		return false;
	return if_none_match.p == NULL ||
	    !conditions_name(if_none_match, etag, ETAG_WEAK);
}
