/*
 * test_record.c - the stored form of a record, byte by byte.
 */
#include "tests.h"

#include "idem/fingerprint.h"
#include "store/record.h"

#define ID "iiiiiiiiiiiiiiiiiiiiiiiiiiiiiii" "\x01"
#define PRINT "ffffffffffffffffffffffffffffffff"
#define TOKEN "tttttttttttttttt"
#define NONE8 "\0\0\0\0\0\0\0\0"
#define FOREVER "\x7f\xff\xff\xff\xff\xff\xff\xff"

static const struct {
	struct idem_span stored;
	struct idem_record record;
} rows[] = {
	{
		IDEM_LIT_INIT("\1\2\1\0\0" ID PRINT TOKEN
		    "\0\0\1\x8b\xcf\xe5\x68\0" "\0\0\1\x8b\xcf\xe5\x68\1"
		    "\0\0\1\x8b\xd5\x0b\xc4\1" "\0\0\0\3a\0b"),
		{ .state = IDEM_STATE_DONE, .recipe = 1,
		    .claimed_ms = 1700000000000, .stored_ms = 1700000000001,
		    .expires_ms = 1700086400001,
		    .answer = IDEM_LIT_INIT("a\0b") },
	},
	{
		IDEM_LIT_INIT("\1\1\1\0\1" ID PRINT TOKEN
		    "\0\0\0\0\0\0\0\7" NONE8 FOREVER "\0\0\0\0"),
		{ .state = IDEM_STATE_RUNNING, .recipe = 1, .retry = true,
		    .claimed_ms = 7, .expires_ms = INT64_MAX,
		    .answer = IDEM_LIT_INIT("") },
	},
	{
		IDEM_LIT_INIT("\1\3\2\0\0" ID PRINT TOKEN
		    "\xff\xff\xff\xff\xff\xff\xff\xff" "\0\0\0\0\0\0\0\1"
		    "\0\0\0\0\0\0\0\2" "\0\0\0\0"),
		{ .state = IDEM_STATE_UNKNOWN, .recipe = 2, .claimed_ms = -1,
		    .stored_ms = 1, .expires_ms = 2,
		    .answer = IDEM_LIT_INIT("") },
	},
	{
		/* sealed by a program that can: decoded, not opened */
		IDEM_LIT_INIT("\1\2\1\5\0" ID PRINT TOKEN NONE8 NONE8
		    NONE8 "\0\0\0\1s"),
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
		assert_int_equal(b.n, 113);
		idem_buf_puts(&b, r.answer);
		assert_int_equal(idem_buf_err(&b), IDEM_OK);
		assert_span(idem_buf_span(&b), rows[i].stored);
		idem_buf_free(&b);
	}
}

static void
decodes(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct idem_record *want = &rows[i].record;
		struct idem_record r;
		char *block;

		assert_int_equal(record_decode(exact_copy(rows[i].stored,
		    &block), &r), IDEM_OK);
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
}

static void
every_prefix_is_an_error(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		for (size_t n = 0; n < rows[i].stored.n; n++) {
			struct idem_span part = { rows[i].stored.p, n };
			struct idem_record r;
			char *block;

			assert_int_equal(record_decode(exact_copy(part,
			    &block), &r), IDEM_ECORRUPT);
			free(block);
		}
}

/* What is decoded at all is what an encoder writes. */
static void
is_error_or_round_trip(struct idem_span stored)
{
	struct idem_record r;
	enum idem_err err = record_decode(stored, &r);
	struct idem_buf b;

	if (err != IDEM_OK) {
		assert_true(err == IDEM_ECORRUPT || err == IDEM_ENEWER);
		return;
	}
	idem_buf_init(&b, 1000);
	record_head(&b, &r);
	idem_buf_puts(&b, r.answer);
	assert_span(idem_buf_span(&b), stored);
	idem_buf_free(&b);
}

static void
every_flipped_bit_is_an_error_or_a_record(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		for (size_t bit = 0; bit < rows[i].stored.n * 8; bit++) {
			char *block;
			struct idem_span s = exact_copy(rows[i].stored, &block);

			block[bit / 8] = (char)(block[bit / 8] ^
			    (1 << bit % 8));
			is_error_or_round_trip(s);
			free(block);
		}
}

/* One byte of the first or second row changed. */
static void
refuses_what_nobody_writes(void **state)
{
	static const struct {
		size_t row, at;
		unsigned char byte;
		enum idem_err err;
	} bad[] = {
		{ 0, 0, 0, IDEM_ECORRUPT },   /* version */
		{ 0, 0, 2, IDEM_ENEWER },
		{ 0, 0, 255, IDEM_ENEWER },
		{ 0, 1, 0, IDEM_ECORRUPT },   /* state */
		{ 0, 1, 4, IDEM_ECORRUPT },
		{ 0, 1, 3, IDEM_ECORRUPT },   /* unknown with an answer */
		{ 0, 1, 1, IDEM_ECORRUPT },   /* running and stored */
		{ 0, 2, 0, IDEM_ECORRUPT },   /* recipe */
		{ 0, 4, 2, IDEM_ECORRUPT },   /* flags */
		{ 0, 112, 2, IDEM_ECORRUPT }, /* a byte behind the answer */
		{ 0, 112, 4, IDEM_ECORRUPT }, /* a byte short */
		{ 0, 109, 255, IDEM_ECORRUPT },
		{ 1, 100, 1, IDEM_ECORRUPT },  /* running that expires */
		{ 1, 100, 255, IDEM_ECORRUPT },
		{ 1, 93, 1, IDEM_ECORRUPT },  /* running since it was stored */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct idem_record r;
		char *block;
		struct idem_span s = exact_copy(rows[bad[i].row].stored,
		    &block);

		block[bad[i].at] = (char)bad[i].byte;
		assert_int_equal(record_decode(s, &r), bad[i].err);
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
		cmocka_unit_test(every_prefix_is_an_error),
		cmocka_unit_test(every_flipped_bit_is_an_error_or_a_record),
		cmocka_unit_test(refuses_what_nobody_writes),
		cmocka_unit_test(a_long_answer_is_refused),
		cmocka_unit_test(expires_when_its_time_is_reached),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
