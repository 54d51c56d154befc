/*
 * cgi_head.h - the head of an answer as a CGI program writes it (RFC 3875 6).
 * Knows no descriptors: bytes in, status and fields out.
 */
#ifndef REQUEST_CGI_HEAD_H
#define REQUEST_CGI_HEAD_H

#include "idem/http.h"

#define CGI_HEAD_MAX 65536 /* bytes; a longer head is no head */

/*
 * Where the head ends: its length with the empty line, or 0 while that line is
 * not there.  Lines end in LF or CRLF.  *from is where to look, 0 at first; it
 * moves on, so that a head which comes byte by byte is read once.
 */
size_t cgi_head_end(struct idem_span bytes, size_t *from);

/* What the head says beside status and fields. */
struct cgi_head {
	bool has_length;
	uint64_t length_bytes; /* Content-Length */
};

/*
 * Set status and fields of res (reset first).  head is cgi_head_end() bytes.
 * Status: as the program says, else 302 where there is a Location, else 200; a
 * first line "HTTP/1.1 404 ..." counts as one.  Status, Content-Length and
 * fields of one connection (RFC 9110 7.6.1) do not become fields of res.
 * IDEM_ESYNTAX: a line that is no field, a status outside 200 to 599, a length
 * that is no number or stands twice with two values, or no field at all.
 * IDEM_ENOMEM, IDEM_ETOOBIG from res.
 */
IDEM_MUST_CHECK enum idem_err
cgi_head_parse(struct idem_span head, struct idem_response *res,
    struct cgi_head *out);

#endif
