/*
 * target.c - the request target against the expression of RFC 3986, appendix B.
 *
 * Input: a line with IDEM_BASE, then REQUEST_URI.
 */
#include "kit.h"
#include "request/source.h"
#include "slow.h"

/* The route, by the decoded path. */
static enum idem_err
slow_route(struct idem_span path, struct idem_span base, struct idem_buf *out)
{
	struct idem_buf *decoded = kit_buf();
	struct idem_span rest;

	if (!slow_percent(path, false, decoded) ||
	    span_find(idem_buf_span(decoded), '\0') < decoded->n)
		return IDEM_ESYNTAX;
	rest = idem_buf_span(decoded);
	while (base.n > 0 && base.p[base.n - 1] == '/')
		base.n--;
	if (rest.n < base.n || (base.n > 0 &&
	    memcmp(rest.p, base.p, base.n) != 0))
		return IDEM_ESYNTAX;
	rest = span_from(rest, base.n);
	if (rest.n > 0 && rest.p[0] != '/')
		return IDEM_ESYNTAX;
	idem_buf_puts(out, rest.n == 0 ? IDEM_LIT("/") : rest);
	return IDEM_OK;
}

/* Each segment of the path is what path:N finds. */
static void
segments_are(const struct idem_request *req, struct idem_span path)
{
	struct idem_span segment;
	struct spelled value;

	(void)slow_split(&path, '/', &segment);
	for (uint64_t i = 1; slow_split(&path, '/', &segment); i++) {
		struct source s = { .kind = SOURCE_PATH, .segment = i };

		must(source_find(&s, req, IDEM_ABSENT, &value) ==
		    SOURCE_ONCE);
		must(value.by == SPELLED_PERCENT);
		must(span_eq(value.s, segment));
	}
}

void
fuzz_target(struct idem_span input)
{
	static regex_t *uri;
	struct idem_span base = kit_copy(kit_line(&input)), target, part[7];
	const char *vars[] = { kit_variable("REQUEST_URI", input), NULL };
	struct idem_buf *got = kit_buf(), *want = kit_buf();
	struct idem_request req;
	struct idem_span path;
	enum idem_err err;

	must(idem_request_init(&req, vars, kit_buf()) == IDEM_OK);
	target = span_first(input, span_find(input, '\0'));
	must(span_eq(req.target, target));
	must(kit_parts(&uri, "^([^:/?#]+://[^/?#]*)?(([^?#]*)(\\?([^#]*))?"
	    "(#.*)?)$", target, part, 7));
	path = part[3].n == 0 ? IDEM_LIT("/") : part[3];
	must(span_eq(idem_target_without_authority(req.target), part[2]));
	must_be(idem_request_raw_path(&req), path);
	must_be(idem_request_query(&req), part[5]);
	segments_are(&req, path);
	err = idem_request_path(&req, base, got);
	must(err == slow_route(path, base, want));
	if (err == IDEM_OK)
		must_be(idem_buf_span(got), idem_buf_span(want));
}
