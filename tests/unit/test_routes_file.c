/*
 * test_routes_file.c - which block a request gets, and what the file may not
 * say.
 */
#include "folder.h"

#include <unistd.h>

#include "settings/routes_file.h"

static char folder[] = "/tmp/idem-routes-XXXXXX";

struct heard {
	char text[1000];
};

static void
hear(void *arg, enum idem_level level, const char *text)
{
	struct heard *h = arg;

	(void)level;
	assert_int_equal(text_format(h->text, sizeof h->text, "%s", text),
	    IDEM_OK);
}

static const char file[] =
    "# what needs protection\n"
    "\n"
    "POST /pay\n"
    "  IDEM_TTL=1h\n"
    "\t# a comment inside\n"
    "\n"
    "\tIDEM_KEEP_HEADERS = X-A, X-B \r\n"
    "POST,PUT /shop/*\n"
    "    IDEM_TTL=2h\n"
    "    IDEM_METHODS=PUT,GET\n"
    "* /any*\n"
    "    IDEM_TTL=3h\n"
    "POST /shop/never*\n"
    "    IDEM_TTL=4h\n"
    "GET /*\n";

static void
finds_the_first_that_fits(void **state)
{
	static const struct {
		const char *method, *path;
		int64_t hours; /* 0: no block */
	} rows[] = {
		{ "POST", "/pay", 1 }, { "POST", "/pay/", 0 },
		{ "POST", "/pa", 0 }, { "PUT", "/pay", 0 },
		{ "post", "/pay", 0 }, { "POST", "/shop/", 2 },
		{ "PUT", "/shop/a/b", 2 }, { "POST", "/shop", 0 },
		{ "POST", "/shop/never", 2 }, { "DELETE", "/any", 3 },
		{ "X", "/anything/else", 3 }, { "GET", "/", 24 },
		{ "GET", "/shop/", 24 }, { "GET", "", 0 },
	};
	struct settings base;
	struct routes r;
	struct heard h;
	const struct idem_log log = { hear, &h };

	(void)state;
	settings_init(&base, SETTINGS_GUARD);
	routes_init(&r);
	(void)folder_write("r", span_of(file));
	assert_int_equal(routes_read(&r, &base, &log, folder_path("r"), false),
	    IDEM_OK);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct route *got = routes_find(&r,
		    span_of(rows[i].method), span_of(rows[i].path));

		print_message("row %zu\n", i);
		assert_int_equal(got != NULL, rows[i].hours != 0);
		if (got != NULL)
			assert_int_equal(got->settings.policy.ttl_ms,
			    rows[i].hours * 3600000);
	}
	assert_text(routes_find(&r, IDEM_LIT("POST"), IDEM_LIT("/pay"))
	    ->settings.policy.keep_headers, "X-A, X-B");
	assert_text(routes_find(&r, IDEM_LIT("PUT"), IDEM_LIT("/shop/x"))
	    ->settings.policy.methods, "PUT,GET");
	routes_free(&r);
}

/* Below a request's own parameter, above the command line. */
static void
stands_between_its_sources(void **state)
{
	static const char *const options[] = { "--ttl=5h", NULL };
	static const char *const vars[] = { "IDEM_TTL=6h", NULL };
	struct settings base, own;
	struct routes r;
	struct heard h;
	const struct idem_log log = { hear, &h };
	const struct route *got;
	size_t at = 0;
	bool taken;

	(void)state;
	settings_init(&base, SETTINGS_GUARD);
	assert_int_equal(settings_option(&base, &log, options, &at, &taken),
	    IDEM_OK);
	routes_init(&r);
	(void)folder_write("r", span_of(file));
	assert_int_equal(routes_read(&r, &base, &log, folder_path("r"), false),
	    IDEM_OK);
	got = routes_find(&r, IDEM_LIT("POST"), IDEM_LIT("/pay"));
	assert_int_equal(got->settings.policy.ttl_ms, 3600000);
	got = routes_find(&r, IDEM_LIT("GET"), IDEM_LIT("/"));
	assert_int_equal(got->settings.policy.ttl_ms, 5 * 3600000);
	assert_int_equal(settings_request(&got->settings, &log, vars, &own),
	    IDEM_OK);
	assert_int_equal(own.policy.ttl_ms, 6 * 3600000);
	routes_free(&r);
}

static void
says_what_is_wrong(void **state)
{
	static const struct { struct idem_span text; const char *said; } rows[]
	    = {
		{ IDEM_LIT_INIT("  IDEM_TTL=1h\n"),
		  ":1: a setting stands before the first block" },
		{ IDEM_LIT_INIT("POST\n"), ":1: a block begins with methods" },
		{ IDEM_LIT_INIT("\n\npost /x\n"), ":3: a block begins with" },
		{ IDEM_LIT_INIT("POST, /x\n"), ":1: a block begins with" },
		{ IDEM_LIT_INIT("POST x\n"), ":1: a block begins with" },
		{ IDEM_LIT_INIT("IDEM_TTL=1h\n"), ":1: a block begins with" },
		{ IDEM_LIT_INIT("POST /*/x\n"), ":1: * may stand at the end" },
		{ IDEM_LIT_INIT("POST /x /y*z\n"), ":1: * may stand" },
		{ IDEM_LIT_INIT("POST /x\n  IDEM_TTL\n"), ":2: not a line of" },
		{ IDEM_LIT_INIT("POST /x\n  IDEM_TTL=soon\n"),
		  ":2: IDEM_TTL=soon is refused; allowed: " },
		{ IDEM_LIT_INIT("POST /x\n  IDEM_STORE=/x\n"),
		  ":2: IDEM_STORE=/x is refused; it is a setting of the " },
		{ IDEM_LIT_INIT("POST /x\n\n  NAME=/x\n"),
		  ":3: NAME=/x is refused; no setting has this name" },
		{ IDEM_LIT_INIT("POST /x\n\0"), ":0: the file holds a NUL" },
	};
	struct settings base;
	struct routes r;
	struct heard h;
	const struct idem_log log = { hear, &h };

	(void)state;
	settings_init(&base, SETTINGS_GUARD);
	routes_init(&r);
	for (size_t i = 0; i < COUNT(rows); i++) {
		char want[256];

		print_message("row %zu\n", i);
		(void)folder_write("r", rows[i].text);
		assert_int_equal(routes_read(&r, &base, &log, folder_path("r"),
		    false), IDEM_ESYNTAX);
		assert_int_equal(text_format(want, sizeof want, "%s%s",
		    folder_path("r"), rows[i].said), IDEM_OK);
		if (strncmp(h.text, want, strlen(want)) != 0)
			fail_msg("want %s, got %s", want, h.text);
	}
	routes_free(&r);
}

static void
looks_where_it_may_lie(void **state)
{
	struct settings base;
	struct routes r;
	struct heard h = { "" };
	const struct idem_log log = { hear, &h };
	char exe[128];

	(void)state;
	memcpy(exe, folder_path("guard.fcgi"), sizeof exe);
	settings_init(&base, SETTINGS_GUARD);
	routes_init(&r);
	assert_int_equal(routes_load(&r, &base, &log, exe), IDEM_OK);
	assert_int_equal(routes_load(&r, &base, &log, ""), IDEM_OK);
	assert_null(routes_find(&r, IDEM_LIT("POST"), IDEM_LIT("/pay")));
	assert_string_equal(h.text, "");
	(void)folder_write(".htidem.routes", span_of(file));
	assert_int_equal(routes_load(&r, &base, &log, exe), IDEM_OK);
	assert_non_null(routes_find(&r, IDEM_LIT("POST"), IDEM_LIT("/pay")));
	/* beside the settings file */
	base.file = exe;
	assert_int_equal(routes_load(&r, &base, &log, "/nowhere/x"), IDEM_OK);
	assert_non_null(routes_find(&r, IDEM_LIT("POST"), IDEM_LIT("/pay")));
	/* named outright, it must be there */
	base.routes = IDEM_LIT("/no/such/file");
	assert_int_equal(routes_load(&r, &base, &log, exe), IDEM_EIO);
	assert_string_equal(h.text, "cannot read the routes file "
	    "/no/such/file: No such file or directory");
	routes_free(&r);
	assert_int_equal(unlink(folder_path(".htidem.routes")), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_first_that_fits),
		cmocka_unit_test(stands_between_its_sources),
		cmocka_unit_test(says_what_is_wrong),
		cmocka_unit_test(looks_where_it_may_lie),
	};
	int failed;

	folder_make(folder);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	folder_remove();
	return failed;
}
