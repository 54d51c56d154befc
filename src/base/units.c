/*
 * units.c - durations and sizes as people write them in settings.
 */
#include "base/text.h"
#include "base/units.h"

struct unit {
	struct idem_span name;
	uint64_t factor;
};

static const struct unit durations[] = {
	{ IDEM_LIT_INIT("ms"), 1 },
	{ IDEM_LIT_INIT("s"), 1000 },
	{ IDEM_LIT_INIT("m"), 60 * 1000 },
	{ IDEM_LIT_INIT("h"), 60 * 60 * 1000 },
	{ IDEM_LIT_INIT("d"), 24 * 60 * 60 * 1000 },
};

static const struct unit sizes[] = {
	{ IDEM_LIT_INIT("B"), 1 },
	{ IDEM_LIT_INIT("K"), 1 << 10 },
	{ IDEM_LIT_INIT("M"), 1 << 20 },
	{ IDEM_LIT_INIT("G"), 1 << 30 },
};

static enum idem_err
parse_unit(struct idem_span s, const struct unit *units, size_t nunits,
    uint64_t max, uint64_t *out)
{
	size_t ndigits = 0;
	enum idem_err err;
	uint64_t v;

	while (ndigits < s.n && ascii_digit(s.p[ndigits]))
		ndigits++;
	err = parse_u64(span_first(s, ndigits), max, &v);
	if (err != IDEM_OK)
		return err;
	if (ndigits == s.n && s.n == 1 && v == 0) {
		*out = 0;
		return IDEM_OK;
	}
	for (size_t i = 0; i < nunits; i++)
		if (span_eq(units[i].name, span_from(s, ndigits))) {
			if (v > max / units[i].factor)
				return IDEM_ETOOBIG;
			*out = v * units[i].factor;
			return IDEM_OK;
		}
	return IDEM_ESYNTAX;
}

enum idem_err
parse_duration(struct idem_span s, int64_t *ms)
{
	uint64_t v;
	enum idem_err err = parse_unit(s, durations,
	    sizeof durations / sizeof durations[0], INT64_MAX, &v);

	if (err == IDEM_OK)
		*ms = (int64_t)v;
	return err;
}

enum idem_err
parse_size(struct idem_span s, uint64_t *bytes)
{
	return parse_unit(s, sizes, sizeof sizes / sizeof sizes[0], UINT64_MAX,
	    bytes);
}
