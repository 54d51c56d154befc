/*
 * language.c - who reads the answer, by Accept-Language and Accept, against the
 * lists taken apart first and judged afterwards.
 *
 * Input: a line of Accept-Language, a line of Accept, a letter of the default.
 */
#include "idem/problem.h"
#include "kit.h"
#include "slow.h"

#define RANGES_MAX 2000

struct range {
	struct idem_span name;
	unsigned weight; /* thousandths */
};

struct ranges {
	size_t n;
	struct range range[RANGES_MAX];
};

/* RFC 9110 12.4.2; false: no weight of that grammar. */
static bool
slow_weight(struct idem_span q, unsigned *weight)
{
	static regex_t *good;
	unsigned unit = 100;

	if (!kit_matches(&good, "^(0(\\.[0-9]{0,3})?|1(\\.0{0,3})?)$", q))
		return false;
	*weight = q.p[0] == '1' ? 1000 : 0;
	for (size_t i = 2; i < q.n; i++, unit /= 10)
		*weight += unit * (unsigned)(q.p[i] - '0');
	return true;
}

static bool
slow_range(struct idem_span element, struct range *r)
{
	struct idem_span name, parameter;
	bool weighed = false;

	(void)slow_split(&element, ';', &name);
	r->name = span_trim(name);
	r->weight = 1000;
	while (slow_split(&element, ';', &parameter)) {
		parameter = span_trim(parameter);
		if (weighed || parameter.n < 2 ||
		    (parameter.p[0] | 0x20) != 'q' || parameter.p[1] != '=')
			continue;
		weighed = true;
		if (!slow_weight(span_from(parameter, 2), &r->weight))
			return false;
	}
	return r->name.n > 0;
}

static void
slow_ranges(struct idem_span list, struct ranges *r)
{
	struct idem_span element;

	r->n = 0;
	while (slow_split(&list, ',', &element))
		if (r->n < RANGES_MAX && slow_range(element, &r->range[r->n]))
			r->n++;
}

static bool
excluded(const struct ranges *r, const char *tag)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->range[i].weight == 0 &&
		    span_eq_nocase(r->range[i].name, span_of(tag)))
			return true;
	return false;
}

/* RFC 4647 3.4 for tags without subtags. */
static const char *
slow_language(const struct ranges *r, const char *dflt)
{
	static const char *const tags[] = { "en", "uz", "tr" };
	const char *best = NULL;
	unsigned most = 0;

	for (size_t i = 0; i < r->n; i++)
		for (size_t t = 0; t < 3; t++) {
			struct idem_span range = r->range[i].name;

			range = span_first(range, span_find(range, '-'));
			if (!span_eq_nocase(range, span_of(tags[t])) ||
			    excluded(r, tags[t]) ||
			    r->range[i].weight <= most)
				continue;
			best = tags[t];
			most = r->range[i].weight;
		}
	if (best != NULL || !excluded(r, dflt))
		return best != NULL ? best : dflt;
	for (size_t t = 0; t < 3; t++)
		if (!excluded(r, tags[t]))
			return tags[t];
	return dflt;
}

/* RFC 9110 12.5.1: of the closest fits the first. */
static unsigned
slow_media(const struct ranges *r, const char *media, const char *of_type)
{
	const char *const fits[] = { media, of_type, "*/*" };

	for (size_t f = 0; f < 3; f++)
		for (size_t i = 0; i < r->n; i++)
			if (span_eq_nocase(r->range[i].name,
			    span_of(fits[f])))
				return r->range[i].weight;
	return 0;
}

void
fuzz_language(struct idem_span input)
{
	static struct ranges languages, media;
	static const char *const tags[] = { "uz", "en", "tr" };
	struct idem_span language = kit_line(&input);
	struct idem_span accept = kit_line(&input);
	size_t dflt = input.n == 0 ? 0 : (unsigned char)input.p[0] % 3;
	const char *vars[] = { kit_variable("HTTP_ACCEPT_LANGUAGE", language),
	    kit_variable("HTTP_ACCEPT", accept), NULL };
	struct idem_audience who;
	struct idem_request req;
	unsigned html;

	slow_ranges(span_first(language, span_find(language, '\0')),
	    &languages);
	slow_ranges(span_first(accept, span_find(accept, '\0')), &media);
	must(idem_request_init(&req, vars, kit_buf()) == IDEM_OK);
	who = idem_audience_of(&req, (enum idem_lang)dflt);
	must_be(idem_lang_tag(who.lang),
	    span_of(slow_language(&languages, tags[dflt])));
	html = slow_media(&media, "text/html", "text/*");
	must(who.person == (html > slow_media(&media, "application/json",
	    "application/*") && html > slow_media(&media,
	    "application/problem+json", "application/*")));
}
