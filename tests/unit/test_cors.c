/*
 * test_cors.c - the CORS fields of an answer and of a preflight; request ids.
 */
#include "tests.h"

#include "exchange/cors.h"
#include "exchange/request_id.h"

#define L(s) IDEM_LIT_INIT(s)

#define VARY "Vary: Origin\r\n"
#define ORIGIN(o) "Access-Control-Allow-Origin: " o "\r\n"
#define EXPOSE "Access-Control-Expose-Headers: Location, ETag, " \
	"X-Request-Id, Idempotency-Replayed, Idempotency-Body, Retry-After\r\n"
#define SEND "Access-Control-Allow-Methods: GET, OPTIONS\r\n" \
	"Access-Control-Allow-Headers: Content-Type, Idempotency-Key, " \
	"X-Request-Id, If-Match, Prefer\r\nAccess-Control-Max-Age: 600\r\n"

static const struct {
	struct idem_span origins;
	const char *origin; /* the variable; NULL: none */
	struct idem_span answer, preflight;
} rows[] = {
	{ { NULL, 0 }, "HTTP_ORIGIN=https://a.uz", L(""), L("") },
	{ L(""), "HTTP_ORIGIN=https://a.uz", L(""), L("") },
	{ L("https://a.uz"), NULL, L(VARY), L(VARY) },
	{ L("https://a.uz"), "HTTP_ORIGIN=", L(VARY), L(VARY) },
	{ L("https://a.uz"), "HTTP_ORIGIN=https://a.uz",
	  L(VARY ORIGIN("https://a.uz") EXPOSE),
	  L(VARY ORIGIN("https://a.uz") SEND) },
	{ L("https://b.uz, https://a.uz"), "HTTP_ORIGIN=https://a.uz",
	  L(VARY ORIGIN("https://a.uz") EXPOSE),
	  L(VARY ORIGIN("https://a.uz") SEND) },
	{ L("https://a.uz"), "HTTP_ORIGIN=https://b.uz", L(VARY), L(VARY) },
	{ L("https://a.uz"), "HTTP_ORIGIN=http://a.uz", L(VARY), L(VARY) },
	{ L("https://a.uz"), "HTTP_ORIGIN=https://a.uz:8443", L(VARY),
	  L(VARY) },
	{ L("https://a.uz"), "HTTP_ORIGIN=https://a.uz.evil.example",
	  L(VARY), L(VARY) },
	{ L("https://a.uz"), "HTTP_ORIGIN=https://A.uz", L(VARY), L(VARY) },
	{ L("https://a.uz"), "HTTP_ORIGIN=null", L(VARY), L(VARY) },
	{ L("https://a.uz"), "HTTP_ORIGIN=*", L(VARY), L(VARY) },
	{ L("https://a.uz,https://b.uz"),
	  "HTTP_ORIGIN=https://a.uz,https://b.uz", L(VARY), L(VARY) },
	{ L("*"), "HTTP_ORIGIN=https://a.uz", L(VARY ORIGIN("*") EXPOSE),
	  L(VARY ORIGIN("*") SEND) },
	{ L("*"), NULL, L(VARY), L(VARY) },
};

static void
fields_by_origin(void **state)
{
	struct idem_response res;
	struct idem_buf scratch;

	(void)state;
	idem_response_init(&res, 4096);
	idem_buf_init(&scratch, 4096);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *vars[] = { rows[i].origin, NULL };
		struct idem_request req;

		print_message("row %zu\n", i);
		assert_int_equal(idem_request_init(&req, vars, &scratch),
		    IDEM_OK);
		idem_response_reset(&res);
		cors_expose(rows[i].origins, &req, &res);
		assert_span(idem_buf_span(&res.fields), rows[i].answer);
		idem_response_reset(&res);
		cors_preflight(rows[i].origins, &req,
		    IDEM_LIT("GET, OPTIONS"), &res);
		assert_span(idem_buf_span(&res.fields), rows[i].preflight);
		assert_int_equal(res.err, IDEM_OK);
	}
	idem_response_free(&res);
	idem_buf_free(&scratch);
}

static void
preflight_has_both_fields(void **state)
{
	static const struct {
		const char *vars[3];
		bool want;
	} tried[] = {
		{ { NULL }, false },
		{ { "HTTP_ORIGIN=https://a.uz", NULL }, false },
		{ { "HTTP_ACCESS_CONTROL_REQUEST_METHOD=POST", NULL }, false },
		{ { "HTTP_ORIGIN=https://a.uz",
		    "HTTP_ACCESS_CONTROL_REQUEST_METHOD=POST", NULL }, true },
		{ { "HTTP_ORIGIN=https://a.uz",
		    "HTTP_ACCESS_CONTROL_REQUEST_METHOD=", NULL }, false },
	};
	struct idem_buf scratch;

	(void)state;
	idem_buf_init(&scratch, 4096);
	for (size_t i = 0; i < COUNT(tried); i++) {
		struct idem_request req;

		assert_int_equal(idem_request_init(&req, tried[i].vars,
		    &scratch), IDEM_OK);
		if (cors_is_preflight(&req) != tried[i].want)
			fail_msg("row %zu", i);
	}
	idem_buf_free(&scratch);
}

#define A64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define NEW "00112233445566778899aabbccddeeff"

static void
request_id_is_the_clients_or_new(void **state)
{
	static const unsigned char random[16] = { 0x00, 0x11, 0x22, 0x33, 0x44,
		0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee,
		0xff };
	static const struct {
		struct idem_span from_client;
		const char *want;
	} tried[] = {
		{ { NULL, 0 }, NEW },
		{ L(""), NEW },
		{ L("a"), "a" },
		{ L("Az09._-"), "Az09._-" },
		{ L(A64), A64 },
		{ L(A64 "a"), NEW },
		{ L("a b"), NEW },
		{ L("a, b"), NEW },
		{ L("a\r\nX: y"), NEW },
		{ L("a\0b"), NEW },
		{ L("\xC3\xA9"), NEW },
		{ L("a/b"), NEW },
		{ L("a:b"), NEW },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(tried); i++) {
		char got[REQUEST_ID_MAX + 1];

		request_id_choose(tried[i].from_client, random, got);
		assert_string_equal(got, tried[i].want);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_by_origin),
		cmocka_unit_test(preflight_has_both_fields),
		cmocka_unit_test(request_id_is_the_clients_or_new),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
