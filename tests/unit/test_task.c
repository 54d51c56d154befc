/*
 * test_task.c - a task as a row, as JSON and as an entity tag; and what a
 * change of one carries into the transaction.
 */
#include "tests.h"

#include "tasks/task.h"
#include "tasks/task_order.h"

#define L(s) IDEM_LIT_INIT(s)

#define KEY_3 "\0\0\0\0\0\0\0\x03"
#define ROW_3 "\x01" "\0\0\0\0\0\0\0\x07" "\x01" \
	"\0\0\x01\x94\x3e\x7c\x4c\x00" "\0\0\0\x08" "Non #uy!"

static const struct task third = { .id = 3, .revision = 7, .done = true,
	.created_ms = 0x01943e7c4c00, .text = L("Non #uy!") };

static void
has_one_row(void **state)
{
	unsigned char key[TASK_KEY_BYTES];
	struct task task;
	struct idem_buf b;

	(void)state;
	idem_buf_init(&b, 256);
	task_encode(&third, &b);
	assert_span(idem_buf_span(&b), IDEM_LIT(ROW_3));
	assert_span(task_key(3, key), IDEM_LIT(KEY_3));
	idem_buf_free(&b);
	assert_int_equal(task_decode(IDEM_LIT(KEY_3), IDEM_LIT(ROW_3), &task),
	    IDEM_OK);
	assert_int_equal(task.id, 3);
	assert_int_equal(task.revision, 7);
	assert_true(task.done);
	assert_int_equal(task.created_ms, 0x01943e7c4c00);
	assert_span(task.text, IDEM_LIT("Non #uy!"));
}

static void
refuses_damaged_rows(void **state)
{
	static const struct { struct idem_span key, row; } rows[] = {
		{ L(KEY_3), L("") },
		{ L("\0\0\0\0\0\0\x03"), L(ROW_3) },
		{ L(KEY_3 "\0"), L(ROW_3) },
		{ L(KEY_3), L(ROW_3 "x") },
		{ L(KEY_3), L("\x02" "\0\0\0\0\0\0\0\x07" "\x01"
		    "\0\0\x01\x94\x3e\x7c\x4c\x00" "\0\0\0\x01" "a") },
		{ L(KEY_3), L("\x01" "\0\0\0\0\0\0\0\x07" "\x02"
		    "\0\0\x01\x94\x3e\x7c\x4c\x00" "\0\0\0\x01" "a") },
		{ L(KEY_3), L("\x01" "\0\0\0\0\0\0\0\x07" "\x01"
		    "\0\0\x01\x94\x3e\x7c\x4c\x00" "\xff\xff\xff\xff" "a") },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct task task;

		assert_int_equal(task_decode(rows[i].key, rows[i].row, &task),
		    IDEM_ECORRUPT);
	}
	for (size_t n = 0; n < sizeof ROW_3 - 1; n++) {
		char *block;
		struct task task;

		assert_int_equal(task_decode(IDEM_LIT(KEY_3), exact_copy(
		    (struct idem_span){ ROW_3, n }, &block), &task),
		    IDEM_ECORRUPT);
		free(block);
	}
}

static void
is_written_as_json(void **state)
{
	static const struct {
		struct task task;
		struct idem_span want;
	} rows[] = {
		{ { .id = 1, .created_ms = 1796050800000,
		    .text = L("Non olish #uy") },
		  L("{\"id\":1,\"matn\":\"Non olish #uy\",\"bajarildi\":false,"
		    "\"teglar\":[\"uy\"],"
		    "\"yaratilgan\":\"2026-11-30T15:00:00.000Z\"}") },
		{ { .id = UINT64_MAX, .done = true, .created_ms = 7,
		    .text = L("\"\\\x01\n\xC3\xA9\xF0\x9F\x98\x80") },
		  L("{\"id\":18446744073709551615,\"matn\":\"\\\"\\\\\\u0001\\n"
		    "\xC3\xA9\xF0\x9F\x98\x80\",\"bajarildi\":true,"
		    "\"teglar\":[],"
		    "\"yaratilgan\":\"1970-01-01T00:00:00.007Z\"}") },
		{ { .id = 2, .created_ms = 951827696789, /* a leap day */
		    .text = L("#b #a'c #b") },
		  L("{\"id\":2,\"matn\":\"#b #a'c #b\",\"bajarildi\":false,"
		    "\"teglar\":[\"b\",\"a'c\"],"
		    "\"yaratilgan\":\"2000-02-29T12:34:56.789Z\"}") },
	};
	struct idem_buf b;

	(void)state;
	idem_buf_init(&b, 1024);
	for (size_t i = 0; i < COUNT(rows); i++) {
		idem_buf_reset(&b);
		task_json(&rows[i].task, &b);
		assert_span(idem_buf_span(&b), rows[i].want);
	}
	idem_buf_free(&b);
}

static void
has_a_strong_tag(void **state)
{
	static const struct task last = { .id = UINT64_MAX,
	    .revision = UINT64_MAX };
	char buf[TASK_ETAG_MAX];

	(void)state;
	assert_span(task_etag(&third, buf), IDEM_LIT("\"3-7\""));
	assert_span(task_etag(&last, buf), IDEM_LIT(
	    "\"18446744073709551615-18446744073709551615\""));
}

/* Every member goes through; absent and empty stay different. */
static void
order_comes_back(void **state)
{
	static const struct task_order in = {
		.id = 5,
		.change = { .has_text = true, .has_done = true, .done = true,
		    .text = L("Non") },
		.if_match = L(""),
		.if_none_match = { NULL, 0 },
		.base = L("/api"),
		.who = { IDEM_TR, true },
		.problem_base = L("https://x/"),
		.instance = L("/vazifalar/5"),
	};
	struct task_order out;
	struct idem_buf b;

	(void)state;
	idem_buf_init(&b, 256);
	task_order_encode(&in, &b);
	assert_span(idem_buf_span(&b), IDEM_LIT("\0\0\0\0\0\0\0\x05" "\x2f\x02"
	    "\0\0\0\x03" "Non" "\0\0\0\0" "\0\0\0\0" "\0\0\0\x04" "/api"
	    "\0\0\0\x0a" "https://x/" "\0\0\0\x0c" "/vazifalar/5"));
	assert_int_equal(task_order_decode(idem_buf_span(&b), &out), IDEM_OK);
	assert_int_equal(out.id, 5);
	assert_true(out.change.has_text);
	assert_true(out.change.has_done);
	assert_true(out.change.done);
	assert_span(out.change.text, IDEM_LIT("Non"));
	assert_span(out.if_match, IDEM_LIT(""));
	assert_null(out.if_none_match.p);
	assert_span(out.base, IDEM_LIT("/api"));
	assert_int_equal(out.who.lang, IDEM_TR);
	assert_true(out.who.person);
	assert_span(out.problem_base, IDEM_LIT("https://x/"));
	assert_span(out.instance, IDEM_LIT("/vazifalar/5"));
	for (size_t n = 0; n < b.n; n++)
		assert_int_equal(task_order_decode(
		    (struct idem_span){ b.p, n }, &out), IDEM_ECORRUPT);
	b.p[9] = '\x03'; /* no such language */
	assert_int_equal(task_order_decode(idem_buf_span(&b), &out),
	    IDEM_ECORRUPT);
	idem_buf_free(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_one_row),
		cmocka_unit_test(refuses_damaged_rows),
		cmocka_unit_test(is_written_as_json),
		cmocka_unit_test(has_a_strong_tag),
		cmocka_unit_test(order_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
