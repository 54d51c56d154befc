/*
 * condition.c - conditions on requests and answers, read where they stand in
 * their setting.
 */
#include "base/text.h"
#include "request/condition.h"

#define WHEN_KINDS (SOURCES_ALL & ~SOURCE_BIT(SOURCE_PATH))

/* A condition on a place: values is absent where it has only to be there. */
struct condition {
	struct source source;
	struct idem_span values;
};

static bool
parse(struct idem_span word, unsigned kinds, struct condition *out)
{
	size_t equals = span_find(word, '=');

	out->values = equals == word.n ? IDEM_ABSENT :
	    span_from(word, equals + 1);
	return spelled_is_percent(out->values) && source_parse(
	    span_first(word, equals), kinds, &out->source) == IDEM_OK;
}

/* A list that is not empty, all of it good. */
static bool
all_good(struct idem_span list, bool (*good)(struct idem_span word))
{
	struct idem_span word;
	size_t n = 0;

	for (; source_word(&list, &word); n++)
		if (!good(word))
			return false;
	return n > 0;
}

static bool
good_when(struct idem_span word)
{
	struct condition c;

	return parse(word, WHEN_KINDS, &c);
}

bool
condition_when_is_good(struct idem_span when)
{
	return all_good(when, good_when);
}

bool
condition_when_reads_body(struct idem_span when,
    const struct idem_request *req)
{
	struct idem_span word;
	struct condition c;

	while (source_word(&when, &word))
		if (parse(word, WHEN_KINDS, &c) &&
		    (SOURCE_BIT(c.source.kind) & SOURCES_IN_BODY) != 0 &&
		    source_fits(c.source.kind, req))
			return true;
	return false;
}

static bool
is_one_of(struct spelled value, struct idem_span values)
{
	struct idem_span one;

	while (span_next(&values, '|', &one))
		if (spelled_same(value, (struct spelled){ one,
		    SPELLED_PERCENT }))
			return true;
	return false;
}

static bool
when_holds(const struct condition *c, const struct idem_request *req,
    struct idem_span canonical)
{
	struct spelled value;

	switch (source_find(&c->source, req, canonical, &value)) {
	case SOURCE_ABSENT:
		return false;
	case SOURCE_ONCE:
		return c->values.p == NULL || is_one_of(value, c->values);
	case SOURCE_TWICE:
		return c->values.p == NULL;
	}
	return false;
}

bool
condition_when_holds(struct idem_span when, const struct idem_request *req,
    struct idem_span canonical)
{
	struct idem_span word;
	struct condition c;

	while (source_word(&when, &word))
		if (!parse(word, WHEN_KINDS, &c) ||
		    !when_holds(&c, req, canonical))
			return false;
	return true;
}

/* "2xx", "303". */
static bool
is_status(struct idem_span s)
{
	return s.n == 3 && s.p[0] >= '1' && s.p[0] <= '5' &&
	    (span_eq(span_from(s, 1), IDEM_LIT("xx")) ||
	    (ascii_digit(s.p[1]) && ascii_digit(s.p[2])));
}

static bool
status_holds(struct idem_span s, unsigned status)
{
	uint64_t number;

	if (s.p[1] == 'x')
		return status / 100 == (unsigned)(s.p[0] - '0');
	return parse_u64(s, 999, &number) == IDEM_OK && number == status;
}

static const struct idem_span location = IDEM_LIT_INIT("location:");

static bool
good_keep(struct idem_span word)
{
	struct condition c;

	return is_status(word) || parse(word, SOURCE_BIT(SOURCE_JSON), &c) ||
	    (span_starts(word, location) && word.n > location.n &&
	    is_visible(word));
}

bool
condition_keep_is_good(struct idem_span keep)
{
	return all_good(keep, good_keep);
}

bool
condition_keep_reads_body(struct idem_span keep)
{
	struct idem_span word;
	struct condition c;

	while (source_word(&keep, &word))
		if (parse(word, SOURCE_BIT(SOURCE_JSON), &c))
			return true;
	return false;
}

/* A '*' takes as little as it can, and more when the rest does not fit. */
static bool
glob_fits(struct idem_span glob, struct idem_span s)
{
	struct idem_span again = IDEM_ABSENT, from = s;

	while (s.n > 0 || glob.n > 0) {
		if (glob.n > 0 && glob.p[0] == '*') {
			again = glob = span_from(glob, 1);
			from = s;
		} else if (glob.n > 0 && s.n > 0 && glob.p[0] == s.p[0]) {
			glob = span_from(glob, 1);
			s = span_from(s, 1);
		} else if (again.p != NULL && from.n > 0) {
			glob = again;
			s = from = span_from(from, 1);
		} else {
			return false;
		}
	}
	return true;
}

static bool
location_holds(struct idem_span glob, struct idem_span value)
{
	if (value.p == NULL)
		return false;
	if (glob.p[0] == '/')
		value = idem_target_without_authority(value);
	return glob_fits(glob, value);
}

static bool
keep_holds(struct idem_span word, const struct condition_answer *a)
{
	struct pointer_value at;
	struct spelled value;
	struct condition c;

	if (is_status(word))
		return status_holds(word, a->status);
	if (span_starts(word, location))
		return location_holds(span_from(word, location.n),
		    a->location);
	if (a->unseen)
		return a->status < 400;
	if (!parse(word, SOURCE_BIT(SOURCE_JSON), &c) ||
	    !pointer_find(a->canonical, c.source.name, &at))
		return false;
	value = pointer_text(at.text);
	return value.s.p != NULL &&
	    (c.values.p == NULL || is_one_of(value, c.values));
}

bool
condition_keep_holds(struct idem_span keep,
    const struct condition_answer *answer)
{
	struct idem_span word;

	while (source_word(&keep, &word))
		if (keep_holds(word, answer))
			return true;
	return false;
}

bool
condition_keep_names(struct idem_span keep, unsigned status)
{
	struct idem_span word;

	while (source_word(&keep, &word))
		if (is_status(word) && status_holds(word, status))
			return true;
	return false;
}
