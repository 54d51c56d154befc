/*
 * selection.c - the lists of places that count or do not count, walked where
 * they stand in their settings.
 */
#include "base/text.h"
#include "request/netstring.h"
#include "request/selection.h"

#define KINDS (SOURCE_BIT(SOURCE_FORM) | SOURCE_BIT(SOURCE_JSON) | \
	SOURCE_BIT(SOURCE_QUERY))

bool
selection_ignore_is_good(struct idem_span ignore)
{
	struct idem_span word;
	struct source s;
	size_t n = 0;

	for (; source_word(&ignore, &word); n++)
		if (source_parse(word, KINDS, &s) != IDEM_OK)
			return false;
	return n > 0;
}

bool
selection_is_list(struct idem_span only)
{
	return only.p != NULL && !span_eq(only, IDEM_LIT("body")) &&
	    !span_eq(only, IDEM_LIT("none"));
}

bool
selection_is_good(struct idem_span only)
{
	return !selection_is_list(only) || selection_ignore_is_good(only);
}

/* What is ignored: a setting's words, then the parts of the key's source. */
struct ignored {
	struct idem_span words, parts;
};

static struct ignored
ignored_of(const struct idem_selection *sel)
{
	return (struct ignored){ sel->ignore, sel->key };
}

static bool
next_ignored(struct ignored *rest, struct source *out)
{
	return source_next(&rest->words, ' ', out) ||
	    source_next(&rest->parts, '+', out);
}

bool
selection_ignores(const struct idem_selection *sel, enum source_kind kind,
    struct spelled name)
{
	struct ignored rest = ignored_of(sel);
	struct source s;

	while (next_ignored(&rest, &s))
		if (s.kind == kind && spelled_same(name, (struct spelled){
		    s.name, SPELLED_PERCENT }))
			return true;
	return false;
}

bool
selection_ignores_any(const struct idem_selection *sel, unsigned kinds)
{
	struct ignored rest = ignored_of(sel);
	struct source s;

	while (next_ignored(&rest, &s))
		if ((SOURCE_BIT(s.kind) & kinds) != 0)
			return true;
	return false;
}

bool
selection_lists_any(const struct idem_selection *sel, unsigned kinds)
{
	struct idem_span only = selection_is_list(sel->only) ? sel->only :
	    IDEM_ABSENT;
	struct source s;

	while (source_next(&only, ' ', &s))
		if ((SOURCE_BIT(s.kind) & kinds) != 0)
			return true;
	return false;
}

static void
hash_one(struct sha256 *h, const struct source *s, struct spelled value)
{
	netstring_hash(h, (struct spelled){ s->text, SPELLED_PLAIN });
	netstring_hash(h, value);
}

static void
hash_absent(struct sha256 *h, const struct source *s)
{
	hash_one(h, s, (struct spelled){ IDEM_ABSENT, SPELLED_PLAIN });
}

/* A value may be cut out of one that is listed: canonical is pruned. */
static void
hash_json(struct sha256 *h, const struct source *s, struct idem_span canonical)
{
	struct pointer_value at;

	if (pointer_find(canonical, s->name, &at))
		hash_one(h, s, (struct spelled){ at.text, SPELLED_PLAIN });
	else
		hash_absent(h, s);
}

static void
hash_pairs(struct sha256 *h, const struct source *s, struct idem_span pairs)
{
	struct spelled wanted = { s->name, SPELLED_PERCENT };
	struct idem_span name, value;
	bool found = false;

	while (form_next(&pairs, NULL, &name, &value)) {
		if (!spelled_same((struct spelled){ name, SPELLED_FORM },
		    wanted))
			continue;
		hash_one(h, s, (struct spelled){ value, SPELLED_FORM });
		found = true;
	}
	if (!found)
		hash_absent(h, s);
}

/* A file counts as its bytes do. */
static void
hash_parts(struct sha256 *h, const struct source *s,
    const struct idem_request *req)
{
	struct spelled wanted = { s->name, SPELLED_PERCENT };
	struct multipart_part part;
	struct multipart m;
	bool found = false;

	if (multipart_open(&m, req->var[IDEM_VAR_CONTENT_TYPE], req->body))
		while (multipart_next(&m, &part)) {
			if (!spelled_same((struct spelled){ part.name,
			    SPELLED_QUOTED }, wanted))
				continue;
			hash_one(h, s, (struct spelled){ part.content,
			    SPELLED_PLAIN });
			found = true;
		}
	if (!found)
		hash_absent(h, s);
}

static void
hash_listed(struct sha256 *h, const struct source *s,
    const struct idem_request *req, struct idem_span canonical)
{
	if (s->kind == SOURCE_JSON)
		hash_json(h, s, canonical);
	else if (s->kind == SOURCE_QUERY)
		hash_pairs(h, s, idem_request_query(req));
	else if (form_kind_of(req->media) == FORM_MULTIPART)
		hash_parts(h, s, req);
	else if (form_kind_of(req->media) == FORM_PAIRS)
		hash_pairs(h, s, req->body);
	else
		hash_absent(h, s);
}

void
selection_hash(const struct idem_selection *sel,
    const struct idem_request *req, struct idem_span canonical,
    struct sha256 *h)
{
	struct idem_span only = sel->only;
	struct source s;

	while (source_next(&only, ' ', &s)) {
		if (s.kind != SOURCE_JSON && selection_ignores(sel, s.kind,
		    (struct spelled){ s.name, SPELLED_PERCENT }))
			hash_absent(h, &s);
		else
			hash_listed(h, &s, req, canonical);
	}
}

enum idem_err
selection_prune(const struct idem_selection *sel, struct idem_span canonical,
    struct idem_buf *out, struct idem_buf *spare)
{
	struct ignored rest = ignored_of(sel);
	struct pointer_value at;
	enum idem_err err;
	struct source s;

	idem_buf_reset(out);
	idem_buf_puts(out, canonical);
	while ((err = idem_buf_err(out)) == IDEM_OK &&
	    next_ignored(&rest, &s)) {
		if (s.kind != SOURCE_JSON || !pointer_find(idem_buf_span(out),
		    s.name, &at))
			continue;
		idem_buf_reset(spare);
		pointer_cut(idem_buf_span(out), &at, spare);
		if ((err = idem_buf_err(spare)) != IDEM_OK)
			return err;
		idem_buf_reset(out);
		idem_buf_puts(out, idem_buf_span(spare));
	}
	return err;
}
