/*
 * test_response.c - answers being built, and field lines read back.
 */
#include "tests.h"

#include "idem/http.h"

static void
fields_stand_as_they_came(void **state)
{
	struct idem_response res;

	(void)state;
	idem_response_init(&res, 256);
	res.status = 201;
	idem_response_field(&res, IDEM_LIT("Location"), IDEM_LIT("/a"));
	idem_response_field(&res, IDEM_LIT("Link"), IDEM_LIT("<b>; rel=c"));
	idem_response_field(&res, IDEM_LIT("Link"), IDEM_LIT(""));
	idem_buf_puts(&res.body, IDEM_LIT("{}"));
	assert_int_equal(idem_response_err(&res), IDEM_OK);
	assert_text(idem_buf_span(&res.fields),
	    "Location: /a\r\nLink: <b>; rel=c\r\nLink: \r\n");
	idem_response_reset(&res);
	assert_int_equal(res.status, 0);
	assert_int_equal(res.fields.n, 0);
	assert_int_equal(res.body.n, 0);
	idem_response_free(&res);
}

static void
a_bad_field_sticks(void **state)
{
	static const struct {
		struct idem_span name, value;
		enum idem_err err;
	} rows[] = {
		{ { "X", 1 }, { "a b\t\x80", 5 }, IDEM_OK },
		{ { "X", 1 }, { "a\r\nY: b", 7 }, IDEM_ESYNTAX },
		{ { "X", 1 }, { "a\n", 2 }, IDEM_ESYNTAX },
		{ { "X", 1 }, { "a\r", 2 }, IDEM_ESYNTAX },
		{ { "X", 1 }, { "a\0b", 3 }, IDEM_ESYNTAX },
		{ { "X Y", 3 }, { "a", 1 }, IDEM_ESYNTAX },
		{ { "X:", 2 }, { "a", 1 }, IDEM_ESYNTAX },
		{ { "", 0 }, { "a", 1 }, IDEM_ESYNTAX },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct idem_response res;

		idem_response_init(&res, 256);
		res.status = 200;
		idem_response_field(&res, rows[i].name, rows[i].value);
		idem_response_field(&res, IDEM_LIT("Y"), IDEM_LIT("good"));
		assert_int_equal(idem_response_err(&res), rows[i].err);
		idem_response_reset(&res);
		res.status = 200;
		assert_int_equal(idem_response_err(&res), IDEM_OK);
		idem_response_free(&res);
	}
}

static void
a_status_is_100_to_599(void **state)
{
	static const struct { unsigned status; enum idem_err err; } rows[] = {
		{ 0, IDEM_ESYNTAX }, { 99, IDEM_ESYNTAX }, { 100, IDEM_OK },
		{ 200, IDEM_OK }, { 599, IDEM_OK }, { 600, IDEM_ESYNTAX },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct idem_response res;

		idem_response_init(&res, 16);
		res.status = rows[i].status;
		assert_int_equal(idem_response_err(&res), rows[i].err);
		idem_response_free(&res);
	}
}

static void
fields_and_body_are_bounded_each(void **state)
{
	struct idem_response res;

	(void)state;
	idem_response_init(&res, 8);
	res.status = 200;
	idem_response_field(&res, IDEM_LIT("Abc"), IDEM_LIT("x"));
	idem_buf_puts(&res.body, IDEM_LIT("12345678"));
	assert_int_equal(idem_response_err(&res), IDEM_OK);
	idem_buf_putc(&res.body, '9');
	assert_int_equal(idem_response_err(&res), IDEM_ETOOBIG);
	idem_response_reset(&res);
	res.status = 200;
	idem_response_field(&res, IDEM_LIT("Abc"), IDEM_LIT("xy"));
	assert_int_equal(idem_response_err(&res), IDEM_ETOOBIG);
	idem_response_free(&res);
}

static void
lines_read_back(void **state)
{
	struct idem_span lines = IDEM_LIT("A: 1\r\nB-c: x: y\r\nD: \r\n");
	struct idem_span name, value;

	(void)state;
	assert_true(idem_fields_next(&lines, &name, &value));
	assert_text(name, "A");
	assert_text(value, "1");
	assert_true(idem_fields_next(&lines, &name, &value));
	assert_text(name, "B-c");
	assert_text(value, "x: y");
	assert_true(idem_fields_next(&lines, &name, &value));
	assert_text(name, "D");
	assert_text(value, "");
	assert_false(idem_fields_next(&lines, &name, &value));
	assert_int_equal(lines.n, 0);
}

static void
what_is_no_line_stays(void **state)
{
	static const char *const rows[] = {
		"A: 1", "A: 1\r", "A: 1\n", "A:1\r\n", "A\r\n", "A: 1\rB\r\n",
		"\r\n",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct idem_span lines = { rows[i], strlen(rows[i]) };
		struct idem_span name, value;

		assert_false(idem_fields_next(&lines, &name, &value));
		assert_text(lines, rows[i]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_stand_as_they_came),
		cmocka_unit_test(a_bad_field_sticks),
		cmocka_unit_test(a_status_is_100_to_599),
		cmocka_unit_test(fields_and_body_are_bounded_each),
		cmocka_unit_test(lines_read_back),
		cmocka_unit_test(what_is_no_line_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
