/*
 * slow_json.c - a walk in a canonical text that decodes every name, and the
 * text without one value.
 */
#include "kit.h"
#include "slow.h"

/* RFC 6901 4, after the setting's own %41. */
static void
slow_segment(struct idem_span s, struct idem_buf *out)
{
	struct idem_span run = s;

	while (s.n > 0) {
		size_t tilde = span_find(s, '~');

		run = span_first(s, tilde);
		(void)slow_percent(run, false, out);
		if (tilde == s.n)
			return;
		idem_buf_putc(out, s.p[tilde + 1] == '1' ? '/' : '~');
		s = span_from(s, tilde + 2);
	}
}

/* Take a string in canonical form off the front; what it stands for. */
void
slow_string(struct idem_span *rest, struct idem_buf *out)
{
	static const char from[] = "btnfr\"\\", to[] = "\b\t\n\f\r\"\\";

	*rest = span_from(*rest, 1);
	while (rest->p[0] != '"') {
		const char *name = rest->p[0] != '\\' ? NULL :
		    strchr(from, rest->p[1]);

		if (rest->p[0] != '\\') {
			idem_buf_putc(out, rest->p[0]);
			*rest = span_from(*rest, 1);
		} else if (name != NULL) {
			idem_buf_putc(out, to[name - from]);
			*rest = span_from(*rest, 2);
		} else {
			must(memcmp(rest->p, "\\u00", 4) == 0);
			idem_buf_putc(out, (char)(hex_value(rest->p[4]) << 4 |
			    hex_value(rest->p[5])));
			*rest = span_from(*rest, 6);
		}
	}
	*rest = span_from(*rest, 1);
}

/* Take a value off the front. */
static struct idem_span
slow_value(struct idem_span *rest)
{
	struct idem_span from = *rest;
	struct idem_buf *name = NULL;
	char open = from.p[0], close = open == '{' ? '}' : ']';

	if (open == '"') {
		name = kit_buf();
		slow_string(rest, name);
		idem_buf_free(name);
	} else if (open != '{' && open != '[') {
		while (rest->n > 0 && strchr(",]}", rest->p[0]) == NULL)
			*rest = span_from(*rest, 1);
	} else {
		*rest = span_from(*rest, 1);
		while (rest->p[0] != close) {
			if (rest->p[0] == ',')
				*rest = span_from(*rest, 1);
			(void)slow_value(rest);
			if (open == '{') {
				*rest = span_from(*rest, 1);
				(void)slow_value(rest);
			}
		}
		*rest = span_from(*rest, 1);
	}
	return span_first(from, from.n - rest->n);
}

/* One step down; false: there is no such member or element. */
static bool
slow_step(struct idem_span *value, struct idem_span segment)
{
	struct idem_buf *wanted = kit_buf(), *name = kit_buf();
	struct idem_span rest = *value, found;
	bool object = rest.p[0] == '{', right;
	char index[24];

	if (!object && rest.p[0] != '[')
		return false;
	slow_segment(segment, wanted);
	rest = span_from(rest, 1);
	for (size_t i = 0; rest.p[0] != (object ? '}' : ']'); i++) {
		if (rest.p[0] == ',')
			rest = span_from(rest, 1);
		idem_buf_reset(name);
		if (object) {
			slow_string(&rest, name);
			rest = span_from(rest, 1);
			right = span_eq(idem_buf_span(name),
			    idem_buf_span(wanted));
		} else {
			must(text_format(index, sizeof index, "%zu", i) ==
			    IDEM_OK);
			right = span_eq(segment, span_of(index));
		}
		found = slow_value(&rest);
		if (right) {
			*value = found;
			return true;
		}
	}
	return false;
}

bool
slow_find(struct idem_span json, struct idem_span pointer,
    struct idem_span *value)
{
	struct idem_span rest = span_from(pointer, 1), segment;

	*value = json;
	while (slow_split(&rest, '/', &segment))
		if (!slow_step(value, segment))
			return false;
	return true;
}

/* A canonical array or object without one of its values: a member goes, an
 * element is null. */
static void
put_without(struct idem_span parent, struct idem_span value,
    struct idem_buf *out)
{
	struct idem_buf *dropped = kit_buf();
	struct idem_span rest = span_from(parent, 1);
	bool object = parent.p[0] == '{', first = true;

	idem_buf_putc(out, parent.p[0]);
	while (rest.p[0] != (object ? '}' : ']')) {
		struct idem_span member, one;

		if (rest.p[0] == ',')
			rest = span_from(rest, 1);
		member = rest;
		if (object) {
			slow_string(&rest, dropped);
			rest = span_from(rest, 1);
		}
		one = slow_value(&rest);
		member = span_first(member, member.n - rest.n);
		if (one.p == value.p && object)
			continue;
		if (!first)
			idem_buf_putc(out, ',');
		first = false;
		idem_buf_puts(out, one.p == value.p ? IDEM_LIT("null") :
		    member);
	}
	idem_buf_putc(out, object ? '}' : ']');
}

struct idem_span
slow_without(struct idem_span json, struct idem_span pointer)
{
	struct idem_buf *out = kit_buf();
	struct idem_span parent, value;
	size_t last = pointer.n;

	while (pointer.p[--last] != '/')
		;
	if (!slow_find(json, pointer, &value))
		return json;
	parent = json;
	if (last > 0)
		must(slow_find(json, span_first(pointer, last), &parent));
	idem_buf_puts(out, span_first(json, (size_t)(parent.p - json.p)));
	put_without(parent, value, out);
	idem_buf_puts(out, span_from(json,
	    (size_t)(parent.p - json.p) + parent.n));
	return idem_buf_span(out);
}
