/*
 * test_policy.c - protected methods, kept fields, what a status means.
 */
#include "tests.h"

#include "idem/policy.h"

static void
protected_methods(void **state)
{
	static const struct {
		const char *methods, *method;
		bool is_protected;
	} rows[] = {
		{ "POST,PATCH", "POST", true },
		{ "POST,PATCH", "PATCH", true },
		{ "POST,PATCH", "PUT", false },
		{ "POST,PATCH", "post", false },
		{ "POST,PATCH", "POST,PATCH", false },
		{ "POST, PATCH ,PUT", "PATCH", true },
		{ "POST", "POS", false },
		{ "", "", false },
		{ "", "GET", false },
		{ "POST,", "", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct idem_policy p = { .methods = span_of(rows[i].methods) };

		assert_int_equal(idem_policy_protects(&p,
		    span_of(rows[i].method)), rows[i].is_protected);
	}
	assert_false(idem_policy_protects(
	    &(struct idem_policy){ .methods = IDEM_LIT("POST") },
	    IDEM_ABSENT));
}

static void
kept_fields(void **state)
{
	static const char *const kept[] = {
		"Content-Type", "Content-Language", "Content-Disposition",
		"Content-Encoding", "Location", "Content-Location", "Refresh",
		"ETag", "Last-Modified", "Link", "Allow", "Vary",
		"Content-Security-Policy", "X-Content-Type-Options",
		"X-Frame-Options", "Referrer-Policy",
		"Cross-Origin-Opener-Policy", "Cross-Origin-Embedder-Policy",
		"cross-origin-resource-policy", "ETAG", "content-type",
	};
	static const char *const left[] = {
		"Set-Cookie", "WWW-Authenticate", "Connection", "Keep-Alive",
		"Transfer-Encoding", "Trailer", "Upgrade", "TE",
		"Proxy-Authenticate", "Date", "Age", "Server",
		"Content-Length", "X-Request-Id", "Idempotency-Replayed",
		"Idempotency-Body", "Idempotency-Key",
		"Access-Control-Allow-Origin", "Cache-Control", "Retry-After",
		"X-Powered-By", "Locations", "Lin", "X-Cross-Origin-Policy",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(kept); i++)
		assert_true(idem_policy_keeps_field(IDEM_ABSENT,
		    span_of(kept[i])));
	for (size_t i = 0; i < COUNT(left); i++)
		assert_false(idem_policy_keeps_field(IDEM_LIT(""),
		    span_of(left[i])));
}

static void
fields_kept_by_name(void **state)
{
	static const struct { const char *name; bool kept; } rows[] = {
		{ "Set-Cookie", true }, { "X-Total", true },
		{ "x-total", true }, { "X-Other", true }, { "X-None", false },
		{ "Cache-Control", true },
		{ "Location", true },
		/* named, and yet never */
		{ "WWW-Authenticate", false }, { "Date", false },
		{ "Content-Length", false }, { "Connection", false },
		{ "Idempotency-Replayed", false }, { "X-Request-Id", false },
		{ "Age", false }, { "Server", false },
		{ "Transfer-Encoding", false },
	};
	struct idem_span names = IDEM_LIT("Set-Cookie,X-Total, X-Other ,"
	    "Cache-Control,"
	    "WWW-Authenticate,Date,Content-Length,Connection,Age,Server,"
	    "Idempotency-Replayed,X-Request-Id,Transfer-Encoding");

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(idem_policy_keeps_field(names,
		    span_of(rows[i].name)), rows[i].kept);
}

static enum idem_effect
effect(bool keep_5xx, enum idem_effect said, unsigned status,
    const char *field)
{
	struct idem_response res;
	enum idem_effect out;

	idem_response_init(&res, 256);
	res.status = status;
	idem_response_field(&res, IDEM_LIT("Content-Type"), IDEM_LIT("a/b"));
	if (field != NULL)
		idem_response_field(&res, span_of(field), IDEM_LIT("1"));
	out = idem_policy_effect(keep_5xx, said, &res);
	idem_response_free(&res);
	return out;
}

static void
every_status(void **state)
{
	static const unsigned released[] = {
		401, 403, 407, 408, 412, 421, 423, 425, 428, 429,
	};

	(void)state;
	for (unsigned status = 100; status < 600; status++) {
		bool is_released = status >= 500;

		for (size_t i = 0; i < COUNT(released); i++)
			is_released = is_released || status == released[i];
		assert_int_equal(effect(false, IDEM_BY_STATUS, status, NULL),
		    is_released ? IDEM_NONE : IDEM_DONE);
		assert_int_equal(effect(true, IDEM_BY_STATUS, status, NULL),
		    is_released && status < 500 ? IDEM_NONE : IDEM_DONE);
	}
}

static void
retry_after_releases(void **state)
{
	static const struct {
		unsigned status;
		const char *field;
		enum idem_effect off, on;
	} rows[] = {
		{ 200, "Retry-After", IDEM_DONE, IDEM_DONE },
		{ 202, "retry-after", IDEM_DONE, IDEM_DONE },
		{ 300, "Retry-After", IDEM_NONE, IDEM_NONE },
		{ 303, "retry-after", IDEM_NONE, IDEM_NONE },
		{ 303, "X-Retry-After", IDEM_DONE, IDEM_DONE },
		{ 409, "RETRY-AFTER", IDEM_NONE, IDEM_NONE },
		{ 499, "Retry-After", IDEM_NONE, IDEM_NONE },
		{ 503, "Retry-After", IDEM_NONE, IDEM_DONE },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(effect(false, IDEM_BY_STATUS, rows[i].status,
		    rows[i].field), rows[i].off);
		assert_int_equal(effect(true, IDEM_BY_STATUS, rows[i].status,
		    rows[i].field), rows[i].on);
	}
}

static void
what_the_handler_says_stands(void **state)
{
	static const enum idem_effect said[] = {
		IDEM_DONE, IDEM_NONE, IDEM_HOLD,
	};
	static const unsigned statuses[] = { 201, 401, 500, 504 };

	(void)state;
	for (size_t i = 0; i < COUNT(said); i++)
		for (size_t j = 0; j < COUNT(statuses); j++) {
			assert_int_equal(effect(false, said[i], statuses[j],
			    "Retry-After"), said[i]);
			assert_int_equal(effect(true, said[i], statuses[j],
			    NULL), said[i]);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(protected_methods),
		cmocka_unit_test(kept_fields),
		cmocka_unit_test(fields_kept_by_name),
		cmocka_unit_test(every_status),
		cmocka_unit_test(retry_after_releases),
		cmocka_unit_test(what_the_handler_says_stands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
