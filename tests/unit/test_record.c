/*
 * test_record.c - the stored form of a record, byte by byte.
 */
#include "tests.h"

#include "base/sha256.h"
#include "idem/fingerprint.h"
#include "store/record.h"

#define ID "iiiiiiiiiiiiiiiiiiiiiiiiiiiiiii" "\x01"
#define PRINT "ffffffffffffffffffffffffffffffff"
#define TOKEN "tttttttttttttttt"
#define NONE8 "\0\0\0\0\0\0\0\0"
#define FOREVER "\x7f\xff\xff\xff\xff\xff\xff\xff"

/* What stands behind the sum. */
#define DONE "\2\1\0\0" ID PRINT TOKEN \
	"\0\0\1\x8b\xcf\xe5\x68\0" "\0\0\1\x8b\xcf\xe5\x68\1" \
	"\0\0\1\x8b\xd5\x0b\xc4\1" "\0\0\0\3a\0b"
#define RUNNING "\1\1\0\1" ID PRINT TOKEN \
	"\0\0\0\0\0\0\0\7" NONE8 FOREVER "\0\0\0\0"
#define UNKNOWN "\3\2\0\0" ID PRINT TOKEN "\xff\xff\xff\xff\xff\xff\xff\xff" \
	"\0\0\0\0\0\0\0\1" "\0\0\0\0\0\0\0\2" "\0\0\0\0"
/* by a program that can: decoded, not opened */
#define SEALED "\2\1\5\0" ID PRINT TOKEN NONE8 NONE8 NONE8 "\0\0\0\1s"

/* The sums were computed by another program. */
static const struct {
	struct idem_span stored;
	struct idem_span old; /* of version 1 */
	struct idem_record record;
} rows[] = {
	{
		IDEM_LIT_INIT("\2" "\xaa\x2f\xf9\x7c\x89\x93\xd0\x4f" DONE),
		IDEM_LIT_INIT("\1" DONE),
		{ .state = IDEM_STATE_DONE, .recipe = 1,
		    .claimed_ms = 1700000000000, .stored_ms = 1700000000001,
		    .expires_ms = 1700086400001,
		    .answer = IDEM_LIT_INIT("a\0b") },
	},
	{
		IDEM_LIT_INIT("\2" "\xa7\x92\xd2\x45\xab\xe8\xd0\x9a" RUNNING),
		IDEM_LIT_INIT("\1" RUNNING),
		{ .state = IDEM_STATE_RUNNING, .recipe = 1, .retry = true,
		    .claimed_ms = 7, .expires_ms = INT64_MAX,
		    .answer = IDEM_LIT_INIT("") },
	},
	{
		IDEM_LIT_INIT("\2" "\x59\x78\xfd\x57\x01\xe4\x92\x12" UNKNOWN),
		IDEM_LIT_INIT("\1" UNKNOWN),
		{ .state = IDEM_STATE_UNKNOWN, .recipe = 2, .claimed_ms = -1,
		    .stored_ms = 1, .expires_ms = 2,
		    .answer = IDEM_LIT_INIT("") },
	},
	{
		IDEM_LIT_INIT("\2" "\x18\x7d\x7e\xa7\xaa\x20\x02\x87" SEALED),
		IDEM_LIT_INIT("\1" SEALED),
		{ .state = IDEM_STATE_DONE, .recipe = 1, .seal = 5,
		    .answer = IDEM_LIT_INIT("s") },
	},
};

static void
encodes(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct idem_record r = rows[i].record;
		struct idem_buf b;

		memcpy(r.id, ID, sizeof r.id);
		memcpy(r.fingerprint, PRINT, sizeof r.fingerprint);
		memcpy(r.token, TOKEN, sizeof r.token);
		idem_buf_init(&b, 1000);
		record_head(&b, &r);
		assert_int_equal(b.n, 121);
		idem_buf_puts(&b, r.answer);
		assert_int_equal(idem_buf_err(&b), IDEM_OK);
		assert_span(idem_buf_span(&b), rows[i].stored);
		idem_buf_free(&b);
	}
}

static void
decodes_to(struct idem_span stored, const struct idem_record *want)
{
	struct idem_record r;
	char *block;

	assert_int_equal(record_decode(exact_copy(stored, &block), &r),
	    IDEM_OK);
	assert_int_equal(r.state, want->state);
	assert_int_equal(r.recipe, want->recipe);
	assert_int_equal(r.seal, want->seal);
	assert_int_equal(r.retry, want->retry);
	assert_memory_equal(r.id, ID, sizeof r.id);
	assert_memory_equal(r.fingerprint, PRINT, 32);
	assert_memory_equal(r.token, TOKEN, 16);
	assert_true(r.claimed_ms == want->claimed_ms);
	assert_true(r.stored_ms == want->stored_ms);
	assert_true(r.expires_ms == want->expires_ms);
	assert_span(r.answer, want->answer);
	free(block);
}

static void
decodes(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		decodes_to(rows[i].stored, &rows[i].record);
		decodes_to(rows[i].old, &rows[i].record);
	}
}

static void
is_refused(struct idem_span stored, enum idem_err want)
{
	struct idem_record r;
	char *block;

	assert_int_equal(record_decode(exact_copy(stored, &block), &r), want);
	free(block);
}

static void
every_other_length_is_an_error(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct idem_span s = rows[i].stored, old = rows[i].old;
		struct idem_buf longer;

		for (size_t n = 0; n < s.n; n++)
			is_refused(span_first(s, n), IDEM_ECORRUPT);
		for (size_t n = 0; n < old.n; n++)
			is_refused(span_first(old, n), IDEM_ECORRUPT);
		for (size_t n = 1; n < s.n; n++) /* without its front */
			is_refused(span_from(s, n), (unsigned char)s.p[n] > 2 ?
			    IDEM_ENEWER : IDEM_ECORRUPT);
		idem_buf_init(&longer, 1000);
		idem_buf_puts(&longer, s);
		for (int n = 0; n < 300; n++) {
			idem_buf_putc(&longer, '\0');
			is_refused(idem_buf_span(&longer), IDEM_ECORRUPT);
		}
		idem_buf_free(&longer);
	}
}

/* All of them are found; those of the version itself as one that is not known,
 * but for the one that makes it 0. */
static void
every_flipped_bit_is_an_error(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		for (size_t bit = 0; bit < rows[i].stored.n * 8; bit++) {
			char *block;
			struct idem_span s = exact_copy(rows[i].stored, &block);

			block[bit / 8] = (char)(block[bit / 8] ^
			    (1 << bit % 8));
			is_refused(s, bit < 8 && bit != 1 ? IDEM_ENEWER :
			    IDEM_ECORRUPT);
			free(block);
		}
}

/* Any byte in the place of any other. */
static void
every_other_byte_is_an_error(void **state)
{
	struct idem_span s = rows[0].stored;

	(void)state;
	for (size_t at = 0; at < s.n; at++)
		for (int byte = 0; byte < 256; byte++) {
			char *block;
			struct idem_span copy = exact_copy(s, &block);

			block[at] = (char)byte;
			if (block[at] == s.p[at])
				decodes_to(copy, &rows[0].record);
			else
				is_refused(copy, at == 0 && byte > 2 ?
				    IDEM_ENEWER : IDEM_ECORRUPT);
			free(block);
		}
}

/* What decodes of a version without a sum is what its encoder wrote. */
static void
is_error_or_round_trip(struct idem_span old)
{
	struct idem_record r;
	enum idem_err err = record_decode(old, &r);
	struct idem_buf b;

	if (err != IDEM_OK) {
		assert_true(err == IDEM_ECORRUPT || err == IDEM_ENEWER);
		return;
	}
	idem_buf_init(&b, 1000);
	record_head(&b, &r);
	idem_buf_puts(&b, r.answer);
	assert_span(span_from(idem_buf_span(&b), 9), span_from(old, 1));
	idem_buf_free(&b);
}

static void
every_flipped_bit_without_a_sum(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		for (size_t bit = 0; bit < rows[i].old.n * 8; bit++) {
			char *block;
			struct idem_span s = exact_copy(rows[i].old, &block);

			block[bit / 8] = (char)(block[bit / 8] ^
			    (1 << bit % 8));
			is_error_or_round_trip(s);
			free(block);
		}
}

/* The same value with the sum that it then has: FIPS 180-4's by base/. */
static void
put_right_sum(char *block, size_t n)
{
	const struct idem_span parts[] = { { block, 1 },
		{ block + 9, n - 9 } };
	unsigned char sum[SHA256_BYTES];

	assert_int_equal(sha256_of(parts, COUNT(parts), sum), IDEM_OK);
	memcpy(block + 1, sum, 8);
}

/* One byte of the first or second row changed; counted without the sum. */
static void
refuses_what_nobody_writes(void **state)
{
	static const struct {
		size_t row, at;
		unsigned char byte;
	} bad[] = {
		{ 0, 0, 0 },    /* version */
		{ 0, 1, 0 },    /* state */
		{ 0, 1, 4 },
		{ 0, 1, 3 },    /* unknown with an answer */
		{ 0, 1, 1 },    /* running and stored */
		{ 0, 2, 0 },    /* recipe */
		{ 0, 4, 2 },    /* flags */
		{ 0, 112, 2 },  /* a byte behind the answer */
		{ 0, 112, 4 },  /* a byte short */
		{ 0, 109, 255 },
		{ 1, 100, 1 },  /* running that expires */
		{ 1, 100, 255 },
		{ 1, 93, 1 },   /* running since it was stored */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		size_t row = bad[i].row, at = bad[i].at;
		char *block;
		struct idem_span s = exact_copy(rows[row].old, &block);

		block[at] = (char)bad[i].byte;
		is_refused(s, IDEM_ECORRUPT);
		free(block);
		s = exact_copy(rows[row].stored, &block);
		put_right_sum(block, s.n);
		decodes_to(s, &rows[row].record);
		block[at == 0 ? 0 : at + 8] = (char)bad[i].byte;
		put_right_sum(block, s.n);
		is_refused(s, IDEM_ECORRUPT);
		free(block);
	}
}

/* Nor is a value of one version taken for one of another. */
static void
versions_are_not_mixed_up(void **state)
{
	static const struct {
		char version;
		enum idem_err new_err, old_err;
	} others[] = {
		{ 1, IDEM_ECORRUPT, IDEM_OK },
		{ 2, IDEM_OK, IDEM_ECORRUPT },
		{ 3, IDEM_ENEWER, IDEM_ENEWER },
		{ (char)255, IDEM_ENEWER, IDEM_ENEWER },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		for (size_t v = 0; v < COUNT(others); v++) {
			char *block;
			struct idem_span s = exact_copy(rows[i].stored, &block);

			block[0] = others[v].version;
			is_refused(s, others[v].new_err);
			free(block);
			s = exact_copy(rows[i].old, &block);
			block[0] = others[v].version;
			is_refused(s, others[v].old_err);
			free(block);
		}
}

static void
a_long_answer_is_refused(void **state)
{
	struct idem_record r = { .answer = { "", RECORD_ANSWER_MAX + 1ul } };
	struct idem_buf b;

	(void)state;
	idem_buf_init(&b, 1000);
	record_head(&b, &r);
	assert_int_equal(idem_buf_err(&b), IDEM_ETOOBIG);
	idem_buf_free(&b);
}

static void
expires_when_its_time_is_reached(void **state)
{
	struct idem_record r = { .state = IDEM_STATE_DONE, .expires_ms = 10 };

	(void)state;
	assert_false(record_expired(&r, 9));
	assert_true(record_expired(&r, 10));
	assert_true(record_expired(&r, 11));
	r.state = IDEM_STATE_UNKNOWN;
	assert_false(record_expired(&r, 9));
	assert_true(record_expired(&r, 10));
	r.state = IDEM_STATE_RUNNING;
	r.expires_ms = INT64_MAX;
	assert_false(record_expired(&r, INT64_MAX));
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(encodes),
		cmocka_unit_test(decodes),
		cmocka_unit_test(every_other_length_is_an_error),
		cmocka_unit_test(every_flipped_bit_is_an_error),
		cmocka_unit_test(every_other_byte_is_an_error),
		cmocka_unit_test(every_flipped_bit_without_a_sum),
		cmocka_unit_test(refuses_what_nobody_writes),
		cmocka_unit_test(versions_are_not_mixed_up),
		cmocka_unit_test(a_long_answer_is_refused),
		cmocka_unit_test(expires_when_its_time_is_reached),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
