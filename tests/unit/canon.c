/*
 * canon.c - canonical forms of JSON texts, compared with literal ones.
 */
#include "canon.h"

enum idem_err
canon_with(struct idem_json_work *work, struct idem_span text,
    struct idem_buf *out, size_t *at)
{
	char *block;
	enum idem_err err;

	text = exact_copy(text, &block);
	idem_buf_init(out, text.n + 16);
	err = idem_json_canonical(work, text, out, at);
	if (err == IDEM_ETOOBIG) {
		idem_buf_free(out);
		idem_buf_init(out, IDEM_JSON_ROOM(text.n));
		err = idem_json_canonical(work, text, out, at);
	}
	free(block);
	return err;
}

enum idem_err
canon_of(struct idem_span text, struct idem_buf *out, size_t *at)
{
	struct idem_json_work work;
	enum idem_err err;

	idem_json_work_init(&work);
	err = canon_with(&work, text, out, at);
	idem_json_work_free(&work);
	return err;
}

void
assert_canonical(struct idem_span text, enum idem_err want, size_t want_at,
    struct idem_span form)
{
	struct idem_buf out;
	size_t at = 0;
	enum idem_err err = canon_of(text, &out, &at);

	if (err != want || at != want_at)
		fail_msg("%.*s: %s at %zu, not %s at %zu", IDEM_FMT(text),
		    idem_strerror(err), at, idem_strerror(want), want_at);
	assert_span(idem_buf_span(&out), form);
	idem_buf_free(&out);
}

void
assert_form(struct idem_span text, struct idem_span form)
{
	assert_canonical(text, IDEM_OK, 0, form);
	assert_canonical(form, IDEM_OK, 0, form);
}

void
assert_examples(const struct example *e, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (e[i].err == IDEM_OK)
			assert_form(e[i].text, e[i].canonical);
		else
			assert_canonical(e[i].text, e[i].err, e[i].at,
			    IDEM_LIT(""));
}

void
canon_put_reversed(struct idem_buf *b, size_t n, const char *prefix)
{
	for (size_t i = n; i-- > 0;)
		idem_buf_printf(b, "%s\"%s%06zu\":%zu", i + 1 == n ? "{" : ",",
		    prefix, i, i);
	idem_buf_putc(b, '}');
}
