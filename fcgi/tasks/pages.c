/*
 * pages.c - the pages for people and the documents for programs.
 */
#include "tasks/pages.h"

#include "base/text.h"
#include "idem/json.h"

/* One page has four faces: whoever caches it must look at what was asked. */
#define VARY "Accept, Accept-Language, Sec-Fetch-Mode, X-Requested-With"

static void
begin(struct turn *t)
{
	struct idem_response *res = t->call.res;

	res->status = 200;
	idem_response_field(res, IDEM_LIT("Content-Type"), t->call.who.person ?
	    IDEM_LIT("text/html; charset=utf-8") :
	    IDEM_LIT("application/json"));
	idem_response_field(res, IDEM_LIT("Content-Language"),
	    idem_lang_tag(t->call.who.lang));
	idem_response_field(res, IDEM_LIT("Vary"), IDEM_LIT(VARY));
	idem_response_field(res, IDEM_LIT("Cache-Control"),
	    IDEM_LIT("no-cache"));
}

static void
begin_html(struct turn *t, struct idem_span title)
{
	struct idem_buf *out = &t->call.res->body;

	idem_buf_printf(out, "<!doctype html>\n<html lang=\"%.*s\">\n",
	    IDEM_FMT(idem_lang_tag(t->call.who.lang)));
	idem_buf_puts(out, IDEM_LIT("<head>\n<meta charset=\"utf-8\">\n"
	    "<meta name=\"viewport\" content=\"width=device-width\">\n"
	    "<title>"));
	idem_html_text(out, title);
	idem_buf_puts(out, IDEM_LIT("</title>\n</head>\n<body>\n<h1>"));
	idem_html_text(out, title);
	idem_buf_puts(out, IDEM_LIT("</h1>\n"));
}

static void
end_html(struct turn *t)
{
	idem_buf_puts(&t->call.res->body, IDEM_LIT("</body>\n</html>\n"));
}

static void
problem_html(struct turn *t, const struct idem_problem_row *row)
{
	struct idem_buf *out = &t->call.res->body;
	enum idem_lang lang = t->call.who.lang;

	begin_html(t, span_of(row->title[lang]));
	idem_buf_puts(out, IDEM_LIT("<p>"));
	idem_html_text(out, span_of(row->detail[lang]));
	idem_buf_printf(out, "</p>\n<p><code>%u %s</code>"
	    " <code>%s</code></p>\n", row->status, row->kod, row->code);
	end_html(t);
}

static void
problem_json(struct turn *t, const struct idem_problem_row *row)
{
	struct idem_buf *out = &t->call.res->body;
	enum idem_lang lang = t->call.who.lang;
	struct idem_buf type;

	idem_buf_init(&type, 4096);
	idem_buf_puts(&type, t->settings->policy.problem_base);
	idem_buf_puts(&type, span_of(row->kod));
	idem_buf_puts(out, IDEM_LIT("{\"type\":"));
	idem_json_string(out, idem_buf_span(&type));
	idem_buf_puts(out, IDEM_LIT(",\"title\":"));
	idem_json_string(out, span_of(row->title[lang]));
	idem_buf_printf(out, ",\"status\":%u,\"detail\":", row->status);
	idem_json_string(out, span_of(row->detail[lang]));
	idem_buf_printf(out, ",\"kod\":\"%s\",\"code\":\"%s\"}", row->kod,
	    row->code);
	if (t->call.res->err == IDEM_OK)
		t->call.res->err = type.err;
	idem_buf_free(&type);
}

void
pages_problem(struct turn *t)
{
	enum idem_problem problem;

	if (!idem_problem_find(t->kod, &problem)) {
		turn_problem(t, t->call.res, IDEM_P_NOT_FOUND, IDEM_ABSENT,
		    IDEM_ABSENT);
		return;
	}
	begin(t);
	if (t->call.who.person)
		problem_html(t, idem_problem_row(problem));
	else
		problem_json(t, idem_problem_row(problem));
}

void
pages_policy(struct turn *t)
{
	static const char *const titles[IDEM_NLANGS] = {
		[IDEM_UZ] = "Idempotency-Key qoidalari",
		[IDEM_EN] = "Idempotency-Key policy",
		[IDEM_TR] = "Idempotency-Key kuralları",
	};
	struct idem_buf *out = &t->call.res->body;
	enum idem_lang lang = t->call.who.lang;

	begin(t);
	if (!t->call.who.person) {
		policy_json(t->settings, lang, out);
		return;
	}
	begin_html(t, span_of(titles[lang]));
	policy_html(t->settings, lang, out);
	end_html(t);
}
