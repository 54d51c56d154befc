/*
 * request.c - the CGI variables of one request, each looked at once.  Knows
 * nothing of where they came from or of what a key is.
 */
#include <string.h>

#include "base/text.h"
#include "idem/http.h"

/* By length: find_row() needs the order. */
#define ROW(name, var) { IDEM_LIT_INIT(name), IDEM_VAR_##var }
static const struct var_row {
	struct idem_span name;
	enum idem_var var;
} var_rows[] = {
	ROW("PATH_INFO", PATH_INFO),
	ROW("HTTP_ACCEPT", ACCEPT),
	ROW("HTTP_COOKIE", COOKIE),
	ROW("HTTP_ORIGIN", ORIGIN),
	ROW("HTTP_PREFER", PREFER),
	ROW("IDEM_LENGTH", LENGTH),
	ROW("REMOTE_USER", USER),
	ROW("REQUEST_URI", URI),
	ROW("SCRIPT_NAME", SCRIPT_NAME),
	ROW("CONTENT_TYPE", CONTENT_TYPE),
	ROW("QUERY_STRING", QUERY),
	ROW("DOCUMENT_ROOT", DOCUMENT_ROOT),
	ROW("HTTP_IF_MATCH", IF_MATCH),
	ROW("CONTENT_LENGTH", CONTENT_LENGTH),
	ROW("REQUEST_METHOD", METHOD),
	ROW("HTTP_X_REQUEST_ID", REQUEST_ID),
	ROW("HTTP_AUTHORIZATION", AUTH),
	ROW("HTTP_IF_NONE_MATCH", IF_NONE_MATCH),
	ROW("HTTP_SEC_FETCH_MODE", FETCH_MODE),
	ROW("HTTP_ACCEPT_LANGUAGE", LANGUAGE),
	ROW("HTTP_IDEMPOTENCY_KEY", KEY),
	ROW("REDIRECT_IDEM_LENGTH", LENGTH),
	ROW("HTTP_X_REQUESTED_WITH", REQUESTED_WITH),
	ROW("REDIRECT_HTTP_AUTHORIZATION", AUTH_REDIRECT),
	ROW("HTTP_ACCESS_CONTROL_REQUEST_METHOD", CORS_METHOD),
};
#undef ROW
#define NROWS (sizeof var_rows / sizeof var_rows[0])
_Static_assert(NROWS == IDEM_NVARS + 1,
    "one row per variable, and the redirected twin of IDEM_LENGTH");
_Static_assert(IDEM_NVARS <= 64, "struct idem_request keeps a bit for each");

static const struct var_row *
find_row(struct idem_span name)
{
	size_t i = 0;

	while (i < NROWS && var_rows[i].name.n < name.n)
		i++;
	for (; i < NROWS && var_rows[i].name.n == name.n; i++)
		if (memcmp(var_rows[i].name.p, name.p, name.n) == 0)
			return &var_rows[i];
	return NULL;
}

static void
take_var(struct idem_request *req, const char *line)
{
	const char *eq = strchr(line, '=');
	const struct var_row *row;
	struct idem_span name;

	if (eq == NULL)
		return;
	name = (struct idem_span){ line, (size_t)(eq - line) };
	row = find_row(name);
	if (row == NULL) {
		if (span_starts(name, IDEM_LIT("IDEM_")) ||
		    span_starts(name, IDEM_LIT("REDIRECT_IDEM_")))
			req->overrides = true;
	} else if (req->var[row->var].p != NULL) {
		req->twice |= UINT64_C(1) << row->var;
	} else {
		req->var[row->var] = span_of(eq + 1);
	}
}

static struct idem_span
media_of(struct idem_span content_type)
{
	size_t n = span_find(content_type, ';');

	if (content_type.p == NULL)
		return IDEM_LIT("");
	return span_trim(span_first(content_type, n));
}

static enum idem_err
find_target(struct idem_request *req, struct idem_buf *scratch)
{
	const struct idem_span *var = req->var;

	if (var[IDEM_VAR_URI].n > 0) {
		req->target = var[IDEM_VAR_URI];
		return IDEM_OK;
	}
	idem_buf_reset(scratch);
	idem_buf_puts(scratch, var[IDEM_VAR_SCRIPT_NAME]);
	idem_buf_puts(scratch, var[IDEM_VAR_PATH_INFO]);
	if (var[IDEM_VAR_QUERY].n > 0) {
		idem_buf_putc(scratch, '?');
		idem_buf_puts(scratch, var[IDEM_VAR_QUERY]);
	}
	req->target = idem_buf_span(scratch);
	return idem_buf_err(scratch);
}

enum idem_err
idem_request_init(struct idem_request *req, const char *const *vars,
    struct idem_buf *scratch)
{
	*req = (struct idem_request){ .vars = vars };
	for (; *vars != NULL; vars++)
		take_var(req, *vars);
	req->media = media_of(req->var[IDEM_VAR_CONTENT_TYPE]);
	return find_target(req, scratch);
}

struct idem_span
idem_request_var(const struct idem_request *req, struct idem_span name)
{
	for (const char *const *v = req->vars; *v != NULL; v++)
		if (strncmp(*v, name.p, name.n) == 0 && (*v)[name.n] == '=')
			return span_of(*v + name.n + 1);
	return IDEM_ABSENT;
}

/* RFC 3875 4.1.18: upper case, '-' as '_', "HTTP_" in front. */
static bool
names_header(const char *line, struct idem_span header)
{
	if (strncmp(line, "HTTP_", 5) != 0)
		return false;
	line += 5;
	for (size_t i = 0; i < header.n; i++) {
		char c = header.p[i] == '-' ? '_' : header.p[i];

		if (ascii_lower(line[i]) != ascii_lower(c))
			return false;
	}
	return line[header.n] == '=';
}

struct idem_span
idem_request_header(const struct idem_request *req, struct idem_span name,
    bool *twice)
{
	struct idem_span found = IDEM_ABSENT;

	*twice = false;
	for (const char *const *v = req->vars; *v != NULL; v++) {
		if (!names_header(*v, name))
			continue;
		if (found.p != NULL)
			*twice = true;
		else
			found = span_of(strchr(*v, '=') + 1);
	}
	return found;
}

static struct idem_span
unquote(struct idem_span value)
{
	if (value.n >= 2 && value.p[0] == '"' && value.p[value.n - 1] == '"')
		return span_first(span_from(value, 1), value.n - 2);
	return value;
}

struct idem_span
idem_request_cookie(const struct idem_request *req, struct idem_span name,
    bool *twice)
{
	struct idem_span rest = req->var[IDEM_VAR_COOKIE], pair;
	struct idem_span found = IDEM_ABSENT;

	*twice = false;
	while (span_next(&rest, ';', &pair)) {
		size_t eq = span_find(pair, '=');

		if (eq == pair.n ||
		    !span_eq(span_trim(span_first(pair, eq)), name))
			continue;
		if (found.p != NULL)
			*twice = true;
		else
			found = unquote(span_trim(span_from(pair, eq + 1)));
	}
	return found;
}
