/*
 * problem.c - a problem as a document for programs (RFC 9457) or as a short
 * page for people.  Does not know when which problem arises.
 */
#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "idem/json.h"
#include "idem/problem.h"

#define LINK_MAX 600 /* bytes; IDEM_BASE is the long part */

void
idem_html_text(struct idem_buf *b, struct idem_span s)
{
	static const char special[] = "&<>\"'";
	static const struct idem_span escaped[] = {
		IDEM_LIT_INIT("&amp;"), IDEM_LIT_INIT("&lt;"),
		IDEM_LIT_INIT("&gt;"), IDEM_LIT_INIT("&quot;"),
		IDEM_LIT_INIT("&#39;"),
	};

	for (size_t i = 0; i < s.n; i++) {
		const char *at = s.p[i] == '\0' ? NULL :
		    strchr(special, s.p[i]);

		if (at == NULL)
			idem_buf_putc(b, s.p[i]);
		else
			idem_buf_puts(b, escaped[at - special]);
	}
}

/* As a URI reference may hold it (RFC 3986 2); needs no escapes in JSON. */
static void
put_uri(struct idem_buf *b, struct idem_span s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] > 0x20 && s.p[i] < 0x7f &&
		    strchr("\"<>\\^`{|}", s.p[i]) == NULL)
			idem_buf_putc(b, s.p[i]);
		else
			idem_buf_printf(b, "%%%02X", (unsigned char)s.p[i]);
}

static void
put_document(struct idem_buf *b, const struct idem_problem_row *row,
    enum idem_lang lang, struct idem_span detail,
    const struct idem_problem_note *note)
{
	idem_buf_puts(b, IDEM_LIT("{\"type\":\""));
	put_uri(b, note->base);
	idem_buf_printf(b, "%s\",\"title\":", row->kod);
	idem_json_string(b, span_of(row->title[lang]));
	idem_buf_printf(b, ",\"status\":%u,\"detail\":", row->status);
	idem_json_string(b, detail);
	idem_buf_puts(b, IDEM_LIT(",\"instance\":\""));
	put_uri(b, note->instance);
	idem_buf_printf(b, "\",\"kod\":\"%s\",\"code\":\"%s\"", row->kod,
	    row->code);
	if (note->members.n > 0) {
		idem_buf_putc(b, ',');
		idem_buf_puts(b, note->members);
	}
	idem_buf_putc(b, '}');
}

/* No script, and no form: a page that sends again is a double submit. */
static void
put_page(struct idem_buf *b, const struct idem_problem_row *row,
    enum idem_lang lang, struct idem_span detail)
{
	struct idem_span title = span_of(row->title[lang]);

	idem_buf_printf(b, "<!doctype html>\n<html lang=\"%.*s\">\n",
	    IDEM_FMT(idem_lang_tag(lang)));
	idem_buf_puts(b, IDEM_LIT("<head>\n<meta charset=\"utf-8\">\n"
	    "<meta name=\"viewport\" content=\"width=device-width\">\n"
	    "<title>"));
	idem_html_text(b, title);
	idem_buf_printf(b, "</title>\n</head>\n<body data-kod=\"%s\">\n<h1>",
	    row->kod);
	idem_html_text(b, title);
	idem_buf_puts(b, IDEM_LIT("</h1>\n<p>"));
	idem_html_text(b, detail);
	idem_buf_puts(b, IDEM_LIT("</p>\n</body>\n</html>\n"));
}

static void
put_retry_after(struct idem_response *res, unsigned seconds)
{
	char text[sizeof "4294967295"];
	enum idem_err err = text_format(text, sizeof text, "%u", seconds);

	assert(err == IDEM_OK);
	idem_response_field(res, IDEM_LIT("Retry-After"), span_of(text));
}

/* A client does without it: one that is too long is left out. */
static void
put_link(struct idem_response *res, struct idem_span rules)
{
	char memory[LINK_MAX];
	struct idem_buf link;

	idem_buf_over(&link, memory, sizeof memory);
	idem_buf_putc(&link, '<');
	idem_buf_puts(&link, rules);
	idem_buf_puts(&link, IDEM_LIT("/idempotentlik>; rel=\"describedby\""));
	if (idem_buf_err(&link) == IDEM_OK)
		idem_response_field(res, IDEM_LIT("Link"),
		    idem_buf_span(&link));
}

static void
put_fields(struct idem_response *res, const struct idem_problem_row *row,
    struct idem_audience who, struct idem_span rules)
{
	idem_response_field(res, IDEM_LIT("Content-Type"), who.person ?
	    IDEM_LIT("text/html; charset=utf-8") :
	    IDEM_LIT("application/problem+json"));
	idem_response_field(res, IDEM_LIT("Content-Language"),
	    idem_lang_tag(who.lang));
	idem_response_field(res, IDEM_LIT("Cache-Control"),
	    IDEM_LIT("no-store"));
	if (row->of_key && rules.p != NULL)
		put_link(res, rules);
	if (row->retry_after_s > 0)
		put_retry_after(res, row->retry_after_s);
}

void
idem_problem_write(struct idem_response *res, enum idem_problem problem,
    struct idem_audience who, const struct idem_problem_note *note)
{
	const struct idem_problem_row *row = idem_problem_row(problem);
	struct idem_span detail = note->detail.p != NULL ? note->detail :
	    span_of(row->detail[who.lang]);

	idem_response_reset(res);
	res->status = row->status;
	put_fields(res, row, who, note->rules);
	if (who.person)
		put_page(&res->body, row, who.lang, detail);
	else
		put_document(&res->body, row, who.lang, detail, note);
}
