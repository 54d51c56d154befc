/*
 * form.c - urlencoded pairs, of a body and of a query, against the text taken
 * apart and decoded first and compared afterwards.
 *
 * Input: a line with a field's name as a setting writes it, then the pairs.
 */
#include "kit.h"
#include "request/key_place.h"
#include "slow.h"

struct found {
	size_t n;
	struct idem_buf *first; /* decoded value of the first */
};

static void
find_slowly(struct idem_span pairs, struct idem_span name, struct found *f)
{
	struct idem_buf *n = kit_buf(), *wanted = kit_buf();
	struct idem_span pair;

	(void)slow_percent(name, false, wanted);
	while (slow_split(&pairs, '&', &pair)) {
		struct idem_span value = pair, key;

		if (pair.n == 0)
			continue;
		(void)slow_split(&value, '=', &key);
		idem_buf_reset(n);
		(void)slow_percent(key, true, n);
		if (!span_eq(idem_buf_span(n), idem_buf_span(wanted)))
			continue;
		if (f->n++ == 0)
			(void)slow_percent(value, true, f->first);
	}
}

static void
pairs_are_all(struct idem_span pairs)
{
	struct idem_buf *again = kit_buf(), *want = kit_buf();
	struct idem_span rest = pairs, raw, name, value, pair;

	while (form_next(&rest, &raw, &name, &value)) {
		must(name.n + value.n <= raw.n);
		idem_buf_puts(again, raw);
		idem_buf_putc(again, '&');
	}
	while (slow_split(&pairs, '&', &pair)) {
		idem_buf_puts(want, pair);
		if (pair.n > 0)
			idem_buf_putc(want, '&');
	}
	must(span_eq(idem_buf_span(again), idem_buf_span(want)));
}

/* spelled_put() and percent_decode() agree with the slow one. */
static void
decoding_is_the_same(struct idem_span s)
{
	struct idem_buf *want = kit_buf(), *got = kit_buf();
	bool good = slow_percent(s, true, want);
	enum idem_err err;

	spelled_put((struct spelled){ s, SPELLED_FORM }, got);
	must(span_eq(idem_buf_span(got), idem_buf_span(want)));
	idem_buf_reset(got);
	err = percent_decode(s, true, got);
	must(err == (good ? IDEM_OK : IDEM_ESYNTAX));
	if (err == IDEM_OK)
		must(span_eq(idem_buf_span(got), idem_buf_span(want)));
}

static void
found_is(enum form_found got, struct spelled value, const struct found *want)
{
	struct idem_buf *text = kit_buf();

	must(got == (want->n == 0 ? FORM_ABSENT :
	    want->n == 1 ? FORM_ONCE : FORM_TWICE));
	if (got == FORM_ABSENT)
		return;
	spelled_put(value, text);
	must(span_eq(idem_buf_span(text), idem_buf_span(want->first)));
}

/* The key that IDEM_KEY_FROM=kind:name finds. */
static void
key_is(struct idem_span word, const struct idem_request *req,
    const struct found *want)
{
	struct idem_buf *parts = kit_buf(), *run = kit_buf();
	size_t n = want->first->n;
	bool good = want->n == 1 && n > 0 && n <= KEY_PART_MAX;

	must(key_place_value(word, req, IDEM_ABSENT, parts) ==
	    (want->n == 0 ? KEY_PLACE_ABSENT : good ? KEY_PLACE_FOUND :
	    KEY_PLACE_UNUSABLE));
	if (!good)
		return;
	idem_buf_putc(run, 0);
	idem_buf_putc(run, 0);
	idem_buf_putc(run, (char)(n >> 8));
	idem_buf_putc(run, (char)(n & 0xff));
	idem_buf_puts(run, idem_buf_span(want->first));
	must_be(idem_buf_span(parts), idem_buf_span(run));
}

static struct idem_span
word_of(const char *kind, struct idem_span name)
{
	struct idem_buf *word = kit_buf();

	idem_buf_puts(word, span_of(kind));
	idem_buf_puts(word, name);
	return kit_copy(idem_buf_span(word));
}

/* As a body, and as a query behind a '?'. */
static void
requests_have(struct idem_span name, struct idem_span pairs,
    const struct found *in_body)
{
	struct idem_buf *uri = kit_buf();
	struct found in_query = { .first = kit_buf() };
	struct idem_span query;
	struct idem_request req;
	const char *vars[] = { NULL,
	    "CONTENT_TYPE=application/x-www-form-urlencoded;charset=utf-8",
	    NULL };

	idem_buf_puts(uri, IDEM_LIT("/p?"));
	idem_buf_puts(uri, pairs);
	vars[0] = kit_variable("REQUEST_URI", idem_buf_span(uri));
	must(idem_request_init(&req, vars, kit_buf()) == IDEM_OK);
	req.body = pairs;
	key_is(word_of("form:", name), &req, in_body);
	query = span_first(pairs, span_find(pairs, '\0'));
	query = span_first(query, span_find(query, '#'));
	must(span_eq(idem_request_query(&req), query));
	find_slowly(query, name, &in_query);
	key_is(word_of("query:", name), &req, &in_query);
}

void
fuzz_form(struct idem_span input)
{
	struct idem_span name = kit_copy(kit_line(&input));
	struct idem_span pairs = kit_copy(input);
	struct found want = { .first = kit_buf() };
	struct spelled value = { IDEM_ABSENT, SPELLED_PLAIN };
	struct idem_span word = word_of("form:", name);
	enum form_found got;

	pairs_are_all(pairs);
	decoding_is_the_same(pairs);
	find_slowly(pairs, name, &want);
	got = form_find(pairs, (struct spelled){ name, SPELLED_PERCENT },
	    &value);
	found_is(got, value, &want);
	if (span_find(name, '+') == name.n && span_find(name, ' ') == name.n &&
	    key_place_is_good(word))
		requests_have(name, pairs, &want);
}
