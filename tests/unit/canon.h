/*
 * canon.h - canonical forms of JSON texts, compared with literal ones.
 */
#ifndef UNIT_CANON_H
#define UNIT_CANON_H

#include "tests.h"

#include "idem/json.h"

#define L(s) IDEM_LIT_INIT(s)
#define OK IDEM_OK, 0
#define BAD(at) IDEM_ESYNTAX, at
#define INEXACT(at) IDEM_EINEXACT, at
#define NONE L("")

/* One row: OK, BAD or INEXACT stands for err and at. */
struct example {
	struct idem_span text;
	enum idem_err err;
	size_t at;
	struct idem_span canonical;
};

/*
 * As idem_json_canonical(), into a buffer of its own that the caller frees.
 * Both texts stand in blocks without a byte to spare, so that the sanitizer
 * sees what is read or written too far; what needs more room gets it.
 */
IDEM_MUST_CHECK enum idem_err
canon_with(struct idem_json_work *work, struct idem_span text,
    struct idem_buf *out, size_t *at);

/* The same with a work of its own. */
IDEM_MUST_CHECK enum idem_err
canon_of(struct idem_span text, struct idem_buf *out, size_t *at);

void assert_canonical(struct idem_span text, enum idem_err want,
    size_t want_at, struct idem_span form);

/* What is canonical stays as it is. */
void assert_form(struct idem_span text, struct idem_span form);

void assert_examples(const struct example *e, size_t n);

/* An object of n members, last name first; every name has a prefix. */
void canon_put_reversed(struct idem_buf *b, size_t n, const char *prefix);

#endif
