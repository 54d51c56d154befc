/*
 * pointer.c - walks a JSON text that is known to be in canonical form: no white
 * space, no name twice, nothing to check.
 */
#include "base/text.h"
#include "request/pointer.h"

bool
pointer_is_good(struct idem_span pointer)
{
	return pointer.n > 0 && pointer.p[0] == '/' &&
	    spelled_is_pointer(pointer);
}

/* Length of the string at the front, with its quotes. */
static size_t
string_length(struct idem_span s)
{
	size_t i = 1;

	while (i < s.n && s.p[i] != '"')
		i += s.p[i] == '\\' ? 2 : 1;
	return i + 1;
}

/* Length of the value at the front. */
static size_t
value_length(struct idem_span s)
{
	size_t i = 0, depth = 0;

	while (i < s.n) {
		char c = s.p[i];

		if (depth == 0 && (c == ',' || c == '}' || c == ']'))
			break;
		if (c == '"') {
			i += string_length(span_from(s, i));
			continue;
		}
		if (c == '{' || c == '[')
			depth++;
		else if (c == '}' || c == ']')
			depth--;
		i++;
	}
	return i;
}

/* Take the next member or element off the front of *inside, and the comma
 * behind it. */
static bool
next_inside(struct idem_span *inside, bool object, struct idem_span *name,
    struct pointer_value *v)
{
	size_t head = 0, n;

	if (inside->n == 0)
		return false;
	*name = IDEM_LIT("");
	if (object) {
		head = string_length(*inside) + 1;
		*name = span_from(span_first(*inside, head - 2), 1);
	}
	n = head + value_length(span_from(*inside, head));
	v->member = span_first(*inside, n);
	v->text = span_from(v->member, head);
	v->in_array = !object;
	*inside = span_from(*inside, n < inside->n ? n + 1 : n);
	return true;
}

/* An index without zeros in front (RFC 6901 4), the i-th? */
static bool
is_index(struct idem_span segment, uint64_t i)
{
	uint64_t v;

	return (segment.n == 1 || segment.p[0] != '0') &&
	    parse_u64(segment, UINT32_MAX, &v) == IDEM_OK && v == i;
}

/* One step down, from the value that *v is to one inside it. */
static bool
step(struct pointer_value *v, struct idem_span segment)
{
	struct idem_span text = v->text, inside, name;
	bool object = text.n > 0 && text.p[0] == '{';

	if (text.n < 2 || segment.p == NULL || (!object && text.p[0] != '['))
		return false;
	if (!object && segment.n == 0)
		return false;
	inside = span_first(span_from(text, 1), text.n - 2);
	for (uint64_t i = 0; next_inside(&inside, object, &name, v); i++)
		if (object ? spelled_same((struct spelled){ name,
		    SPELLED_JSON }, (struct spelled){ segment,
		    SPELLED_POINTER }) : is_index(segment, i))
			return true;
	return false;
}

bool
pointer_find(struct idem_span json, struct idem_span pointer,
    struct pointer_value *out)
{
	struct idem_span rest = span_from(pointer, 1), segment;

	*out = (struct pointer_value){ .text = json };
	while (span_next(&rest, '/', &segment))
		if (!step(out, segment))
			return false;
	return true;
}

struct spelled
pointer_text(struct idem_span value)
{
	if (span_eq(value, IDEM_LIT("null")))
		return (struct spelled){ IDEM_ABSENT, SPELLED_PLAIN };
	if (value.n < 2 || value.p[0] != '"')
		return (struct spelled){ value, SPELLED_PLAIN };
	return (struct spelled){ span_from(span_first(value, value.n - 1), 1),
		SPELLED_JSON };
}

void
pointer_cut(struct idem_span json, const struct pointer_value *value,
    struct idem_buf *out)
{
	size_t at = (size_t)(value->member.p - json.p);
	size_t end = at + value->member.n;

	if (!value->in_array) {
		/* a comma goes too: the one behind, else the one before */
		if (json.p[end] == ',')
			end++;
		else if (json.p[at - 1] == ',')
			at--;
	}
	idem_buf_puts(out, span_first(json, at));
	if (value->in_array)
		idem_buf_puts(out, IDEM_LIT("null"));
	idem_buf_puts(out, span_from(json, end));
}
