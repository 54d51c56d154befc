/*
 * test_spool.c - bytes around the border between memory and file, and what is
 * told where no file can be made.
 */
#include "tests.h"

#include <errno.h>
#include <sys/resource.h>
#include <signal.h>

#include "exchange/spool.h"

/* Byte i of a content of any length. */
static char
byte_at(size_t i)
{
	return (char)(i * 31 + i / 251);
}

static void
put_bytes(struct spool *s, size_t n, size_t piece)
{
	char bytes[7001];
	size_t at = 0;

	while (at < n) {
		size_t some = n - at < piece ? n - at : piece;

		for (size_t i = 0; i < some; i++)
			bytes[i] = byte_at(at + i);
		assert_int_equal(spool_put(s, bytes, some), IDEM_OK);
		at += some;
	}
}

static void
assert_bytes(struct spool *s, size_t n)
{
	struct idem_span got;

	assert_int_equal(spool_bytes(s, &got), IDEM_OK);
	assert_non_null(got.p);
	assert_int_equal(got.n, n);
	assert_int_equal(s->n, n);
	for (size_t i = 0; i < n; i++)
		if (got.p[i] != byte_at(i))
			fail_msg("byte %zu of %zu", i, n);
}

static void
keeps_any_length(void **state)
{
	static const struct { size_t n; bool file; } rows[] = {
		{ 0, false }, { 1, false }, { 65535, false }, { 65536, false },
		{ 65537, true }, { 3 << 20, true },
	};
	struct spool s;

	(void)state;
	spool_init(&s, "/tmp");
	for (size_t i = 0; i < COUNT(rows); i++) {
		spool_reset(&s);
		put_bytes(&s, rows[i].n, 7001);
		assert_int_equal(s.fd >= 0, rows[i].file);
		assert_bytes(&s, rows[i].n);
		spool_reset(&s);
		put_bytes(&s, rows[i].n, 4096);
		assert_bytes(&s, rows[i].n);
	}
	spool_free(&s);
}

static void
grows_after_it_was_read(void **state)
{
	struct spool s;

	(void)state;
	spool_init(&s, "/tmp");
	put_bytes(&s, 70000, 7000);
	assert_bytes(&s, 70000);
	for (size_t i = 70000; i < 70010; i++) {
		char c = byte_at(i);

		assert_int_equal(spool_put(&s, &c, 1), IDEM_OK);
	}
	assert_bytes(&s, 70010);
	spool_free(&s);
}

static void
says_why_there_is_no_file(void **state)
{
	static const char bytes[40000] = "";
	struct spool s;

	(void)state;
	spool_init(&s, "/no/such/folder");
	assert_int_equal(spool_put(&s, bytes, sizeof bytes), IDEM_OK);
	assert_int_equal(spool_put(&s, bytes, sizeof bytes), IDEM_EIO);
	assert_int_equal(errno, ENOENT);
	spool_reset(&s);
	put_bytes(&s, 100, 100);
	assert_bytes(&s, 100);
	spool_free(&s);
}

static void
says_that_the_disk_is_full(void **state)
{
	static const char bytes[50000] = "";
	struct rlimit old, little = { 60000, 60000 };
	struct spool s;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	little.rlim_max = old.rlim_max;
	assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
	spool_init(&s, "/tmp");
	assert_int_equal(spool_put(&s, bytes, sizeof bytes), IDEM_OK);
	assert_int_equal(spool_put(&s, bytes, sizeof bytes), IDEM_EIO);
	assert_int_equal(errno, EFBIG);
	spool_free(&s);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_any_length),
		cmocka_unit_test(grows_after_it_was_read),
		cmocka_unit_test(says_why_there_is_no_file),
		cmocka_unit_test(says_that_the_disk_is_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
