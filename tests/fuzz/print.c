/*
 * print.c - the fingerprint of a request, with what counts and what does not,
 * against the text that the README's rules make of it, written out in full.
 *
 * Input: lines of IDEM_FINGERPRINT, IDEM_FINGERPRINT_IGNORE, the key's place,
 * Content-Type and REQUEST_URI, then the body.
 */
#include "idem/fingerprint.h"
#include "json_slow.h"
#include "kit.h"
#include "request/key_place.h"
#include "request/selection.h"
#include "slow.h"

#define BODY_MAX 20000 /* bytes */
#define PLACES_MAX 30

enum kind { QUERY, FORM, JSON, OTHER };

struct place {
	enum kind kind;
	struct idem_span text, name; /* "form:a", "a" */
	struct idem_buf *decoded;
};

struct places {
	bool full; /* there are more: no reader for this setting */
	size_t n;
	struct place place[PLACES_MAX];
};

struct asked {
	struct idem_span only, ignore, key;
	struct idem_span content_type, media, target, query, body;
	struct places listed, ignored; /* the key's own places are ignored */
	struct idem_span json; /* canonical, less what is ignored */
	struct multipart_part parts[SLOW_PARTS_MAX];
	size_t nparts; /* SIZE_MAX: none */
};

static void
read_places(struct idem_span words, char sep, struct places *out)
{
	static const char *const names[] = { [QUERY] = "query:",
	    [FORM] = "form:", [JSON] = "json:" };
	struct idem_span word;

	while (slow_split(&words, sep, &word)) {
		struct place *p = &out->place[out->n];

		if (word.n == 0)
			continue;
		out->full = out->n == PLACES_MAX;
		if (out->full)
			return;
		*p = (struct place){ OTHER, word, IDEM_ABSENT, kit_buf() };
		for (unsigned k = QUERY; k < OTHER; k++)
			if (span_starts(word, span_of(names[k]))) {
				p->kind = (enum kind)k;
				p->name = span_from(word, strlen(names[k]));
			}
		(void)slow_percent(p->name, false, p->decoded);
		out->n++;
	}
}

static bool
has(const struct places *places, enum kind kind)
{
	for (size_t i = 0; i < places->n; i++)
		if (places->place[i].kind == kind)
			return true;
	return false;
}

static bool
is_ignored(const struct asked *a, enum kind kind, struct idem_span name)
{
	for (size_t i = 0; i < a->ignored.n; i++)
		if (a->ignored.place[i].kind == kind && span_eq(name,
		    idem_buf_span(a->ignored.place[i].decoded)))
			return true;
	return false;
}

static bool
is_media(const struct asked *a, const char *expression)
{
	regex_t *compiled = NULL;
	struct idem_buf *lower = kit_buf();
	bool is;

	for (size_t i = 0; i < a->media.n; i++)
		idem_buf_putc(lower, ascii_lower(a->media.p[i]));
	is = kit_matches(&compiled, expression, idem_buf_span(lower));
	kit_forget(&compiled);
	return is;
}

static bool
is_json(const struct asked *a)
{
	return is_media(a, "^application/(json|.*[+]json)$") ||
	    (is_media(a, "^text/json$") && (has(&a->ignored, JSON) ||
	    has(&a->listed, JSON)));
}

#define IS_PAIRS "^application/x-www-form-urlencoded$"
#define IS_PARTS "^multipart/form-data$"

static bool
is_word(struct idem_span setting, const char *word)
{
	return span_eq(setting, span_of(word));
}

static void
prepare(struct asked *a)
{
	struct idem_buf *json = kit_buf();
	size_t at;

	if (a->only.p != NULL && !is_word(a->only, "body") &&
	    !is_word(a->only, "none"))
		read_places(a->only, ' ', &a->listed);
	read_places(a->ignore, ' ', &a->ignored);
	read_places(a->key, '+', &a->ignored);
	a->json = IDEM_ABSENT;
	if (a->body.n > 0 && !is_word(a->only, "none") && is_json(a) &&
	    json_slow(a->body, json, &at) == IDEM_OK) {
		a->json = idem_buf_span(json);
		for (size_t i = 0; i < a->ignored.n; i++)
			if (a->ignored.place[i].kind == JSON)
				a->json = slow_without(a->json,
				    a->ignored.place[i].name);
	}
	a->nparts = !is_media(a, IS_PARTS) ? SIZE_MAX :
	    slow_parts(a->content_type, a->body, a->parts);
}

/* Does the list, and nothing else, count? */
static bool
list_counts(const struct asked *a)
{
	if (a->listed.n == 0)
		return false;
	if (a->body.n == 0 || (!has(&a->listed, JSON) &&
	    !has(&a->listed, FORM)))
		return true;
	if (a->json.p != NULL)
		return has(&a->listed, JSON);
	return has(&a->listed, FORM) &&
	    (a->nparts != SIZE_MAX || is_media(a, IS_PAIRS));
}

static void
put_pair(struct idem_span x, struct idem_span y, struct idem_buf *text)
{
	slow_netstring(x, text);
	slow_netstring(y, text);
}

/* Take a pair off the front and decode it; empty ones are passed over. */
static bool
next_pair(struct idem_span *rest, struct idem_span *raw,
    struct idem_span *name, struct idem_span *value)
{
	struct idem_buf *n = kit_buf(), *v = kit_buf();
	struct idem_span left, right;

	do
		if (!slow_split(rest, '&', raw))
			return false;
	while (raw->n == 0);
	right = *raw;
	(void)slow_split(&right, '=', &left);
	idem_buf_putc(n, 'x'); /* present, if empty */
	idem_buf_putc(v, 'x');
	(void)slow_percent(left, true, n);
	(void)slow_percent(right, true, v);
	*name = span_from(idem_buf_span(n), 1);
	*value = span_from(idem_buf_span(v), 1);
	return true;
}

static void
put_target(const struct asked *a, bool listed, struct idem_buf *text)
{
	struct idem_span rest = a->query, raw, name, value;
	bool cut = listed && has(&a->listed, QUERY);
	char between = '?';

	idem_buf_puts(text, IDEM_LIT("POST "));
	if (!cut && !has(&a->ignored, QUERY)) {
		idem_buf_puts(text, a->target);
	} else {
		idem_buf_puts(text, span_first(a->target,
		    span_find(a->target, '?')));
		while (!cut && next_pair(&rest, &raw, &name, &value)) {
			if (is_ignored(a, QUERY, name))
				continue;
			idem_buf_putc(text, between);
			idem_buf_puts(text, raw);
			between = '&';
		}
	}
	idem_buf_putc(text, '\n');
}

static bool
put_pairs_of(struct idem_span pairs, const struct place *p,
    struct idem_buf *text)
{
	struct idem_span raw, name, value;
	bool found = false;

	while (next_pair(&pairs, &raw, &name, &value))
		if (span_eq(name, idem_buf_span(p->decoded))) {
			put_pair(p->text, value, text);
			found = true;
		}
	return found;
}

static bool
put_place(const struct asked *a, const struct place *p, struct idem_buf *text)
{
	struct idem_span value;
	bool found = false;

	if (p->kind == JSON) {
		if (a->json.p == NULL ||
		    !slow_find(a->json, p->name, &value))
			return false;
		put_pair(p->text, value, text);
		return true;
	}
	if (is_ignored(a, p->kind, idem_buf_span(p->decoded)))
		return false;
	if (p->kind == QUERY)
		return put_pairs_of(a->query, p, text);
	if (is_media(a, IS_PAIRS))
		return put_pairs_of(a->body, p, text);
	for (size_t i = 0; a->nparts != SIZE_MAX && i < a->nparts; i++)
		if (span_eq(slow_unescaped(a->parts[i].name),
		    idem_buf_span(p->decoded))) {
			put_pair(p->text, a->parts[i].content, text);
			found = true;
		}
	return found;
}

static void
put_typed(const struct asked *a, struct idem_span body, struct idem_buf *text)
{
	for (size_t i = 0; i < a->media.n; i++)
		idem_buf_putc(text, ascii_lower(a->media.p[i]));
	idem_buf_putc(text, '\n');
	idem_buf_puts(text, body);
}

static void
put_parts(const struct asked *a, struct idem_buf *text)
{
	idem_buf_puts(text, IDEM_LIT("multipart/form-data;parts\n"));
	for (size_t i = 0; i < a->nparts; i++) {
		const struct multipart_part *p = &a->parts[i];
		struct idem_span name = slow_unescaped(p->name);

		if (is_ignored(a, FORM, name))
			continue;
		put_pair(name, slow_unescaped(p->filename), text);
		put_pair(p->type, p->content, text);
	}
}

static void
put_pairs(const struct asked *a, struct idem_buf *text)
{
	struct idem_span rest = a->body, raw, name, value;

	idem_buf_puts(text,
	    IDEM_LIT("application/x-www-form-urlencoded;pairs\n"));
	while (next_pair(&rest, &raw, &name, &value))
		if (!is_ignored(a, FORM, name))
			put_pair(name, value, text);
}

static void
put_text(const struct asked *a, struct idem_buf *text)
{
	bool none = is_word(a->only, "none"), listed = !none && list_counts(a);

	put_target(a, listed, text);
	if (none)
		idem_buf_puts(text, IDEM_LIT("none"));
	else if (listed) {
		idem_buf_puts(text, IDEM_LIT("selected\n"));
		for (size_t i = 0; i < a->listed.n; i++)
			if (!put_place(a, &a->listed.place[i], text))
				put_pair(a->listed.place[i].text, IDEM_ABSENT,
				    text);
	} else if (a->body.n == 0)
		idem_buf_puts(text, IDEM_LIT("null"));
	else if (a->nparts != SIZE_MAX)
		put_parts(a, text);
	else if (is_media(a, IS_PAIRS) && (a->key.p != NULL ||
	    has(&a->ignored, FORM)))
		put_pairs(a, text);
	else if (a->json.p == NULL)
		put_typed(a, a->body, text);
	else if (is_media(a, "^application/json$"))
		idem_buf_puts(text, a->json);
	else
		put_typed(a, a->json, text);
}

static struct idem_span
setting(struct idem_span *input)
{
	struct idem_span line = kit_line(input);

	return line.n == 0 ? IDEM_ABSENT : kit_copy(line);
}

static bool
is_good(const struct asked *a)
{
	return selection_is_good(a->only) &&
	    (a->ignore.p == NULL || selection_ignore_is_good(a->ignore)) &&
	    (a->key.p == NULL || (key_place_is_good(a->key) &&
	    span_find(a->key, ' ') == a->key.n));
}

/* Does the fast one say the same? */
static void
judge(struct asked *a)
{
	static struct idem_fingerprinter f;
	struct idem_selection sel = { a->only, a->ignore, a->key };
	struct kit_dice dice = kit_dice_of(a->body);
	struct idem_buf *text = kit_buf();
	struct idem_span canonical = IDEM_ABSENT;
	unsigned char got[32], want[32];
	struct idem_request req;
	const char *vars[] = { "REQUEST_METHOD=POST",
	    kit_variable("REQUEST_URI", a->target),
	    kit_variable("CONTENT_TYPE", a->content_type), NULL };

	if (f.hash == NULL)
		must(idem_fingerprinter_init(&f, BODY_MAX) == IDEM_OK);
	must(idem_request_init(&req, vars, kit_buf()) == IDEM_OK);
	req.body = a->body;
	a->target = req.target;
	a->query = idem_request_query(&req);
	a->media = req.media;
	prepare(a);
	if (a->listed.full || a->ignored.full ||
	    (a->nparts != SIZE_MAX && a->nparts >= SLOW_PARTS_MAX))
		return;
	put_text(a, text);
	must(idem_fingerprint_selected(&f, &req, &sel, got, &canonical) ==
	    IDEM_OK);
	kit_hash(&dice, idem_buf_span(text), want);
	if (memcmp(got, want, sizeof want) != 0)
		must_be(IDEM_LIT("another fingerprint"), idem_buf_span(text));
}

void
fuzz_print(struct idem_span input)
{
	static struct asked a;

	a = (struct asked){ .only = setting(&input) };
	a.ignore = setting(&input);
	a.key = setting(&input);
	a.content_type = kit_line(&input);
	a.content_type = kit_copy(span_first(a.content_type,
	    span_find(a.content_type, '\0')));
	a.target = kit_copy(kit_line(&input));
	a.body = kit_copy(input);
	if (is_good(&a) && input.n <= BODY_MAX)
		judge(&a);
}
