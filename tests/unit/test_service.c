/*
 * test_service.c - what goes wrong around a request: settings, store, body; and
 * what the log says of each.
 */
#include "served.h"

#include "base/text.h"

#define JSON "CONTENT_TYPE=application/json\n"
#define POST(more, body) "POST /vazifalar\n" JSON more "\n" body
#define KEY(k) "HTTP_IDEMPOTENCY_KEY=" k "\n"

/* Status and kod of an answer; NULL: it has none. */
static void
assert_answer(struct idem_span got, const char *status, const char *kod)
{
	char want[128];

	assert_int_equal(text_format(want, sizeof want, "Status: %s\r\n",
	    status), IDEM_OK);
	if (!span_starts(got, span_of(want)))
		fail_msg("want %s, got %.*s", status, IDEM_FMT(got));
	if (kod == NULL)
		return;
	assert_int_equal(text_format(want, sizeof want, "\"kod\":\"%s\"",
	    kod), IDEM_OK);
	if (memmem(got.p, got.n, want, strlen(want)) == NULL)
		fail_msg("want %s, got %.*s", kod, IDEM_FMT(got));
}

static void
assert_said(struct served *s, const char *part)
{
	if (memmem(s->said.p, s->said.n, part, strlen(part)) == NULL)
		fail_msg("want %s in the log, got %.*s", part,
		    IDEM_FMT(idem_buf_span(&s->said)));
}

static void
forget_log(struct served *s)
{
	idem_buf_reset(&s->said);
}

/* A wrong setting in a parameter: 500, a log line, and nothing runs. */
static void
refuses_wrong_parameters(void **state)
{
	static const struct { const char *var, *said; } rows[] = {
		{ "IDEM_TTL=soon\n", "IDEM_TTL" },
		{ "REDIRECT_IDEM_TTL=24\n", "IDEM_TTL" },
		{ "IDEM_NO_SUCH=1\n", "IDEM_NO_SUCH" },
		{ "IDEM_STORE=/elsewhere\n", "IDEM_STORE" },
	};
	struct served s;

	(void)state;
	served_open(&s, NULL);
	for (size_t i = 0; i < COUNT(rows); i++) {
		char request[256];

		assert_int_equal(text_format(request, sizeof request,
		    POST("%s", "{\"matn\":\"a\"}"), rows[i].var), IDEM_OK);
		forget_log(&s);
		assert_answer(served_ask(&s, request),
		    "500 Internal Server Error", "ichki-xato");
		assert_said(&s, rows[i].said);
	}
	assert_answer(served_ask(&s, "GET /vazifalar/1\n"), "404 Not Found",
	    "topilmadi");
	served_close(&s);
}

static void
obeys_parameters(void **state)
{
	struct served s;

	(void)state;
	served_open(&s, NULL);
	assert_answer(served_ask(&s, POST("IDEM_REQUIRE_KEY=on\n",
	    "{\"matn\":\"a\"}")), "400 Bad Request",
	    "idempotentlik-kalit-kerak");
	assert_answer(served_ask(&s, POST("REDIRECT_IDEM_REQUIRE_KEY=on\n",
	    "{\"matn\":\"a\"}")), "400 Bad Request",
	    "idempotentlik-kalit-kerak");
	/* never from a header of the client's */
	assert_answer(served_ask(&s, POST("HTTP_IDEM_REQUIRE_KEY=on\n",
	    "{\"matn\":\"a\"}")), "201 Created", NULL);
	assert_answer(served_ask(&s, POST("IDEM_ANONYMOUS=refuse\n" KEY("k"),
	    "{\"matn\":\"a\"}")), "400 Bad Request", "idempotentlik-egasi");
	assert_answer(served_ask(&s, POST("IDEM_TASK_DELAY_MS=1\n" KEY("k"),
	    "{\"matn\":\"b\"}")), "201 Created", NULL);
	served_close(&s);
}

/* No store: 503 for what needs it, until it can be opened. */
static void
opens_its_store_later(void **state)
{
	struct served s;

	(void)state;
	served_open(&s, NULL);
	idem_store_close(&s.service->keeper.store);
	s.settings.store = IDEM_LIT("/proc/no-store-can-be-here");
	forget_log(&s);
	assert_answer(served_ask(&s, POST(KEY("k"), "{\"matn\":\"a\"}")),
	    "503 Service Unavailable", "idempotentlik-ombor");
	assert_said(&s, "/proc/no-store-can-be-here");
	assert_said(&s, "outcome=down status=503 route=\"POST /vazifalar\"");
	assert_answer(served_ask(&s, POST("", "{\"matn\":\"a\"}")),
	    "503 Service Unavailable", "idempotentlik-ombor");
	assert_answer(served_ask(&s, "GET /vazifalar\n"),
	    "503 Service Unavailable", "idempotentlik-ombor");
	assert_answer(served_ask(&s, "GET /vazifalar/1\n"),
	    "503 Service Unavailable", "idempotentlik-ombor");
	assert_answer(served_ask(&s, "GET /idempotentlik\n"), "200 OK", NULL);
	assert_answer(served_ask(&s, "GET /boshqa\n"), "404 Not Found",
	    "topilmadi");
	assert_false(service_leave(s.service));
	/* one try a second, whatever comes */
	s.settings.store = IDEM_LIT("memory:");
	s.now_ms += 999;
	forget_log(&s);
	assert_answer(served_ask(&s, "GET /vazifalar\n"),
	    "503 Service Unavailable", "idempotentlik-ombor");
	assert_int_equal(s.said.n, 0);
	s.now_ms += 1;
	assert_answer(served_ask(&s, POST(KEY("k"), "{\"matn\":\"a\"}")),
	    "201 Created", NULL);
	assert_answer(served_ask(&s, "GET /vazifalar/1\n"), "200 OK", NULL);
	served_close(&s);
}

static void
refuses_bodies_by_length(void **state)
{
	static const char *const options[] = { "--max-body=20B", NULL };
	struct served s;

	(void)state;
	served_open(&s, options);
	assert_answer(served_ask(&s, POST(KEY("k"),
	    "{\"matn\":\"0123456789\"}")), "413 Content Too Large",
	    "tana-katta");
	assert_answer(served_ask(&s, POST(KEY("k"),
	    "{\"matn\":\"012345678\"}")), "201 Created", NULL);
	assert_answer(served_ask(&s, POST(KEY("l") "CONTENT_LENGTH=15\n",
	    "{\"matn\":\"a\"}")), "503 Service Unavailable", "tana-chala");
	assert_answer(served_ask(&s, POST(KEY("l") "CONTENT_LENGTH=x\n",
	    "{\"matn\":\"a\"}")), "400 Bad Request", NULL);
	assert_answer(served_ask(&s, POST(KEY("l"), "{\"matn\":\"b\"}")),
	    "201 Created", NULL);
	served_close(&s);
}

/* One line a protected request, none for the others. */
static void
logs_protected_requests(void **state)
{
	static const struct { const char *request, *said; } rows[] = {
		{ POST(KEY("k"), "{\"matn\":\"a\"}"),
		  "outcome=created status=201 route=\"POST /vazifalar\" ms=" },
		{ POST(KEY("k"), "{\"matn\":\"a\"}"),
		  "outcome=replayed status=201 route=\"POST /vazifalar\" ms=" },
		{ POST(KEY("k"), "{\"matn\":\"b\"}"),
		  "outcome=mismatch status=422 route=\"POST /vazifalar\" ms=" },
		{ POST(KEY("a b"), "{\"matn\":\"b\"}"),
		  "outcome=refused status=400 route=\"POST /vazifalar\" ms=" },
		{ "PATCH /vazifalar/1\n" JSON KEY("l")
		  "HTTP_IF_MATCH=\"x\"\n\n{}", "outcome=released status=412 "
		  "route=\"PATCH /vazifalar/{id}\" ms=" },
		{ POST("", "{\"matn\":\"a\"}"), NULL },
		{ "GET /vazifalar\n" KEY("k"), NULL },
		{ "DELETE /vazifalar/1\n" KEY("k"), NULL },
		{ "PUT /vazifalar\n" KEY("k"), NULL },
	};
	struct served s;

	(void)state;
	served_open(&s, NULL);
	for (size_t i = 0; i < COUNT(rows); i++) {
		forget_log(&s);
		served_ask(&s, rows[i].request);
		if (rows[i].said == NULL) {
			assert_int_equal(s.said.n, 0);
			continue;
		}
		assert_said(&s, rows[i].said);
		assert_said(&s, " request_id=r1\n");
		assert_null(memmem(s.said.p, s.said.n, "matn", 4));
	}
	served_close(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses_wrong_parameters),
		cmocka_unit_test(obeys_parameters),
		cmocka_unit_test(opens_its_store_later),
		cmocka_unit_test(refuses_bodies_by_length),
		cmocka_unit_test(logs_protected_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
