/*
 * test_task_handlers.c - creating, changing and deleting tasks, through the
 * engine, to the last byte of each answer.
 */
#include "served.h"

#include "base/text.h"

#define JSON "CONTENT_TYPE=application/json\n"
#define MERGE "CONTENT_TYPE=application/merge-patch+json\n"
#define KEY(k) "HTTP_IDEMPOTENCY_KEY=" k "\n"

#define ID "X-Request-Id: r1\r\n"
#define LENGTH "Content-Length: #\r\n\r\n"
#define AT ",\"yaratilgan\":\"2026-11-30T15:00:00.000Z\"}"
#define REPLAYED "Cache-Control: no-store\r\nIdempotency-Replayed: true\r\n"

#define CREATED_FIELDS(id) "Status: 201 Created\r\n" \
	"Location: /vazifalar/" id "\r\nContent-Type: application/json\r\n" \
	"ETag: \"" id "-1\"\r\n"
#define CREATED(id, body) CREATED_FIELDS(id) ID LENGTH body
#define CREATED_AGAIN(id, body) CREATED_FIELDS(id) REPLAYED ID LENGTH body
#define CHANGED(etag, body) "Status: 200 OK\r\n" \
	"Content-Type: application/json\r\nETag: \"" etag "\"\r\n" \
	ID LENGTH body
#define SHOWN(etag, body) "Status: 200 OK\r\nCache-Control: no-cache\r\n" \
	"Content-Type: application/json\r\nETag: \"" etag "\"\r\n" \
	ID LENGTH body
#define GONE "Status: 204 No Content\r\n" ID "\r\n"

#define PROBLEM_FIELDS(status) "Status: " status "\r\n" \
	"Content-Type: application/problem+json\r\n" \
	"Content-Language: uz\r\n"
#define FRESH "Cache-Control: no-store\r\n"
#define DOCUMENT(status, kod, code, title, detail, instance, more) \
	"{\"type\":\"https://vazifalar-api.example/xatolar/" kod "\"," \
	"\"title\":\"" title "\",\"status\":" status ",\"detail\":\"" detail \
	"\",\"instance\":\"" instance "\",\"kod\":\"" kod "\",\"code\":\"" \
	code "\"" more "}"
#define NOT_FOUND(instance) PROBLEM_FIELDS("404 Not Found") FRESH ID LENGTH \
	DOCUMENT("404", "topilmadi", "not-found", "Topilmadi", \
	"Bu manzilda hech narsa yo'q", instance, "")
#define FAILED(instance) \
	PROBLEM_FIELDS("412 Precondition Failed") FRESH ID LENGTH \
	DOCUMENT("412", "shart-bajarilmadi", "precondition-failed", \
	"Shart bajarilmadi", "Yozuv siz o'qiganingizdan keyin o'zgargan; uni " \
	"qayta o'qib, yana urinib ko'ring", instance, "")
#define INVALID_BODY(instance, field, text) DOCUMENT("422", "tekshiruv", \
	"validation", "Ma'lumot tekshiruvdan o'tmadi", \
	"Ba'zi maydonlar talabga javob bermaydi", instance, \
	",\"xatolar\":[{\"maydon\":\"" field "\",\"xabar\":\"" text "\"}]")
#define INVALID(instance, field, text) \
	PROBLEM_FIELDS("422 Unprocessable Content") FRESH ID LENGTH \
	INVALID_BODY(instance, field, text)

#define NON1 "{\"id\":1,\"matn\":\"Non olish #uy\",\"bajarildi\":false," \
	"\"teglar\":[\"uy\"]" AT
#define POST(more, body) "POST /vazifalar\n" JSON more "\n" body
#define STEPS(table) (table), COUNT(table)

/* One intent, three requests: what README shows. */
static void
creates_once(void **state)
{
	static const struct served_step steps[] = {
		{ POST(KEY("kanon-24-0001"), "{\"matn\":\"Non olish #uy\"}"),
		  CREATED("1", NON1) },
		{ POST(KEY("kanon-24-0001"), "{\"matn\":\"Non olish #uy\"}"),
		  CREATED_AGAIN("1", NON1) },
		/* the same JSON in other bytes, the same key in quotes */
		{ POST(KEY("\"kanon-24-0001\""),
		  " { \"matn\" : \"Non olish \\u0023uy\" } "),
		  CREATED_AGAIN("1", NON1) },
		{ POST(KEY("kanon-24-0001"), "{\"matn\":\"Boshqa\"}"),
		  PROBLEM_FIELDS("422 Unprocessable Content") FRESH
		  "Link: </idempotentlik>; rel=\"describedby\"\r\n" ID LENGTH
		  DOCUMENT("422", "idempotentlik-boshqa-tana", "key-reused",
		  "Idempotency-Key qayta ishlatildi", "Bu Idempotency-Key "
		  "boshqa so'rov tanasi bilan ishlatilgan", "/vazifalar", "") },
		{ "GET /vazifalar\n", "Status: 200 OK\r\n"
		  "Cache-Control: no-cache\r\nContent-Type: application/json"
		  "\r\n" ID LENGTH "{\"vazifalar\":[" NON1
		  "],\"keyingi\":null}" },
		{ "GET /vazifalar/1\n", SHOWN("1-1", NON1) },
		/* without a key each is an intent of its own */
		{ POST("", "{\"matn\":\"Sut\",\"bajarildi\":true}"),
		  CREATED("2", "{\"id\":2,\"matn\":\"Sut\",\"bajarildi\":true,"
		  "\"teglar\":[]" AT) },
		{ POST("", "{\"matn\":\"Sut\",\"bajarildi\":true}"),
		  CREATED("3", "{\"id\":3,\"matn\":\"Sut\",\"bajarildi\":true,"
		  "\"teglar\":[]" AT) },
	};

	(void)state;
	served_steps(NULL, STEPS(steps));
}

#define TASK(id, text) "{\"id\":" id ",\"matn\":\"" text "\"," \
	"\"bajarildi\":false,\"teglar\":[]" AT

static void
never_gives_an_id_twice(void **state)
{
	static const struct served_step steps[] = {
		{ POST("", "{\"matn\":\"a\"}"), CREATED("1", TASK("1", "a")) },
		{ POST("", "{\"matn\":\"b\"}"), CREATED("2", TASK("2", "b")) },
		{ "DELETE /vazifalar/2\n", GONE },
		{ "DELETE /vazifalar/2\n", NOT_FOUND("/vazifalar/2") },
		{ "GET /vazifalar/2\n", NOT_FOUND("/vazifalar/2") },
		{ "GET /vazifalar\n", "Status: 200 OK\r\n"
		  "Cache-Control: no-cache\r\nContent-Type: application/json"
		  "\r\n" ID LENGTH "{\"vazifalar\":[" TASK("1", "a")
		  "],\"keyingi\":null}" },
		{ POST("", "{\"matn\":\"c\"}"), CREATED("3", TASK("3", "c")) },
		{ "DELETE /vazifalar/1\n", GONE },
		{ "DELETE /vazifalar/3\n", GONE },
		{ "GET /vazifalar\n", "Status: 200 OK\r\n"
		  "Cache-Control: no-cache\r\nContent-Type: application/json"
		  "\r\n" ID LENGTH "{\"vazifalar\":[],\"keyingi\":null}" },
		{ POST("", "{\"matn\":\"d\"}"), CREATED("4", TASK("4", "d")) },
		{ "PUT /vazifalar/3\n" JSON "\n{\"matn\":\"x\"}",
		  NOT_FOUND("/vazifalar/3") },
	};

	(void)state;
	served_steps(NULL, STEPS(steps));
}

#define DONE(text) "{\"id\":1,\"matn\":\"" text "\",\"bajarildi\":true," \
	"\"teglar\":[]" AT
#define OPEN(text) TASK("1", text)

static void
replaces_and_patches(void **state)
{
	static const struct served_step steps[] = {
		{ POST("", "{\"matn\":\"a\",\"bajarildi\":true}"),
		  CREATED("1", DONE("a")) },
		{ "PATCH /vazifalar/1\n" MERGE "\n{\"matn\":\" b \"}",
		  CHANGED("1-2", DONE("b")) },
		{ "PATCH /vazifalar/1\n" JSON "\n{\"bajarildi\":false}",
		  CHANGED("1-3", OPEN("b")) },
		{ "PATCH /vazifalar/1\n" MERGE "\n{\"bajarildi\":true}",
		  CHANGED("1-4", DONE("b")) },
		{ "PATCH /vazifalar/1\n" MERGE "\n{\"bajarildi\":null}",
		  CHANGED("1-5", OPEN("b")) },
		{ "PATCH /vazifalar/1\n" MERGE "\n{\"matn\":null}",
		  INVALID("/vazifalar/1", "matn", "satr bo'lishi kerak") },
		{ "PATCH /vazifalar/1\n" MERGE "\n[]",
		  INVALID("/vazifalar/1", "", "JSON obyekt kerak") },
		{ "PATCH /vazifalar/1\n" MERGE "\n{\"id\":9,\"teglar\":null}",
		  CHANGED("1-6", OPEN("b")) },
		{ "PUT /vazifalar/1\n" JSON "\n{\"matn\":\"c\","
		  "\"bajarildi\":true}", CHANGED("1-7", DONE("c")) },
		{ "PUT /vazifalar/1\n" JSON "\n{\"matn\":\"c\"}",
		  CHANGED("1-8", OPEN("c")) },
		{ "PUT /vazifalar/1\n" JSON "\n{\"bajarildi\":true}",
		  INVALID("/vazifalar/1", "matn", "majburiy maydon") },
		{ "GET /vazifalar/1\n", SHOWN("1-8", OPEN("c")) },
		{ "PATCH /vazifalar/2\n" MERGE "\n{\"matn\":\"x\"}",
		  NOT_FOUND("/vazifalar/2") },
		/* what no task can be is said before whether there is one */
		{ "PUT /vazifalar/2\n" JSON "\n{\"matn\":7}",
		  INVALID("/vazifalar/2", "matn", "satr bo'lishi kerak") },
	};

	(void)state;
	served_steps(NULL, STEPS(steps));
}

#define IF(tags) "HTTP_IF_MATCH=" tags "\n"
#define IF_NONE(tags) "HTTP_IF_NONE_MATCH=" tags "\n"
#define PUT_A(more) "PUT /vazifalar/1\n" JSON more "\n{\"matn\":\"a\"}"

static void
honours_conditions(void **state)
{
	static const struct served_step steps[] = {
		{ POST(IF("\"no such\""), "{\"matn\":\"a\"}"),
		  CREATED("1", OPEN("a")) },
		{ PUT_A(IF("\"1-2\"")), FAILED("/vazifalar/1") },
		{ PUT_A(IF("W/\"1-1\"")), FAILED("/vazifalar/1") },
		{ PUT_A(IF("")), FAILED("/vazifalar/1") },
		{ PUT_A(IF("\"1-1\"")), CHANGED("1-2", OPEN("a")) },
		{ PUT_A(IF("\"1-1\"")), FAILED("/vazifalar/1") },
		{ PUT_A(IF("*")), CHANGED("1-3", OPEN("a")) },
		{ PUT_A(IF("\"x\", \"1-3\"")), CHANGED("1-4", OPEN("a")) },
		{ PUT_A(IF_NONE("*")), FAILED("/vazifalar/1") },
		{ "PATCH /vazifalar/1\n" MERGE IF("\"1-3\"") "\n{}",
		  FAILED("/vazifalar/1") },
		{ "PATCH /vazifalar/1\n" MERGE IF("\"1-4\"") "\n{}",
		  CHANGED("1-5", OPEN("a")) },
		{ "DELETE /vazifalar/1\n" IF("\"1-4\""),
		  FAILED("/vazifalar/1") },
		/* absence comes before the condition */
		{ "DELETE /vazifalar/2\n" IF("*"),
		  NOT_FOUND("/vazifalar/2") },
		{ "GET /vazifalar/1\n" IF("\"1-4\""), FAILED("/vazifalar/1") },
		{ "GET /vazifalar/1\n" IF("\"1-5\""), SHOWN("1-5", OPEN("a")) },
		{ "GET /vazifalar/1\n" IF_NONE("\"1-4\""),
		  SHOWN("1-5", OPEN("a")) },
		{ "GET /vazifalar/1\n" IF_NONE("\"1-4\", W/\"1-5\""),
		  "Status: 304 Not Modified\r\nCache-Control: no-cache\r\n"
		  "ETag: \"1-5\"\r\n" ID "\r\n" },
		{ "GET /vazifalar/1\n" IF_NONE("*"),
		  "Status: 304 Not Modified\r\nCache-Control: no-cache\r\n"
		  "ETag: \"1-5\"\r\n" ID "\r\n" },
		{ "GET /vazifalar/2\n" IF_NONE("*"),
		  NOT_FOUND("/vazifalar/2") },
		{ "DELETE /vazifalar/1\n" IF("\"1-5\""), GONE },
	};

	(void)state;
	served_steps(NULL, STEPS(steps));
}

#define REFUSED_MEDIA(more, instance) \
	PROBLEM_FIELDS("415 Unsupported Media Type") FRESH more ID LENGTH \
	DOCUMENT("415", "media-turi", "media-type", "Media turi qo'llanmaydi", \
	"So'rovning Content-Type turi bu yerda qabul qilinmaydi", instance, "")
#define REFUSED_JSON(detail) \
	PROBLEM_FIELDS("400 Bad Request") FRESH ID LENGTH \
	DOCUMENT("400", "json-yaroqsiz", "json-invalid", "JSON yaroqsiz", \
	detail, "/vazifalar", "")
#define BROKEN_AT(n) REFUSED_JSON("JSON matni " n \
	"-baytda yaroqsiz (0 dan sanaganda)")
#define UNCLEAR_AT(n) REFUSED_JSON("JSON matni " n \
	"-baytda bir ma'noli emas (0 dan sanaganda): takroriy nom, yakka " \
	"surrogat, haddan ortiq chuqurlik yoki daraja")
#define ACCEPT "Accept: application/json\r\n"
#define ACCEPT_PATCH \
	"Accept-Patch: application/merge-patch+json, application/json\r\n"

static void
refuses_bodies(void **state)
{
	static const struct served_step steps[] = {
		{ "POST /vazifalar\n\n{\"matn\":\"a\"}",
		  REFUSED_MEDIA(ACCEPT, "/vazifalar") },
		{ "POST /vazifalar\nCONTENT_TYPE=text/plain\n\n"
		  "{\"matn\":\"a\"}", REFUSED_MEDIA(ACCEPT, "/vazifalar") },
		{ "POST /vazifalar\n" MERGE "\n{\"matn\":\"a\"}",
		  REFUSED_MEDIA(ACCEPT, "/vazifalar") },
		{ "PUT /vazifalar/1\n" MERGE "\n{\"matn\":\"a\"}",
		  REFUSED_MEDIA(ACCEPT, "/vazifalar/1") },
		{ "PATCH /vazifalar/1\nCONTENT_TYPE=text/plain\n\n{}",
		  REFUSED_MEDIA(ACCEPT_PATCH, "/vazifalar/1") },
		{ "POST /vazifalar\n"
		  "CONTENT_TYPE=Application/JSON ; charset=utf-8\n\n"
		  "{\"matn\":\"a\"}", CREATED("1", OPEN("a")) },
		{ POST("", ""), BROKEN_AT("0") },
		{ POST("", "{\"matn\":\"a\",}"), BROKEN_AT("12") },
		{ POST("", "{\"matn\":\"\xFF\"}"), BROKEN_AT("9") },
		{ POST("", "\xEF\xBB\xBF{\"matn\":\"a\"}"), BROKEN_AT("0") },
		{ POST("", "{\"matn\":\"a\",\"m\\u0061tn\":\"b\"}"),
		  UNCLEAR_AT("12") },
		{ POST("", "{\"matn\":\"\\ud800\"}"), UNCLEAR_AT("9") },
		{ POST("", "{\"matn\":\"a\\u0000b\"}"), INVALID("/vazifalar",
		  "matn", "\\\\u0000 belgisi bo'lmasligi kerak") },
		{ POST("", "{}"), INVALID("/vazifalar", "matn",
		  "majburiy maydon") },
	};

	(void)state;
	served_steps(NULL, STEPS(steps));
}

/* 415, 400 and 422 are the handler's answers: kept under the key. */
static void
keeps_refusals(void **state)
{
	static const struct served_step steps[] = {
		{ POST(KEY("a"), "{}"), INVALID("/vazifalar", "matn",
		  "majburiy maydon") },
		{ POST(KEY("a"), "{}"),
		  PROBLEM_FIELDS("422 Unprocessable Content") REPLAYED ID
		  LENGTH INVALID_BODY("/vazifalar", "matn",
		  "majburiy maydon") },
		{ POST(KEY("b"), "{"), BROKEN_AT("1") },
		{ POST(KEY("b"), "{"), PROBLEM_FIELDS("400 Bad Request")
		  REPLAYED ID LENGTH DOCUMENT("400", "json-yaroqsiz",
		  "json-invalid", "JSON yaroqsiz", "JSON matni 1-baytda "
		  "yaroqsiz (0 dan sanaganda)", "/vazifalar", "") },
		{ "PATCH /vazifalar/1\n" MERGE KEY("c") "\n{}",
		  NOT_FOUND("/vazifalar/1") },
		{ POST("", "{\"matn\":\"a\"}"), CREATED("1", OPEN("a")) },
		/* 404 stays 404 for that key, though the task exists now */
		{ "PATCH /vazifalar/1\n" MERGE KEY("c") "\n{}",
		  PROBLEM_FIELDS("404 Not Found") REPLAYED ID LENGTH
		  DOCUMENT("404", "topilmadi", "not-found", "Topilmadi",
		  "Bu manzilda hech narsa yo'q", "/vazifalar/1", "") },
		/* 412 is not kept: the client reads again and tries again */
		{ "PATCH /vazifalar/1\n" MERGE IF("\"1-2\"") KEY("d") "\n{}",
		  FAILED("/vazifalar/1") },
		{ "PATCH /vazifalar/1\n" MERGE IF("\"1-1\"") KEY("d") "\n{}",
		  CHANGED("1-2", OPEN("a")) },
	};

	(void)state;
	served_steps(NULL, STEPS(steps));
}

/* PUT and DELETE run again by themselves, unless the owner says otherwise. */
static void
protects_the_methods_named(void **state)
{
	static const char *const options[] = { "--methods=PUT,DELETE", NULL };
	static const struct served_step steps[] = {
		{ POST(KEY("a"), "{\"matn\":\"a\"}"), CREATED("1", OPEN("a")) },
		{ POST(KEY("a"), "{\"matn\":\"a\"}"),
		  CREATED("2", TASK("2", "a")) },
		{ PUT_A(KEY("b")), CHANGED("1-2", OPEN("a")) },
		{ PUT_A(KEY("b")), "Status: 200 OK\r\n"
		  "Content-Type: application/json\r\nETag: \"1-2\"\r\n"
		  REPLAYED ID LENGTH OPEN("a") },
		{ "DELETE /vazifalar/1\n" KEY("c"), GONE },
		{ "DELETE /vazifalar/1\n" KEY("c"),
		  "Status: 204 No Content\r\n" REPLAYED ID "\r\n" },
	};

	(void)state;
	served_steps(options, STEPS(steps));
}

/* The slow kind: the same answers, replays and refusals. */
static void
creates_slowly(void **state)
{
	static const char *const options[] = { "--task-delay-ms=1", NULL };
	static const struct served_step steps[] = {
		{ POST(KEY("a"), "{\"matn\":\"a\"}"), CREATED("1", OPEN("a")) },
		{ POST(KEY("a"), "{\"matn\":\"a\"}"),
		  CREATED_AGAIN("1", OPEN("a")) },
		{ POST(KEY("b"), "{}"), INVALID("/vazifalar", "matn",
		  "majburiy maydon") },
		{ POST("", "{\"matn\":\"b\"}"), CREATED("2", TASK("2", "b")) },
	};

	(void)state;
	served_steps(options, STEPS(steps));
}

static void
puts_its_base_before_location(void **state)
{
	static const char *const options[] = { "--base=/api", NULL };
	static const struct served_step steps[] = {
		{ "POST /api/vazifalar\n" JSON "\n{\"matn\":\"a\"}",
		  "Status: 201 Created\r\nLocation: /api/vazifalar/1\r\n"
		  "Content-Type: application/json\r\nETag: \"1-1\"\r\n"
		  ID LENGTH OPEN("a") },
		{ "GET /api/vazifalar/1\n", SHOWN("1-1", OPEN("a")) },
		{ "GET /vazifalar/1\n", NOT_FOUND("/vazifalar/1") },
	};

	(void)state;
	served_steps(options, STEPS(steps));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(creates_once),
		cmocka_unit_test(never_gives_an_id_twice),
		cmocka_unit_test(replaces_and_patches),
		cmocka_unit_test(honours_conditions),
		cmocka_unit_test(refuses_bodies),
		cmocka_unit_test(keeps_refusals),
		cmocka_unit_test(protects_the_methods_named),
		cmocka_unit_test(creates_slowly),
		cmocka_unit_test(puts_its_base_before_location),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
