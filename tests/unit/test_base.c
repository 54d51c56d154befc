/*
 * test_base.c - SHA-256, the log, files, random bytes, clocks, the texts of
 * errors.
 */
#include "tests.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/io.h"
#include "base/sha256.h"
#include "base/text.h"

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
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(sha256_rows),
		cmocka_unit_test(log_lines_cannot_be_forged),
		cmocka_unit_test(files),
		cmocka_unit_test(random_and_clocks),
		cmocka_unit_test(every_error_has_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
