/*
 * text.c - small texts: durations, sizes, numbers, UTF-8, the words of a task
 * and the values of a task's JSON, each said once more.
 *
 * Input: a letter (d, s, n, u, w, c or p), then the text.
 */
#include "base/units.h"
#include "idem/json.h"
#include "json_slow.h"
#include "kit.h"
#include "slow.h"
#include "tasks/task.h"
#include "tasks/validate.h"
#include "tasks/words.h"

#define TEXT_MAX 20000 /* bytes */

__extension__ typedef unsigned __int128 wide;

/* The value of the digits; past max it stays just above it. */
static wide
value_of(struct idem_span digits, wide max)
{
	wide v = 0;

	for (size_t i = 0; i < digits.n && v <= max; i++)
		v = v * 10 + (unsigned)(digits.p[i] - '0');
	return v;
}

struct unit {
	const char *name;
	uint64_t factor;
};

/* With a number too big any unit, and none, is too big. */
static enum idem_err
slow_units(struct idem_span s, const struct unit *units, size_t n,
    uint64_t max, uint64_t *out)
{
	static regex_t *good;
	struct idem_span part[2];
	wide v;

	if (!kit_parts(&good, "^([0-9]+)", s, part, 2))
		return IDEM_ESYNTAX;
	v = value_of(part[1], max);
	if (v > max)
		return IDEM_ETOOBIG;
	*out = 0;
	if (span_eq(s, IDEM_LIT("0")))
		return IDEM_OK;
	for (size_t i = 0; i < n; i++) {
		if (!span_eq(span_from(s, part[1].n),
		    span_of(units[i].name)))
			continue;
		v *= units[i].factor;
		*out = (uint64_t)v;
		return v > max ? IDEM_ETOOBIG : IDEM_OK;
	}
	return IDEM_ESYNTAX;
}

static void
duration(struct idem_span s)
{
	static const struct unit units[] = { { "ms", 1 }, { "s", 1000 },
		{ "m", 60000 }, { "h", 3600000 }, { "d", 86400000 } };
	uint64_t want = 0;
	int64_t got = 0;
	enum idem_err err = parse_duration(s, &got);

	must(err == slow_units(s, units, 5, INT64_MAX, &want));
	must(err != IDEM_OK || (uint64_t)got == want);
}

static void
size(struct idem_span s)
{
	static const struct unit units[] = { { "B", 1 }, { "K", 1024 },
		{ "M", 1048576 }, { "G", 1073741824 } };
	uint64_t want = 0, got = 0;
	enum idem_err err = parse_size(s, &got);

	must(err == slow_units(s, units, 4, UINT64_MAX, &want));
	must(err != IDEM_OK || got == want);
}

/* A letter for the ceiling, then the number. */
static void
number(struct idem_span s)
{
	static const uint64_t ceilings[] = { 0, 9, 255, 65535, INT64_MAX,
		UINT64_MAX };
	static regex_t *good;
	uint64_t max, got = 0;
	wide want;
	enum idem_err err;

	if (s.n == 0)
		return;
	max = ceilings[(unsigned char)s.p[0] % 6];
	s = kit_copy(span_from(s, 1));
	err = parse_u64(s, max, &got);
	if (!kit_matches(&good, "^[0-9]+$", s)) {
		must(err == IDEM_ESYNTAX || err == IDEM_ETOOBIG);
		return;
	}
	want = value_of(s, max);
	must(err == (want > max ? IDEM_ETOOBIG : IDEM_OK));
	must(err != IDEM_OK || got == want);
}

/* RFC 3629 4, a code point at a time; the length of the good front. */
static size_t
slow_utf8(struct idem_span s)
{
	static regex_t *front;
	struct idem_span part[1];
#define TAIL "[\x80-\xbf]"
	return kit_parts(&front, "^([^\x80-\xff]|[\xc2-\xdf]" TAIL
	    "|\xe0[\xa0-\xbf]" TAIL "|[\xe1-\xec\xee\xef]" TAIL "{2}"
	    "|\xed[\x80-\x9f]" TAIL "|\xf0[\x90-\xbf]" TAIL "{2}"
	    "|[\xf1-\xf3]" TAIL "{3}|\xf4[\x80-\x8f]" TAIL "{2})", s, part,
	    1) ? part[0].n : 0;
}

/* The number of code points; SIZE_MAX: it is no UTF-8. */
static size_t
count(struct idem_span s)
{
	size_t n, points = 0;

	for (; s.n > 0; s = span_from(s, n), points++)
		if ((n = slow_utf8(s)) == 0)
			return SIZE_MAX;
	return points;
}

static void
utf8(struct idem_span s)
{
	char again[4];
	uint32_t cp;
	size_t n;

	for (; s.n > 0; s = span_from(s, n)) {
		n = utf8_decode(kit_copy(s), &cp);
		must(n == slow_utf8(s));
		if (n == 0)
			return;
		must(utf8_encode(cp, again) == n);
		must(memcmp(again, s.p, n) == 0);
	}
}

/* Without White_Space (Unicode's PropList.txt) at both ends. */
static struct idem_span
slow_trim(struct idem_span s)
{
	static regex_t *front, *back;
	struct idem_span part[1];
#define SPACE "([\t-\r ]|\xc2[\x85\xa0]|\xe1\x9a\x80" \
	"|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81\x9f|\xe3\x80\x80)"
	while (kit_parts(&front, "^" SPACE, s, part, 1))
		s = span_from(s, part[0].n);
	while (kit_parts(&back, SPACE "$", s, part, 1))
		s.n -= part[0].n;
	return s;
}

/* Tags are words behind a '#', in their order, none twice. */
static void
words(struct idem_span s)
{
	struct idem_span tags[WORDS_TAGS_MAX], trimmed = words_trim(s);
	const char *last = s.p;
	size_t ntags;

	if (count(s) == SIZE_MAX)
		return;
	must(words_count(s) == count(s));
	must(span_eq(trimmed, slow_trim(s)));
	ntags = words_tags(s, tags);
	for (size_t i = 0; i < ntags; i++) {
		must(tags[i].n > 0 && tags[i].p > last);
		must(tags[i].p[-1] == '#');
		must(words_length(tags[i]) == tags[i].n);
		must(words_length((struct idem_span){ tags[i].p,
		    (size_t)(s.p + s.n - tags[i].p) }) == tags[i].n);
		for (size_t k = 0; k < i; k++)
			must(!span_eq(tags[k], tags[i]));
		last = tags[i].p;
	}
}

/* How often a canonical text has a U+0000. */
static size_t
count_nuls(struct idem_span s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '\\') {
			n += i + 6 <= s.n &&
			    memcmp(s.p + i, "\\u0000", 6) == 0;
			i++;
		}
	return n;
}

/* What a task's body says; false: it is at fault. */
static bool
slow_task(struct idem_span json, bool patch, struct idem_buf *text,
    struct task_change *out)
{
	struct idem_span value;
	bool good = true, there;
	size_t nnuls = count_nuls(json);

	*out = (struct task_change){ .has_done = !patch };
	if (json.p[0] != '{')
		return false;
	there = slow_find(json, IDEM_LIT("/matn"), &value);
	if (!there)
		good = patch;
	else if (value.p[0] != '"' || nnuls > 0)
		good = false; /* a NUL is a fault, wherever it is */
	else {
		slow_string(&value, text);
		out->has_text = true;
		out->text = words_trim(idem_buf_span(text));
		good = out->text.n > 0 && count(out->text) <= TASK_TEXT_MAX;
	}
	if (slow_find(json, IDEM_LIT("/bajarildi"), &value)) {
		out->has_done = true;
		out->done = span_eq(value, IDEM_LIT("true"));
		good = good && (out->done || span_eq(value,
		    IDEM_LIT("false")) || (patch &&
		    span_eq(value, IDEM_LIT("null"))));
	}
	return good && nnuls == 0;
}

static void
task(struct idem_span s, bool patch)
{
	struct idem_buf *json = kit_buf(), *scratch = kit_buf();
	struct idem_buf *text = kit_buf(), *slow_text = kit_buf();
	struct faults faults = { kit_buf(), IDEM_UZ };
	struct task_change got, want;
	enum idem_err err;
	bool good;
	size_t at;

	if (s.n > TEXT_MAX || json_slow(s, json, &at) != IDEM_OK)
		return;
	err = validate_task(kit_copy(idem_buf_span(json)),
	    patch ? VALIDATE_PATCH : VALIDATE_WHOLE, scratch, text, &faults,
	    &got);
	good = slow_task(idem_buf_span(json), patch, slow_text, &want);
	must(err == (good ? IDEM_OK : IDEM_ESYNTAX));
	must(faults_end(&faults) == !good);
	if (!good)
		return;
	must(got.has_text == want.has_text && got.has_done == want.has_done);
	must(got.done == want.done);
	if (got.has_text)
		must_be(got.text, want.text);
}

void
fuzz_text(struct idem_span input)
{
	struct idem_span s;

	if (input.n == 0)
		return;
	s = kit_copy(span_from(input, 1));
	switch (input.p[0]) {
	case 'd': duration(s); break;
	case 's': size(s); break;
	case 'n': number(s); break;
	case 'u': utf8(s); break;
	case 'w': words(s); break;
	case 'c': task(s, false); break;
	case 'p': task(s, true); break;
	}
}
