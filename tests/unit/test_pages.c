/*
 * test_pages.c - the page of each type of problem, and the published policy.
 */
#include "served.h"

#include "base/text.h"
#include "tasks/pages.h"

#define HEAD(type, lang) "Status: 200 OK\r\nContent-Type: " type "\r\n" \
	"Content-Language: " lang "\r\nVary: Accept, Accept-Language, " \
	"Sec-Fetch-Mode, X-Requested-With\r\nCache-Control: no-cache\r\n" \
	"X-Request-Id: r1\r\nContent-Length: #\r\n\r\n"

static void
each_problem_has_a_page(void **state)
{
	static const struct served_step steps[] = {
		{ "GET /xatolar/idempotentlik-boshqa-tana\n",
		  HEAD("application/json", "uz")
		  "{\"type\":\"https://vazifalar-api.example/xatolar/"
		  "idempotentlik-boshqa-tana\","
		  "\"title\":\"Idempotency-Key qayta ishlatildi\","
		  "\"status\":422,\"detail\":\"Bu Idempotency-Key boshqa "
		  "so'rov tanasi bilan ishlatilgan\","
		  "\"kod\":\"idempotentlik-boshqa-tana\","
		  "\"code\":\"key-reused\"}" },
		{ "GET /xatolar/topilmadi\nHTTP_ACCEPT=text/html\n"
		  "HTTP_ACCEPT_LANGUAGE=en-GB, uz;q=0.5\n",
		  HEAD("text/html; charset=utf-8", "en")
		  "<!doctype html>\n<html lang=\"en\">\n<head>\n"
		  "<meta charset=\"utf-8\">\n"
		  "<meta name=\"viewport\" content=\"width=device-width\">\n"
		  "<title>Not found</title>\n</head>\n<body>\n"
		  "<h1>Not found</h1>\n<p>There is nothing at this address"
		  "</p>\n<p><code>404 topilmadi</code> <code>not-found</code>"
		  "</p>\n</body>\n</html>\n" },
		/* settings of the route count */
		{ "GET /xatolar/metod\nIDEM_LANG=tr\n"
		  "IDEM_PROBLEM_BASE=/p/\n", HEAD("application/json", "tr")
		  "{\"type\":\"/p/metod\",\"title\":\"Bu yöntem "
		  "desteklenmiyor\",\"status\":405,\"detail\":\"Bu adresin "
		  "desteklediği yöntemler Allow başlığında yazar\","
		  "\"kod\":\"metod\",\"code\":\"method-not-allowed\"}" },
	};
	struct served s;

	(void)state;
	served_steps(NULL, steps, COUNT(steps));
	served_open(&s, NULL);
	for (size_t i = 0; i < IDEM_NPROBLEMS; i++) {
		char request[128];

		assert_int_equal(text_format(request, sizeof request,
		    "GET /xatolar/%s\n",
		    idem_problem_row((enum idem_problem)i)->kod), IDEM_OK);
		assert_true(span_starts(served_ask(&s, request),
		    IDEM_LIT("Status: 200 OK\r\n")));
	}
	served_close(&s);
}

#define FIELDS "\"Content-Type\",\"Content-Language\"," \
	"\"Content-Disposition\",\"Content-Encoding\",\"Location\"," \
	"\"Content-Location\",\"Refresh\",\"ETag\",\"Last-Modified\"," \
	"\"Link\",\"Allow\",\"Vary\",\"Content-Security-Policy\"," \
	"\"X-Content-Type-Options\",\"X-Frame-Options\"," \
	"\"Referrer-Policy\",\"Cross-Origin-*\""

static void
policy_says_what_holds(void **state)
{
	static const char *const options[] = { "--methods=POST,PUT",
		"--require-key=on", "--ttl=90m", "--unknown-ttl=1500ms",
		"--max-keys=7", "--when-full=refuse", "--min-keep=0",
		"--max-body=2K", "--max-response=1B",
		"--keep-headers=X-A,X-B", NULL };
	static const struct served_step usual[] = {
		{ "GET /idempotentlik\nHTTP_ACCEPT_LANGUAGE=en\n",
		  HEAD("application/json", "en")
		  "{\"sarlavha\":\"Idempotency-Key\","
		  "\"metodlar\":[\"POST\",\"PATCH\"],\"majburiy\":false,"
		  "\"kalit\":\"1 to 255 visible ASCII characters without "
		  "\\\" \\\\ , ; or, in quotes, a Structured Field String "
		  "(RFC 9651). A new random UUID for each intent, the same "
		  "on every attempt\",\"kalit_bayt\":255,"
		  "\"egasi\":\"A key belongs to whoever sends it: the same "
		  "key of another user is another key\","
		  "\"saqlash\":\"PT24H\",\"nomalum_saqlash\":\"PT720H\","
		  "\"kalitlar\":10000,\"tolganda\":\"the oldest answer goes, "
		  "if it was kept long enough; else new keys are refused "
		  "(503)\",\"eng_kam_saqlash\":\"PT1H\","
		  "\"sorov_bayt\":1048576,\"javob_bayt\":262144,"
		  "\"saqlanadi\":\"The answer's status, body and the fields "
		  "below. Key, user name and request body are not: only "
		  "SHA-256 hashes of them\",\"sarlavhalar\":[" FIELDS "],"
		  "\"yana_sarlavhalar\":[]}" },
	};
	static const struct served_step changed[] = {
		{ "GET /idempotentlik\n", HEAD("application/json", "uz")
		  "{\"sarlavha\":\"Idempotency-Key\","
		  "\"metodlar\":[\"POST\",\"PUT\"],\"majburiy\":true,"
		  "\"kalit\":\"1..255 ko'rinadigan ASCII belgi, \\\" \\\\ , ; "
		  "belgilarisiz; yoki qo'shtirnoq ichida Structured Field "
		  "String (RFC 9651). Har niyatga yangi tasodifiy UUID, har "
		  "urinishda o'sha\",\"kalit_bayt\":255,"
		  "\"egasi\":\"Kalit uni yuborganga tegishli: boshqa "
		  "foydalanuvchining shunday kaliti boshqa kalit\","
		  "\"saqlash\":\"PT90M\",\"nomalum_saqlash\":\"PT1.500S\","
		  "\"kalitlar\":7,\"tolganda\":\"yangi kalit qabul qilinmaydi "
		  "(503)\",\"eng_kam_saqlash\":\"PT0S\",\"sorov_bayt\":2048,"
		  "\"javob_bayt\":1,\"saqlanadi\":\"Javobning holati, tanasi "
		  "va quyidagi sarlavhalari. Kalit, foydalanuvchi nomi va "
		  "so'rov tanasi saqlanmaydi: faqat ularning SHA-256 xeshi\","
		  "\"sarlavhalar\":[" FIELDS "],"
		  "\"yana_sarlavhalar\":[\"X-A\",\"X-B\"]}" },
	};

	(void)state;
	served_steps(NULL, usual, COUNT(usual));
	served_steps(options, changed, COUNT(changed));
}

/* The published list is what the engine does. */
static void
published_fields_are_kept(void **state)
{
	static const char *const names[] = { "Content-Type",
		"Content-Language", "Content-Disposition", "Content-Encoding",
		"Location", "Content-Location", "Refresh", "ETag",
		"Last-Modified", "Link", "Allow", "Vary",
		"Content-Security-Policy", "X-Content-Type-Options",
		"X-Frame-Options", "Referrer-Policy",
		"Cross-Origin-Opener-Policy" };

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++)
		if (!idem_policy_keeps_field(IDEM_LIT(""), span_of(names[i])))
			fail_msg("%s", names[i]);
}

static void
policy_has_a_page(void **state)
{
	static const char start[] = "<dl>\n<dt>Başlık</dt>\n"
	    "<dd>Idempotency-Key</dd>\n<dt>Korunan yöntemler</dt>\n"
	    "<dd>POST,PATCH</dd>\n<dt>Anahtar zorunlu mu</dt>\n"
	    "<dd>hayır</dd>\n<dt>Anahtar biçimi</dt>\n<dd>&quot; \\ , ; ";
	static const char *const parts[] = {
		"<dt>Yanıtların saklanma süresi</dt>\n<dd>24 h</dd>\n",
		("<dt>Bilinmeyen sonuçların saklanma süresi</dt>\n"
		    "<dd>720 h</dd>\n"),
		"<dt>En çok anahtar</dt>\n<dd>10000</dd>\n",
		"<dt>O zaman bile saklanma süresi</dt>\n<dd>0 ms</dd>\n",
		"<dt>En uzun istek gövdesi</dt>\n<dd>1 MiB</dd>\n",
		"<dt>Saklanan en uzun yanıt gövdesi</dt>\n<dd>256 KiB</dd>\n",
	};
	struct settings settings;
	struct idem_buf b;

	(void)state;
	settings_init(&settings, SETTINGS_TASKS);
	settings.policy.min_keep_ms = 0;
	idem_buf_init(&b, 1 << 16);
	policy_html(&settings, IDEM_TR, &b);
	idem_buf_putc(&b, '\0');
	assert_int_equal(idem_buf_err(&b), IDEM_OK);
	assert_memory_equal(b.p, start, sizeof start - 1);
	for (size_t i = 0; i < COUNT(parts); i++)
		if (strstr(b.p, parts[i]) == NULL)
			fail_msg("%s not in %s", parts[i], b.p);
	idem_buf_free(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_problem_has_a_page),
		cmocka_unit_test(policy_says_what_holds),
		cmocka_unit_test(published_fields_are_kept),
		cmocka_unit_test(policy_has_a_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
