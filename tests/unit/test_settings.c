/*
 * test_settings.c - the defaults of each program, what needs more than one
 * setting, and what is printed for people.
 */
#include "setkit.h"

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

static void
checks_over_all(void **state)
{
	struct setkit k;

	(void)state;
	setkit_begin(&k, SETTINGS_TASKS);
	assert_int_equal(settings_check(&k.s, &k.log, 0), IDEM_ESYNTAX);
	assert_string_equal(k.caught.text, "IDEM_STORE is not set; name the "
	    "store's directory in the environment, by --store, or in "
	    "/etc/idem/idem.conf");
	assert_int_equal(setkit_environment(&k, "IDEM_STORE=memory:"), IDEM_OK);
	assert_int_equal(settings_check(&k.s, &k.log, 0), IDEM_OK);
	assert_int_equal(settings_check(&k.s, &k.log, 1), IDEM_OK);
	assert_int_equal(settings_check(&k.s, &k.log, 2), IDEM_ESYNTAX);
	assert_string_equal(k.caught.text, "IDEM_STORE=memory: serves one "
	    "worker only; leave --workers away, or name a directory");
	assert_int_equal(setkit_environment(&k, "IDEM_STORE=/s"), IDEM_OK);
	assert_int_equal(settings_check(&k.s, &k.log, 2), IDEM_OK);
}

static void
checks_what_the_guard_needs(void **state)
{
	static const char *const scopes[] = { "IDEM_SCOPE=REMOTE_USER",
		"IDEM_ANONYMOUS=allow", "IDEM_ANONYMOUS=refuse" };
	struct setkit k;

	(void)state;
	for (size_t i = 0; i < COUNT(scopes); i++) {
		setkit_begin(&k, SETTINGS_GUARD);
		assert_int_equal(setkit_environment(&k, "IDEM_STORE=/s"),
		    IDEM_OK);
		assert_int_equal(settings_check(&k.s, &k.log, 2),
		    IDEM_ESYNTAX);
		assert_string_equal(k.caught.text, "IDEM_BACKEND is not set; "
		    "name the application behind the guard in the "
		    "environment, on the command line or in "
		    "/etc/idem/idem.conf");
		assert_int_equal(setkit_environment(&k, "IDEM_BACKEND=cgi:"),
		    IDEM_OK);
		assert_int_equal(settings_check(&k.s, &k.log, 2),
		    IDEM_ESYNTAX);
		assert_string_equal(k.caught.text, "neither IDEM_SCOPE nor "
		    "IDEM_ANONYMOUS is set; say by what customers are told "
		    "apart, as in IDEM_SCOPE=cookie:PHPSESSID, in the "
		    "environment, on the command line or in "
		    "/etc/idem/idem.conf");
		assert_int_equal(setkit_environment(&k, scopes[i]), IDEM_OK);
		assert_int_equal(settings_check(&k.s, &k.log, 2), IDEM_OK);
	}
	assert_int_equal(setkit_environment(&k, "IDEM_SCRIPTS=none"), IDEM_OK);
	assert_int_equal(settings_check(&k.s, &k.log, 2), IDEM_ESYNTAX);
	assert_int_equal(setkit_environment(&k, "IDEM_BACKEND=cgi:/p"),
	    IDEM_OK);
	assert_int_equal(settings_check(&k.s, &k.log, 2), IDEM_OK);
}

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
	struct setkit k;
	struct idem_buf out;
	size_t nlines = 0;

	(void)state;
	setkit_begin(&k, SETTINGS_TASKS);
	assert_int_equal(setkit_environment(&k, "IDEM_MAX_KEYS=9"), IDEM_OK);
	idem_buf_init(&out, 65536);
	settings_print(&k.s, &out);
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
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_differ_by_program),
		cmocka_unit_test(checks_over_all),
		cmocka_unit_test(checks_what_the_guard_needs),
		cmocka_unit_test(check_config_prints_every_setting),
		cmocka_unit_test(help_prints_what_the_program_uses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
