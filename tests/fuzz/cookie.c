/*
 * cookie.c - the scope and the key of a cookie against a header taken apart by
 * hand.
 *
 * Input: a line with the cookie's name, then the Cookie field.
 */
#include "idem/scope.h"
#include "kit.h"
#include "request/source.h"
#include "slow.h"

#define NAME "[A-Za-z0-9!#$%&'*+.^_`|~-]+"

struct cookies {
	size_t n;
	struct idem_span first;
};

static struct cookies
slow_cookies(struct idem_span field, struct idem_span name)
{
	static regex_t *quoted;
	struct cookies c = { 0, IDEM_ABSENT };
	struct idem_span pair, key, part[2];

	while (slow_split(&field, ';', &pair)) {
		struct idem_span value = pair;

		(void)slow_split(&value, '=', &key);
		if (value.p == NULL || !span_eq(span_trim(key), name))
			continue;
		if (c.n++ > 0)
			continue;
		c.first = span_trim(value);
		if (kit_parts(&quoted, "^\"(.*)\"$", c.first, part, 2))
			c.first = part[1];
	}
	return c;
}

static struct idem_span
setting(const char *prefix, struct idem_span name)
{
	struct idem_buf *b = kit_buf();

	idem_buf_puts(b, span_of(prefix));
	idem_buf_puts(b, name);
	return kit_copy(idem_buf_span(b));
}

static void
scope_is(struct idem_span text, const struct idem_request *req,
    struct idem_span name, const struct cookies *want)
{
	struct idem_scope_rule rule;
	struct idem_scope scope;
	bool found;

	must(idem_scope_rule_parse(text, &rule) == IDEM_OK);
	must(rule.from == IDEM_SCOPE_COOKIE);
	must_be(rule.name, name);
	found = idem_scope_find(&rule, req, &scope);
	must(found == (want->first.n > 0));
	must_be(scope.source, found ? IDEM_LIT("cookie") : IDEM_LIT(""));
	must(span_eq(scope.name, found ? name : IDEM_LIT("")));
	must(span_eq(scope.value, want->first));
}

static void
source_is(struct idem_span text, const struct idem_request *req,
    const struct cookies *want)
{
	struct spelled value;
	struct source s;

	must(source_parse(text, SOURCES_ALL, &s) == IDEM_OK);
	must(source_find(&s, req, IDEM_ABSENT, &value) ==
	    (want->n == 0 ? SOURCE_ABSENT : want->n == 1 ? SOURCE_ONCE :
	    SOURCE_TWICE));
	if (want->n > 0)
		must(span_eq(value.s, want->first));
}

void
fuzz_cookie(struct idem_span input)
{
	static regex_t *token;
	struct idem_span name = kit_line(&input), text;
	const char *vars[] = { kit_variable("HTTP_COOKIE", input), NULL };
	struct idem_scope_rule rule;
	struct idem_request req;
	struct cookies want;

	name = kit_copy(span_first(name, span_find(name, '\0')));
	text = setting("cookie:", name);
	must(idem_request_init(&req, vars, kit_buf()) == IDEM_OK);
	if (!kit_matches(&token, "^" NAME "$", name)) {
		must(idem_scope_rule_parse(text, &rule) == IDEM_ESYNTAX);
		return;
	}
	want = slow_cookies(span_first(input, span_find(input, '\0')), name);
	scope_is(text, &req, name, &want);
	source_is(text, &req, &want);
}
