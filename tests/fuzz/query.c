/*
 * query.c - the query of a list of tasks against its pairs decoded one by one.
 */
#include "kit.h"
#include "slow.h"
#include "tasks/task_list.h"

#define VALUE_MAX 4096 /* bytes, of a value that can be good */

/* Is it a number of at most max, by its digits? */
static bool
slow_number(struct idem_span s, uint64_t max, uint64_t *n)
{
	*n = 0;
	for (size_t i = 0; i < s.n; i++) {
		uint64_t digit = (uint64_t)(s.p[i] - '0');

		if (s.p[i] < '0' || s.p[i] > '9' || digit > max ||
		    *n > (max - digit) / 10)
			return false;
		*n = *n * 10 + digit;
	}
	return s.n > 0;
}

/* RFC 3629 4, as an expression; a tag of one code point and more. */
static bool
slow_tag(struct idem_span s)
{
	static regex_t *tag;
#define TAIL "[\x80-\xbf]"
	return span_find(s, '#') == s.n && s.n > 0 && kit_matches(&tag, "^("
	    "[^\x80-\xff]|[\xc2-\xdf]" TAIL "|\xe0[\xa0-\xbf]" TAIL
	    "|[\xe1-\xec\xee\xef]" TAIL "{2}|\xed[\x80-\x9f]" TAIL
	    "|\xf0[\x90-\xbf]" TAIL "{2}|[\xf1-\xf3]" TAIL "{3}"
	    "|\xf4[\x80-\x8f]" TAIL "{2})*$", s);
}

struct slow_query {
	struct task_query q;
	struct idem_buf *tag;
	bool seen[4];
	bool bad;
};

static bool
slow_set(struct slow_query *s, size_t which, struct idem_span value)
{
	uint64_t n;

	switch (which) {
	case 0:
		s->q.has_tag = true;
		idem_buf_puts(s->tag, value);
		return slow_tag(value);
	case 1:
		s->q.has_done = true;
		s->q.done = span_eq(value, IDEM_LIT("true"));
		return s->q.done || span_eq(value, IDEM_LIT("false"));
	case 2:
		return slow_number(value, UINT64_MAX, &s->q.after);
	}
	if (!slow_number(value, TASK_PAGE_MAX, &n) || n == 0)
		return false;
	s->q.limit = (size_t)n;
	return true;
}

static void
slow_pair(struct slow_query *s, struct idem_span pair)
{
	static const char *const names[] = { "teg", "bajarildi", "keyin",
	    "soni" };
	struct idem_buf *name = kit_buf(), *text = kit_buf();
	struct idem_span left, value = pair;
	bool good;

	(void)slow_split(&value, '=', &left);
	good = slow_percent(left, true, name);
	for (size_t i = 0; i < 4; i++) {
		if (!good || !span_eq(idem_buf_span(name), span_of(names[i])))
			continue;
		if (s->seen[i] || !slow_percent(value, true, text) ||
		    text->n > VALUE_MAX ||
		    !slow_set(s, i, kit_copy(idem_buf_span(text))))
			s->bad = true;
		s->seen[i] = true;
	}
	idem_buf_free(name);
	idem_buf_free(text);
}

void
fuzz_query(struct idem_span input)
{
	struct slow_query want = { .q = { .limit = TASK_PAGE },
		.tag = kit_buf() };
	struct idem_buf *out = kit_buf();
	struct faults faults = { out, IDEM_UZ };
	struct idem_span rest = input, pair;
	struct task_query got;
	struct idem_buf tag;
	enum idem_err err;

	idem_buf_init(&tag, VALUE_MAX);
	err = task_query_parse(input, &tag, &faults, &got);
	for (size_t n = 0; slow_split(&rest, '&', &pair); n++) {
		if (n == 20)
			goto out;
		slow_pair(&want, pair);
	}
	must(err == (want.bad ? IDEM_ESYNTAX : IDEM_OK));
	must(faults_end(&faults) == want.bad);
	if (err == IDEM_OK) {
		must(got.has_tag == want.q.has_tag);
		must(span_eq(got.tag, idem_buf_span(want.tag)));
		must(got.has_done == want.q.has_done);
		must(!got.has_done || got.done == want.q.done);
		must(got.after == want.q.after);
		must(got.limit == want.q.limit);
	}
out:
	idem_buf_free(&tag);
}
