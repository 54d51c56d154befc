/*
 * test_settings_values.c - each kind of value, good and bad.
 */
#include "setkit.h"

#define AT(field) offsetof(struct settings, field)

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
		struct setkit k;

		setkit_begin(&k, SETTINGS_TASKS);
		assert_int_equal(setkit_environment(&k, rows[i].variable),
		    IDEM_OK);
		assert_true(field_of(&k.s, rows[i].at, rows[i].width) ==
		    rows[i].want);
		assert_int_equal(k.caught.nlines, 0);
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
		struct setkit k;

		setkit_begin(&k, SETTINGS_GUARD);
		assert_int_equal(setkit_environment(&k, rows[i].variable),
		    IDEM_OK);
		assert_text(*(const struct idem_span *)(const void *)
		    ((const char *)&k.s + rows[i].at), rows[i].want);
		assert_int_equal(k.caught.nlines, 0);
	}
}

static void
scope_and_language(void **state)
{
	struct setkit k;

	(void)state;
	setkit_begin(&k, SETTINGS_TASKS);
	assert_int_equal(setkit_environment(&k, "IDEM_SCOPE=cookie:sid"),
	    IDEM_OK);
	assert_int_equal(k.s.policy.scope.from, IDEM_SCOPE_COOKIE);
	assert_text(k.s.policy.scope.name, "sid");
	assert_int_equal(setkit_environment(&k, "IDEM_LANG=tr"), IDEM_OK);
	assert_int_equal(k.s.policy.lang, IDEM_TR);
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
		struct setkit k;
		char want[400], shown[100];

		setkit_begin(&k, SETTINGS_TASKS);
		assert_int_equal(setkit_environment(&k, bad[i].variable),
		    IDEM_ESYNTAX);
		assert_int_equal(text_format(shown, sizeof shown, "%s",
		    bad[i].variable), IDEM_OK);
		for (char *p = shown; *p != '\0'; p++)
			if (*p == '\n')
				*p = '?';
		assert_int_equal(text_format(want, sizeof want,
		    "environment: %s is refused; %s", shown, bad[i].why),
		    IDEM_OK);
		assert_string_equal(k.caught.text, want);
		assert_int_equal(k.caught.nlines, 1);
		assert_int_equal(k.caught.level, IDEM_ERROR);
	}
}

static void
a_long_bad_value_is_shown_in_part(void **state)
{
	char variable[1200] = "IDEM_TTL=";
	struct setkit k;

	(void)state;
	memset(variable + 9, 'x', 1100);
	setkit_begin(&k, SETTINGS_TASKS);
	assert_int_equal(setkit_environment(&k, variable), IDEM_ESYNTAX);
	assert_memory_equal(k.caught.text, "environment: IDEM_TTL=xxxx", 26);
	assert_non_null(strstr(k.caught.text, "xxxx... is refused; allowed: "
	    "a duration such as 300ms, 25s, 15m, 24h or 30d, from 1ms to "
	    "3650d"));
	assert_int_equal(strlen(k.caught.text), 22 + 160 + 3 + 87);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_numbers),
		cmocka_unit_test(good_texts),
		cmocka_unit_test(scope_and_language),
		cmocka_unit_test(bad_values_are_named),
		cmocka_unit_test(a_long_bad_value_is_shown_in_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
