/*
 * test_edge_values.c - variables of a request and single values, of settings
 * too, against pages that cannot be touched: each row, and every prefix of it.
 */
#include "tests.h"

#include "base/units.h"
#include "edge.h"
#include "idem/problem.h"
#include "idem/scope.h"
#include "request/condition.h"
#include "request/prefer.h"
#include "request/selection.h"
#include "tasks/conditions.h"

static void
say_span(struct idem_buf *said, struct idem_span s)
{
	idem_buf_puts(said, s.p == NULL ? IDEM_LIT("absent") : s);
	idem_buf_putc(said, '\n');
}

/* --- variables -------------------------------------------------------------*/

/* Everything that the way of a request reads of one variable. */
static void
say_variable(struct idem_span in, struct idem_buf *said)
{
	const char *const vars[] = { in.p, NULL };
	struct idem_buf scratch, path;
	struct idem_request req;
	struct idem_audience who;
	bool twice;

	idem_buf_init(&scratch, 4096);
	idem_buf_init(&path, 4096);
	assert_int_equal(idem_request_init(&req, vars, &scratch), IDEM_OK);
	for (size_t v = 0; v < IDEM_NVARS; v++)
		say_span(said, req.var[v]);
	say_span(said, req.target);
	say_span(said, req.media);
	say_span(said, idem_request_cookie(&req, IDEM_LIT("sid"), &twice));
	say_span(said, idem_request_header(&req, IDEM_LIT("X-T"), &twice));
	say_span(said, idem_request_raw_path(&req));
	say_span(said, idem_request_query(&req));
	idem_buf_printf(said, "%d ", idem_request_path(&req,
	    IDEM_LIT("/api"), &path));
	say_span(said, idem_buf_span(&path));
	who = idem_audience_of(&req, IDEM_TR);
	idem_buf_printf(said, "%d %d %d", who.lang, who.person, twice);
	idem_buf_free(&scratch);
	idem_buf_free(&path);
}

static void
variables(void **state)
{
	static const struct edge_grammar g = { "variable", true, say_variable,
	    NULL };
	static const char *const rows[] = {
		"HTTP_COOKIE=a=b; sid=\"x;y\"; sid=2; =; ;sid",
		"HTTP_COOKIE=sid=\"", "HTTP_COOKIE=sid",
		"HTTP_ACCEPT_LANGUAGE=de, tr;q=0.3, uz ; Q=0.899 , *;q=0",
		"HTTP_ACCEPT_LANGUAGE=en-GB-x-a;q=1.000,,;q=",
		"HTTP_ACCEPT=text/html;level=1;q=0.9,application/json, */*;q=0",
		"HTTP_SEC_FETCH_MODE=navigate",
		"REQUEST_URI=/api/v%41z%/?a=b#c", "REQUEST_URI=/api",
		"REQUEST_URI=https://user@shop.example:80/api/x?y",
		"REQUEST_URI=*", "SCRIPT_NAME=/api", "QUERY_STRING=a=b",
		"CONTENT_TYPE=  Multipart/Form-Data ; boundary=\"AAA\"",
		"HTTP_X_T=v", "REDIRECT_IDEM_LENGTH=12", "IDEM_TTL=1h",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		edge_prefixes(&g, span_of(rows[i]));
}

/* --- single values ---------------------------------------------------------*/

/* Settings' own grammars, and request fields that are one value. */
static void
say_values(struct idem_span in, struct idem_buf *said)
{
	static const struct idem_span etag = IDEM_LIT_INIT("\"7\"");
	struct idem_scope_rule rule;
	struct source source;
	int64_t ms = -1;
	uint64_t bytes = 0;
	uint32_t cp = 0;
	struct idem_buf text;

	idem_buf_init(&text, 4096);
	idem_buf_printf(said, "%d%d%d%d", parse_duration(in, &ms),
	    parse_size(in, &bytes), prefer_wait_ms(in, &ms),
	    idem_scope_rule_parse(in, &rule));
	idem_buf_printf(said, " %lld %llu ", (long long)ms,
	    (unsigned long long)bytes);
	idem_buf_printf(said, "%d%d%d%d%d%d", condition_when_is_good(in),
	    condition_keep_is_good(in), selection_is_good(in),
	    selection_ignore_is_good(in), pointer_is_good(in),
	    source_parse(in, SOURCES_ALL, &source));
	idem_buf_printf(said, "%d%d%d%d%d", is_token(in), is_visible(in),
	    conditions_name(in, etag, ETAG_STRONG),
	    conditions_name(in, etag, ETAG_WEAK),
	    conditions_allow(in, in, etag));
	idem_buf_printf(said, " %zu %u %d ", in.n == 0 ? 0 :
	    utf8_decode(in, &cp), (unsigned)cp,
	    percent_decode(in, true, &text));
	say_span(said, idem_buf_span(&text));
	say_span(said, span_trim(in));
	say_span(said, idem_target_without_authority(in));
	idem_buf_free(&text);
}

static void
values(void **state)
{
	static const struct edge_grammar g = { "value", false, say_values,
	    NULL };
	static const char *const rows[] = {
		"300ms", "9223372036854775807ms", "30d", "24h ", "0", "1G",
		"18446744073709551615B", "64K",
		"wait=5; x=\"y\", respond-async",
		"Wait = \"12\" , wait=3", "cookie:sid", "header:X-User",
		"param:TENANT", "REMOTE_USER", "form:a%20b=x|y|%7c query:q",
		"json:/a/0/b~1c~0=1|2 cookie:c header:X-Y form:n", "path:12",
		"2xx 3xx 303 json:/result=ok|no location:/a*b*", "none", "body",
		"json:/a form:b query:c", "/a/0/b~1c", "\"7\", W/\"7\" , \"8",
		"*", "\xf0\x9f\x98\x80", "\xed\xa0\x80", "\xc2", "a%20b%2",
		"https://shop.example/p?q", "//x", " \t x \t ",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		edge_prefixes(&g, span_of(rows[i]));
}

static void
say_pointer(struct idem_span in, struct idem_buf *said)
{
	static const struct idem_span document = IDEM_LIT_INIT("{\"a\":[{\"b/"
	    "c\":\"x\\ny\"},null,12],\"d\":{}}");
	struct pointer_value v;

	if (!pointer_is_good(in) || !pointer_find(document, in, &v))
		return;
	say_span(said, v.text);
	say_span(said, v.member);
	spelled_put(pointer_text(v.text), said);
	pointer_cut(document, &v, said);
}

static void
pointers(void **state)
{
	static const struct edge_grammar g = { "pointer", false, say_pointer,
	    NULL };

	(void)state;
	edge_prefixes(&g, IDEM_LIT("/a/0/b~1c"));
	edge_prefixes(&g, IDEM_LIT("/a/12"));
	edge_prefixes(&g, IDEM_LIT("/d/e"));
	assert_in_range(edge_count(), 900, 1000000);
	print_message("%lu prefixes\n", edge_count());
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables),
		cmocka_unit_test(values),
		cmocka_unit_test(pointers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
