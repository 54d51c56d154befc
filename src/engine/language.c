/*
 * language.c - who reads the answer: a person or a program, and in which
 * language.  Knows nothing of what the answer says.
 */
#include "base/text.h"
#include "idem/problem.h"

static const struct idem_span tags[] = {
	[IDEM_UZ] = IDEM_LIT_INIT("uz"),
	[IDEM_EN] = IDEM_LIT_INIT("en"),
	[IDEM_TR] = IDEM_LIT_INIT("tr"),
};
_Static_assert(sizeof tags / sizeof tags[0] == IDEM_NLANGS,
    "one tag per language");

#define WEIGHT_ONE 1000 /* q=1 in thousandths */

struct idem_span
idem_lang_tag(enum idem_lang lang)
{
	return tags[lang];
}

enum idem_err
idem_lang_parse(struct idem_span s, enum idem_lang *out)
{
	for (size_t i = 0; i < IDEM_NLANGS; i++)
		if (span_eq_nocase(s, tags[i])) {
			*out = (enum idem_lang)i;
			return IDEM_OK;
		}
	return IDEM_ESYNTAX;
}

/* qvalue (RFC 9110 12.4.2): 0 to 1 with at most three decimals. */
static bool
parse_weight(struct idem_span s, unsigned *weight)
{
	unsigned w, unit = WEIGHT_ONE;

	if (s.n == 0 || s.n > 5 || (s.n > 1 && s.p[1] != '.') ||
	    (s.p[0] != '0' && s.p[0] != '1'))
		return false;
	w = s.p[0] == '1' ? WEIGHT_ONE : 0;
	for (size_t i = 2; i < s.n; i++) {
		if (!ascii_digit(s.p[i]))
			return false;
		unit /= 10;
		w += (unsigned)(s.p[i] - '0') * unit;
	}
	*weight = w;
	return w <= WEIGHT_ONE;
}

static bool
weight_among(struct idem_span parameters, unsigned *weight)
{
	struct idem_span one;

	*weight = WEIGHT_ONE;
	while (span_next(&parameters, ';', &one)) {
		one = span_trim(one);
		if (span_starts_nocase(one, IDEM_LIT("q=")))
			return parse_weight(span_from(one, 2), weight);
	}
	return true;
}

/* The next range and its weight; one with a malformed weight is passed over. */
static bool
next_range(struct idem_span *list, struct idem_span *range, unsigned *weight)
{
	struct idem_span element, name;

	while (span_next(list, ',', &element)) {
		if (!span_next(&element, ';', &name) ||
		    !weight_among(element, weight))
			continue;
		*range = span_trim(name);
		if (range->n > 0)
			return true;
	}
	return false;
}

/*
 * Lookup cuts a range from its end until a tag fits (RFC 4647 3.4); as our tags
 * are primary subtags, what is left at the end of the cutting is all that can
 * fit.  "*" fits nothing here: it stands for the default.
 */
static bool
look_up(struct idem_span range, enum idem_lang *lang)
{
	return idem_lang_parse(span_first(range, span_find(range, '-')),
	    lang) == IDEM_OK;
}

static bool
is_excluded(struct idem_span accept, enum idem_lang lang)
{
	struct idem_span range;
	unsigned weight;

	while (next_range(&accept, &range, &weight))
		if (weight == 0 && span_eq_nocase(range, tags[lang]))
			return true;
	return false;
}

/* dflt, or the first language that is left where dflt is excluded. */
static enum idem_lang
fall_back(struct idem_span accept, enum idem_lang dflt)
{
	static const enum idem_lang others[] = { IDEM_EN, IDEM_UZ, IDEM_TR };

	if (!is_excluded(accept, dflt))
		return dflt;
	for (size_t i = 0; i < IDEM_NLANGS; i++)
		if (!is_excluded(accept, others[i]))
			return others[i];
	return dflt;
}

static enum idem_lang
choose_language(struct idem_span accept, enum idem_lang dflt)
{
	struct idem_span list = accept, range;
	enum idem_lang lang, best = fall_back(accept, dflt);
	unsigned weight, most = 0;

	while (next_range(&list, &range, &weight))
		if (weight > most && look_up(range, &lang) &&
		    !is_excluded(accept, lang)) {
			best = lang;
			most = weight;
		}
	return best;
}

/* The weight of the range that fits media most closely (RFC 9110 12.5.1). */
static unsigned
media_weight(struct idem_span accept, struct idem_span media)
{
	struct idem_span range;
	unsigned weight, found = 0;
	size_t type = span_find(media, '/') + 1, closest = 0;

	while (next_range(&accept, &range, &weight)) {
		size_t fit = 0; /* bytes of media that range names, plus 1 */

		if (span_eq(range, IDEM_LIT("*/*")))
			fit = 1;
		else if (span_eq_nocase(range, media))
			fit = media.n + 1;
		else if (range.n == type + 1 && range.p[type] == '*' &&
		    span_eq_nocase(span_first(range, type),
		    span_first(media, type)))
			fit = type + 1;
		if (fit > closest) {
			closest = fit;
			found = weight;
		}
	}
	return found;
}

static bool
prefers_html(struct idem_span accept)
{
	unsigned html = media_weight(accept, IDEM_LIT("text/html"));

	return html > media_weight(accept, IDEM_LIT("application/json")) &&
	    html > media_weight(accept,
	    IDEM_LIT("application/problem+json"));
}

struct idem_audience
idem_audience_of(const struct idem_request *req, enum idem_lang dflt)
{
	const struct idem_span *var = req->var;

	return (struct idem_audience){
		.lang = choose_language(var[IDEM_VAR_LANGUAGE], dflt),
		.person = span_eq(var[IDEM_VAR_FETCH_MODE],
		    IDEM_LIT("navigate")) ||
		    (var[IDEM_VAR_REQUESTED_WITH].p == NULL &&
		    prefers_html(var[IDEM_VAR_ACCEPT])),
	};
}
