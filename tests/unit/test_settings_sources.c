/*
 * test_settings_sources.c - environment, command line and request: what each
 * may say, and which one wins.
 */
#include "setkit.h"

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
		struct setkit k;

		memset(variable + 12, 'd', rows[i].n - 1);
		setkit_begin(&k, SETTINGS_TASKS);
		assert_int_equal(setkit_environment(&k, variable), IDEM_OK);
		assert_int_equal(k.s.store.n, rows[i].n);
		assert_int_equal(k.caught.nlines, rows[i].nlines);
		if (rows[i].nlines == 0)
			continue;
		assert_int_equal(k.caught.level, IDEM_WARN);
		assert_string_equal(k.caught.text, "environment: IDEM_STORE "
		    "has exactly 127 bytes, which is where mod_fcgid cuts a "
		    "longer value; if it is cut, write it in the file "
		    ".htidem.conf");
	}
}

static void
the_environment_holds_other_things_too(void **state)
{
	const char *env[] = { "PATH=/bin", "IDEM_CONFIG=/x", "IDEM_LENGTH=5",
	    "IDEM_FAILPOINT=*:kill:1",
	    "XIDEM_TTL=9", "REDIRECT_IDEM_TTL=9", "HTTP_IDEM_TTL=9", "IDEM_TTL",
	    "", NULL };
	struct setkit k;

	(void)state;
	setkit_begin(&k, SETTINGS_TASKS);
	assert_int_equal(settings_environment(&k.s, &k.log, env, false),
	    IDEM_OK);
	assert_true(k.s.policy.ttl_ms == 86400000);
}

static void
plain_cgi_reads_redirected_names(void **state)
{
	const char *env[] = { "IDEM_TTL=2h", "REDIRECT_IDEM_TTL=1h",
	    "REDIRECT_IDEM_MAX_KEYS=7", "REDIRECT_IDEM_LENGTH=5", NULL };
	struct settings route;
	struct setkit k;

	(void)state;
	setkit_begin(&k, SETTINGS_TASKS);
	assert_int_equal(settings_environment(&k.s, &k.log, env, true),
	    IDEM_OK);
	assert_true(k.s.policy.ttl_ms == 7200000); /* the direct one wins */
	assert_true(k.s.policy.max_keys == 7);

	/* no request over it: the same names would be refused there */
	assert_int_equal(settings_request(&k.s, &k.log, env, &route), IDEM_OK);
	assert_true(route.policy.ttl_ms == 7200000);
	assert_int_equal(k.caught.nlines, 0);
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
		struct setkit k;
		bool taken = false;
		size_t at = 1;

		setkit_begin(&k, SETTINGS_TASKS);
		assert_int_equal(settings_option(&k.s, &k.log, rows[i].argv,
		    &at, &taken), rows[i].err);
		assert_int_equal(taken, rows[i].taken);
		assert_int_equal(at, rows[i].at);
		assert_string_equal(k.caught.text, rows[i].said);
		if (rows[i].err == IDEM_OK)
			assert_true(k.s.policy.max_keys ==
			    (rows[i].taken ? 5 : 10000));
	}
}

static void
the_command_line_may_name_a_relative_store(void **state)
{
	struct setkit k;

	(void)state;
	setkit_begin(&k, SETTINGS_TASKS);
	setkit_option(&k, "--store=var/store");
	assert_text(k.s.store, "var/store");
}

/* Whatever the order of the calls, the command line beats the environment. */
static void
the_higher_source_wins(void **state)
{
	struct setkit k;

	(void)state;
	setkit_begin(&k, SETTINGS_TASKS);
	setkit_option(&k, "--ttl=3h");
	assert_int_equal(setkit_environment(&k, "IDEM_TTL=2h"), IDEM_OK);
	assert_true(k.s.policy.ttl_ms == 10800000);
	assert_int_equal(setkit_environment(&k, "IDEM_TTL=2"), IDEM_ESYNTAX);
	assert_true(k.s.policy.ttl_ms == 10800000);
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
		struct setkit k;
		struct settings route;

		setkit_begin(&k, SETTINGS_TASKS);
		assert_int_equal(settings_request(&k.s, &k.log, rows[i].vars,
		    &route), rows[i].err);
		assert_string_equal(k.caught.text, rows[i].said);
		if (rows[i].err == IDEM_OK)
			assert_true(route.policy.ttl_ms == 3600000);
		assert_true(k.s.policy.ttl_ms == 86400000); /* untouched */
	}
}

static void
a_route_may_protect_get(void **state)
{
	const char *vars[] = { "IDEM_METHODS=POST,GET", NULL };
	struct settings route;
	struct setkit k;

	(void)state;
	setkit_begin(&k, SETTINGS_GUARD);
	assert_int_equal(settings_request(&k.s, &k.log, vars, &route), IDEM_OK);
	assert_text(route.policy.methods, "POST,GET");
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_127_bytes_are_pointed_out),
		cmocka_unit_test(the_environment_holds_other_things_too),
		cmocka_unit_test(plain_cgi_reads_redirected_names),
		cmocka_unit_test(options),
		cmocka_unit_test(the_command_line_may_name_a_relative_store),
		cmocka_unit_test(the_higher_source_wins),
		cmocka_unit_test(what_one_request_may_say),
		cmocka_unit_test(a_route_may_protect_get),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
