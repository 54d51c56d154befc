/*
 * settings_value.c - one value of each kind: what is allowed, and its typed
 * form.  Knows no source and no program.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "request/condition.h"
#include "request/key_place.h"
#include "request/selection.h"
#include "settings/settings_table.h"

/* Field types differ by kind: each parser stores with its own. */
typedef enum idem_err (*value_parser)(const struct setting *row,
    struct idem_span value, void *field);

static enum idem_err
in_range(const struct setting *row, uint64_t v)
{
	return v < row->min || v > row->max ? IDEM_ETOOBIG : IDEM_OK;
}

static enum idem_err
parse_span_duration(const struct setting *row, struct idem_span value,
    void *field)
{
	int64_t ms;
	enum idem_err err;

	if ((err = parse_duration(value, &ms)) != IDEM_OK ||
	    (err = in_range(row, (uint64_t)ms)) != IDEM_OK)
		return err;
	*(int64_t *)field = ms;
	return IDEM_OK;
}

static enum idem_err
parse_ms(const struct setting *row, struct idem_span value,
    void *field)
{
	uint64_t ms;
	enum idem_err err;

	if ((err = parse_u64(value, row->max, &ms)) != IDEM_OK ||
	    (err = in_range(row, ms)) != IDEM_OK)
		return err;
	*(int64_t *)field = (int64_t)ms;
	return IDEM_OK;
}

static enum idem_err
parse_bytes(const struct setting *row, struct idem_span value,
    void *field)
{
	uint64_t bytes;
	enum idem_err err;

	if ((err = parse_size(value, &bytes)) != IDEM_OK ||
	    (err = in_range(row, bytes)) != IDEM_OK)
		return err;
	if (row->kind == SETTING_MEMORY)
		*(size_t *)field = (size_t)bytes; /* row->max fits */
	else
		*(uint64_t *)field = bytes;
	return IDEM_OK;
}

static enum idem_err
parse_count(const struct setting *row, struct idem_span value,
    void *field)
{
	uint64_t n;
	enum idem_err err;

	if ((err = parse_u64(value, row->max, &n)) != IDEM_OK ||
	    (err = in_range(row, n)) != IDEM_OK)
		return err;
	*(uint64_t *)field = n;
	return IDEM_OK;
}

static enum idem_err
parse_switch(const struct setting *row, struct idem_span value,
    void *field)
{
	bool first = span_eq(value, span_of(row->words[0]));

	if (!first && !span_eq(value, span_of(row->words[1])))
		return IDEM_ESYNTAX;
	*(bool *)field = first;
	return IDEM_OK;
}

static enum idem_err
parse_lang(const struct setting *row, struct idem_span value,
    void *field)
{
	(void)row;
	return idem_lang_parse(value, field);
}

static enum idem_err
parse_scope(const struct setting *row, struct idem_span value,
    void *field)
{
	(void)row;
	return idem_scope_rule_parse(value, field);
}

/* A list by commas with at least one item, every one of them good. */
static bool
list_of(struct idem_span value, bool (*good)(struct idem_span item))
{
	struct idem_span rest = value, item;

	while (span_next(&rest, ',', &item))
		if (!good(span_trim(item)))
			return false;
	return true;
}

bool
settings_is_method(struct idem_span s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((s.p[i] < 'A' || s.p[i] > 'Z') && s.p[i] != '-')
			return false;
	return s.n > 0;
}

static bool
not_get(struct idem_span s)
{
	return !span_eq(s, IDEM_LIT("GET")) && !span_eq(s, IDEM_LIT("HEAD"));
}

/* Everything read would be replayed for a day: GET is for single routes. */
static bool
good_methods(struct idem_span value, enum settings_source source)
{
	return list_of(value, settings_is_method) &&
	    (source >= SETTINGS_ROUTE || list_of(value, not_get));
}

static bool
good_fields(struct idem_span value)
{
	return value.n == 0 || list_of(value, is_token);
}

/* RFC 6454 6.1: scheme "://" host [ ":" port ], and nothing behind it. */
static bool
good_origin(struct idem_span s)
{
	size_t colon = span_find(s, ':');
	struct idem_span host;

	if (!is_visible(s) || !is_token(span_first(s, colon)) ||
	    !span_starts(span_from(s, colon), IDEM_LIT("://")))
		return false;
	host = span_from(s, colon + 3);
	return host.n > 0 && span_find(host, '/') == host.n;
}

static bool
good_origins(struct idem_span value)
{
	return span_eq(value, IDEM_LIT("*")) || list_of(value, good_origin);
}

static bool
good_base(struct idem_span value)
{
	return value.n == 0 || (is_visible(value) && value.p[0] == '/' &&
	    value.p[value.n - 1] != '/' && span_find(value, '?') == value.n &&
	    span_find(value, '#') == value.n);
}

/* It stands in JSON and HTML as it is. */
static bool
good_uri(struct idem_span value)
{
	return value.n > 0 && is_visible(value) &&
	    span_find(value, '"') == value.n &&
	    span_find(value, '\\') == value.n &&
	    span_find(value, '<') == value.n &&
	    span_find(value, '>') == value.n;
}

/*
 * A relative path in a file or the environment would mean one directory to the
 * workers and another to cron; on the command line people see where they are.
 */
static bool
good_path(struct idem_span value, enum settings_source source)
{
	return value.n > 0 && (value.p[0] == '/' || source == SETTINGS_OPTION);
}

static bool
good_store(struct idem_span value, enum settings_source source)
{
	return span_eq(value, IDEM_LIT("memory:")) || good_path(value, source);
}

/* Numbers only: "127.0.0.1", or "[::1]". */
static bool
good_host(struct idem_span host)
{
	unsigned char address[sizeof(struct in6_addr)];
	char text[INET6_ADDRSTRLEN];
	bool six = host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']';

	if (six)
		host = span_first(span_from(host, 1), host.n - 2);
	return text_format(text, sizeof text, "%.*s", IDEM_FMT(host)) ==
	    IDEM_OK && inet_pton(six ? AF_INET6 : AF_INET, text, address) == 1;
}

/* "unix:/path" or "host:port". */
static bool
good_address(struct idem_span s)
{
	size_t last = s.n;
	uint64_t port;

	if (span_starts(s, IDEM_LIT("unix:")))
		return s.n > 6 && s.p[5] == '/';
	while (last > 0 && s.p[last - 1] != ':')
		last--;
	return last > 1 && good_host(span_first(s, last - 1)) &&
	    parse_u64(span_from(s, last), 65535, &port) == IDEM_OK && port > 0;
}

static bool
good_backend(struct idem_span value)
{
	if (span_starts(value, IDEM_LIT("cgi:")))
		return value.n == 4 || value.p[4] == '/';
	return span_starts(value, IDEM_LIT("fcgi:")) &&
	    good_address(span_from(value, 5));
}

static bool
good_ending(struct idem_span s)
{
	return s.n > 1 && s.p[0] == '.' && is_visible(s) &&
	    span_find(s, '/') == s.n;
}

static bool
good_endings(struct idem_span value)
{
	return span_eq(value, IDEM_LIT("none")) ||
	    list_of(value, good_ending);
}

struct kind {
	value_parser parse;
	/* or a span, judged by one of these: */
	bool (*good)(struct idem_span value);
	bool (*good_from)(struct idem_span value, enum settings_source source);
	const char *allowed;
};

static const struct kind kinds[] = {
	[SETTING_DURATION] = { .parse = parse_span_duration,
	    .allowed = "a duration such as 300ms, 25s, 15m, 24h or 30d" },
	[SETTING_MS] = { .parse = parse_ms,
	    .allowed = "milliseconds without a unit" },
	[SETTING_SIZE] = { .parse = parse_bytes,
	    .allowed = "a size such as 512B, 64K, 1M or 1G" },
	[SETTING_MEMORY] = { .parse = parse_bytes,
	    .allowed = "a size such as 512B, 64K, 1M or 1G" },
	[SETTING_COUNT] = { .parse = parse_count, .allowed = "a number" },
	[SETTING_SWITCH] = { .parse = parse_switch },
	[SETTING_LANG] = { .parse = parse_lang, .allowed = "uz, en or tr" },
	[SETTING_SCOPE] = { .parse = parse_scope, .allowed =
	    "REMOTE_USER, cookie:NAME, header:NAME or param:NAME" },
	[SETTING_METHODS] = { .good_from = good_methods, .allowed =
	    "methods in capitals by commas, GET and HEAD only for one route" },
	[SETTING_FIELDS] = { .good = good_fields,
	    .allowed = "header names by commas" },
	[SETTING_ORIGINS] = { .good = good_origins, .allowed =
	    "* or origins such as https://shop.example by commas" },
	[SETTING_BASE] = { .good = good_base, .allowed =
	    "a path that begins with / and does not end in /" },
	[SETTING_URI] = { .good = good_uri, .allowed =
	    "a URI reference without spaces, quotes, \\, < and >" },
	[SETTING_STORE] = { .good_from = good_store, .allowed =
	    "the full path of a directory, or memory:" },
	[SETTING_PATH] = { .good_from = good_path, .allowed = "a full path" },
	[SETTING_BACKEND] = { .good = good_backend, .allowed =
	    "cgi:/path/program, cgi:, fcgi:unix:/path or fcgi:address:port, "
	    "the address in numbers" },
	[SETTING_ENDINGS] = { .good = good_endings,
	    .allowed = "endings such as .php by commas, or none: the web "
	    "server names no program" },
	[SETTING_KEY_FROM] = { .good = key_place_is_good, .allowed =
	    "header:NAME, form:NAME, json:/pointer, query:NAME, cookie:NAME "
	    "and path:N, the parts of one key joined by +, keys to try in "
	    "order between spaces" },
	[SETTING_WHEN] = { .good = condition_when_is_good, .allowed =
	    "form:, json:/, query:, header: and cookie: with a name, alone or "
	    "with =value|value, between spaces" },
	[SETTING_KEEP] = { .good = condition_keep_is_good, .allowed =
	    "2xx, 303, json:/pointer, json:/pointer=value|value and "
	    "location:GLOB between spaces" },
	[SETTING_FINGERPRINT] = { .good = selection_is_good, .allowed =
	    "body, none, or json:/pointer, form:NAME and query:NAME between "
	    "spaces" },
	[SETTING_IGNORE] = { .good = selection_ignore_is_good, .allowed =
	    "json:/pointer, form:NAME and query:NAME between spaces" }
};
_Static_assert(sizeof kinds / sizeof kinds[0] == SETTING_NKINDS,
    "one row for each kind");

enum idem_err
settings_value_store(struct settings *s, const struct setting *row,
    enum settings_source source, struct idem_span value)
{
	const struct kind *kind = &kinds[row->kind];
	void *field = (char *)s + row->at;

	if (kind->parse != NULL)
		return kind->parse(row, value, field);
	if (!(kind->good != NULL ? kind->good(value) :
	    kind->good_from(value, source)))
		return IDEM_ESYNTAX;
	*(struct idem_span *)field = value;
	return IDEM_OK;
}

void
settings_allowed(const struct setting *row, struct idem_buf *out)
{
	if (row->kind == SETTING_SWITCH)
		idem_buf_printf(out, "%s or %s", row->words[0], row->words[1]);
	else
		idem_buf_printf(out, "%s", kinds[row->kind].allowed);
	if (row->allowed != NULL)
		idem_buf_printf(out, ", %s", row->allowed);
}
