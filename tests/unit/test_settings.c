/*
 * test_settings.c - each kind of value, good and bad; which source wins; what
 * may come with a request; what is printed.
 */
#include "tests.h"

#include "caught.h"
#include "settings/settings.h"

#define AT(field) offsetof(struct settings, field)

struct fixture {
	struct settings s;
	struct caught caught;
	struct idem_log log;
};

static void
begin(struct fixture *f, enum settings_program program)
{
	settings_init(&f->s, program);
	f->log = caught_log(&f->caught);
}

static enum idem_err
from_environment(struct fixture *f, const char *variable)
{
	const char *env[] = { "PATH=/bin", variable, NULL };

	return settings_environment(&f->s, &f->log, env, false);
}

/* --- defaults ------------------------------------------------------------- */

static void
defaults_differ_by_program(void **state)
{
	struct settings s;

	(void)state;
	settings_init(&s, SETTINGS_TASKS);
	assert_null(s.store.p);
	assert_true(s.durable);
	assert_true(s.max_store_bytes == 1073741824);
	assert_true(s.store_wait_ms == 10000);
	assert_true(s.policy.max_keys == 10000);
	assert_true(s.policy.ttl_ms == 86400000);
	assert_true(s.policy.unknown_ttl_ms == 2592000000);
	assert_true(s.policy.min_keep_ms == 3600000);
	assert_true(s.policy.evict);
	assert_true(s.policy.max_body_bytes == 1048576);
	assert_true(s.policy.max_response_bytes == 262144);
	assert_text(s.policy.methods, "POST,PATCH");
	assert_false(s.policy.require_key);
	assert_int_equal(s.policy.scope.from, IDEM_SCOPE_DEFAULT);
	assert_true(s.policy.anonymous);
	assert_false(s.policy.keep_5xx);
	assert_false(s.policy.retry_unknown);
	assert_text(s.policy.keep_headers, "");
	assert_int_equal(s.policy.lang, IDEM_UZ);
	assert_text(s.policy.problem_base,
	    "https://vazifalar-api.example/xatolar/");
	assert_null(s.cors_origins.p);
	assert_text(s.base, "");
	assert_false(s.status_for_all);
	assert_true(s.policy.wait_ms == -1);
	assert_true(s.pay_timeout_ms == 30000);
	assert_true(s.pay_delay_ms == 300);
	assert_true(s.backend_timeout_ms == 60000);
	assert_text(s.scripts, ".php");
	assert_text(s.policy.key_from, "header:Idempotency-Key");
	assert_text(s.policy.fingerprint, "body");

	settings_init(&s, SETTINGS_GUARD);
	assert_false(s.policy.anonymous);
	assert_true(s.policy.keep_5xx);
	assert_int_equal(s.policy.lang, IDEM_EN);
	assert_text(s.policy.problem_base, "/idempotency/problems/");
}

/* --- values --------------------------------------------------------------- */

enum width { I64, U64, SIZE, BOOL };

static int64_t
field_of(const struct settings *s, size_t at, enum width width)
{
	const char *p = (const char *)s + at;

	switch (width) {
	case I64:
		return *(const int64_t *)(const void *)p;
	case U64:
		return (int64_t)*(const uint64_t *)(const void *)p;
	case SIZE:
		return (int64_t)*(const size_t *)(const void *)p;
	case BOOL:
		return *(const bool *)(const void *)p;
	}
	return -2;
}

static void
good_numbers(void **state)
{
	static const struct {
		const char *variable;
		size_t at;
		enum width width;
		int64_t want;
	} rows[] = {
		{ "IDEM_TTL=90m", AT(policy.ttl_ms), I64, 5400000 },
		{ "IDEM_TTL=1ms", AT(policy.ttl_ms), I64, 1 },
		{ "IDEM_TTL=3650d", AT(policy.ttl_ms), I64, 315360000000 },
		{ "IDEM_MIN_KEEP=0", AT(policy.min_keep_ms), I64, 0 },
		{ "IDEM_WAIT=0", AT(policy.wait_ms), I64, 0 },
		{ "IDEM_TASK_DELAY_MS=300", AT(task_delay_ms), I64, 300 },
		{ "IDEM_TASK_DELAY_MS=600000", AT(task_delay_ms), I64,
		    600000 },
		{ "IDEM_MAX_STORE=1M", AT(max_store_bytes), U64, 1048576 },
		{ "IDEM_MAX_STORE=1024G", AT(max_store_bytes), U64,
		    1099511627776 },
		{ "IDEM_MAX_BODY=1B", AT(policy.max_body_bytes), SIZE, 1 },
		{ "IDEM_MAX_RESPONSE=64K", AT(policy.max_response_bytes), SIZE,
		    65536 },
		{ "IDEM_MAX_KEYS=1", AT(policy.max_keys), U64, 1 },
		{ "IDEM_MAX_KEYS=1000000000", AT(policy.max_keys), U64,
		    1000000000 },
		{ "IDEM_DURABILITY=none", AT(durable), BOOL, 0 },
		{ "IDEM_WHEN_FULL=refuse", AT(policy.evict), BOOL, 0 },
		{ "IDEM_REQUIRE_KEY=on", AT(policy.require_key), BOOL, 1 },
		{ "IDEM_ANONYMOUS=refuse", AT(policy.anonymous), BOOL, 0 },
		{ "IDEM_KEEP_5XX=on", AT(policy.keep_5xx), BOOL, 1 },
		{ "IDEM_ON_UNKNOWN=retry", AT(policy.retry_unknown), BOOL, 1 },
		{ "IDEM_STATUS=on", AT(status_for_all), BOOL, 1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fixture f;

		begin(&f, SETTINGS_TASKS);
		assert_int_equal(from_environment(&f, rows[i].variable),
		    IDEM_OK);
		assert_true(field_of(&f.s, rows[i].at, rows[i].width) ==
		    rows[i].want);
		assert_int_equal(f.caught.nlines, 0);
	}
}

static void
good_texts(void **state)
{
	static const struct {
		const char *variable;
		size_t at;
		const char *want;
	} rows[] = {
		{ "IDEM_STORE=/var/lib/idem", AT(store), "/var/lib/idem" },
		{ "IDEM_STORE=memory:", AT(store), "memory:" },
		{ "IDEM_METHODS=PUT, POST", AT(policy.methods), "PUT, POST" },
		{ "IDEM_METHODS=M-SEARCH", AT(policy.methods), "M-SEARCH" },
		{ "IDEM_KEEP_HEADERS=X-A, Set-Cookie", AT(policy.keep_headers),
		    "X-A, Set-Cookie" },
		{ "IDEM_KEEP_HEADERS=", AT(policy.keep_headers), "" },
		{ "IDEM_PROBLEM_BASE=urn:x:", AT(policy.problem_base),
		    "urn:x:" },
		{ "IDEM_CORS_ORIGINS=*", AT(cors_origins), "*" },
		{ "IDEM_CORS_ORIGINS=https://a.uz,http://b:8080",
		    AT(cors_origins), "https://a.uz,http://b:8080" },
		{ "IDEM_BASE=/api/v1", AT(base), "/api/v1" },
		{ "IDEM_BASE=", AT(base), "" },
		{ "IDEM_PAY_PROVIDER=/usr/lib/pay", AT(pay_provider),
		    "/usr/lib/pay" },
		{ "IDEM_BACKEND=cgi:", AT(backend), "cgi:" },
		{ "IDEM_BACKEND=cgi:/usr/bin/php-cgi", AT(backend),
		    "cgi:/usr/bin/php-cgi" },
		{ "IDEM_BACKEND=fcgi:unix:/run/p.sock", AT(backend),
		    "fcgi:unix:/run/p.sock" },
		{ "IDEM_BACKEND=fcgi:127.0.0.1:9000", AT(backend),
		    "fcgi:127.0.0.1:9000" },
		{ "IDEM_SCRIPTS=none", AT(scripts), "none" },
		{ "IDEM_BACKEND=fcgi:[::1]:9000", AT(backend),
		    "fcgi:[::1]:9000" },
		{ "IDEM_SCRIPTS=.php,.phtml", AT(scripts), ".php,.phtml" },
		{ "IDEM_KEEP=json:/a=b 3xx location:/t*", AT(policy.keep),
		    "json:/a=b 3xx location:/t*" },
		{ "IDEM_KEY_FROM=header:X-A  form:a+form:b path:2",
		    AT(policy.key_from), "header:X-A  form:a+form:b path:2" },
		{ "IDEM_WHEN=form:a=b%20c|d cookie:e", AT(policy.when),
		    "form:a=b%20c|d cookie:e" },
		{ "IDEM_FINGERPRINT=none", AT(policy.fingerprint), "none" },
		{ "IDEM_FINGERPRINT=json:/a query:b", AT(policy.fingerprint),
		    "json:/a query:b" },
		{ "IDEM_FINGERPRINT_IGNORE=form:csrf query:_",
		    AT(policy.fingerprint_ignore), "form:csrf query:_" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fixture f;

		begin(&f, SETTINGS_GUARD);
		assert_int_equal(from_environment(&f, rows[i].variable),
		    IDEM_OK);
		assert_text(*(const struct idem_span *)(const void *)
		    ((const char *)&f.s + rows[i].at), rows[i].want);
		assert_int_equal(f.caught.nlines, 0);
	}
}

static void
scope_and_language(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, SETTINGS_TASKS);
	assert_int_equal(from_environment(&f, "IDEM_SCOPE=cookie:sid"),
	    IDEM_OK);
	assert_int_equal(f.s.policy.scope.from, IDEM_SCOPE_COOKIE);
	assert_text(f.s.policy.scope.name, "sid");
	assert_int_equal(from_environment(&f, "IDEM_LANG=tr"), IDEM_OK);
	assert_int_equal(f.s.policy.lang, IDEM_TR);
}

#define DURATIONS "allowed: a duration such as 300ms, 25s, 15m, 24h or 30d"
#define PATHS "allowed: the full path of a directory, or memory:"
#define METHODS "allowed: methods in capitals by commas, " \
	"GET and HEAD only for one route"
#define ORIGINS "allowed: * or origins such as https://shop.example by commas"
#define WHENS "allowed: form:, json:/, query:, header: and cookie: with a " \
	"name, alone or with =value|value, between spaces"
#define PLACES "allowed: header:NAME, form:NAME, json:/pointer, query:NAME, " \
	"cookie:NAME and path:N, the parts of one key joined by +, keys to " \
	"try in order between spaces"
#define KEEPS "allowed: 2xx, 303, json:/pointer, json:/pointer=value|value " \
	"and location:GLOB between spaces"
#define SELECTED "json:/pointer, form:NAME and query:NAME between spaces"
#define BACKENDS "allowed: cgi:/path/program, cgi:, fcgi:unix:/path or " \
	"fcgi:address:port, the address in numbers"
#define SCRIPTS "allowed: endings such as .php by commas, or none: the web " \
	"server names no program"
#define BASES "allowed: a path that begins with / and does not end in /"

static const struct {
	const char *variable;
	const char *why;
} bad[] = {
	{ "IDEM_TTL=24", DURATIONS ", from 1ms to 3650d" },
	{ "IDEM_TTL=", DURATIONS ", from 1ms to 3650d" },
	{ "IDEM_TTL=0", DURATIONS ", from 1ms to 3650d" },
	{ "IDEM_TTL=-1s", DURATIONS ", from 1ms to 3650d" },
	{ "IDEM_TTL=3651d", DURATIONS ", from 1ms to 3650d" },
	{ "IDEM_TTL=99999999999999999999d", DURATIONS ", from 1ms to 3650d" },
	{ "IDEM_WAIT=11m", DURATIONS ", from 0 to 10m" },
	{ "IDEM_TASK_DELAY_MS=300ms",
	    "allowed: milliseconds without a unit, from 0 to 600000" },
	{ "IDEM_TASK_DELAY_MS=600001",
	    "allowed: milliseconds without a unit, from 0 to 600000" },
	{ "IDEM_MAX_STORE=1073741824", "allowed: a size such as 512B, 64K, 1M "
	    "or 1G, from 1M to 1024G" },
	{ "IDEM_MAX_STORE=1023K", "allowed: a size such as 512B, 64K, 1M "
	    "or 1G, from 1M to 1024G" },
	{ "IDEM_MAX_BODY=0", "allowed: a size such as 512B, 64K, 1M or 1G, "
	    "from 1B to 1G" },
	{ "IDEM_MAX_BODY=2G", "allowed: a size such as 512B, 64K, 1M or 1G, "
	    "from 1B to 1G" },
	{ "IDEM_MAX_KEYS=0", "allowed: a number, from 1 to 1000000000" },
	{ "IDEM_MAX_KEYS=10k", "allowed: a number, from 1 to 1000000000" },
	{ "IDEM_REQUIRE_KEY=yes", "allowed: on or off" },
	{ "IDEM_REQUIRE_KEY=", "allowed: on or off" },
	{ "IDEM_WHEN_FULL=Evict", "allowed: evict or refuse" },
	{ "IDEM_DURABILITY=off", "allowed: full or none" },
	{ "IDEM_LANG=ru", "allowed: uz, en or tr" },
	{ "IDEM_SCOPE=cookie", "allowed: REMOTE_USER, cookie:NAME, "
	    "header:NAME or param:NAME" },
	{ "IDEM_STORE=", PATHS },
	{ "IDEM_STORE=data", PATHS },
	{ "IDEM_PAY_LEDGER=ledger", "allowed: a full path" },
	{ "IDEM_METHODS=", METHODS },
	{ "IDEM_METHODS=post", METHODS },
	{ "IDEM_METHODS=POST,,PATCH", METHODS },
	{ "IDEM_METHODS=POST PATCH", METHODS },
	{ "IDEM_METHODS=POST,GET", METHODS },
	{ "IDEM_KEEP_HEADERS=X A", "allowed: header names by commas" },
	{ "IDEM_CORS_ORIGINS=", ORIGINS },
	{ "IDEM_CORS_ORIGINS=shop.example", ORIGINS },
	{ "IDEM_CORS_ORIGINS=https://a.uz/", ORIGINS },
	{ "IDEM_CORS_ORIGINS=https://", ORIGINS },
	{ "IDEM_CORS_ORIGINS=://a.uz", ORIGINS },
	{ "IDEM_CORS_ORIGINS=null", ORIGINS },
	{ "IDEM_CORS_ORIGINS=https://a.uz,*", ORIGINS },
	{ "IDEM_BASE=api", BASES },
	{ "IDEM_BASE=/api/", BASES },
	{ "IDEM_BASE=/", BASES },
	{ "IDEM_BASE=/a?b", BASES },
	{ "IDEM_PROBLEM_BASE=/a b", "allowed: a URI reference without spaces, "
	    "quotes, \\, < and >" },
	{ "IDEM_PROBLEM_BASE=/a\"b", "allowed: a URI reference without spaces, "
	    "quotes, \\, < and >" },
	{ "IDEM_BACKEND=/usr/bin/php-cgi", BACKENDS },
	{ "IDEM_BACKEND=cgi:php-cgi", BACKENDS },
	{ "IDEM_BACKEND=fcgi:unix:p.sock", BACKENDS },
	{ "IDEM_BACKEND=fcgi:unix:/", BACKENDS },
	{ "IDEM_BACKEND=fcgi::9000", BACKENDS },
	{ "IDEM_BACKEND=fcgi:localhost", BACKENDS },
	{ "IDEM_BACKEND=fcgi:localhost:9000", BACKENDS },
	{ "IDEM_BACKEND=fcgi:::1:9000", BACKENDS },
	{ "IDEM_BACKEND=fcgi:127.0.0.1", BACKENDS },
	{ "IDEM_BACKEND=fcgi:127.0.0.1:0", BACKENDS },
	{ "IDEM_BACKEND=fcgi:localhost:65536", BACKENDS },
	{ "IDEM_BACKEND=fcgi:localhost:0", BACKENDS },
	{ "IDEM_SCRIPTS=.php,none", SCRIPTS },
	{ "IDEM_SCRIPTS=php", SCRIPTS },
	{ "IDEM_SCRIPTS=.", SCRIPTS },
	{ "IDEM_WHEN=", WHENS },
	{ "IDEM_WHEN=form:a\nform:b", WHENS },
	{ "IDEM_WHEN=path:1", WHENS },
	{ "IDEM_WHEN=form:a=50%", WHENS },
	{ "IDEM_KEY_FROM=", PLACES },
	{ "IDEM_KEY_FROM=Idempotency-Key", PLACES },
	{ "IDEM_KEY_FROM=header:X-A form:", PLACES },
	{ "IDEM_KEY_FROM=form:a+b", PLACES },
	{ "IDEM_KEY_FROM=form:a+", PLACES },
	{ "IDEM_KEY_FROM=json:id", PLACES },
	{ "IDEM_KEY_FROM=path:0", PLACES },
	{ "IDEM_KEEP=", KEEPS },
	{ "IDEM_KEEP=2xx,3xx", KEEPS },
	{ "IDEM_KEEP=ok", KEEPS },
	{ "IDEM_KEEP=form:a", KEEPS },
	{ "IDEM_FINGERPRINT=", "allowed: body, none, or " SELECTED },
	{ "IDEM_FINGERPRINT=header:X-A", "allowed: body, none, or " SELECTED },
	{ "IDEM_FINGERPRINT_IGNORE=body", "allowed: " SELECTED },
	{ "IDEM_FINGERPRINT_IGNORE=cookie:a", "allowed: " SELECTED },
	{ "IDEM_TTI=24h", "no setting has this name (--check-config prints "
	    "all)" },
	{ "IDEM_=1", "no setting has this name (--check-config prints all)" },
};

static void
bad_values_are_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct fixture f;
		char want[400], shown[100];

		begin(&f, SETTINGS_TASKS);
		assert_int_equal(from_environment(&f, bad[i].variable),
		    IDEM_ESYNTAX);
		assert_int_equal(text_format(shown, sizeof shown, "%s",
		    bad[i].variable), IDEM_OK);
		for (char *p = shown; *p != '\0'; p++)
			if (*p == '\n')
				*p = '?';
		assert_int_equal(text_format(want, sizeof want,
		    "environment: %s is refused; %s", shown, bad[i].why),
		    IDEM_OK);
		assert_string_equal(f.caught.text, want);
		assert_int_equal(f.caught.nlines, 1);
		assert_int_equal(f.caught.level, IDEM_ERROR);
	}
}

static void
a_long_bad_value_is_shown_in_part(void **state)
{
	char variable[1200] = "IDEM_TTL=";
	struct fixture f;

	(void)state;
	memset(variable + 9, 'x', 1100);
	begin(&f, SETTINGS_TASKS);
	assert_int_equal(from_environment(&f, variable), IDEM_ESYNTAX);
	assert_memory_equal(f.caught.text, "environment: IDEM_TTL=xxxx", 26);
	assert_non_null(strstr(f.caught.text, "xxxx... is refused; allowed: "
	    "a duration such as 300ms, 25s, 15m, 24h or 30d, from 1ms to "
	    "3650d"));
	assert_int_equal(strlen(f.caught.text), 22 + 160 + 3 + 87);
}

/* A value that mod_fcgid may have cut is worth a line, and is taken. */
static void
values_of_127_bytes_are_pointed_out(void **state)
{
	static const struct {
		size_t n;
		unsigned nlines;
	} rows[] = { { 126, 0 }, { 127, 1 }, { 128, 0 } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char variable[160] = "IDEM_STORE=/";
		struct fixture f;

		memset(variable + 12, 'd', rows[i].n - 1);
		begin(&f, SETTINGS_TASKS);
		assert_int_equal(from_environment(&f, variable), IDEM_OK);
		assert_int_equal(f.s.store.n, rows[i].n);
		assert_int_equal(f.caught.nlines, rows[i].nlines);
		if (rows[i].nlines == 0)
			continue;
		assert_int_equal(f.caught.level, IDEM_WARN);
		assert_string_equal(f.caught.text, "environment: IDEM_STORE "
		    "has exactly 127 bytes, which is where mod_fcgid cuts a "
		    "longer value; if it is cut, write it in the file "
		    ".htidem.conf");
	}
}

/* --- sources -------------------------------------------------------------- */

static void
the_environment_holds_other_things_too(void **state)
{
	const char *env[] = { "PATH=/bin", "IDEM_CONFIG=/x", "IDEM_LENGTH=5",
	    "IDEM_FAILPOINT=*:kill:1",
	    "XIDEM_TTL=9", "REDIRECT_IDEM_TTL=9", "HTTP_IDEM_TTL=9", "IDEM_TTL",
	    "", NULL };
	struct fixture f;

	(void)state;
	begin(&f, SETTINGS_TASKS);
	assert_int_equal(settings_environment(&f.s, &f.log, env, false),
	    IDEM_OK);
	assert_true(f.s.policy.ttl_ms == 86400000);
}

static void
plain_cgi_reads_redirected_names(void **state)
{
	const char *env[] = { "IDEM_TTL=2h", "REDIRECT_IDEM_TTL=1h",
	    "REDIRECT_IDEM_MAX_KEYS=7", "REDIRECT_IDEM_LENGTH=5", NULL };
	struct settings route;
	struct fixture f;

	(void)state;
	begin(&f, SETTINGS_TASKS);
	assert_int_equal(settings_environment(&f.s, &f.log, env, true),
	    IDEM_OK);
	assert_true(f.s.policy.ttl_ms == 7200000); /* the direct one wins */
	assert_true(f.s.policy.max_keys == 7);

	/* no request over it: the same names would be refused there */
	assert_int_equal(settings_request(&f.s, &f.log, env, &route), IDEM_OK);
	assert_true(route.policy.ttl_ms == 7200000);
	assert_int_equal(f.caught.nlines, 0);
}

static void
options(void **state)
{
	static const struct {
		const char *argv[4];
		enum idem_err err;
		bool taken;
		size_t at; /* afterwards */
		const char *said;
	} rows[] = {
		{ { "t", "--max-keys=5", "x" }, IDEM_OK, true, 1, "" },
		{ { "t", "--max-keys", "5", "x" }, IDEM_OK, true, 2, "" },
		{ { "t", "--max-keys" }, IDEM_ESYNTAX, true, 1,
		    "command line: --max-keys needs a value" },
		{ { "t", "--max-keys=" }, IDEM_ESYNTAX, true, 1,
		    "command line: IDEM_MAX_KEYS= is refused; allowed: a "
		    "number, from 1 to 1000000000" },
		{ { "t", "--max_keys=5" }, IDEM_OK, false, 1, "" },
		{ { "t", "--MAX-KEYS=5" }, IDEM_OK, false, 1, "" },
		{ { "t", "--max-key=5" }, IDEM_OK, false, 1, "" },
		{ { "t", "--listen", "x" }, IDEM_OK, false, 1, "" },
		{ { "t", "max-keys=5" }, IDEM_OK, false, 1, "" },
		{ { "t", "--" }, IDEM_OK, false, 1, "" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fixture f;
		bool taken = false;
		size_t at = 1;

		begin(&f, SETTINGS_TASKS);
		assert_int_equal(settings_option(&f.s, &f.log, rows[i].argv,
		    &at, &taken), rows[i].err);
		assert_int_equal(taken, rows[i].taken);
		assert_int_equal(at, rows[i].at);
		assert_string_equal(f.caught.text, rows[i].said);
		if (rows[i].err == IDEM_OK)
			assert_true(f.s.policy.max_keys ==
			    (rows[i].taken ? 5 : 10000));
	}
}

static void
the_command_line_may_name_a_relative_store(void **state)
{
	const char *argv[] = { "t", "--store=var/store", NULL };
	struct fixture f;
	bool taken;
	size_t at = 1;

	(void)state;
	begin(&f, SETTINGS_TASKS);
	assert_int_equal(settings_option(&f.s, &f.log, argv, &at, &taken),
	    IDEM_OK);
	assert_text(f.s.store, "var/store");
}

/* Whatever the order of the calls, the command line beats the environment. */
static void
the_higher_source_wins(void **state)
{
	const char *argv[] = { "t", "--ttl=3h", NULL };
	struct fixture f;
	bool taken;
	size_t at = 1;

	(void)state;
	begin(&f, SETTINGS_TASKS);
	assert_int_equal(settings_option(&f.s, &f.log, argv, &at, &taken),
	    IDEM_OK);
	assert_int_equal(from_environment(&f, "IDEM_TTL=2h"), IDEM_OK);
	assert_true(f.s.policy.ttl_ms == 10800000);
	assert_int_equal(from_environment(&f, "IDEM_TTL=2"), IDEM_ESYNTAX);
	assert_true(f.s.policy.ttl_ms == 10800000);
}

static void
what_one_request_may_say(void **state)
{
	static const struct {
		const char *vars[4];
		enum idem_err err;
		const char *said;
	} rows[] = {
		{ { "IDEM_TTL=1h", "IDEM_LENGTH=12", "REQUEST_METHOD=POST" },
		    IDEM_OK, "" },
		{ { "REDIRECT_IDEM_TTL=1h" }, IDEM_OK, "" },
		{ { "IDEM_TTL=1h", "REDIRECT_IDEM_TTL=2h" }, IDEM_OK, "" },
		{ { "HTTP_IDEM_TTL=2h", "IDEM_TTL=1h" }, IDEM_OK, "" },
		{ { "IDEM_TTL=1" }, IDEM_ESYNTAX,
		    "request parameter: IDEM_TTL=1 is refused; allowed: a "
		    "duration such as 300ms, 25s, 15m, 24h or 30d, from 1ms "
		    "to 3650d" },
		{ { "IDEM_TTL=1h", "IDEM_TLT=1h" }, IDEM_ESYNTAX,
		    "request parameter: IDEM_TLT=1h is refused; no setting has "
		    "this name (--check-config prints all)" },
		{ { "REDIRECT_IDEM_STORE=/tmp" }, IDEM_ESYNTAX,
		    "request parameter: IDEM_STORE=/tmp is refused; it is a "
		    "setting of the process: file, environment or command "
		    "line" },
		{ { "IDEM_MAX_KEYS=5" }, IDEM_ESYNTAX,
		    "request parameter: IDEM_MAX_KEYS=5 is refused; it is a "
		    "setting of the process: file, environment or command "
		    "line" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fixture f;
		struct settings route;

		begin(&f, SETTINGS_TASKS);
		assert_int_equal(settings_request(&f.s, &f.log, rows[i].vars,
		    &route), rows[i].err);
		assert_string_equal(f.caught.text, rows[i].said);
		if (rows[i].err == IDEM_OK)
			assert_true(route.policy.ttl_ms == 3600000);
		assert_true(f.s.policy.ttl_ms == 86400000); /* untouched */
	}
}

static void
a_route_may_protect_get(void **state)
{
	const char *vars[] = { "IDEM_METHODS=POST,GET", NULL };
	struct settings route;
	struct fixture f;

	(void)state;
	begin(&f, SETTINGS_GUARD);
	assert_int_equal(settings_request(&f.s, &f.log, vars, &route), IDEM_OK);
	assert_text(route.policy.methods, "POST,GET");
}

/* --- what needs more than one setting ------------------------------------- */

static void
checks_over_all(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, SETTINGS_TASKS);
	assert_int_equal(settings_check(&f.s, &f.log, 0), IDEM_ESYNTAX);
	assert_string_equal(f.caught.text, "IDEM_STORE is not set; name the "
	    "store's directory in the environment, by --store, or in "
	    "/etc/idem/idem.conf");
	assert_int_equal(from_environment(&f, "IDEM_STORE=memory:"), IDEM_OK);
	assert_int_equal(settings_check(&f.s, &f.log, 0), IDEM_OK);
	assert_int_equal(settings_check(&f.s, &f.log, 1), IDEM_OK);
	assert_int_equal(settings_check(&f.s, &f.log, 2), IDEM_ESYNTAX);
	assert_string_equal(f.caught.text, "IDEM_STORE=memory: serves one "
	    "worker only; leave --workers away, or name a directory");
	assert_int_equal(from_environment(&f, "IDEM_STORE=/s"), IDEM_OK);
	assert_int_equal(settings_check(&f.s, &f.log, 2), IDEM_OK);
}

static void
checks_what_the_guard_needs(void **state)
{
	static const char *const scopes[] = { "IDEM_SCOPE=REMOTE_USER",
		"IDEM_ANONYMOUS=allow", "IDEM_ANONYMOUS=refuse" };
	struct fixture f;

	(void)state;
	for (size_t i = 0; i < COUNT(scopes); i++) {
		begin(&f, SETTINGS_GUARD);
		assert_int_equal(from_environment(&f, "IDEM_STORE=/s"),
		    IDEM_OK);
		assert_int_equal(settings_check(&f.s, &f.log, 2),
		    IDEM_ESYNTAX);
		assert_string_equal(f.caught.text, "IDEM_BACKEND is not set; "
		    "name the application behind the guard in the "
		    "environment, on the command line or in "
		    "/etc/idem/idem.conf");
		assert_int_equal(from_environment(&f, "IDEM_BACKEND=cgi:"),
		    IDEM_OK);
		assert_int_equal(settings_check(&f.s, &f.log, 2),
		    IDEM_ESYNTAX);
		assert_string_equal(f.caught.text, "neither IDEM_SCOPE nor "
		    "IDEM_ANONYMOUS is set; say by what customers are told "
		    "apart, as in IDEM_SCOPE=cookie:PHPSESSID, in the "
		    "environment, on the command line or in "
		    "/etc/idem/idem.conf");
		assert_int_equal(from_environment(&f, scopes[i]), IDEM_OK);
		assert_int_equal(settings_check(&f.s, &f.log, 2), IDEM_OK);
	}
	assert_int_equal(from_environment(&f, "IDEM_SCRIPTS=none"), IDEM_OK);
	assert_int_equal(settings_check(&f.s, &f.log, 2), IDEM_ESYNTAX);
	assert_int_equal(from_environment(&f, "IDEM_BACKEND=cgi:/p"), IDEM_OK);
	assert_int_equal(settings_check(&f.s, &f.log, 2), IDEM_OK);
}

/* --- what people read ----------------------------------------------------- */

/* The line of out that begins with text, without its end. */
static struct idem_span
line_of(const struct idem_buf *out, const char *text)
{
	struct idem_span rest = idem_buf_span(out), line;

	while (span_next(&rest, '\n', &line))
		if (span_starts(line, span_of(text)))
			return line;
	return IDEM_ABSENT;
}

static void
check_config_prints_every_setting(void **state)
{
	struct fixture f;
	struct idem_buf out;
	size_t nlines = 0;

	(void)state;
	begin(&f, SETTINGS_TASKS);
	assert_int_equal(from_environment(&f, "IDEM_MAX_KEYS=9"), IDEM_OK);
	idem_buf_init(&out, 65536);
	settings_print(&f.s, &out);
	assert_int_equal(idem_buf_err(&out), IDEM_OK);
	assert_text(line_of(&out, "IDEM_MAX_KEYS="),
	    "IDEM_MAX_KEYS=9\tenvironment\tprocess\tused by tasks.fcgi");
	assert_text(line_of(&out, "IDEM_TTL="),
	    "IDEM_TTL=24h\tdefault\troute\tused by tasks.fcgi");
	assert_text(line_of(&out, "IDEM_BACKEND="),
	    "IDEM_BACKEND=\tnot set\tprocess\tnot used by tasks.fcgi");
	for (size_t i = 0; i < out.n; i++)
		nlines += out.p[i] == '\n';
	assert_int_equal(nlines, 39);
	idem_buf_free(&out);
}

static void
help_prints_what_the_program_uses(void **state)
{
	struct idem_buf out;

	(void)state;
	idem_buf_init(&out, 65536);
	settings_help(SETTINGS_TASKS, &out);
	assert_int_equal(idem_buf_err(&out), IDEM_OK);
	assert_text(line_of(&out, "  --max-keys"),
	    "  --max-keys            records that are held, of all states");
	assert_null(line_of(&out, "  --backend").p);
	idem_buf_free(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_differ_by_program),
		cmocka_unit_test(good_numbers),
		cmocka_unit_test(good_texts),
		cmocka_unit_test(scope_and_language),
		cmocka_unit_test(bad_values_are_named),
		cmocka_unit_test(a_long_bad_value_is_shown_in_part),
		cmocka_unit_test(values_of_127_bytes_are_pointed_out),
		cmocka_unit_test(the_environment_holds_other_things_too),
		cmocka_unit_test(plain_cgi_reads_redirected_names),
		cmocka_unit_test(options),
		cmocka_unit_test(the_command_line_may_name_a_relative_store),
		cmocka_unit_test(the_higher_source_wins),
		cmocka_unit_test(what_one_request_may_say),
		cmocka_unit_test(a_route_may_protect_get),
		cmocka_unit_test(checks_over_all),
		cmocka_unit_test(checks_what_the_guard_needs),
		cmocka_unit_test(check_config_prints_every_setting),
		cmocka_unit_test(help_prints_what_the_program_uses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
