/*
 * http.h - a request as the library sees it, and a response being built.
 */
#ifndef IDEM_HTTP_H
#define IDEM_HTTP_H

#include "base.h"
#include "buf.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The CGI variables (RFC 3875 4.1) that are read on the way of a request. */
enum idem_var {
	IDEM_VAR_METHOD,        /* REQUEST_METHOD */
	IDEM_VAR_URI,           /* REQUEST_URI */
	IDEM_VAR_SCRIPT_NAME,
	IDEM_VAR_PATH_INFO,
	IDEM_VAR_QUERY,         /* QUERY_STRING */
	IDEM_VAR_CONTENT_TYPE,
	IDEM_VAR_CONTENT_LENGTH,
	IDEM_VAR_LENGTH,        /* IDEM_LENGTH: the length as the client said */
	IDEM_VAR_KEY,           /* HTTP_IDEMPOTENCY_KEY */
	IDEM_VAR_USER,          /* REMOTE_USER */
	IDEM_VAR_AUTH,          /* HTTP_AUTHORIZATION */
	IDEM_VAR_AUTH_REDIRECT, /* REDIRECT_HTTP_AUTHORIZATION */
	IDEM_VAR_ACCEPT,
	IDEM_VAR_LANGUAGE,      /* HTTP_ACCEPT_LANGUAGE */
	IDEM_VAR_FETCH_MODE,    /* HTTP_SEC_FETCH_MODE */
	IDEM_VAR_REQUESTED_WITH, /* HTTP_X_REQUESTED_WITH */
	IDEM_VAR_REQUEST_ID,    /* HTTP_X_REQUEST_ID */
	IDEM_VAR_ORIGIN,
	IDEM_VAR_CORS_METHOD,   /* HTTP_ACCESS_CONTROL_REQUEST_METHOD */
	IDEM_VAR_IF_MATCH,
	IDEM_VAR_IF_NONE_MATCH,
	IDEM_VAR_COOKIE,
	IDEM_VAR_PREFER,
	IDEM_VAR_DOCUMENT_ROOT
};
#define IDEM_NVARS ((size_t)IDEM_VAR_DOCUMENT_ROOT + 1)

/*
 * Everything is borrowed: the caller keeps the variables alive until the
 * request is answered, and nothing in here may be kept longer.
 */
struct idem_request {
	const char *const *vars; /* "NAME=value", ended by NULL */
	struct idem_span var[IDEM_NVARS]; /* p == NULL: not there */
	uint64_t twice;          /* bit v: variable v came more than once */
	bool overrides;          /* some IDEM_* or REDIRECT_IDEM_* came, other
	                          * than IDEM_LENGTH */
	struct idem_span target; /* path and query as received, not decoded */
	struct idem_span media;  /* CONTENT_TYPE's media type, as written,
	                          * without parameters; empty: none */
	struct idem_span body;   /* absent until it was read */
};

/*
 * Look at every variable once.  vars is not copied.  target is REQUEST_URI or,
 * where a server sets none, SCRIPT_NAME PATH_INFO and "?" QUERY_STRING joined
 * in *scratch (reset first); an absolute-form URI stays as it is.
 * REDIRECT_IDEM_LENGTH, what an internal redirect makes of IDEM_LENGTH, is read
 * as that variable.
 * IDEM_OK, IDEM_ENOMEM or IDEM_ETOOBIG from scratch.
 */
IDEM_MUST_CHECK enum idem_err
idem_request_init(struct idem_request *req, const char *const *vars,
    struct idem_buf *scratch);

/* A variable by its whole name ("HTTP_X_TENANT"); absent: p == NULL. */
struct idem_span idem_request_var(const struct idem_request *req,
    struct idem_span name);

/*
 * A request field by its name ("X-Tenant"), any case; absent: p == NULL.
 * *twice: it came in more than one variable, and this is the first.
 */
struct idem_span idem_request_header(const struct idem_request *req,
    struct idem_span name, bool *twice);

/*
 * The first value of a cookie (RFC 6265 4.2.1), a pair of quotes around it
 * removed; absent: p == NULL.  *twice: the name stands more than once.
 */
struct idem_span idem_request_cookie(const struct idem_request *req,
    struct idem_span name, bool *twice);

/*
 * The target's path as received, not decoded: without query, fragment and the
 * scheme and authority of an absolute-form target (RFC 9112 3.2.2).  Never
 * empty; "/" where the target has no path.
 */
struct idem_span idem_request_raw_path(const struct idem_request *req);

/* A URI reference without its scheme and authority: "/p?q" of
 * "https://shop.example/p?q".  Borrowed. */
struct idem_span idem_target_without_authority(struct idem_span target);

/*
 * The route: the raw path, percent-decoded once into *path (reset first), less
 * base, which must end at a segment boundary.  It begins with '/'.
 * IDEM_ESYNTAX: outside base, or a '%' without two hex digits, or a NUL;
 * IDEM_ENOMEM, IDEM_ETOOBIG from path.
 */
IDEM_MUST_CHECK enum idem_err
idem_request_path(const struct idem_request *req, struct idem_span base,
    struct idem_buf *path);

/* The target's query without "?" and fragment; absent: there is none. */
struct idem_span idem_request_query(const struct idem_request *req);

/* Built by the handler; errors stick, as in struct idem_buf. */
struct idem_response {
	unsigned status;        /* 0 until set */
	struct idem_buf fields; /* "Name: value\r\n" lines, checked on entry */
	struct idem_buf body;
	/* Not 0: the length of a body that its maker has elsewhere and sends by
	 * itself; body is then empty, and no record keeps it. */
	uint64_t elsewhere_bytes;
	enum idem_err err;
};

/* max_bytes bounds the fields and, separately, the body. */
void idem_response_init(struct idem_response *res, size_t max_bytes);
void idem_response_free(struct idem_response *res);
/* Empty again, the memory kept. */
void idem_response_reset(struct idem_response *res);

/*
 * Append one field line.  A name that is no token (RFC 9110 5.1), or a value
 * with CR, LF or NUL, is IDEM_ESYNTAX and sticks.
 */
void idem_response_field(struct idem_response *res, struct idem_span name,
    struct idem_span value);

/* First error of status, fields and body, or IDEM_OK.  A status that is not
 * 100 to 599 is IDEM_ESYNTAX. */
IDEM_MUST_CHECK enum idem_err
idem_response_err(const struct idem_response *res);

/*
 * Take the next line off the front of *lines (a fields buffer's content).
 * false at the end, and where no whole line stands there: *lines is then not
 * empty.  Name and value are borrowed from *lines.
 */
bool idem_fields_next(struct idem_span *lines, struct idem_span *name,
    struct idem_span *value);

/* The value of the first field of this name, in whatever case, borrowed; absent
 * where there is none. */
struct idem_span
idem_fields_value(struct idem_span lines, struct idem_span name);

#ifdef __cplusplus
}
#endif
#endif
