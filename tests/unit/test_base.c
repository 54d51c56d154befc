/*
 * test_base.c - buffers, bytes, text, encodings, units, log and files.
 */
#include "tests.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/io.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/units.h"

#define L(s) IDEM_LIT_INIT(s)

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

static void
spans_compare_bytes(void **state)
{
	(void)state;
	assert_true(span_eq(IDEM_LIT("a\0b"), IDEM_LIT("a\0b")));
	assert_false(span_eq(IDEM_LIT("a\0b"), IDEM_LIT("a\0c")));
	assert_false(span_eq(IDEM_LIT("a"), IDEM_LIT("ab")));
	assert_true(span_eq(IDEM_ABSENT, IDEM_LIT("")));
	assert_true(span_eq_nocase(IDEM_LIT("ETag"), IDEM_LIT("etAG")));
	assert_false(span_eq_nocase(IDEM_LIT("[a"), IDEM_LIT("{a")));
	assert_true(span_starts(IDEM_LIT("IDEM_X"), IDEM_LIT("IDEM_")));
	assert_false(span_starts(IDEM_LIT("IDE"), IDEM_LIT("IDEM_")));
	assert_true(span_starts_nocase(IDEM_LIT("bEARER x"),
	    IDEM_LIT("Bearer")));
	assert_int_equal(span_find(IDEM_LIT("a=b"), '='), 1);
	assert_int_equal(span_find(IDEM_LIT("ab"), '='), 2);
	assert_span(span_trim(IDEM_LIT(" \t a b\t ")), IDEM_LIT("a b"));
	assert_span(span_trim(IDEM_LIT(" \t")), IDEM_LIT(""));
	assert_null(span_of(NULL).p);
	assert_span(span_of("ab"), IDEM_LIT("ab"));
}

static void
fields_between_separators(void **state)
{
	struct idem_span rest = IDEM_LIT("a,,b"), f;

	(void)state;
	assert_true(span_next(&rest, ',', &f));
	assert_span(f, IDEM_LIT("a"));
	assert_true(span_next(&rest, ',', &f));
	assert_span(f, IDEM_LIT(""));
	assert_true(span_next(&rest, ',', &f));
	assert_span(f, IDEM_LIT("b"));
	assert_false(span_next(&rest, ',', &f));
	rest = IDEM_LIT("");
	assert_true(span_next(&rest, ',', &f));
	assert_span(f, IDEM_LIT(""));
	assert_false(span_next(&rest, ',', &f));
}

static void
tokens(void **state)
{
	static const char tchars[] = "!#$%&'*+-.^_`|~"
	    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	(void)state;
	for (int c = 0; c < 256; c++) {
		char b = (char)c;
		bool want = c != 0 && strchr(tchars, c) != NULL;

		assert_int_equal(is_token((struct idem_span){ &b, 1 }), want);
	}
	assert_false(is_token(IDEM_LIT("")));
	assert_false(is_token(IDEM_LIT("a b")));
	assert_true(is_visible(IDEM_LIT("!~")));
	assert_false(is_visible(IDEM_LIT("a b")));
	assert_false(is_visible(IDEM_LIT("\x7f")));
	assert_false(is_visible(IDEM_LIT("\xff")));
}

static void
decimal_numbers(void **state)
{
	static const struct {
		struct idem_span text;
		uint64_t max;
		enum idem_err err;
		uint64_t value;
	} rows[] = {
		{ L("0"), 9, IDEM_OK, 0 },
		{ L("007"), 9, IDEM_OK, 7 },
		{ L("10"), 10, IDEM_OK, 10 },
		{ L("11"), 10, IDEM_ETOOBIG, 0 },
		{ L("18446744073709551615"), UINT64_MAX, IDEM_OK, UINT64_MAX },
		{ L("18446744073709551616"), UINT64_MAX, IDEM_ETOOBIG, 0 },
		{ L("99999999999999999999x"), UINT64_MAX, IDEM_ESYNTAX, 0 },
		{ L(""), 9, IDEM_ESYNTAX, 0 },
		{ L("+1"), 9, IDEM_ESYNTAX, 0 },
		{ L("-1"), 9, IDEM_ESYNTAX, 0 },
		{ L(" 1"), 9, IDEM_ESYNTAX, 0 },
		{ L("1\0"), 9, IDEM_ESYNTAX, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t v = 0;

		assert_int_equal(parse_u64(rows[i].text, rows[i].max, &v),
		    rows[i].err);
		assert_true(v == rows[i].value);
	}
}

static void
durations_and_sizes(void **state)
{
	enum { OK = IDEM_OK, NO = IDEM_ESYNTAX, BIG = IDEM_ETOOBIG };
	static const struct {
		struct idem_span text;
		int duration_err;
		int64_t ms;
		int size_err;
		uint64_t bytes;
	} rows[] = {
		{ L("300ms"), OK, 300, NO, 0 },
		{ L("25s"), OK, 25000, NO, 0 },
		{ L("15m"), OK, 900000, NO, 0 },
		{ L("24h"), OK, 86400000, NO, 0 },
		{ L("30d"), OK, INT64_C(2592000000), NO, 0 },
		{ L("0"), OK, 0, OK, 0 },
		{ L("0s"), OK, 0, NO, 0 },
		{ L("24"), NO, 0, NO, 0 },
		{ L("00"), NO, 0, NO, 0 },
		{ L(""), NO, 0, NO, 0 },
		{ L("h"), NO, 0, NO, 0 },
		{ L("1 h"), NO, 0, NO, 0 },
		{ L("-1h"), NO, 0, NO, 0 },
		{ L("1H"), NO, 0, NO, 0 },
		{ L("106751991168d"), BIG, 0, NO, 0 },
		{ L("512B"), NO, 0, OK, 512 },
		{ L("64K"), NO, 0, OK, 65536 },
		{ L("1M"), NO, 0, OK, 1048576 },
		{ L("2G"), NO, 0, OK, UINT64_C(2147483648) },
		{ L("17179869184G"), NO, 0, BIG, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t ms = 0;
		uint64_t bytes = 0;

		assert_int_equal(parse_duration(rows[i].text, &ms),
		    rows[i].duration_err);
		assert_int_equal(ms, rows[i].ms);
		assert_int_equal(parse_size(rows[i].text, &bytes),
		    rows[i].size_err);
		assert_true(bytes == rows[i].bytes);
	}
}

static void
utf8_rows(void **state)
{
	static const struct {
		struct idem_span bytes;
		size_t n;
		uint32_t cp;
	} rows[] = {
		{ L("\0"), 1, 0 },
		{ L("\x7f"), 1, 0x7f },
		{ L("\x80"), 0, 0 },
		{ L("\xc0\x80"), 0, 0 },
		{ L("\xc1\xbf"), 0, 0 },
		{ L("\xc2\x80"), 2, 0x80 },
		{ L("\xdf\xbf"), 2, 0x7ff },
		{ L("\xdf\x3f"), 0, 0 },
		{ L("\xc2"), 0, 0 },
		{ L("\xe0\x9f\xbf"), 0, 0 },
		{ L("\xe0\xa0\x80"), 3, 0x800 },
		{ L("\xed\x9f\xbf"), 3, 0xd7ff },
		{ L("\xed\xa0\x80"), 0, 0 },
		{ L("\xed\xbf\xbf"), 0, 0 },
		{ L("\xee\x80\x80"), 3, 0xe000 },
		{ L("\xef\xbf\xbf"), 3, 0xffff },
		{ L("\xef\xbf"), 0, 0 },
		{ L("\xf0\x8f\xbf\xbf"), 0, 0 },
		{ L("\xf0\x90\x80\x80"), 4, 0x10000 },
		{ L("\xf4\x8f\xbf\xbf"), 4, 0x10ffff },
		{ L("\xf4\x90\x80\x80"), 0, 0 },
		{ L("\xf5\x80\x80\x80"), 0, 0 },
		{ L("\xf0\x9f\x98"), 0, 0 },
		{ L("\xff"), 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct idem_buf b;
		uint32_t cp = 0;
		char *block;

		assert_int_equal(utf8_decode(exact_copy(rows[i].bytes, &block),
		    &cp), rows[i].n);
		assert_int_equal(cp, rows[i].cp);
		idem_buf_init(&b, 8);
		if (rows[i].n > 0) {
			utf8_put(&b, cp);
			assert_span(idem_buf_span(&b), rows[i].bytes);
		}
		idem_buf_free(&b);
		free(block);
	}
}

static void
percent_rows(void **state)
{
	static const struct {
		struct idem_span text;
		bool plus;
		enum idem_err err;
		struct idem_span want;
	} rows[] = {
		{ L("a%20b+c"), true, IDEM_OK, L("a b c") },
		{ L("a%2Fb+c"), false, IDEM_OK, L("a/b+c") },
		{ L("%00%fF"), false, IDEM_OK, L("\0\xff") },
		{ L("%"), false, IDEM_ESYNTAX, L("") },
		{ L("x%2"), false, IDEM_ESYNTAX, L("x") },
		{ L("%g0"), false, IDEM_ESYNTAX, L("") },
		{ L("%2525"), false, IDEM_OK, L("%25") },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct idem_buf b;
		char *block;

		idem_buf_init(&b, 64);
		assert_int_equal(percent_decode(
		    exact_copy(rows[i].text, &block), rows[i].plus, &b),
		    rows[i].err);
		assert_span(idem_buf_span(&b), rows[i].want);
		idem_buf_free(&b);
		free(block);
	}
}

/* RFC 4648 10's vectors, in the URL alphabet and without padding. */
static void
base64url_rows(void **state)
{
	static const char *const rows[][2] = {
		{ "", "" }, { "f", "Zg" }, { "fo", "Zm8" }, { "foo", "Zm9v" },
		{ "foob", "Zm9vYg" }, { "fooba", "Zm9vYmE" },
		{ "foobar", "Zm9vYmFy" }, { "\xfb\xff\xfe", "-__-" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t n = strlen(rows[i][0]);
		char out[16] = "";

		assert_int_equal(BASE64URL_BYTES(n), strlen(rows[i][1]));
		base64url((const unsigned char *)rows[i][0], n, out);
		assert_string_equal(out, rows[i][1]);
	}
}

static void
hex_and_formats(void **state)
{
	char hex[5] = "", small[4];

	(void)state;
	hex_lower((const unsigned char *)"\x0a\xff", 2, hex);
	assert_string_equal(hex, "0aff");
	assert_int_equal(hex_value('F'), 15);
	assert_int_equal(hex_value('g'), -1);
	assert_int_equal(text_format(small, sizeof small, "%d", 123), IDEM_OK);
	assert_string_equal(small, "123");
	assert_int_equal(text_format(small, sizeof small, "%d", 1234),
	    IDEM_ETOOBIG);
	assert_string_equal(small, "");
}

/* FIPS 180-4's "abc", and that lengths keep parts apart. */
static void
sha256_rows(void **state)
{
	unsigned char a[SHA256_BYTES], b[SHA256_BYTES];
	char hex[2 * SHA256_BYTES + 1] = "";
	struct sha256 *h = NULL;

	(void)state;
	assert_int_equal(sha256_create(&h), IDEM_OK);
	sha256_start(h);
	sha256_update(h, IDEM_LIT("ab"));
	sha256_update(h, IDEM_LIT("c"));
	assert_int_equal(sha256_finish(h, a), IDEM_OK);
	hex_lower(a, sizeof a, hex);
	assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223"
	    "b00361a396177a9cb410ff61f20015ad");
	sha256_start(h);
	sha256_update_run(h, IDEM_LIT("a"));
	sha256_update_run(h, IDEM_LIT("bc"));
	assert_int_equal(sha256_finish(h, a), IDEM_OK);
	sha256_start(h);
	sha256_update_run(h, IDEM_LIT("ab"));
	sha256_update_run(h, IDEM_LIT("c"));
	assert_int_equal(sha256_finish(h, b), IDEM_OK);
	assert_memory_not_equal(a, b, sizeof a);
	sha256_destroy(&h);
	assert_int_equal(sha256_of((const struct idem_span[]){ IDEM_LIT("a"),
	    IDEM_ABSENT, IDEM_LIT("bc") }, 3, a), IDEM_OK);
	hex_lower(a, sizeof a, hex);
	assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223"
	    "b00361a396177a9cb410ff61f20015ad");
	assert_null(h);
}

struct sink {
	enum idem_level level;
	char text[IDEM_LOG_MAX + 1];
};

static void
keep_line(void *arg, enum idem_level level, const char *text)
{
	struct sink *sink = arg;

	sink->level = level;
	assert_int_equal(text_format(sink->text, sizeof sink->text, "%s", text),
	    IDEM_OK);
}

static void
log_lines_cannot_be_forged(void **state)
{
	struct sink sink = { 0 };
	struct idem_log log = { keep_line, &sink };
	char big[2 * IDEM_LOG_MAX];

	(void)state;
	idem_log(&log, IDEM_WARN, "path %s", "/x\r\nerror: all is lost\xff");
	assert_int_equal(sink.level, IDEM_WARN);
	assert_string_equal(sink.text, "path /x??error: all is lost?");
	memset(big, 'a', sizeof big - 1);
	big[sizeof big - 1] = '\0';
	idem_log(&log, IDEM_ERROR, "%s", big);
	assert_int_equal(strlen(sink.text), IDEM_LOG_MAX);
	assert_string_equal(sink.text + IDEM_LOG_MAX - 4, "a...");
	idem_log(NULL, IDEM_ERROR, "nobody listens");
}

static void
files(void **state)
{
	char path[] = "/tmp/idem-base-XXXXXX";
	int fd = mkstemp(path), full;
	struct idem_buf b;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(io_write(fd, "one\0two", 7), IDEM_OK);
	assert_int_equal(close(fd), 0);
	idem_buf_init(&b, 7);
	assert_int_equal(io_read_file(path, &b), IDEM_OK);
	assert_span(idem_buf_span(&b), IDEM_LIT("one\0two"));
	idem_buf_reset(&b);
	b.max_bytes = 6;
	assert_int_equal(io_read_file(path, &b), IDEM_ETOOBIG);
	idem_buf_reset(&b);
	assert_int_equal(io_read_file("/dev/zero", &b), IDEM_ETOOBIG);
	assert_int_equal(unlink(path), 0);
	idem_buf_reset(&b);
	assert_int_equal(io_read_file(path, &b), IDEM_EIO);
	assert_int_equal(errno, ENOENT);
	full = open("/dev/full", O_WRONLY);
	assert_true(full >= 0);
	assert_int_equal(io_write(full, "x", 1), IDEM_EIO);
	assert_int_equal(errno, ENOSPC);
	assert_int_equal(close(full), 0);
	idem_buf_free(&b);
}

static void
random_and_clocks(void **state)
{
	unsigned char a[32] = { 0 }, b[32] = { 0 };
	int64_t t = io_steady_ms();

	(void)state;
	assert_int_equal(io_random(a, sizeof a), IDEM_OK);
	assert_int_equal(io_random(b, sizeof b), IDEM_OK);
	assert_memory_not_equal(a, b, sizeof a);
	assert_true(io_steady_ms() >= t);
	assert_true(io_wall_ms() > INT64_C(1750000000000)); /* mid-2025 */
}

static void
every_error_has_a_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < IDEM_NERRORS; i++)
		assert_true(strlen(idem_strerror((enum idem_err)i)) > 1);
	assert_string_equal(idem_strerror((enum idem_err)IDEM_NERRORS),
	    "unknown error");
}

int
main(void)
{
	static const struct CMUnitTest all[] = {
		cmocka_unit_test(buffer_keeps_its_ceiling),
		cmocka_unit_test(buffer_on_the_callers_memory),
		cmocka_unit_test(buffer_takes_numbers),
		cmocka_unit_test(buffer_printf_ends_at_its_limit),
		cmocka_unit_test(integers_are_big_endian),
		cmocka_unit_test(a_short_read_sticks),
		cmocka_unit_test(keys_sort_as_numbers),
		cmocka_unit_test(spans_compare_bytes),
		cmocka_unit_test(fields_between_separators),
		cmocka_unit_test(tokens),
		cmocka_unit_test(decimal_numbers),
		cmocka_unit_test(durations_and_sizes),
		cmocka_unit_test(utf8_rows),
		cmocka_unit_test(percent_rows),
		cmocka_unit_test(base64url_rows),
		cmocka_unit_test(hex_and_formats),
		cmocka_unit_test(sha256_rows),
		cmocka_unit_test(log_lines_cannot_be_forged),
		cmocka_unit_test(files),
		cmocka_unit_test(random_and_clocks),
		cmocka_unit_test(every_error_has_a_text),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
