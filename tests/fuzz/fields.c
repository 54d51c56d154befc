/*
 * fields.c - Prefer, If-Match and If-None-Match against expressions.
 *
 * Input: a line for each of them, then an entity tag without quotes.
 */
#include "kit.h"
#include "request/prefer.h"
#include "slow.h"
#include "tasks/conditions.h"

#define TAG "\"[]!#-[^-~\\\\\x80-\xff]*\""

/* RFC 7240 2: the first preference of that name, without its parameters. */
static bool
slow_wait(struct idem_span prefer, int64_t *ms)
{
	static regex_t *wait, *number;
	struct idem_span one, part[3];

	while (slow_split(&prefer, ',', &one)) {
		one = span_first(one, span_find(one, ';'));
		if (!kit_parts(&wait,
		    "^[ \t]*[Ww][Aa][Ii][Tt][ \t]*=(.*)$", one, part, 2))
			continue;
		if (!kit_parts(&number, "^[ \t]*(\"([0-9]+)\"|[0-9]+)[ \t]*$",
		    part[1], part, 3))
			return false;
		one = part[2].p != NULL ? part[2] : part[1];
		*ms = 0;
		for (size_t i = 0; i < one.n && *ms < 86400; i++)
			*ms = *ms * 10 + one.p[i] - '0';
		*ms = (*ms > 86400 ? 86400 : *ms) * 1000;
		return true;
	}
	return false;
}

/* RFC 9110 13.1: is the tag among those that parse? */
static bool
slow_names(struct idem_span field, struct idem_span etag, bool strong)
{
	static regex_t *any, *first, *next;
	struct idem_span part[6];
	bool begun = false;

	if (kit_matches(&any, "^[ \t]*[*][ \t]*$", field))
		return true;
	while (begun ? kit_parts(&next,
	    "^[ \t]*,[ \t,]*(W/)?(" TAG ")", field, part, 3) :
	    kit_parts(&first, "^[ \t,]*(W/)?(" TAG ")", field, part, 3)) {
		begun = true;
		if (span_eq(part[2], etag) && (!strong || part[1].p == NULL))
			return true;
		field = span_from(field, part[0].n);
	}
	return false;
}

static struct idem_span
line_of(struct idem_span *input)
{
	struct idem_span line = kit_line(input);

	return kit_copy(span_first(line, span_find(line, '\0')));
}

void
fuzz_fields(struct idem_span input)
{
	struct idem_span prefer = line_of(&input);
	struct idem_span match = line_of(&input), none = line_of(&input);
	struct idem_buf *etag = kit_buf();
	struct idem_span tag;
	int64_t got = -1, want = -1;
	bool strong, weak;

	idem_buf_putc(etag, '"');
	idem_buf_puts(etag, input);
	idem_buf_putc(etag, '"');
	tag = kit_copy(idem_buf_span(etag));
	must(prefer_wait_ms(prefer, &got) == slow_wait(prefer, &want));
	must(got == want);
	strong = slow_names(match, tag, true);
	weak = slow_names(none, tag, false);
	must(conditions_name(match, tag, ETAG_STRONG) == strong);
	must(conditions_name(none, tag, ETAG_WEAK) == weak);
	must(conditions_allow(match, none, tag) == (strong && !weak));
	must(conditions_allow(IDEM_ABSENT, none, tag) == !weak);
	must(conditions_allow(match, IDEM_ABSENT, tag) == strong);
	must(conditions_allow(IDEM_ABSENT, IDEM_ABSENT, tag));
}
