/*
 * target.c - the request target (RFC 9112 3.2) taken apart: path, query, route.
 * Knows nothing of which routes exist.
 */
#include <string.h>

#include "base/text.h"
#include "idem/http.h"

/* Offset of the first byte that is one of set, or s.n. */
static size_t
find_any(struct idem_span s, const char *set)
{
	size_t i = 0;

	while (i < s.n && (s.p[i] == '\0' || strchr(set, s.p[i]) == NULL))
		i++;
	return i;
}

struct idem_span
idem_target_without_authority(struct idem_span target)
{
	size_t scheme = find_any(target, ":/?#");
	struct idem_span rest = span_from(target, scheme);

	if (scheme == 0 || !span_starts(rest, IDEM_LIT("://")))
		return target;
	rest = span_from(rest, 3);
	return span_from(rest, find_any(rest, "/?#"));
}

struct idem_span
idem_request_raw_path(const struct idem_request *req)
{
	struct idem_span target = idem_target_without_authority(req->target);
	size_t n = find_any(target, "?#");

	return n == 0 ? IDEM_LIT("/") : span_first(target, n);
}

struct idem_span
idem_request_query(const struct idem_request *req)
{
	struct idem_span target = req->target;
	size_t mark;

	target = span_first(target, span_find(target, '#'));
	mark = span_find(target, '?');
	return mark == target.n ? IDEM_ABSENT : span_from(target, mark + 1);
}

/* Take base off the front of *path; what stays begins with '/'. */
static enum idem_err
cut_base(struct idem_span base, struct idem_buf *path)
{
	struct idem_span whole = idem_buf_span(path);

	while (base.n > 0 && base.p[base.n - 1] == '/')
		base.n--;
	if (!span_starts(whole, base) ||
	    (whole.n > base.n && whole.p[base.n] != '/'))
		return IDEM_ESYNTAX;
	if (base.n > 0) {
		memmove(path->p, path->p + base.n, whole.n - base.n);
		idem_buf_cut(path, whole.n - base.n);
	}
	if (path->n == 0)
		idem_buf_putc(path, '/');
	return idem_buf_err(path);
}

enum idem_err
idem_request_path(const struct idem_request *req, struct idem_span base,
    struct idem_buf *path)
{
	enum idem_err err;

	idem_buf_reset(path);
	err = percent_decode(idem_request_raw_path(req), false, path);
	if (err != IDEM_OK || (err = idem_buf_err(path)) != IDEM_OK)
		return err;
	if (span_find(idem_buf_span(path), '\0') < path->n)
		return IDEM_ESYNTAX;
	return cut_base(base, path);
}
