/*
 * source.c - places of a request, parsed and looked into.  Does not know what
 * their values are for.
 */
#include "base/text.h"
#include "request/source.h"

static const struct idem_span prefixes[SOURCE_NKINDS] = {
	[SOURCE_HEADER] = IDEM_LIT_INIT("header:"),
	[SOURCE_FORM] = IDEM_LIT_INIT("form:"),
	[SOURCE_JSON] = IDEM_LIT_INIT("json:"),
	[SOURCE_QUERY] = IDEM_LIT_INIT("query:"),
	[SOURCE_COOKIE] = IDEM_LIT_INIT("cookie:"),
	[SOURCE_PATH] = IDEM_LIT_INIT("path:"),
};

#define SEGMENTS_MAX 99

static bool
good_name(struct source *s)
{
	/* "form:a=b" is a condition that stands where none is asked for */
	if (span_find(s->name, '=') < s->name.n)
		return false;
	switch (s->kind) {
	case SOURCE_HEADER:
	case SOURCE_COOKIE:
		return is_token(s->name);
	case SOURCE_FORM:
	case SOURCE_QUERY:
		return s->name.n > 0 && spelled_is_percent(s->name);
	case SOURCE_JSON:
		return pointer_is_good(s->name);
	case SOURCE_PATH:
		return parse_u64(s->name, SEGMENTS_MAX, &s->segment) ==
		    IDEM_OK && s->segment > 0;
	}
	return false;
}

enum idem_err
source_parse(struct idem_span text, unsigned kinds, struct source *out)
{
	for (unsigned i = 0; i < SOURCE_NKINDS; i++) {
		struct source s = { .kind = (enum source_kind)i,
			.text = text };

		if ((kinds & SOURCE_BIT(i)) == 0 ||
		    !span_starts(text, prefixes[i]))
			continue;
		s.name = span_from(text, prefixes[i].n);
		if (!good_name(&s))
			return IDEM_ESYNTAX;
		*out = s;
		return IDEM_OK;
	}
	return IDEM_ESYNTAX;
}

bool
source_word(struct idem_span *rest, struct idem_span *word)
{
	do {
		if (!span_next(rest, ' ', word))
			return false;
	} while (word->n == 0);
	return true;
}

bool
source_next(struct idem_span *rest, char sep, struct source *out)
{
	struct idem_span word;

	if (!(sep == ' ' ? source_word(rest, &word) :
	    span_next(rest, sep, &word)))
		return false;
	return source_parse(word, SOURCES_ALL, out) == IDEM_OK;
}

bool
source_is_json(struct idem_span media)
{
	static const struct idem_span suffix = IDEM_LIT_INIT("+json");

	return span_eq_nocase(media, IDEM_LIT("application/json")) ||
	    span_eq_nocase(media, IDEM_LIT("text/json")) ||
	    (span_starts_nocase(media, IDEM_LIT("application/")) &&
	    media.n > suffix.n &&
	    span_eq_nocase(span_from(media, media.n - suffix.n), suffix));
}

bool
source_fits(enum source_kind kind, const struct idem_request *req)
{
	if (kind == SOURCE_FORM)
		return form_kind_of(req->media) != FORM_NONE;
	return kind != SOURCE_JSON || source_is_json(req->media);
}

static enum source_found
once_if(bool there)
{
	return there ? SOURCE_ONCE : SOURCE_ABSENT;
}

static enum source_found
find_header(const struct source *s, const struct idem_request *req,
    struct spelled *value)
{
	bool twice;
	struct idem_span found = idem_request_header(req, s->name, &twice);

	*value = (struct spelled){ span_trim(found), SPELLED_PLAIN };
	return twice ? SOURCE_TWICE : once_if(found.p != NULL);
}

static enum source_found
find_cookie(const struct source *s, const struct idem_request *req,
    struct spelled *value)
{
	bool twice;
	struct idem_span found = idem_request_cookie(req, s->name, &twice);

	*value = (struct spelled){ found, SPELLED_PLAIN };
	return twice ? SOURCE_TWICE : once_if(found.p != NULL);
}

static enum source_found
find_segment(const struct source *s, const struct idem_request *req,
    struct spelled *value)
{
	struct idem_span rest = idem_request_raw_path(req), segment;
	uint64_t i = 0;

	while (span_next(&rest, '/', &segment))
		if (i++ == s->segment) {
			*value = (struct spelled){ segment, SPELLED_PERCENT };
			return SOURCE_ONCE;
		}
	return SOURCE_ABSENT;
}

static enum source_found
find_json(const struct source *s, struct idem_span canonical,
    struct spelled *value)
{
	struct pointer_value at;

	if (!pointer_find(canonical, s->name, &at))
		return SOURCE_ABSENT;
	*value = pointer_text(at.text);
	return once_if(value->s.p != NULL);
}

static enum source_found
from_form(enum form_found found)
{
	switch (found) {
	case FORM_ABSENT:
		return SOURCE_ABSENT;
	case FORM_ONCE:
		return SOURCE_ONCE;
	case FORM_TWICE:
		return SOURCE_TWICE;
	}
	return SOURCE_ABSENT;
}

static enum source_found
find_field(const struct source *s, const struct idem_request *req,
    struct spelled *value)
{
	struct spelled name = { s->name, SPELLED_PERCENT };

	switch (form_kind_of(req->media)) {
	case FORM_NONE:
		return SOURCE_ABSENT;
	case FORM_PAIRS:
		return from_form(form_find(req->body, name, value));
	case FORM_MULTIPART:
		return from_form(form_find_part(
		    req->var[IDEM_VAR_CONTENT_TYPE], req->body, name, value));
	}
	return SOURCE_ABSENT;
}

enum source_found
source_find(const struct source *s, const struct idem_request *req,
    struct idem_span canonical, struct spelled *value)
{
	switch (s->kind) {
	case SOURCE_HEADER:
		return find_header(s, req, value);
	case SOURCE_FORM:
		return find_field(s, req, value);
	case SOURCE_JSON:
		return find_json(s, canonical, value);
	case SOURCE_QUERY:
		return from_form(form_find(idem_request_query(req),
		    (struct spelled){ s->name, SPELLED_PERCENT }, value));
	case SOURCE_COOKIE:
		return find_cookie(s, req, value);
	case SOURCE_PATH:
		return find_segment(s, req, value);
	}
	return SOURCE_ABSENT;
}
