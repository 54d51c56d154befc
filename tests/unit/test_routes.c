/*
 * test_routes.c - which request is answered by what, and what every answer
 * carries.
 */
#include "served.h"

#include "base/text.h"

#define POST_A "POST /vazifalar\nCONTENT_TYPE=application/json\n\n" \
	"{\"matn\":\"a\"}"
#define ORIGIN "HTTP_ORIGIN=https://a.uz\n"
#define PREFLIGHT ORIGIN "HTTP_ACCESS_CONTROL_REQUEST_METHOD=POST\n"

#define ALLOW_LIST "Allow: GET, HEAD, POST, OPTIONS\r\n"
#define ALLOW_TASK "Allow: GET, HEAD, PUT, PATCH, DELETE, OPTIONS\r\n"
#define ALLOW_PAGE "Allow: GET, HEAD, OPTIONS\r\n"

/* The status of each request, and one line that its head has. */
static void
finds_the_route(void **state)
{
	static const struct {
		const char *request;
		const char *status;
		const char *has; /* NULL: nothing more is looked at */
	} rows[] = {
		{ "GET /vazifalar\n", "200 OK", NULL },
		{ "GET /vazifalar?soni=1\n", "200 OK", NULL },
		{ "GET /vazifalar/1\n", "200 OK", "ETag: \"1-1\"\r\n" },
		{ "GET /%76azifalar/%31\n", "200 OK", "ETag: \"1-1\"\r\n" },
		{ "GET /vazifalar%2F1\n", "404 Not Found", NULL },
		{ "GET /vazifalar%2f1\n", "404 Not Found", NULL },
		{ "GET http://a.uz/vazifalar/1?x#y\n", "200 OK",
		  "ETag: \"1-1\"\r\n" },
		{ "GET /vazifalar/2\n", "404 Not Found", NULL },
		{ "GET /\n", "404 Not Found", NULL },
		{ "GET /vazifalar/\n", "404 Not Found", NULL },
		{ "GET /vazifalar/1/\n", "404 Not Found", NULL },
		{ "GET //vazifalar\n", "404 Not Found", NULL },
		{ "GET /Vazifalar\n", "404 Not Found", NULL },
		{ "GET /vazifalarx\n", "404 Not Found", NULL },
		{ "GET /vazifalar/0\n", "404 Not Found", NULL },
		{ "GET /vazifalar/01\n", "404 Not Found", NULL },
		{ "GET /vazifalar/+1\n", "404 Not Found", NULL },
		{ "GET /vazifalar/-1\n", "404 Not Found", NULL },
		{ "GET /vazifalar/1x\n", "404 Not Found", NULL },
		{ "GET /vazifalar/1%00\n", "404 Not Found", NULL },
		{ "GET /vazifalar/%3\n", "404 Not Found", NULL },
		{ "GET /vazifalar/18446744073709551615\n", "404 Not Found",
		  NULL },
		{ "GET /vazifalar/18446744073709551616\n", "404 Not Found",
		  NULL },
		{ "PUT /vazifalar/99999999999999999999999999\n",
		  "404 Not Found", NULL },
		{ "POST /boshqa\n", "404 Not Found", NULL },
		{ "OPTIONS /boshqa\n", "404 Not Found", NULL },
		{ "OPTIONS *\n", "404 Not Found", NULL },
		{ "GET /xatolar/topilmadi\n", "200 OK", NULL },
		{ "GET /xatolar/yoq\n", "404 Not Found", NULL },
		{ "GET /xatolar/\n", "404 Not Found", NULL },
		{ "GET /xatolar/topilmadi/1\n", "404 Not Found", NULL },
		{ "GET /idempotentlik\n", "200 OK", NULL },
		{ "PUT /vazifalar\n", "405 Method Not Allowed", ALLOW_LIST },
		{ "DELETE /vazifalar\n", "405 Method Not Allowed",
		  ALLOW_LIST },
		{ "POST /vazifalar/1\n", "405 Method Not Allowed",
		  ALLOW_TASK },
		{ "TRACE /vazifalar/1\n", "405 Method Not Allowed",
		  ALLOW_TASK },
		{ "get /vazifalar/1\n", "405 Method Not Allowed",
		  ALLOW_TASK },
		{ "POST /vazifalar/7\n", "405 Method Not Allowed",
		  ALLOW_TASK },
		{ "POST /xatolar/topilmadi\n", "405 Method Not Allowed",
		  ALLOW_PAGE },
		{ "DELETE /idempotentlik\n", "405 Method Not Allowed",
		  ALLOW_PAGE },
		{ "OPTIONS /vazifalar\n", "204 No Content", ALLOW_LIST },
		{ "OPTIONS /vazifalar/1\n", "204 No Content", ALLOW_TASK },
		{ "OPTIONS /idempotentlik\n", "204 No Content", ALLOW_PAGE },
	};
	struct served s;

	(void)state;
	served_open(&s, NULL);
	served_ask(&s, POST_A);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct idem_span got = served_ask(&s, rows[i].request);
		char status[64];

		assert_int_equal(text_format(status, sizeof status,
		    "Status: %s\r\n", rows[i].status), IDEM_OK);
		if (!span_starts(got, span_of(status)) ||
		    (rows[i].has != NULL && memmem(got.p, got.n, rows[i].has,
		    strlen(rows[i].has)) == NULL))
			fail_msg("%s%.*s", rows[i].request, IDEM_FMT(got));
	}
	served_close(&s);
}

#define TASK_A "{\"id\":1,\"matn\":\"a\",\"bajarildi\":false," \
	"\"teglar\":[],\"yaratilgan\":\"2026-11-30T15:00:00.000Z\"}"
#define LIST_A "{\"vazifalar\":[" TASK_A "],\"keyingi\":null}"
#define SHOWN_HEAD "Status: 200 OK\r\nCache-Control: no-cache\r\n" \
	"Content-Type: application/json\r\n"
#define METHOD_PROBLEM "{\"type\":\"https://vazifalar-api.example/xatolar/" \
	"metod\",\"title\":\"Bu metod qo'llanmaydi\",\"status\":405," \
	"\"detail\":\"Bu manzil qo'llaydigan metodlar Allow sarlavhasida\"," \
	"\"instance\":\"/vazifalar\",\"kod\":\"metod\"," \
	"\"code\":\"method-not-allowed\"}"
#define PROBLEM_HEAD(status) "Status: " status "\r\n" \
	"Content-Type: application/problem+json\r\n" \
	"Content-Language: uz\r\nCache-Control: no-store\r\n"

static void
answers_to_the_byte(void **state)
{
	static const struct served_step steps[] = {
		{ POST_A, "Status: 201 Created\r\nLocation: /vazifalar/1\r\n"
		  "Content-Type: application/json\r\nETag: \"1-1\"\r\n"
		  "X-Request-Id: r1\r\nContent-Length: #\r\n\r\n" TASK_A },
		{ "GET /vazifalar\nHTTP_X_REQUEST_ID=men.1_2-3\n",
		  SHOWN_HEAD "X-Request-Id: men.1_2-3\r\n"
		  "Content-Length: #\r\n\r\n" LIST_A },
		{ "HEAD /vazifalar/1\n", SHOWN_HEAD "ETag: \"1-1\"\r\n"
		  "X-Request-Id: r1\r\nContent-Length: 89\r\n\r\n" },
		{ "HEAD /vazifalar\n", SHOWN_HEAD "X-Request-Id: r1\r\n"
		  "Content-Length: 120\r\n\r\n" },
		{ "PUT /vazifalar\n",
		  PROBLEM_HEAD("405 Method Not Allowed") ALLOW_LIST
		  "X-Request-Id: r1\r\nContent-Length: #\r\n\r\n"
		  METHOD_PROBLEM },
		/* CORS is off: a preflight is an OPTIONS like any other */
		{ "OPTIONS /vazifalar\n" PREFLIGHT,
		  "Status: 204 No Content\r\n" ALLOW_LIST
		  "X-Request-Id: r1\r\n\r\n" },
	};

	(void)state;
	served_steps(NULL, steps, COUNT(steps));
}

#define READ "Vary: Origin\r\n" \
	"Access-Control-Allow-Origin: https://a.uz\r\n" \
	"Access-Control-Expose-Headers: Location, ETag, X-Request-Id, " \
	"Idempotency-Replayed, Idempotency-Body, Retry-After\r\n"

static void
carries_cors(void **state)
{
	static const char *const options[] = {
		"--cors-origins=https://b.uz,https://a.uz", NULL };
	static const struct served_step steps[] = {
		{ "OPTIONS /vazifalar\n" PREFLIGHT,
		  "Status: 204 No Content\r\n" ALLOW_LIST "Vary: Origin\r\n"
		  "Access-Control-Allow-Origin: https://a.uz\r\n"
		  "Access-Control-Allow-Methods: GET, HEAD, POST, OPTIONS\r\n"
		  "Access-Control-Allow-Headers: Content-Type, "
		  "Idempotency-Key, X-Request-Id, If-Match, Prefer\r\n"
		  "Access-Control-Max-Age: 600\r\nX-Request-Id: r1\r\n\r\n" },
		{ "OPTIONS /vazifalar\nHTTP_ORIGIN=https://c.uz\n"
		  "HTTP_ACCESS_CONTROL_REQUEST_METHOD=POST\n",
		  "Status: 204 No Content\r\n" ALLOW_LIST "Vary: Origin\r\n"
		  "X-Request-Id: r1\r\n\r\n" },
		{ "GET /vazifalar\n" ORIGIN, SHOWN_HEAD "X-Request-Id: r1\r\n"
		  READ "Content-Length: #\r\n\r\n"
		  "{\"vazifalar\":[],\"keyingi\":null}" },
		{ "GET /vazifalar\n", SHOWN_HEAD "X-Request-Id: r1\r\n"
		  "Vary: Origin\r\nContent-Length: #\r\n\r\n"
		  "{\"vazifalar\":[],\"keyingi\":null}" },
		/* errors too */
		{ "PUT /vazifalar\n" ORIGIN,
		  PROBLEM_HEAD("405 Method Not Allowed") ALLOW_LIST
		  "X-Request-Id: r1\r\n" READ "Content-Length: #\r\n\r\n"
		  METHOD_PROBLEM },
		/* a replay has this request's, not the first one's */
		{ "POST /vazifalar\nCONTENT_TYPE=application/json\n"
		  "HTTP_IDEMPOTENCY_KEY=k\n" ORIGIN "\n{\"matn\":\"a\"}",
		  "Status: 201 Created\r\nLocation: /vazifalar/1\r\n"
		  "Content-Type: application/json\r\nETag: \"1-1\"\r\n"
		  "X-Request-Id: r1\r\n" READ "Content-Length: #\r\n\r\n"
		  TASK_A },
		{ "POST /vazifalar\nCONTENT_TYPE=application/json\n"
		  "HTTP_IDEMPOTENCY_KEY=k\nHTTP_ORIGIN=https://b.uz\n"
		  "HTTP_X_REQUEST_ID=r2\n\n{\"matn\":\"a\"}",
		  "Status: 201 Created\r\nLocation: /vazifalar/1\r\n"
		  "Content-Type: application/json\r\nETag: \"1-1\"\r\n"
		  "Cache-Control: no-store\r\nIdempotency-Replayed: true\r\n"
		  "X-Request-Id: r2\r\nVary: Origin\r\n"
		  "Access-Control-Allow-Origin: https://b.uz\r\n"
		  "Access-Control-Expose-Headers: Location, ETag, "
		  "X-Request-Id, Idempotency-Replayed, Idempotency-Body, "
		  "Retry-After\r\nContent-Length: #\r\n\r\n" TASK_A },
	};

	(void)state;
	served_steps(options, steps, COUNT(steps));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_route),
		cmocka_unit_test(answers_to_the_byte),
		cmocka_unit_test(carries_cors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
