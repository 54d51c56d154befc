/*
 * test_validate.c - bodies and queries as values, and what is said where they
 * are none.
 */
#include "tests.h"

#include "tasks/task_list.h"
#include "tasks/validate.h"

#define L(s) IDEM_LIT_INIT(s)

/* 50 code points each; the second in four bytes each. */
#define A50 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define A500 A50 A50 A50 A50 A50 A50 A50 A50 A50 A50
#define E10 "\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80" \
	"\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80" \
	"\xF0\x9F\x98\x80\xF0\x9F\x98\x80"
#define E50 E10 E10 E10 E10 E10
#define E500 E50 E50 E50 E50 E50 E50 E50 E50 E50 E50

static void
reads_good_bodies(void **state)
{
	static const struct {
		enum validate_form form;
		struct idem_span body;
		struct task_change want;
	} rows[] = {
		{ VALIDATE_WHOLE, L("{\"matn\":\"Non\"}"),
		  { true, true, false, L("Non") } },
		{ VALIDATE_WHOLE, L("{\"bajarildi\":true,\"matn\":\"Non\"}"),
		  { true, true, true, L("Non") } },
		{ VALIDATE_WHOLE, L("{\"bajarildi\":false,\"matn\":\"Non\"}"),
		  { true, true, false, L("Non") } },
		{ VALIDATE_WHOLE, L("{\"matn\":\"\\t Non olish\xC2\xA0\"}"),
		  { true, true, false, L("Non olish") } },
		{ VALIDATE_WHOLE, L("{\"matn\":\"" A500 "\"}"),
		  { true, true, false, L(A500) } },
		{ VALIDATE_WHOLE, L("{\"matn\":\"  " E500 "  \"}"),
		  { true, true, false, L(E500) } },
		{ VALIDATE_WHOLE, L("{\"matn\":\"\\\"\\\\\\n\\u0001\"}"),
		  { true, true, false, L("\"\\\n\x01") } },
		/* unknown members, also those that differ in case only */
		{ VALIDATE_WHOLE, L("{\"Bajarildi\":1,\"Matn\":2,\"id\":7,"
		  "\"matn\":\"Non\",\"teglar\":[{\"matn\":5}]}"),
		  { true, true, false, L("Non") } },
		{ VALIDATE_WHOLE, L("{\"matn\":\"Non\",\"n\":12345678901234567"
		  "89012345678901234567890123456789012345678901234567890123456"
		  "789}"), { true, true, false, L("Non") } },
		{ VALIDATE_PATCH, L("{}"), { false, false, false, L("") } },
		{ VALIDATE_PATCH, L("{\"bajarildi\":true}"),
		  { false, true, true, L("") } },
		{ VALIDATE_PATCH, L("{\"bajarildi\":null}"),
		  { false, true, false, L("") } },
		{ VALIDATE_PATCH, L("{\"matn\":\" Non \"}"),
		  { true, false, false, L("Non") } },
	};
	struct idem_buf scratch, text, out;
	struct faults faults = { &out, IDEM_UZ };

	(void)state;
	idem_buf_init(&scratch, 100000);
	idem_buf_init(&text, 4096);
	idem_buf_init(&out, 4096);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct task_change got;
		char *block;

		print_message("row %zu\n", i);
		assert_int_equal(validate_task(exact_copy(rows[i].body,
		    &block), rows[i].form, &scratch, &text, &faults, &got),
		    IDEM_OK);
		assert_false(faults_end(&faults));
		assert_int_equal(got.has_text, rows[i].want.has_text);
		assert_int_equal(got.has_done, rows[i].want.has_done);
		assert_int_equal(got.done, rows[i].want.done);
		assert_int_equal(got.text.n, rows[i].want.text.n);
		assert_memory_equal(got.text.p == NULL ? "" : got.text.p,
		    rows[i].want.text.p, got.text.n);
		free(block);
	}
	idem_buf_free(&scratch);
	idem_buf_free(&text);
	idem_buf_free(&out);
}

/* Each rule once, in each language once. */
#define F1(field, text) \
	"\"xatolar\":[{\"maydon\":\"" field "\",\"xabar\":\"" text "\"}]"
#define F2(f1, t1, f2, t2) \
	"\"xatolar\":[{\"maydon\":\"" f1 "\",\"xabar\":\"" t1 "\"}," \
	"{\"maydon\":\"" f2 "\",\"xabar\":\"" t2 "\"}]"

static void
says_what_is_wrong(void **state)
{
	static const struct {
		enum validate_form form;
		enum idem_lang lang;
		struct idem_span body, want;
	} rows[] = {
		{ VALIDATE_WHOLE, IDEM_UZ, L("[]"),
		  L(F1("", "JSON obyekt kerak")) },
		{ VALIDATE_WHOLE, IDEM_EN, L("\"Non\""),
		  L(F1("", "must be a JSON object")) },
		{ VALIDATE_PATCH, IDEM_TR, L("null"),
		  L(F1("", "bir JSON nesnesi olmalı")) },
		{ VALIDATE_WHOLE, IDEM_UZ, L("12"),
		  L(F1("", "JSON obyekt kerak")) },
		{ VALIDATE_WHOLE, IDEM_UZ, L("{}"),
		  L(F1("matn", "majburiy maydon")) },
		{ VALIDATE_WHOLE, IDEM_EN, L("{\"Matn\":\"Non\"}"),
		  L(F1("matn", "is required")) },
		{ VALIDATE_WHOLE, IDEM_TR, L("{}"),
		  L(F1("matn", "zorunlu alan")) },
		{ VALIDATE_WHOLE, IDEM_UZ, L("{\"matn\":null}"),
		  L(F1("matn", "satr bo'lishi kerak")) },
		{ VALIDATE_PATCH, IDEM_EN, L("{\"matn\":null}"),
		  L(F1("matn", "must be a string")) },
		{ VALIDATE_PATCH, IDEM_TR, L("{\"matn\":[\"Non\"]}"),
		  L(F1("matn", "bir dize olmalı")) },
		{ VALIDATE_WHOLE, IDEM_UZ, L("{\"matn\":\"\"}"),
		  L(F1("matn", "bo'sh bo'lmasligi kerak")) },
		{ VALIDATE_PATCH, IDEM_EN, L("{\"matn\":\" \\t\xC2\xA0\"}"),
		  L(F1("matn", "must not be empty")) },
		{ VALIDATE_WHOLE, IDEM_TR, L("{\"matn\":\"\\n\"}"),
		  L(F1("matn", "boş olmamalı")) },
		{ VALIDATE_WHOLE, IDEM_UZ, L("{\"matn\":\"" A500 "a\"}"),
		  L(F1("matn", "500 belgidan oshmasligi kerak")) },
		{ VALIDATE_WHOLE, IDEM_EN, L("{\"matn\":\"" E500 "a\"}"),
		  L(F1("matn", "must not exceed 500 characters")) },
		{ VALIDATE_PATCH, IDEM_TR, L("{\"matn\":\"" A500 "a\"}"),
		  L(F1("matn", "500 karakteri aşmamalı")) },
		{ VALIDATE_WHOLE, IDEM_UZ, L("{\"matn\":\"a\\u0000b\"}"),
		  L(F1("matn", "\\\\u0000 belgisi bo'lmasligi kerak")) },
		{ VALIDATE_WHOLE, IDEM_EN,
		  L("{\"a\":\"\\u0000\",\"matn\":\"b\"}"),
		  L(F1("", "must not contain \\\\u0000")) },
		{ VALIDATE_PATCH, IDEM_TR, L("{\"matn\\u0000\":\"b\"}"),
		  L(F1("", "\\\\u0000 içermemeli")) },
		{ VALIDATE_WHOLE, IDEM_UZ,
		  L("{\"bajarildi\":null,\"matn\":\"Non\"}"),
		  L(F1("bajarildi", "true yoki false bo'lishi kerak")) },
		{ VALIDATE_PATCH, IDEM_EN, L("{\"bajarildi\":1}"),
		  L(F1("bajarildi", "must be true or false")) },
		{ VALIDATE_PATCH, IDEM_TR, L("{\"bajarildi\":\"true\"}"),
		  L(F1("bajarildi", "true ya da false olmalı")) },
		/* all of them at once, matn first */
		{ VALIDATE_WHOLE, IDEM_EN, L("{\"bajarildi\":{}}"),
		  L(F2("matn", "is required", "bajarildi",
		  "must be true or false")) },
		{ VALIDATE_WHOLE, IDEM_EN, L("{\"bajarildi\":[],\"matn\":7}"),
		  L(F2("matn", "must be a string", "bajarildi",
		  "must be true or false")) },
	};
	struct idem_buf scratch, text, out;

	(void)state;
	idem_buf_init(&scratch, 100000);
	idem_buf_init(&text, 2048);
	idem_buf_init(&out, 4096);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct faults faults = { &out, rows[i].lang };
		struct task_change got;
		char *block;

		print_message("row %zu\n", i);
		idem_buf_reset(&out);
		assert_int_equal(validate_task(exact_copy(rows[i].body,
		    &block), rows[i].form, &scratch, &text, &faults, &got),
		    IDEM_ESYNTAX);
		assert_true(faults_end(&faults));
		assert_span(idem_buf_span(&out), rows[i].want);
		free(block);
	}
	idem_buf_free(&scratch);
	idem_buf_free(&text);
	idem_buf_free(&out);
}

static void
reads_good_queries(void **state)
{
	static const struct {
		struct idem_span query;
		struct task_query want;
	} rows[] = {
		{ { NULL, 0 }, { .limit = 50 } },
		{ L(""), { .limit = 50 } },
		{ L("soni=1"), { .limit = 1 } },
		{ L("soni=200&keyin=0"), { .limit = 200 } },
		{ L("keyin=18446744073709551615"),
		  { .limit = 50, .after = UINT64_MAX } },
		{ L("bajarildi=true"),
		  { .limit = 50, .has_done = true, .done = true } },
		{ L("bajarildi=false"), { .limit = 50, .has_done = true } },
		{ L("teg=uy"), { .limit = 50, .has_tag = true,
		  .tag = L("uy") } },
		{ L("teg=o%CA%BBzbek"), { .limit = 50, .has_tag = true,
		  .tag = L("o\xCA\xBBzbek") } },
		{ L("teg=yo'q-bunday+teg%00"), { .limit = 50, .has_tag = true,
		  .tag = L("yo'q-bunday teg\0") } },
		{ L("t%65g=uy&&x=1&x"), { .limit = 50, .has_tag = true,
		  .tag = L("uy") } },
		{ L("x=%zz&%zz=1&Soni=0&soni=7&"), { .limit = 7 } },
		{ L("teg=uy&bajarildi=true&keyin=3&soni=2"), { .limit = 2,
		  .after = 3, .has_done = true, .done = true, .has_tag = true,
		  .tag = L("uy") } },
	};
	struct idem_buf tag, out;
	struct faults faults = { &out, IDEM_UZ };

	(void)state;
	idem_buf_init(&tag, 4096);
	idem_buf_init(&out, 4096);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct task_query got;

		print_message("row %zu\n", i);
		assert_int_equal(task_query_parse(rows[i].query, &tag, &faults,
		    &got), IDEM_OK);
		assert_false(faults_end(&faults));
		assert_int_equal(got.limit, rows[i].want.limit);
		assert_int_equal(got.after, rows[i].want.after);
		assert_int_equal(got.has_done, rows[i].want.has_done);
		assert_int_equal(got.done, rows[i].want.done);
		assert_int_equal(got.has_tag, rows[i].want.has_tag);
		if (got.has_tag)
			assert_span(got.tag, rows[i].want.tag);
	}
	idem_buf_free(&tag);
	idem_buf_free(&out);
}

static void
refuses_bad_queries(void **state)
{
	static const struct {
		enum idem_lang lang;
		struct idem_span query, want;
	} rows[] = {
		{ IDEM_UZ, L("soni=0"), L(F1("soni",
		  "1 dan 200 gacha butun son bo'lishi kerak")) },
		{ IDEM_EN, L("soni=201"), L(F1("soni",
		  "must be a whole number from 1 to 200")) },
		{ IDEM_TR, L("soni=-1"), L(F1("soni",
		  "1 ile 200 arasında bir tam sayı olmalı")) },
		{ IDEM_UZ, L("soni"), L(F1("soni",
		  "1 dan 200 gacha butun son bo'lishi kerak")) },
		{ IDEM_UZ, L("soni="), L(F1("soni",
		  "1 dan 200 gacha butun son bo'lishi kerak")) },
		{ IDEM_UZ, L("soni=+5"), L(F1("soni",
		  "1 dan 200 gacha butun son bo'lishi kerak")) },
		{ IDEM_UZ, L("soni=99999999999999999999999"), L(F1("soni",
		  "1 dan 200 gacha butun son bo'lishi kerak")) },
		{ IDEM_UZ, L("keyin=x"), L(F1("keyin",
		  "nomanfiy butun son bo'lishi kerak")) },
		{ IDEM_EN, L("keyin=-1"), L(F1("keyin",
		  "must be a whole number, not negative")) },
		{ IDEM_TR, L("keyin=18446744073709551616"), L(F1("keyin",
		  "negatif olmayan bir tam sayı olmalı")) },
		{ IDEM_UZ, L("keyin="), L(F1("keyin",
		  "nomanfiy butun son bo'lishi kerak")) },
		{ IDEM_UZ, L("bajarildi=ha"), L(F1("bajarildi",
		  "true yoki false bo'lishi kerak")) },
		{ IDEM_EN, L("bajarildi="), L(F1("bajarildi",
		  "must be true or false")) },
		{ IDEM_EN, L("bajarildi=True"), L(F1("bajarildi",
		  "must be true or false")) },
		{ IDEM_UZ, L("teg="), L(F1("teg",
		  "# belgisisiz teg bo'lishi kerak")) },
		{ IDEM_EN, L("teg=%23uy"), L(F1("teg",
		  "must be a tag without #")) },
		{ IDEM_TR, L("teg=uy%23joy"), L(F1("teg",
		  "# işareti olmadan bir etiket olmalı")) },
		{ IDEM_EN, L("teg=uy%"), L(F1("teg",
		  "must be a tag without #")) },
		{ IDEM_EN, L("teg=%FF"), L(F1("teg",
		  "must be a tag without #")) },
		{ IDEM_UZ, L("soni=1&soni=1"), L(F1("soni",
		  "bir marta berilishi kerak")) },
		{ IDEM_EN, L("teg=a&teg=b"), L(F1("teg",
		  "must be given once")) },
		{ IDEM_TR, L("keyin=1&keyin=2"), L(F1("keyin",
		  "bir kez verilmeli")) },
		{ IDEM_EN, L("keyin=x&soni=0"), L(F2("keyin",
		  "must be a whole number, not negative", "soni",
		  "must be a whole number from 1 to 200")) },
	};
	struct idem_buf tag, out;

	(void)state;
	idem_buf_init(&tag, 4096);
	idem_buf_init(&out, 4096);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct faults faults = { &out, rows[i].lang };
		struct task_query got;

		print_message("row %zu\n", i);
		idem_buf_reset(&out);
		assert_int_equal(task_query_parse(rows[i].query, &tag, &faults,
		    &got), IDEM_ESYNTAX);
		assert_true(faults_end(&faults));
		assert_span(idem_buf_span(&out), rows[i].want);
	}
	idem_buf_free(&tag);
	idem_buf_free(&out);
}

/* A value longer than its buffer is a bad value, not a cut one. */
static void
refuses_long_values(void **state)
{
	struct idem_buf query, tag, out;
	struct faults faults = { &out, IDEM_EN };
	struct task_query got;

	(void)state;
	idem_buf_init(&query, 8192);
	idem_buf_init(&tag, 4096);
	idem_buf_init(&out, 4096);
	idem_buf_puts(&query, IDEM_LIT("teg="));
	for (size_t i = 0; i < 4097; i++)
		idem_buf_putc(&query, 'a');
	assert_int_equal(task_query_parse(idem_buf_span(&query), &tag, &faults,
	    &got), IDEM_ESYNTAX);
	assert_true(faults_end(&faults));
	assert_span(idem_buf_span(&out),
	    IDEM_LIT(F1("teg", "must be a tag without #")));
	idem_buf_free(&query);
	idem_buf_free(&tag);
	idem_buf_free(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_good_bodies),
		cmocka_unit_test(says_what_is_wrong),
		cmocka_unit_test(reads_good_queries),
		cmocka_unit_test(refuses_bad_queries),
		cmocka_unit_test(refuses_long_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
