/*
 * tests.h - what every unit test needs: cmocka and a few short words.
 */
#ifndef TESTS_H
#define TESTS_H

/* cmocka wants these four before itself */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Equal as bytes and in length; says both when they are not. */
#define assert_span(got, want) \
	assert_span_at((got), (want), __FILE__, __LINE__)

static inline void
assert_span_at(struct idem_span got, struct idem_span want, const char *file,
    int line)
{
	if (got.n == want.n && (got.p == NULL) == (want.p == NULL) &&
	    (got.n == 0 || memcmp(got.p, want.p, got.n) == 0))
		return;
	print_error("got  %zu: %.*s\nwant %zu: %.*s\n", got.n, IDEM_FMT(got),
	    want.n, IDEM_FMT(want));
	_fail(file, line);
}

/* The same for a NUL-terminated text; NULL wants the span absent. */
#define assert_text(got, want) assert_span((got), span_of(want))

/* A copy whose last byte is the last of its block, so that the sanitizer sees
 * every read past the end.  The caller frees *block. */
static inline struct idem_span
exact_copy(struct idem_span s, char **block)
{
	*block = malloc(s.n == 0 ? 1 : s.n);
	assert_non_null(*block);
	if (s.n > 0)
		memcpy(*block, s.p, s.n);
	return (struct idem_span){ *block, s.n };
}

#endif
