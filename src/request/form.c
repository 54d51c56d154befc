/*
 * form.c - pairs taken apart and looked up.  Decodes nothing by itself.
 */
#include "base/text.h"
#include "request/form.h"

bool
form_next(struct idem_span *rest, struct idem_span *raw,
    struct idem_span *name, struct idem_span *value)
{
	struct idem_span pair;
	size_t equals;

	do {
		if (!span_next(rest, '&', &pair))
			return false;
	} while (pair.n == 0);
	equals = span_find(pair, '=');
	*name = span_first(pair, equals);
	*value = equals == pair.n ? span_from(pair, pair.n) :
	    span_from(pair, equals + 1);
	if (raw != NULL)
		*raw = pair;
	return true;
}

enum form_kind
form_kind_of(struct idem_span media)
{
	if (span_eq_nocase(media,
	    IDEM_LIT("application/x-www-form-urlencoded")))
		return FORM_PAIRS;
	if (span_eq_nocase(media, IDEM_LIT("multipart/form-data")))
		return FORM_MULTIPART;
	return FORM_NONE;
}

/* One more of them; the first one's value counts. */
static enum form_found
one_more(enum form_found found, struct idem_span s, enum spelling by,
    struct spelled *value)
{
	if (found != FORM_ABSENT)
		return FORM_TWICE;
	*value = (struct spelled){ s, by };
	return FORM_ONCE;
}

enum form_found
form_find(struct idem_span pairs, struct spelled name, struct spelled *value)
{
	enum form_found found = FORM_ABSENT;
	struct idem_span n, v;

	while (form_next(&pairs, NULL, &n, &v))
		if (spelled_same((struct spelled){ n, SPELLED_FORM }, name))
			found = one_more(found, v, SPELLED_FORM, value);
	return found;
}

enum form_found
form_find_part(struct idem_span content_type, struct idem_span body,
    struct spelled name, struct spelled *value)
{
	enum form_found found = FORM_ABSENT;
	struct multipart_part part;
	struct multipart m;

	if (!multipart_open(&m, content_type, body))
		return FORM_ABSENT;
	while (multipart_next(&m, &part))
		if (part.filename.p == NULL && spelled_same((struct spelled){
		    part.name, SPELLED_QUOTED }, name))
			found = one_more(found, part.content, SPELLED_PLAIN,
			    value);
	return found;
}
