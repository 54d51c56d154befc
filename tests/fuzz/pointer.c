/*
 * pointer.c - JSON Pointer in a canonical text against a walk that decodes
 * every name; what is cut out is gone and leaves a canonical text.
 *
 * Input: a line with a pointer as a setting writes it, then a JSON text.
 */
#include "idem/json.h"
#include "kit.h"
#include "request/pointer.h"
#include "request/selection.h"
#include "slow.h"

#define TEXT_MAX 20000 /* bytes */

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
static void
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

static bool
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

static void
is_canonical(struct idem_span text)
{
	struct idem_json_work work;
	struct idem_buf *again = kit_buf();

	idem_json_work_init(&work);
	must(idem_json_canonical(&work, text, again, NULL) == IDEM_OK);
	must_be(idem_buf_span(again), text);
	idem_json_work_free(&work);
}

static void
text_is(struct idem_span value)
{
	struct spelled got = pointer_text(value);
	struct idem_buf *text = kit_buf(), *want = kit_buf();

	must((got.s.p == NULL) == span_eq(value, IDEM_LIT("null")));
	if (got.s.p == NULL)
		return;
	if (value.p[0] == '"')
		slow_string(&value, want);
	else
		idem_buf_puts(want, value);
	spelled_put(got, text);
	must(span_eq(idem_buf_span(text), idem_buf_span(want)));
}

/* Without the value: a member is gone, an element null. */
static void
what_is_cut_is_gone(struct idem_span json, struct idem_span pointer,
    const struct pointer_value *value)
{
	struct idem_buf *out = kit_buf(), *pruned = kit_buf();
	struct idem_buf *spare = kit_buf(), *word = kit_buf();
	struct idem_span cut, left;
	struct pointer_value again;
	struct idem_selection sel = { .only = { NULL, 0 } };

	pointer_cut(json, value, out);
	cut = kit_copy(idem_buf_span(out));
	is_canonical(cut);
	must(slow_find(cut, pointer, &left) == value->in_array);
	if (value->in_array)
		must_be(left, IDEM_LIT("null"));
	must(pointer_find(cut, pointer, &again) == value->in_array);
	idem_buf_puts(word, IDEM_LIT("json:"));
	idem_buf_puts(word, pointer);
	sel.ignore = idem_buf_span(word);
	if (!selection_ignore_is_good(sel.ignore))
		return;
	must(selection_prune(&sel, json, pruned, spare) == IDEM_OK);
	must_be(idem_buf_span(pruned), cut);
}

void
fuzz_pointer(struct idem_span input)
{
	struct idem_span pointer = kit_copy(kit_line(&input)), json, want;
	struct idem_buf *canonical = kit_buf();
	struct pointer_value got;
	struct idem_json_work work;
	enum idem_err err;
	bool found;

	if (!pointer_is_good(pointer) || input.n > TEXT_MAX)
		return;
	idem_json_work_init(&work);
	err = idem_json_canonical(&work, input, canonical, NULL);
	idem_json_work_free(&work);
	if (err != IDEM_OK)
		return;
	json = kit_copy(idem_buf_span(canonical));
	found = slow_find(json, pointer, &want);
	must(pointer_find(json, pointer, &got) == found);
	if (!found)
		return;
	must_be(got.text, want);
	must(got.text.p == want.p);
	is_canonical(got.text);
	text_is(got.text);
	what_is_cut_is_gone(json, pointer, &got);
}
