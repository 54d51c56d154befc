/*
 * test_problem.c - every problem's row, documents and pages byte for byte.
 */
#include "tests.h"

#include "idem/problem.h"

static const struct {
	unsigned status;
	const char *kod, *code, *uz;
	unsigned retry_after_s;
} table[] = {
	{ 400, "idempotentlik-kalit-kerak", "key-required",
	    "Idempotency-Key kerak", 0 },
	{ 400, "idempotentlik-kalit", "key-invalid",
	    "Idempotency-Key yaroqsiz", 0 },
	{ 400, "idempotentlik-egasi", "scope-required",
	    "So'rov egasi noma'lum", 0 },
	{ 422, "idempotentlik-boshqa-tana", "key-reused",
	    "Idempotency-Key qayta ishlatildi", 0 },
	{ 409, "idempotentlik-jarayonda", "in-progress",
	    "So'rov bajarilmoqda", 1 },
	{ 409, "idempotentlik-nomalum", "outcome-unknown",
	    "Natija noma'lum", 0 },
	{ 503, "idempotentlik-ombor", "store-unavailable",
	    "Kalit ombori ishlamayapti", 1 },
	{ 503, "idempotentlik-ombor-tola", "store-full",
	    "Kalit ombori to'la", 60 },
	{ 413, "tana-katta", "body-too-large",
	    "So'rov tanasi juda katta", 0 },
	{ 503, "tana-chala", "body-truncated",
	    "So'rov tanasi to'liq kelmadi", 1 },
	{ 400, "tana-uzunligi", "body-length",
	    "So'rov tanasining uzunligi yaroqsiz", 0 },
	{ 400, "json-yaroqsiz", "json-invalid", "JSON yaroqsiz", 0 },
	{ 422, "tekshiruv", "validation",
	    "Ma'lumot tekshiruvdan o'tmadi", 0 },
	{ 404, "topilmadi", "not-found", "Topilmadi", 0 },
	{ 405, "metod", "method-not-allowed", "Bu metod qo'llanmaydi", 0 },
	{ 412, "shart-bajarilmadi", "precondition-failed",
	    "Shart bajarilmadi", 0 },
	{ 415, "media-turi", "media-type", "Media turi qo'llanmaydi", 0 },
	{ 409, "buyurtma-tolangan", "order-paid",
	    "Buyurtma allaqachon to'langan", 0 },
	{ 409, "buyurtma-band", "order-busy",
	    "Buyurtma hozir to'lanmoqda", 1 },
	{ 402, "tolov-rad", "payment-declined", "To'lov rad etildi", 0 },
	{ 503, "tolov-xizmati", "provider-unavailable",
	    "To'lov xizmati ishlamayapti", 5 },
	{ 504, "tolov-nomalum", "provider-unknown",
	    "To'lov natijasi noma'lum", 0 },
	{ 502, "ilova-ulanmadi", "backend-unreachable",
	    "Ilovaga ulanib bo'lmadi", 0 },
	{ 502, "ilova-uzildi", "backend-broken", "Ilova javobi uzildi", 0 },
	{ 504, "ilova-kechikdi", "backend-timeout",
	    "Ilova javob bermadi", 0 },
	{ 500, "ichki-xato", "internal", "Ichki xato", 0 },
};

static void
every_row(void **state)
{
	(void)state;
	assert_int_equal(COUNT(table), IDEM_NPROBLEMS);
	for (size_t i = 0; i < COUNT(table); i++) {
		enum idem_problem problem = IDEM_P_INTERNAL;
		const struct idem_problem_row *row;

		assert_true(idem_problem_find(span_of(table[i].kod), &problem));
		assert_int_equal(problem, i);
		row = idem_problem_row(problem);
		assert_int_equal(row->status, table[i].status);
		assert_string_equal(row->kod, table[i].kod);
		assert_string_equal(row->code, table[i].code);
		assert_string_equal(row->title[IDEM_UZ], table[i].uz);
		assert_int_equal(row->retry_after_s, table[i].retry_after_s);
		assert_int_equal(row->of_key, span_starts(span_of(row->kod),
		    IDEM_LIT("idempotentlik-")));
	}
}

static bool
is_utf8(struct idem_span s)
{
	uint32_t cp;
	size_t n;

	for (; s.n > 0; s = span_from(s, n))
		if ((n = utf8_decode(s, &cp)) == 0)
			return false;
	return true;
}

static void
every_text_in_every_language(void **state)
{
	(void)state;
	for (size_t i = 0; i < IDEM_NPROBLEMS; i++) {
		const struct idem_problem_row *row =
		    idem_problem_row((enum idem_problem)i);

		for (size_t l = 0; l < IDEM_NLANGS; l++) {
			assert_non_null(row->title[l]);
			assert_non_null(row->detail[l]);
			assert_true(is_utf8(span_of(row->title[l])));
			assert_true(is_utf8(span_of(row->detail[l])));
			assert_true(strlen(row->title[l]) > 3);
			assert_true(strlen(row->detail[l]) > 10);
			for (size_t m = 0; m < l; m++) {
				assert_string_not_equal(row->title[l],
				    row->title[m]);
				assert_string_not_equal(row->detail[l],
				    row->detail[m]);
			}
		}
	}
}

static void
no_such_kod(void **state)
{
	enum idem_problem problem;

	(void)state;
	assert_false(idem_problem_find(IDEM_LIT("idempotentlik"), &problem));
	assert_false(idem_problem_find(IDEM_LIT(""), &problem));
	assert_false(idem_problem_find(IDEM_LIT("Metod"), &problem));
}

#define NOTE_BASE IDEM_LIT_INIT("https://vazifalar-api.example/xatolar/")

static void
documents(void **state)
{
	static const struct {
		enum idem_problem problem;
		enum idem_lang lang;
		struct idem_problem_note note;
		unsigned status;
		const char *fields, *body;
	} rows[] = {
		{ IDEM_P_KEY_REUSED, IDEM_UZ,
		    { .base = NOTE_BASE, .rules = IDEM_LIT_INIT(""),
		    .instance = IDEM_LIT_INIT("/vazifalar") }, 422,
		    "Content-Type: application/problem+json\r\n"
		    "Content-Language: uz\r\n"
		    "Cache-Control: no-store\r\n"
		    "Link: </idempotentlik>; rel=\"describedby\"\r\n",
		    "{\"type\":\"https://vazifalar-api.example/xatolar/"
		    "idempotentlik-boshqa-tana\","
		    "\"title\":\"Idempotency-Key qayta ishlatildi\","
		    "\"status\":422,"
		    "\"detail\":\"Bu Idempotency-Key boshqa so'rov tanasi "
		    "bilan ishlatilgan\","
		    "\"instance\":\"/vazifalar\","
		    "\"kod\":\"idempotentlik-boshqa-tana\","
		    "\"code\":\"key-reused\"}" },
		{ IDEM_P_IN_PROGRESS, IDEM_TR,
		    { .base = IDEM_LIT_INIT("/idempotency/problems/"),
		    .rules = IDEM_LIT_INIT("/api"),
		    .instance = IDEM_LIT_INIT("/a\"\\<\xff%20\x01") }, 409,
		    "Content-Type: application/problem+json\r\n"
		    "Content-Language: tr\r\n"
		    "Cache-Control: no-store\r\n"
		    "Link: </api/idempotentlik>; rel=\"describedby\"\r\n"
		    "Retry-After: 1\r\n",
		    "{\"type\":\"/idempotency/problems/"
		    "idempotentlik-jarayonda\","
		    "\"title\":\"İstek işleniyor\","
		    "\"status\":409,"
		    "\"detail\":\"Bu anahtarlı istek hâlâ işleniyor\","
		    "\"instance\":\"/a%22%5C%3C%FF%20%01\","
		    "\"kod\":\"idempotentlik-jarayonda\","
		    "\"code\":\"in-progress\"}" },
		{ IDEM_P_VALIDATION, IDEM_EN,
		    { .base = NOTE_BASE,
		    .instance = IDEM_LIT_INIT("/vazifalar"),
		    .detail = IDEM_LIT_INIT("matn: \"\n\""),
		    .members = IDEM_LIT_INIT("\"xatolar\":[]") }, 422,
		    "Content-Type: application/problem+json\r\n"
		    "Content-Language: en\r\n"
		    "Cache-Control: no-store\r\n",
		    "{\"type\":\"https://vazifalar-api.example/xatolar/"
		    "tekshiruv\",\"title\":\"Validation failed\","
		    "\"status\":422,\"detail\":\"matn: \\\"\\n\\\"\","
		    "\"instance\":\"/vazifalar\",\"kod\":\"tekshiruv\","
		    "\"code\":\"validation\",\"xatolar\":[]}" },
		{ IDEM_P_KEY_INVALID, IDEM_UZ, { .base = IDEM_LIT_INIT("") },
		    400,
		    "Content-Type: application/problem+json\r\n"
		    "Content-Language: uz\r\n"
		    "Cache-Control: no-store\r\n",
		    "{\"type\":\"idempotentlik-kalit\","
		    "\"title\":\"Idempotency-Key yaroqsiz\",\"status\":400,"
		    "\"detail\":\"Idempotency-Key — 1..255 ko'rinadigan ASCII "
		    "belgi\",\"instance\":\"\","
		    "\"kod\":\"idempotentlik-kalit\","
		    "\"code\":\"key-invalid\"}" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct idem_audience who = { rows[i].lang, false };
		struct idem_response res;

		idem_response_init(&res, 4096);
		res.status = 201;
		idem_response_field(&res, IDEM_LIT("Set-Cookie"),
		    IDEM_LIT("gone=1"));
		idem_buf_puts(&res.body, IDEM_LIT("gone"));
		idem_problem_write(&res, rows[i].problem, who, &rows[i].note);
		assert_int_equal(idem_response_err(&res), IDEM_OK);
		assert_int_equal(res.status, rows[i].status);
		assert_text(idem_buf_span(&res.fields), rows[i].fields);
		assert_text(idem_buf_span(&res.body), rows[i].body);
		idem_response_free(&res);
	}
}

static void
a_page_for_a_person(void **state)
{
	struct idem_problem_note note = {
		.base = NOTE_BASE, .instance = IDEM_LIT_INIT("/vazifalar"),
		.rules = IDEM_LIT_INIT(""), .members = IDEM_LIT_INIT("\"x\":1"),
	};
	struct idem_response res;

	(void)state;
	idem_response_init(&res, 4096);
	idem_problem_write(&res, IDEM_P_IN_PROGRESS,
	    (struct idem_audience){ IDEM_UZ, true }, &note);
	assert_int_equal(idem_response_err(&res), IDEM_OK);
	assert_int_equal(res.status, 409);
	assert_text(idem_buf_span(&res.fields),
	    "Content-Type: text/html; charset=utf-8\r\n"
	    "Content-Language: uz\r\n"
	    "Cache-Control: no-store\r\n"
	    "Link: </idempotentlik>; rel=\"describedby\"\r\n"
	    "Retry-After: 1\r\n");
	assert_text(idem_buf_span(&res.body),
	    "<!doctype html>\n<html lang=\"uz\">\n<head>\n"
	    "<meta charset=\"utf-8\">\n"
	    "<meta name=\"viewport\" content=\"width=device-width\">\n"
	    "<title>So&#39;rov bajarilmoqda</title>\n</head>\n"
	    "<body data-kod=\"idempotentlik-jarayonda\">\n"
	    "<h1>So&#39;rov bajarilmoqda</h1>\n"
	    "<p>Shu kalitli so&#39;rov hali bajarilmoqda</p>\n"
	    "</body>\n</html>\n");
	note.detail = IDEM_LIT("<script>&\"");
	idem_problem_write(&res, IDEM_P_NOT_FOUND,
	    (struct idem_audience){ IDEM_TR, true }, &note);
	assert_int_equal(res.status, 404);
	assert_text(idem_buf_span(&res.body),
	    "<!doctype html>\n<html lang=\"tr\">\n<head>\n"
	    "<meta charset=\"utf-8\">\n"
	    "<meta name=\"viewport\" content=\"width=device-width\">\n"
	    "<title>Bulunamadı</title>\n</head>\n"
	    "<body data-kod=\"topilmadi\">\n<h1>Bulunamadı</h1>\n"
	    "<p>&lt;script&gt;&amp;&quot;</p>\n</body>\n</html>\n");
	idem_response_free(&res);
}

/* Whoever has a row must get a whole answer, however many texts it has. */
static void
every_problem_fits_four_kilobytes(void **state)
{
	struct idem_problem_note note = { .base = NOTE_BASE,
	    .rules = IDEM_LIT_INIT("") };
	struct idem_response res;

	(void)state;
	idem_response_init(&res, 4096);
	for (size_t i = 0; i < IDEM_NPROBLEMS * IDEM_NLANGS * 2; i++) {
		struct idem_audience who = {
			(enum idem_lang)(i / 2 % IDEM_NLANGS), i % 2 == 1,
		};
		enum idem_problem p =
		    (enum idem_problem)(i / 2 / IDEM_NLANGS);

		idem_problem_write(&res, p, who, &note);
		assert_int_equal(idem_response_err(&res), IDEM_OK);
		assert_int_equal(res.status, table[p].status);
	}
	idem_response_free(&res);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row),
		cmocka_unit_test(every_text_in_every_language),
		cmocka_unit_test(no_such_kod),
		cmocka_unit_test(documents),
		cmocka_unit_test(a_page_for_a_person),
		cmocka_unit_test(every_problem_fits_four_kilobytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
