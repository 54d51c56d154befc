/*
 * test_json_chunk.c - both ways to look at a chunk against the obvious one.
 */
#include "tests.h"

#include "request/json_chunk.h"

static struct json_chunk
obvious(const unsigned char *p)
{
	struct json_chunk c = { 0, false };

	while (c.n < JSON_CHUNK && p[c.n] >= 0x20 && p[c.n] != '"' &&
	    p[c.n] != '\\') {
		c.beyond = c.beyond || p[c.n] >= 0x80;
		c.n++;
	}
	return c;
}

static void
assert_chunk(const unsigned char *p)
{
	struct json_chunk want = obvious(p), vector = json_chunk_at(p);
	struct json_chunk words = json_chunk_by_words(p);

	assert_int_equal(vector.n, want.n);
	assert_int_equal(vector.beyond, want.beyond);
	assert_int_equal(words.n, want.n);
	assert_int_equal(words.beyond, want.beyond);
}

/* Each pair of bytes at each pair of places: what borrows and carries. */
static void
each_pair_of_bytes(void **state)
{
	static const unsigned char bytes[] = { 0x00, 0x01, 0x1f, 0x20, 0x21,
		0x22, 0x23, 0x5b, 0x5c, 0x5d, 0x7e, 0x7f, 0x80, 0x9f, 0xa2,
		0xdc, 0xff };

	(void)state;
	for (size_t a = 0; a < COUNT(bytes); a++)
		for (size_t b = 0; b < COUNT(bytes); b++)
			for (size_t i = 0; i < JSON_CHUNK; i++)
				for (size_t j = 0; j < JSON_CHUNK; j++) {
					unsigned char p[JSON_CHUNK];

					memset(p, 'x', sizeof p);
					p[i] = bytes[a];
					p[j] = bytes[b];
					assert_chunk(p);
				}
}

static void
each_byte_alone(void **state)
{
	(void)state;
	for (unsigned c = 0; c < 256; c++) {
		unsigned char p[JSON_CHUNK];

		memset(p, (int)c, sizeof p);
		assert_chunk(p);
		assert_int_equal(json_has(json_word(p), (unsigned char)c), 1);
		assert_int_equal(json_has(json_word(p),
		    (unsigned char)(c + 1)), 0);
		assert_int_equal(json_has_high(json_word(p)), c >= 0xee);
		assert_int_equal(json_non_digits(json_word(p)) == 0,
		    c >= '0' && c <= '9');
	}
}

static void
words_are_read_and_turned(void **state)
{
	static const unsigned char p[] = { 1, 2, 3, 4, 5, 6, 7, 0xf8 };

	(void)state;
	assert_int_equal(json_word(p), 0xf807060504030201);
	assert_int_equal(json_big_endian(json_word(p)), 0x01020304050607f8);
	assert_int_equal(json_lowest(1), 0);
	assert_int_equal(json_lowest(0xf000), 12);
	assert_int_equal(json_lowest(UINT64_C(1) << 63), 63);
	assert_int_equal(json_non_digits(json_word(
	    (const unsigned char *)"12:4/6a8")), 0x0080008000800000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_pair_of_bytes),
		cmocka_unit_test(each_byte_alone),
		cmocka_unit_test(words_are_read_and_turned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
