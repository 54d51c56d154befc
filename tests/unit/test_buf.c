/*
 * test_buf.c - buffers, and the bytes that are written to and read from them.
 */
#include "tests.h"

#include "base/bytes.h"

static void
buffer_keeps_its_ceiling(void **state)
{
	struct idem_buf b;

	(void)state;
	idem_buf_init(&b, 5);
	assert_span(idem_buf_span(&b), IDEM_LIT(""));
	idem_buf_puts(&b, IDEM_LIT(""));
	assert_null(b.p); /* nothing needs no memory, so it cannot fail */
	idem_buf_put(&b, "abcd", 4);
	idem_buf_putc(&b, 'e');
	assert_int_equal(idem_buf_err(&b), IDEM_OK);
	idem_buf_putc(&b, 'f');
	assert_int_equal(idem_buf_err(&b), IDEM_ETOOBIG);
	assert_span(idem_buf_span(&b), IDEM_LIT("abcde"));
	idem_buf_cut(&b, 1);
	idem_buf_puts(&b, IDEM_LIT("x")); /* the error sticks */
	assert_span(idem_buf_span(&b), IDEM_LIT("a"));
	idem_buf_reset(&b);
	idem_buf_printf(&b, "%d", 12345);
	assert_int_equal(idem_buf_err(&b), IDEM_OK);
	assert_span(idem_buf_span(&b), IDEM_LIT("12345"));
	idem_buf_reset(&b);
	idem_buf_printf(&b, "%d", 123456);
	assert_int_equal(idem_buf_err(&b), IDEM_ETOOBIG);
	assert_null(idem_buf_room(&b, 1));
	idem_buf_free(&b);
	assert_null(b.p);
	assert_int_equal(b.max_bytes, 5);
}

static void
buffer_on_the_callers_memory(void **state)
{
	char memory[4] = { 'x', 'x', 'x', 'x' };
	struct idem_buf b;

	(void)state;
	idem_buf_over(&b, memory, 3);
	idem_buf_puts(&b, IDEM_LIT("ab"));
	idem_buf_putc(&b, 'c');
	assert_int_equal(idem_buf_err(&b), IDEM_OK);
	assert_ptr_equal(b.p, memory);
	assert_memory_equal(memory, "abcx", 4);
	idem_buf_putc(&b, 'd');
	assert_int_equal(idem_buf_err(&b), IDEM_ETOOBIG);
	assert_memory_equal(memory, "abcx", 4);
	idem_buf_reset(&b);
	idem_buf_putc(&b, 'e');
	assert_memory_equal(memory, "ebcx", 4);
}

static void
buffer_takes_numbers(void **state)
{
	static const struct {
		uint64_t n;
		const char *want;
	} rows[] = { { 0, "0" }, { 9, "9" }, { 10, "10" }, { 201, "201" },
		{ UINT64_MAX, "18446744073709551615" } };
	struct idem_buf b;

	(void)state;
	idem_buf_init(&b, 20);
	for (size_t i = 0; i < COUNT(rows); i++) {
		idem_buf_reset(&b);
		idem_buf_decimal(&b, rows[i].n);
		assert_int_equal(idem_buf_err(&b), IDEM_OK);
		assert_span(idem_buf_span(&b), span_of(rows[i].want));
	}
	idem_buf_free(&b);
}

static void
buffer_printf_ends_at_its_limit(void **state)
{
	struct idem_buf b;

	(void)state;
	idem_buf_init(&b, 4096);
	idem_buf_printf(&b, "%*d", IDEM_BUF_PRINTF_MAX, 7);
	assert_int_equal(idem_buf_err(&b), IDEM_OK);
	assert_int_equal(b.n, IDEM_BUF_PRINTF_MAX);
	idem_buf_printf(&b, "%*d", IDEM_BUF_PRINTF_MAX + 1, 7);
	assert_int_equal(idem_buf_err(&b), IDEM_ETOOBIG);
	assert_int_equal(b.n, IDEM_BUF_PRINTF_MAX);
	idem_buf_free(&b);
}

static void
integers_are_big_endian(void **state)
{
	static const char want[] = "\x01\x02\x03\x04\x05\x06\x07"
	    "\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"
	    "\xff\xff\xff\xff\xff\xff\xff\xfe\x00\x00\x00\x02hi";
	struct idem_buf b;
	struct reader r;

	(void)state;
	idem_buf_init(&b, 100);
	wr_u8(&b, 1);
	wr_u16(&b, 0x0203);
	wr_u32(&b, 0x04050607);
	wr_u64(&b, UINT64_C(0x08090a0b0c0d0e0f));
	wr_i64(&b, -2);
	wr_run(&b, IDEM_LIT("hi"));
	assert_span(idem_buf_span(&b),
	    ((struct idem_span){ want, sizeof want - 1 }));
	r = reader_of(idem_buf_span(&b));
	assert_int_equal(rd_u8(&r), 1);
	assert_int_equal(rd_u16(&r), 0x0203);
	assert_int_equal(rd_u32(&r), 0x04050607);
	assert_true(rd_u64(&r) == UINT64_C(0x08090a0b0c0d0e0f));
	assert_int_equal(rd_i64(&r), -2);
	assert_span(rd_run(&r), IDEM_LIT("hi"));
	assert_false(r.bad);
	assert_int_equal(r.rest.n, 0);
	idem_buf_free(&b);
}

static void
a_short_read_sticks(void **state)
{
	struct reader r = reader_of(IDEM_LIT("\0\0\0\x05" "four"));
	unsigned char copy[2] = { 9, 9 };

	(void)state;
	assert_null(rd_run(&r).p);
	assert_true(r.bad);
	assert_int_equal(rd_u8(&r), 0); /* bytes are left, but it is bad */
	rd_copy(&r, copy, sizeof copy);
	assert_int_equal(copy[0], 0);
	assert_int_equal(copy[1], 0);
	r = reader_of(IDEM_ABSENT);
	assert_int_equal(rd_u8(&r), 0);
	assert_true(r.bad);
}

static void
keys_sort_as_numbers(void **state)
{
	unsigned char a[8], b[8];

	(void)state;
	u64_to_key(255, a);
	u64_to_key(256, b);
	assert_true(memcmp(a, b, 8) < 0);
	assert_memory_equal(b, "\0\0\0\0\0\0\1\0", 8);
	assert_int_equal(u64_from_key(b), 256);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffer_keeps_its_ceiling),
		cmocka_unit_test(buffer_on_the_callers_memory),
		cmocka_unit_test(buffer_takes_numbers),
		cmocka_unit_test(buffer_printf_ends_at_its_limit),
		cmocka_unit_test(integers_are_big_endian),
		cmocka_unit_test(a_short_read_sticks),
		cmocka_unit_test(keys_sort_as_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
