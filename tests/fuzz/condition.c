/*
 * condition.c - IDEM_WHEN on a request and IDEM_KEEP on an answer, against
 * their words judged one by one.
 *
 * Input: lines of IDEM_WHEN, IDEM_KEEP, Content-Type, REQUEST_URI, the header
 * X-A, Cookie, status and Location of the answer, then the body of both.
 */
#include "json_slow.h"
#include "kit.h"
#include "request/condition.h"
#include "slow.h"

#define BODY_MAX 20000 /* bytes */
#define TOKEN "[A-Za-z0-9!#$%&'*+.^_`|~-]+"
/* What stands for itself in a name or value, and what a byte is written as. */
#define PLAIN(less) "[^\x01-\x20%\x7f" less "]"
#define HEX "%[0-9A-Fa-f]{2}"

struct asked {
	struct idem_span content_type, media, query, header, cookie, body;
	struct idem_span json; /* canonical; absent: none */
	unsigned status;
	struct idem_span location;
};

/* What a place holds. */
struct held {
	size_t n;
	struct idem_buf *first;
};

static void
hold(struct held *h, struct idem_span value)
{
	if (h->n++ == 0)
		idem_buf_puts(h->first, value);
}

static void
hold_pairs(struct idem_span pairs, struct idem_span wanted, struct held *h)
{
	struct idem_buf *name = kit_buf(), *value = kit_buf();
	struct idem_span pair, left;

	while (slow_split(&pairs, '&', &pair)) {
		if (pair.n == 0)
			continue;
		(void)slow_split(&pair, '=', &left);
		idem_buf_reset(name);
		idem_buf_reset(value);
		(void)slow_percent(left, true, name);
		(void)slow_percent(pair, true, value);
		if (span_eq(idem_buf_span(name), wanted))
			hold(h, idem_buf_span(value));
	}
}

static void
hold_parts(const struct asked *a, struct idem_span wanted, struct held *h)
{
	static struct multipart_part parts[SLOW_PARTS_MAX];
	size_t n = slow_parts(a->content_type, a->body, parts);

	for (size_t i = 0; n != SIZE_MAX && i < n && i < SLOW_PARTS_MAX; i++)
		if (parts[i].filename.p == NULL &&
		    span_eq(slow_unescaped(parts[i].name), wanted))
			hold(h, parts[i].content);
}

static void
hold_cookies(const struct asked *a, struct idem_span wanted, struct held *h)
{
	struct idem_span rest = a->cookie, pair, name;

	while (slow_split(&rest, ';', &pair)) {
		(void)slow_split(&pair, '=', &name);
		if (pair.p == NULL || !span_eq(span_trim(name), wanted))
			continue;
		pair = span_trim(pair);
		if (pair.n >= 2 && pair.p[0] == '"' && pair.p[pair.n - 1] ==
		    '"')
			pair = span_first(span_from(pair, 1), pair.n - 2);
		hold(h, pair);
	}
}

static void
hold_json(struct idem_span json, struct idem_span pointer, struct held *h)
{
	struct idem_buf *text = kit_buf();
	struct idem_span value;

	if (json.p == NULL || !slow_find(json, pointer, &value) ||
	    span_eq(value, IDEM_LIT("null")))
		return;
	if (value.p[0] != '"')
		hold(h, value);
	else {
		slow_string(&value, text);
		hold(h, idem_buf_span(text));
	}
}

/* true: the word is a place; *h is what it holds in the request. */
static bool
hold_place(const struct asked *a, struct idem_span place, struct held *h)
{
	static regex_t *good, *field;
	struct idem_span kind, name = place;
	struct idem_buf *decoded = kit_buf();

	if (!kit_matches(&good, "^((header|cookie):" TOKEN
	    "|(form|query):(" PLAIN("=") "|" HEX ")+"
	    "|json:(/(" PLAIN("=/~") "|~[01]|" HEX ")*)+)$",
	    place))
		return false;
	(void)slow_split(&name, ':', &kind);
	(void)slow_percent(name, false, decoded);
	if (kind.p[0] == 'h' && kit_matches(&field, "^[Xx][-_][Aa]$", name))
		hold(h, span_trim(a->header));
	else if (kind.p[0] == 'h' && span_eq_nocase(name,
	    IDEM_LIT("cookie")))
		hold(h, span_trim(a->cookie));
	else if (kind.p[0] == 'c')
		hold_cookies(a, name, h);
	else if (kind.p[0] == 'q')
		hold_pairs(a->query, idem_buf_span(decoded), h);
	else if (kind.p[0] == 'j')
		hold_json(a->json, name, h);
	else if (kind.p[0] == 'f' && span_eq_nocase(a->media,
	    IDEM_LIT("multipart/form-data")))
		hold_parts(a, idem_buf_span(decoded), h);
	else if (kind.p[0] == 'f' && span_eq_nocase(a->media,
	    IDEM_LIT("application/x-www-form-urlencoded")))
		hold_pairs(a->body, idem_buf_span(decoded), h);
	return true;
}

static bool
is_among(const struct held *h, struct idem_span values)
{
	struct idem_buf *decoded = kit_buf();
	struct idem_span one;

	while (slow_split(&values, '|', &one)) {
		idem_buf_reset(decoded);
		(void)slow_percent(one, false, decoded);
		if (span_eq(idem_buf_span(decoded), idem_buf_span(h->first)))
			return true;
	}
	return false;
}

/* -1: it is no condition on a place; else whether it holds. */
static int
place_holds(const struct asked *a, struct idem_span word)
{
	static regex_t *good;
	struct held h = { .first = kit_buf() };
	struct idem_span place;

	(void)slow_split(&word, '=', &place);
	if (!hold_place(a, place, &h) || (word.p != NULL && !kit_matches(
	    &good, "^(" PLAIN("") "|" HEX ")*$", word)))
		return -1;
	if (word.p == NULL)
		return h.n > 0;
	return h.n == 1 && is_among(&h, word);
}

static bool
fits_glob(struct idem_span glob, struct idem_span s)
{
	if (glob.n == 0)
		return s.n == 0;
	if (glob.p[0] == '*')
		return fits_glob(span_from(glob, 1), s) ||
		    (s.n > 0 && fits_glob(glob, span_from(s, 1)));
	return s.n > 0 && s.p[0] == glob.p[0] &&
	    fits_glob(span_from(glob, 1), span_from(s, 1));
}

static bool
location_fits(const struct asked *a, struct idem_span glob)
{
	static regex_t *uri;
	struct idem_span part[3];

	if (a->location.p == NULL)
		return false;
	if (glob.p[0] != '/')
		return fits_glob(glob, a->location);
	must(kit_parts(&uri, "^([^:/?#]+://[^/?#]*)?([^\n]*)$", a->location,
	    part, 3));
	return fits_glob(glob, part[2]);
}

/* As place_holds(). */
static int
keep_holds(const struct asked *a, struct idem_span word, bool unseen)
{
	static regex_t *status, *location;
	struct idem_span part[2];
	int holds;

	if (kit_matches(&status, "^[1-5]([0-9][0-9]|xx)$", word))
		return word.p[1] == 'x' ? a->status / 100 ==
		    (unsigned)(word.p[0] - '0') : a->status ==
		    (unsigned)(word.p[0] - '0') * 100 +
		    (unsigned)(word.p[1] - '0') * 10 +
		    (unsigned)(word.p[2] - '0');
	if (kit_parts(&location, "^location:([!-~]+)$", word, part, 2))
		return location_fits(a, part[1]);
	if (!span_starts(word, IDEM_LIT("json:")) ||
	    (holds = place_holds(a, word)) < 0)
		return -1;
	return unseen ? a->status < 400 : holds;
}

static void
when_is_judged(const struct asked *a, struct idem_span when,
    const struct idem_request *req)
{
	struct idem_span rest = when, word;
	bool good = true, all = true;
	size_t n = 0;

	while (slow_split(&rest, ' ', &word)) {
		int holds = word.n == 0 ? 1 : place_holds(a, word);

		n += word.n > 0;
		good = good && holds >= 0;
		all = all && holds > 0;
	}
	must(condition_when_is_good(when) == (good && n > 0));
	if (good && n > 0)
		must(condition_when_holds(when, req, a->json) == all);
}

/* Globs are tried in exponential time here: few stars. */
static bool
has_few_stars(struct idem_span s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += s.p[i] == '*';
	return n <= 4;
}

static void
keep_is_judged(const struct asked *a, struct idem_span keep, bool unseen)
{
	struct condition_answer answer = { a->status, a->location, a->json,
		unseen };
	struct idem_span rest = keep, word;
	bool good = true, any = false;
	size_t n = 0;

	if (!has_few_stars(keep))
		return;
	while (slow_split(&rest, ' ', &word)) {
		int holds = word.n == 0 ? 0 : keep_holds(a, word, unseen);

		n += word.n > 0;
		good = good && holds >= 0;
		any = any || holds > 0;
	}
	must(condition_keep_is_good(keep) == (good && n > 0));
	if (good && n > 0)
		must(condition_keep_holds(keep, &answer) == any);
}

static struct idem_span
line_of(struct idem_span *input)
{
	struct idem_span line = kit_line(input);

	return kit_copy(span_first(line, span_find(line, '\0')));
}

void
fuzz_condition(struct idem_span input)
{
	struct asked a = { .status = 0 };
	struct idem_span when = line_of(&input), keep = line_of(&input), uri;
	struct idem_buf *json = kit_buf();
	const char *vars[5] = { NULL };
	struct idem_request req;
	size_t at;

	a.content_type = line_of(&input);
	uri = line_of(&input);
	a.header = line_of(&input);
	a.cookie = line_of(&input);
	vars[0] = kit_variable("CONTENT_TYPE", a.content_type);
	vars[1] = kit_variable("REQUEST_URI", uri);
	vars[2] = kit_variable("HTTP_X_A", a.header);
	vars[3] = kit_variable("HTTP_COOKIE", a.cookie);
	for (uri = line_of(&input); uri.n > 0 && a.status < 600;
	    uri = span_from(uri, 1))
		a.status = a.status * 10 + ((unsigned char)uri.p[0] & 7u);
	a.location = line_of(&input);
	if (a.location.n == 0)
		a.location = IDEM_ABSENT;
	a.body = kit_copy(input);
	if (a.body.n > BODY_MAX)
		return;
	must(idem_request_init(&req, vars, kit_buf()) == IDEM_OK);
	req.body = a.body;
	a.media = req.media;
	a.query = idem_request_query(&req);
	if (a.body.n > 0 && json_slow(a.body, json, &at) == IDEM_OK)
		a.json = idem_buf_span(json);
	when_is_judged(&a, when, &req);
	keep_is_judged(&a, keep, a.body.n % 2 != 0);
}
