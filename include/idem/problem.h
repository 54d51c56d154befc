/*
 * problem.h - problem documents (RFC 9457) for programs, and the same problem
 * as a short page for people, in Uzbek, English and Turkish.
 */
#ifndef IDEM_PROBLEM_H
#define IDEM_PROBLEM_H

#include "http.h"

#ifdef __cplusplus
extern "C" {
#endif

enum idem_lang { IDEM_UZ, IDEM_EN, IDEM_TR };
#define IDEM_NLANGS ((size_t)IDEM_TR + 1)

/* "uz", "en" or "tr", any case.  IDEM_ESYNTAX for another text. */
IDEM_MUST_CHECK enum idem_err
idem_lang_parse(struct idem_span s, enum idem_lang *out);
struct idem_span idem_lang_tag(enum idem_lang lang); /* static storage */

enum idem_problem {
	IDEM_P_KEY_REQUIRED,
	IDEM_P_KEY_INVALID,
	IDEM_P_SCOPE_REQUIRED,
	IDEM_P_KEY_REUSED,
	IDEM_P_IN_PROGRESS,
	IDEM_P_OUTCOME_UNKNOWN,
	IDEM_P_STORE_UNAVAILABLE,
	IDEM_P_STORE_FULL,
	IDEM_P_BODY_TOO_LARGE,
	IDEM_P_BODY_TRUNCATED,
	IDEM_P_BODY_LENGTH,      /* 400: the announced length is not a number */
	IDEM_P_JSON_INVALID,
	IDEM_P_VALIDATION,
	IDEM_P_NOT_FOUND,
	IDEM_P_METHOD_NOT_ALLOWED,
	IDEM_P_PRECONDITION_FAILED,
	IDEM_P_MEDIA_TYPE,
	IDEM_P_ORDER_PAID,
	IDEM_P_ORDER_BUSY,
	IDEM_P_PAYMENT_DECLINED,
	IDEM_P_PROVIDER_UNAVAILABLE,
	IDEM_P_PROVIDER_UNKNOWN,
	IDEM_P_BACKEND_UNREACHABLE,
	IDEM_P_BACKEND_BROKEN,
	IDEM_P_BACKEND_TIMEOUT,
	IDEM_P_INTERNAL
};
#define IDEM_NPROBLEMS ((size_t)IDEM_P_INTERNAL + 1)

/* One row of the table.  Static storage, NUL-terminated texts. */
struct idem_problem_row {
	unsigned status;
	const char *kod;        /* its name in Uzbek, and the end of its type */
	const char *code;       /* its name in English; neither ever changes */
	unsigned retry_after_s; /* 0: no Retry-After */
	bool of_key;            /* carries the Link to the published policy */
	const char *title[IDEM_NLANGS];
	const char *detail[IDEM_NLANGS];
};
const struct idem_problem_row *idem_problem_row(enum idem_problem problem);
/* By kod; false: there is none. */
bool idem_problem_find(struct idem_span kod, enum idem_problem *out);

/* Who reads the answer. */
struct idem_audience {
	enum idem_lang lang;
	bool person; /* wants a page, not a document */
};

/*
 * Language by Accept-Language (RFC 4647 3.4 lookup, with weights; dflt where
 * nothing fits); a person where Sec-Fetch-Mode is navigate, or Accept prefers
 * text/html to JSON and there is no X-Requested-With.
 */
struct idem_audience idem_audience_of(const struct idem_request *req,
    enum idem_lang dflt);

/* What one occurrence adds to its row; absent spans: the row's own text. */
struct idem_problem_note {
	struct idem_span base;     /* IDEM_PROBLEM_BASE */
	struct idem_span instance; /* the path, as received */
	struct idem_span detail;   /* UTF-8 */
	struct idem_span members;  /* more JSON members: "\"xatolar\":[...]" */
	struct idem_span rules;    /* what stands before /idempotentlik, where
	                            * the rules are published; absent: they are
	                            * not, and there is no Link */
};

/*
 * Make res (reset first) the answer for problem.  Sets status, body,
 * Content-Type, Content-Language, Cache-Control and, by its row, Link and
 * Retry-After.
 */
void idem_problem_write(struct idem_response *res, enum idem_problem problem,
    struct idem_audience who, const struct idem_problem_note *note);

/* Append s to b with & < > " ' escaped for HTML text and attributes. */
void idem_html_text(struct idem_buf *b, struct idem_span s);

#ifdef __cplusplus
}
#endif
#endif
