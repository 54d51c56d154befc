/*
 * source.h - places of a request where a value may stand, as settings name
 * them: "header:NAME", "form:NAME", "json:/pointer", "query:NAME",
 * "cookie:NAME", "path:N".  Knows no keys.
 *
 * In names %41 stands for a byte, so that any name can be written: a space, a
 * plus and an equals sign only so.
 */
#ifndef REQUEST_SOURCE_H
#define REQUEST_SOURCE_H

#include "idem/http.h"
#include "request/form.h"
#include "request/pointer.h"

enum source_kind {
	SOURCE_HEADER,
	SOURCE_FORM,   /* urlencoded and multipart */
	SOURCE_JSON,
	SOURCE_QUERY,
	SOURCE_COOKIE,
	SOURCE_PATH    /* segment N of the path, from 1 */
};
#define SOURCE_NKINDS ((size_t)SOURCE_PATH + 1)
#define SOURCE_BIT(kind) (1u << (kind))
#define SOURCES_ALL (SOURCE_BIT(SOURCE_NKINDS) - 1)
#define SOURCES_IN_BODY (SOURCE_BIT(SOURCE_FORM) | SOURCE_BIT(SOURCE_JSON))

struct source {
	enum source_kind kind;
	struct idem_span text; /* as written: "form:a" */
	struct idem_span name; /* "a" */
	uint64_t segment;      /* of the path */
};

/*
 * Parse one place, whose kind must be among kinds (bits).  Everything is
 * borrowed from text.  IDEM_ESYNTAX.
 */
IDEM_MUST_CHECK enum idem_err
source_parse(struct idem_span text, unsigned kinds, struct source *out);

/* Take the next word, between spaces, off the front of a setting. */
bool source_word(struct idem_span *rest, struct idem_span *word);

/*
 * Take the next place off the front of a checked list, which sep separates.
 * With ' ' any number of spaces counts as one.
 */
bool source_next(struct idem_span *rest, char sep, struct source *out);

/* The media type of a JSON body: application/json, application/...+json, and
 * text/json, which old clients send. */
bool source_is_json(struct idem_span media);

/* Does a body of the request's type hold places of this kind?  Places outside
 * the body always fit. */
bool source_fits(enum source_kind kind, const struct idem_request *req);

enum source_found {
	SOURCE_ABSENT, /* also: null, and a body that does not parse */
	SOURCE_ONCE,
	SOURCE_TWICE   /* *value is the first of them */
};

/*
 * Find the value.  canonical is the canonical form of a JSON body; absent:
 * it has none.  *value is borrowed from req and canonical.
 */
enum source_found
source_find(const struct source *s, const struct idem_request *req,
    struct idem_span canonical, struct spelled *value);

#endif
