/*
 * form.h - name and value pairs: of a query, of an urlencoded body (URL
 * Standard 5.1) and of a multipart form.  Knows no names.
 */
#ifndef REQUEST_FORM_H
#define REQUEST_FORM_H

#include "request/multipart.h"
#include "request/spelling.h"

/*
 * Take the next pair off the front of *rest: name and value as they are
 * written, without '='; raw (NULL: not wanted) the whole.  Empty ones are
 * passed over; a pair without '=' has an empty value.
 */
bool form_next(struct idem_span *rest, struct idem_span *raw,
    struct idem_span *name, struct idem_span *value);

enum form_kind { FORM_NONE, FORM_PAIRS, FORM_MULTIPART };
/* What a body of this media type is. */
enum form_kind form_kind_of(struct idem_span media);

enum form_found { FORM_ABSENT, FORM_ONCE, FORM_TWICE };

/*
 * Look for the field of that name in a query or an urlencoded body.  value is
 * set where it is there at least once: the first, SPELLED_FORM.
 */
enum form_found form_find(struct idem_span pairs, struct spelled name,
    struct spelled *value);

/*
 * The same in a multipart body; FORM_ABSENT also where not all of the body
 * parses.  A file is no field.
 */
enum form_found form_find_part(struct idem_span content_type,
    struct idem_span body, struct spelled name, struct spelled *value);

#endif
