/*
 * slow_multipart.c - multipart/form-data by a reader that cuts the body at its
 * boundaries first and looks at the pieces afterwards.
 */
#include "kit.h"
#include "slow.h"

#define NAME "[A-Za-z0-9!#$%&'*+.^_`|~-]+"
/* A quote with a backslash before it does not end the value. */
#define QUOTED "\"([^\"\\]|\\\\+[^\\])*\""
#define UNQUOTED "[^; \t\"][^; \t]*"
#define PARAMETER "[ \t]*;[ \t]*((" NAME ")=(" QUOTED "|" UNQUOTED "))?"

/* Take a parameter off the front; name is absent where it is empty. */
static bool
slow_parameter(struct idem_span *rest, struct idem_span *name,
    struct idem_span *value)
{
	static regex_t *all, *one;
	struct idem_span part[4];

	if (!kit_matches(&all, "^(" PARAMETER ")*[ \t]*$", *rest) ||
	    !kit_parts(&one, "^" PARAMETER, *rest, part, 4))
		return false;
	*name = part[2];
	*value = part[3];
	*rest = span_from(*rest, part[0].n);
	return true;
}

static bool
is_blank(struct idem_span s)
{
	return span_trim(s).n == 0;
}

static bool
is_quoted(struct idem_span value)
{
	return value.n > 0 && value.p[0] == '"';
}

static struct idem_span
inside(struct idem_span value)
{
	return is_quoted(value) ? span_first(span_from(value, 1),
	    value.n - 2) : value;
}

/* No NUL in content_type. */
static bool
slow_boundary(struct idem_span content_type, struct idem_span *boundary)
{
	static regex_t *good;
	struct idem_span rest, name, value;

	rest = span_from(content_type, span_find(content_type, ';'));
	*boundary = IDEM_ABSENT;
	while (!is_blank(rest)) {
		if (!slow_parameter(&rest, &name, &value))
			return false;
		if (!span_eq_nocase(name, IDEM_LIT("boundary")))
			continue;
		if (boundary->p != NULL || !kit_matches(&good,
		    "^[A-Za-z0-9'()+_,./:=? -]{0,69}[A-Za-z0-9'()+_,./:=?-]$",
		    inside(value)))
			return false;
		*boundary = inside(value);
	}
	return boundary->p != NULL;
}

static bool
slow_disposition(struct idem_span value, struct multipart_part *part)
{
	struct idem_span rest = span_from(value, span_find(value, ';'));
	struct idem_span name, text;

	if (!span_eq_nocase(span_trim(span_first(value, value.n - rest.n)),
	    IDEM_LIT("form-data")))
		return false;
	while (!is_blank(rest)) {
		struct idem_span *to;

		if (!slow_parameter(&rest, &name, &text))
			return false;
		if (name.p == NULL)
			continue;
		to = span_eq_nocase(name, IDEM_LIT("name")) ? &part->name :
		    span_eq_nocase(name, IDEM_LIT("filename")) ?
		    &part->filename : NULL;
		if (to == NULL || to->p != NULL ||
		    (!is_quoted(text) && !is_token(text)))
			return false;
		*to = inside(text);
	}
	return part->name.p != NULL;
}

/* piece: CR LF, header lines, an empty line, content, CR. */
static bool
slow_part(struct idem_span piece, struct multipart_part *part)
{
	struct idem_span line, value;
	size_t ndispositions = 0;

	*part = (struct multipart_part){ .name = IDEM_ABSENT };
	if (!span_starts(piece, IDEM_LIT("\r\n")))
		return false;
	piece = span_from(piece, 2);
	for (;;) {
		if (span_find(piece, '\n') == piece.n)
			return false;
		line = kit_line(&piece);
		if (line.n == 0 || line.p[line.n - 1] != '\r')
			return false;
		if (--line.n == 0)
			break;
		if (memchr(line.p, '\r', line.n) != NULL ||
		    memchr(line.p, '\0', line.n) != NULL ||
		    span_find(line, ':') == line.n)
			return false;
		value = span_trim(span_from(line, span_find(line, ':') + 1));
		line = span_first(line, span_find(line, ':'));
		if (span_eq_nocase(line, IDEM_LIT("content-type")) &&
		    part->type.p == NULL)
			part->type = value;
		else if (!span_eq_nocase(line,
		    IDEM_LIT("content-disposition")) || ndispositions++ > 0 ||
		    !slow_disposition(value, part))
			return false;
	}
	if (part->name.p == NULL || piece.n == 0 ||
	    piece.p[piece.n - 1] != '\r')
		return false;
	part->content = span_first(piece, piece.n - 1);
	return true;
}

/* Nothing but LF and CR LF. */
static bool
is_line_ends(struct idem_span s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] != '\n' && (s.p[i] != '\r' || i + 1 == s.n ||
		    s.p[i + 1] != '\n'))
			return false;
	return true;
}

/* Take the text before the next mark off the front of *rest. */
static bool
slow_piece(struct idem_span *rest, struct idem_span mark,
    struct idem_span *piece)
{
	for (size_t i = 0; i + mark.n <= rest->n; i++)
		if (memcmp(rest->p + i, mark.p, mark.n) == 0) {
			*piece = span_first(*rest, i);
			*rest = span_from(*rest, i + mark.n);
			return true;
		}
	return false;
}

size_t
slow_parts(struct idem_span content_type, struct idem_span body,
    struct multipart_part parts[SLOW_PARTS_MAX])
{
	struct idem_buf *text = kit_buf(), *mark = kit_buf();
	struct idem_span boundary, rest, piece;
	size_t n = 0;

	if (!slow_boundary(content_type, &boundary))
		return SIZE_MAX;
	idem_buf_puts(mark, IDEM_LIT("\n--"));
	idem_buf_puts(mark, boundary);
	idem_buf_putc(text, '\n'); /* so that the first is like the others */
	idem_buf_puts(text, body);
	rest = idem_buf_span(text);
	if (!slow_piece(&rest, idem_buf_span(mark), &piece) ||
	    !is_line_ends(span_first(body, piece.n)))
		return SIZE_MAX;
	while (slow_piece(&rest, idem_buf_span(mark), &piece)) {
		struct multipart_part part;

		if (!slow_part(piece, &part))
			return SIZE_MAX;
		if (n < SLOW_PARTS_MAX)
			parts[n] = part;
		n++;
	}
	if (!span_starts(rest, IDEM_LIT("--")) ||
	    !is_line_ends(span_from(rest, 2)))
		return SIZE_MAX;
	return n;
}

struct idem_span
slow_unescaped(struct idem_span s)
{
	struct idem_buf *out = kit_buf();

	if (s.p == NULL)
		return s;
	idem_buf_puts(out, IDEM_LIT("x"));
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\\' && i + 1 < s.n && s.p[i + 1] == '"')
			i++;
		idem_buf_putc(out, s.p[i]);
	}
	return span_from(idem_buf_span(out), 1);
}
