/*
 * multipart.c - multipart/form-data (RFC 7578, RFC 2046 5.1), read so strictly
 * that two bodies with the same hash mean the same to every reader.  Decodes
 * nothing and allocates nothing.
 */
#include <string.h>

#include "base/text.h"
#include "request/multipart.h"
#include "request/netstring.h"


enum step { PART, END, BAD };

struct parameter {
	struct idem_span name;  /* absent: there are no more */
	struct idem_span value; /* without its quotes */
	bool quoted;
};

static void
skip_space(struct idem_span *s)
{
	while (s->n > 0 && (s->p[0] == ' ' || s->p[0] == '\t'))
		*s = span_from(*s, 1);
}

/* Where the quoted string that begins behind s's first byte ends: its closing
 * quote, which has no backslash before it.  s.n: nowhere. */
static size_t
closing_quote(struct idem_span s)
{
	size_t i = 1;

	while (i < s.n && s.p[i] != '"')
		i += s.p[i] == '\\' && i + 1 < s.n && s.p[i + 1] == '"' ? 2 : 1;
	return i;
}

static bool
take_value(struct idem_span *s, struct parameter *p)
{
	size_t n = 0;

	p->quoted = s->n > 0 && s->p[0] == '"';
	if (p->quoted) {
		n = closing_quote(*s);
		if (n >= s->n)
			return false;
		p->value = span_from(span_first(*s, n), 1);
		*s = span_from(*s, n + 1);
		return true;
	}
	while (n < s->n && memchr("; \t", s->p[n], 3) == NULL)
		n++;
	p->value = span_first(*s, n);
	*s = span_from(*s, n);
	return n > 0;
}

/*
 * RFC 9110 5.6.6: take the next parameter, with the semicolon before it, off
 * the front of *s.  Empty ones are passed over.  false: no grammar allows it.
 */
static bool
next_parameter(struct idem_span *s, struct parameter *p)
{
	size_t equals;

	*p = (struct parameter){ .name = IDEM_ABSENT };
	for (;;) {
		skip_space(s);
		if (s->n == 0)
			return true;
		if (s->p[0] != ';')
			return false;
		*s = span_from(*s, 1);
		skip_space(s);
		if (s->n > 0 && s->p[0] != ';')
			break;
	}
	if ((equals = span_find(*s, '=')) == s->n)
		return false;
	p->name = span_first(*s, equals);
	*s = span_from(*s, equals + 1);
	return is_token(p->name) && take_value(s, p);
}

/* RFC 2046 5.1.1; its space may not be last. */
static bool
is_boundary(struct idem_span s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!ascii_alpha(s.p[i]) && !ascii_digit(s.p[i]) &&
		    memchr("'()+_,-./:=? ", s.p[i], 13) == NULL)
			return false;
	return s.n > 0 && s.n <= MULTIPART_BOUNDARY_MAX && s.p[s.n - 1] != ' ';
}

static bool
find_boundary(struct idem_span content_type, struct idem_span *boundary)
{
	size_t type = span_find(content_type, ';');
	struct parameter p;

	*boundary = IDEM_ABSENT;
	content_type = span_from(content_type, type);
	for (;;) {
		if (!next_parameter(&content_type, &p))
			return false;
		if (p.name.p == NULL)
			return boundary->p != NULL;
		if (!span_eq_nocase(p.name, IDEM_LIT("boundary")))
			continue;
		if (boundary->p != NULL || !is_boundary(p.value))
			return false;
		*boundary = p.value;
	}
}

/* Empty where s holds nothing but line ends. */
static struct idem_span
skip_line_ends(struct idem_span s)
{
	while (span_starts(s, IDEM_LIT("\n")) ||
	    span_starts(s, IDEM_LIT("\r\n")))
		s = span_from(s, s.p[0] == '\r' ? 2 : 1);
	return s;
}

/* Set m behind the first boundary. */
static bool
begin(struct multipart *m, struct idem_span content_type,
    struct idem_span body)
{
	struct idem_span boundary, first;

	if (!find_boundary(content_type, &boundary))
		return false;
	memcpy(m->mark, "\n--", 3);
	memcpy(m->mark + 3, boundary.p, boundary.n);
	m->nmark = 3 + boundary.n;
	first = (struct idem_span){ m->mark + 1, m->nmark - 1 };
	body = skip_line_ends(body);
	if (!span_starts(body, first))
		return false;
	m->rest = span_from(body, first.n);
	return true;
}

/* Fill name and filename from the value of Content-Disposition; the only two
 * parameters that a form needs. */
static bool
read_disposition(struct idem_span s, struct multipart_part *part)
{
	size_t type = span_find(s, ';');
	struct parameter p;

	if (!span_eq_nocase(span_trim(span_first(s, type)),
	    IDEM_LIT("form-data")))
		return false;
	s = span_from(s, type);
	while (next_parameter(&s, &p)) {
		struct idem_span *to;

		if (p.name.p == NULL)
			return part->name.p != NULL;
		if (span_eq_nocase(p.name, IDEM_LIT("name")))
			to = &part->name;
		else if (span_eq_nocase(p.name, IDEM_LIT("filename")))
			to = &part->filename;
		else
			return false;
		if (to->p != NULL || (!p.quoted && !is_token(p.value)))
			return false;
		*to = p.value;
	}
	return false;
}

/* One header line without its end. */
static bool
read_header(struct idem_span line, struct multipart_part *part)
{
	size_t colon = span_find(line, ':');
	struct idem_span name = span_first(line, colon), value;

	if (colon == line.n || span_find(line, '\0') < line.n ||
	    span_find(line, '\r') < line.n)
		return false;
	value = span_trim(span_from(line, colon + 1));
	if (span_eq_nocase(name, IDEM_LIT("content-disposition")))
		return part->name.p == NULL && read_disposition(value, part);
	if (!span_eq_nocase(name, IDEM_LIT("content-type")) ||
	    part->type.p != NULL)
		return false;
	part->type = value;
	return true;
}

/* Lines up to the empty one, taken off the front of *s. */
static bool
read_headers(struct idem_span *s, struct multipart_part *part)
{
	struct idem_span line;

	while (span_find(*s, '\n') < s->n && span_next(s, '\n', &line)) {
		if (line.n == 0 || line.p[line.n - 1] != '\r')
			return false;
		line.n--;
		if (line.n == 0)
			return part->name.p != NULL;
		if (!read_header(line, part))
			return false;
	}
	return false;
}

/*
 * The content up to the next boundary.  A boundary that some reader may take
 * for one and another not (behind a bare LF, or at once) makes all of it bad.
 */
static bool
read_content(struct multipart *m, struct multipart_part *part)
{
	struct idem_span s = m->rest;
	const char *mark = s.n == 0 ? NULL :
	    memmem(s.p, s.n, m->mark, m->nmark);

	if (mark == NULL || mark[-1] != '\r' || span_starts(s,
	    (struct idem_span){ m->mark + 1, m->nmark - 1 }))
		return false;
	part->content = span_first(s, (size_t)(mark - s.p) - 1);
	m->rest = span_from(s, (size_t)(mark - s.p) + m->nmark);
	return true;
}

static enum step
next_part(struct multipart *m, struct multipart_part *part)
{
	*part = (struct multipart_part){ .name = IDEM_ABSENT };
	if (span_starts(m->rest, IDEM_LIT("--")))
		return skip_line_ends(span_from(m->rest, 2)).n == 0 ?
		    END : BAD;
	if (!span_starts(m->rest, IDEM_LIT("\r\n")))
		return BAD;
	m->rest = span_from(m->rest, 2);
	return read_headers(&m->rest, part) && read_content(m, part) ?
	    PART : BAD;
}

bool
multipart_open(struct multipart *m, struct idem_span content_type,
    struct idem_span body)
{
	struct multipart ahead;
	struct multipart_part part;
	enum step step;

	if (!begin(m, content_type, body))
		return false;
	ahead = *m;
	while ((step = next_part(&ahead, &part)) == PART)
		;
	return step == END;
}

bool
multipart_next(struct multipart *m, struct multipart_part *part)
{
	return next_part(m, part) == PART;
}

enum idem_err
multipart_hash(struct idem_span content_type, struct idem_span body,
    multipart_skip skip, const void *arg, struct sha256 *h)
{
	struct multipart m;
	struct multipart_part part;

	if (!multipart_open(&m, content_type, body))
		return IDEM_ESYNTAX;
	while (multipart_next(&m, &part)) {
		if (skip != NULL && skip(arg, &part))
			continue;
		netstring_hash(h, (struct spelled){ part.name,
		    SPELLED_QUOTED });
		netstring_hash(h, (struct spelled){ part.filename,
		    SPELLED_QUOTED });
		netstring_hash(h, (struct spelled){ part.type,
		    SPELLED_PLAIN });
		netstring_hash(h, (struct spelled){ part.content,
		    SPELLED_PLAIN });
	}
	return IDEM_OK;
}
