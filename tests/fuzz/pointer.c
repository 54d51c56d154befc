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
	must_be(cut, slow_without(json, pointer));
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
