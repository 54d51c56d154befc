/*
 * test_request.c - CGI variables, cookies, targets and routes.
 */
#include "tests.h"

#include "idem/http.h"

static struct idem_buf scratch;

static void
read_vars(struct idem_request *req, const char *const *vars)
{
	idem_buf_init(&scratch, 4096);
	assert_int_equal(idem_request_init(req, vars, &scratch), IDEM_OK);
}

static void
every_variable_is_found(void **state)
{
	static const char *const vars[] = {
		"REQUEST_METHOD=POST", "REQUEST_URI=/a?b",
		"SCRIPT_NAME=/s", "PATH_INFO=/p", "QUERY_STRING=b",
		"CONTENT_TYPE=Text/Plain ; charset=utf-8", "CONTENT_LENGTH=12",
		"IDEM_LENGTH=13", "HTTP_IDEMPOTENCY_KEY=k", "REMOTE_USER=ali",
		"HTTP_AUTHORIZATION=Basic x",
		"REDIRECT_HTTP_AUTHORIZATION=Basic y", "HTTP_ACCEPT=*/*",
		"HTTP_ACCEPT_LANGUAGE=uz", "HTTP_SEC_FETCH_MODE=cors",
		"HTTP_X_REQUESTED_WITH=XMLHttpRequest", "HTTP_X_REQUEST_ID=r1",
		"HTTP_ORIGIN=https://a", "HTTP_ACCESS_CONTROL_REQUEST_METHOD=PUT",
		"HTTP_IF_MATCH=\"1\"", "HTTP_IF_NONE_MATCH=\"2\"",
		"HTTP_COOKIE=a=b", "HTTP_PREFER=wait=3", "DOCUMENT_ROOT=/srv",
		"NO_EQUALS_SIGN", "HTTP_ACCEPT_=x", "SERVER_NAME=h", NULL,
	};
	static const char *const want[] = {
		"POST", "/a?b", "/s", "/p", "b",
		"Text/Plain ; charset=utf-8", "12", "13", "k", "ali", "Basic x",
		"Basic y", "*/*", "uz", "cors", "XMLHttpRequest", "r1",
		"https://a", "PUT", "\"1\"", "\"2\"", "a=b", "wait=3", "/srv",
	};
	struct idem_request req;

	(void)state;
	assert_int_equal(COUNT(want), IDEM_NVARS);
	read_vars(&req, vars);
	for (size_t v = 0; v < IDEM_NVARS; v++)
		assert_text(req.var[v], want[v]);
	assert_int_equal(req.twice, 0);
	assert_false(req.overrides);
	assert_text(req.target, "/a?b");
	assert_text(req.media, "Text/Plain");
	assert_text(req.body, NULL);
	assert_text(idem_request_var(&req, IDEM_LIT("SERVER_NAME")), "h");
	assert_text(idem_request_var(&req, IDEM_LIT("SERVER_NAM")), NULL);
	assert_text(idem_request_var(&req, IDEM_LIT("SERVER_NAMES")), NULL);
	idem_buf_free(&scratch);
}

static void
every_variable_may_be_missing(void **state)
{
	static const char *const vars[] = { NULL };
	struct idem_request req;
	bool twice;

	(void)state;
	read_vars(&req, vars);
	for (size_t v = 0; v < IDEM_NVARS; v++)
		assert_text(req.var[v], NULL);
	assert_text(req.target, "");
	assert_text(req.media, "");
	assert_text(idem_request_raw_path(&req), "/");
	assert_text(idem_request_query(&req), NULL);
	assert_text(idem_request_cookie(&req, IDEM_LIT("a"), &twice), NULL);
	assert_false(twice);
	idem_buf_free(&scratch);
}

static void
a_second_one_is_noticed(void **state)
{
	static const char *const vars[] = {
		"HTTP_IDEMPOTENCY_KEY=a", "REMOTE_USER=ali",
		"HTTP_IDEMPOTENCY_KEY=b", "HTTP_X_TENANT=t1",
		"HTTP_X_TENANT=t2", "HTTP_X_TENANT_NAME=n", "X_TENANT=no", NULL,
	};
	struct idem_request req;
	bool twice;

	(void)state;
	read_vars(&req, vars);
	assert_int_equal(req.twice, UINT64_C(1) << IDEM_VAR_KEY);
	assert_text(req.var[IDEM_VAR_KEY], "a");
	assert_text(idem_request_header(&req, IDEM_LIT("x-Tenant"), &twice),
	    "t1");
	assert_true(twice);
	assert_text(idem_request_header(&req, IDEM_LIT("X-Tenant-Name"),
	    &twice), "n");
	assert_false(twice);
	assert_text(idem_request_header(&req, IDEM_LIT("X-Tenan"), &twice),
	    NULL);
	assert_false(twice);
	idem_buf_free(&scratch);
}

static void
settings_that_came_with_the_request(void **state)
{
	static const struct {
		const char *var;
		bool overrides;
		const char *length;
	} rows[] = {
		{ "IDEM_TTL=1h", true, NULL },
		{ "REDIRECT_IDEM_TTL=1h", true, NULL },
		{ "IDEM_LENGTH=5", false, "5" },
		{ "REDIRECT_IDEM_LENGTH=6", false, "6" },
		{ "HTTP_IDEM_TTL=1h", false, NULL },
		{ "IDEM=1", false, NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *vars[] = { rows[i].var, NULL };
		struct idem_request req;

		read_vars(&req, vars);
		assert_int_equal(req.overrides, rows[i].overrides);
		assert_text(req.var[IDEM_VAR_LENGTH], rows[i].length);
		idem_buf_free(&scratch);
	}
}

static void
target_where_the_server_sets_none(void **state)
{
	static const char *const with_query[] = {
		"SCRIPT_NAME=/w.fcgi", "PATH_INFO=/p/q", "QUERY_STRING=a=1",
		"REQUEST_URI=", NULL,
	};
	static const char *const without[] = {
		"SCRIPT_NAME=/w.fcgi", "PATH_INFO=/p/q", "QUERY_STRING=", NULL,
	};
	struct idem_request req;
	struct idem_buf small;

	(void)state;
	read_vars(&req, with_query);
	assert_text(req.target, "/w.fcgi/p/q?a=1");
	idem_buf_free(&scratch);
	read_vars(&req, without);
	assert_text(req.target, "/w.fcgi/p/q");
	idem_buf_free(&scratch);
	idem_buf_init(&small, 10);
	assert_int_equal(idem_request_init(&req, without, &small),
	    IDEM_ETOOBIG);
	idem_buf_free(&small);
}

static void
cookies(void **state)
{
	static const struct {
		const char *line, *name, *value;
		bool twice;
	} rows[] = {
		{ "HTTP_COOKIE=sid=1", "sid", "1", false },
		{ "HTTP_COOKIE=a=1; sid=2; b=3", "sid", "2", false },
		{ "HTTP_COOKIE=a=1;sid=2", "sid", "2", false },
		{ "HTTP_COOKIE=sid=first; sid=second", "sid", "first", true },
		{ "HTTP_COOKIE=sid=; sid=second", "sid", "", true },
		{ "HTTP_COOKIE=sid=\"q q\"", "sid", "q q", false },
		{ "HTTP_COOKIE=sid=\"", "sid", "\"", false },
		{ "HTTP_COOKIE=sid=a=b", "sid", "a=b", false },
		{ "HTTP_COOKIE= sid = x ", "sid", "x", false },
		{ "HTTP_COOKIE=SID=1", "sid", NULL, false },
		{ "HTTP_COOKIE=xsid=1; sidx=2; sid", "sid", NULL, false },
		{ "HTTP_COOKIE=", "sid", NULL, false },
		{ "HTTP_COOKIES=sid=1", "sid", NULL, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *vars[] = { rows[i].line, NULL };
		struct idem_span name = { rows[i].name, strlen(rows[i].name) };
		struct idem_request req;
		bool twice;

		read_vars(&req, vars);
		assert_text(idem_request_cookie(&req, name, &twice),
		    rows[i].value);
		assert_int_equal(twice, rows[i].twice);
		idem_buf_free(&scratch);
	}
}

static void
targets_taken_apart(void **state)
{
	static const struct { const char *uri, *raw_path, *query; } rows[] = {
		{ "/a/b?c=d", "/a/b", "c=d" },
		{ "/a/b", "/a/b", NULL },
		{ "/a?", "/a", "" },
		{ "/a?b?c", "/a", "b?c" },
		{ "/a#f?x", "/a", NULL },
		{ "/a?b#f", "/a", "b" },
		{ "?b", "/", "b" },
		{ "//a", "//a", NULL },
		{ "/a://b", "/a://b", NULL },
		{ "http://h:80/a?b", "/a", "b" },
		{ "HTTPS://u@h", "/", NULL },
		{ "http://h?b", "/", "b" },
		{ "*", "*", NULL },
		{ "/%61", "/%61", NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct idem_request req = {
			.target = { rows[i].uri, strlen(rows[i].uri) },
		};

		assert_text(idem_request_raw_path(&req), rows[i].raw_path);
		assert_text(idem_request_query(&req), rows[i].query);
	}
}

static void
routes(void **state)
{
	static const struct {
		const char *uri, *base, *path; /* NULL: IDEM_ESYNTAX */
	} rows[] = {
		{ "/vazifalar/7?x", "", "/vazifalar/7" },
		{ "/vazifalar#f", "", "/vazifalar" },
		{ "/app/vazifalar", "/app", "/vazifalar" },
		{ "/app/vazifalar", "/app/", "/vazifalar" },
		{ "/app", "/app", "/" },
		{ "/app/", "/app", "/" },
		{ "/apps", "/app", NULL },
		{ "/ap", "/app", NULL },
		{ "/vazifalar", "/", "/vazifalar" },
		{ "/%61pp/x", "/app", "/x" },
		{ "/a%2Fb%2520", "", "/a/b%20" },
		{ "/a+b", "", "/a+b" },
		{ "/a%", "", NULL },
		{ "/a%4", "", NULL },
		{ "/a%zz", "", NULL },
		{ "/a%00b", "", NULL },
		{ "http://h/app/x", "/app", "/x" },
		{ "http://h", "", "/" },
		{ "*", "", NULL },
		{ "", "", "/" },
	};
	struct idem_buf path;

	(void)state;
	idem_buf_init(&path, 64);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct idem_request req = {
			.target = { rows[i].uri, strlen(rows[i].uri) },
		};
		struct idem_span base = { rows[i].base, strlen(rows[i].base) };

		assert_int_equal(idem_request_path(&req, base, &path),
		    rows[i].path == NULL ? IDEM_ESYNTAX : IDEM_OK);
		if (rows[i].path != NULL)
			assert_text(idem_buf_span(&path), rows[i].path);
	}
	idem_buf_free(&path);
}

static void
a_route_over_the_ceiling(void **state)
{
	struct idem_request req = { .target = IDEM_LIT("/12345678") };
	struct idem_buf path;

	(void)state;
	idem_buf_init(&path, 8);
	assert_int_equal(idem_request_path(&req, IDEM_LIT(""), &path),
	    IDEM_ETOOBIG);
	idem_buf_free(&path);
	idem_buf_init(&path, 9);
	assert_int_equal(idem_request_path(&req, IDEM_LIT(""), &path), IDEM_OK);
	assert_text(idem_buf_span(&path), "/12345678");
	idem_buf_free(&path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_variable_is_found),
		cmocka_unit_test(every_variable_may_be_missing),
		cmocka_unit_test(a_second_one_is_noticed),
		cmocka_unit_test(settings_that_came_with_the_request),
		cmocka_unit_test(target_where_the_server_sets_none),
		cmocka_unit_test(cookies),
		cmocka_unit_test(targets_taken_apart),
		cmocka_unit_test(routes),
		cmocka_unit_test(a_route_over_the_ceiling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
