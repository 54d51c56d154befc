/*
 * test_op.c - an operation and its outcome as bytes, and who may carry it out.
 */
#include "tests.h"

#include "store/op.h"

#define TIMES8(c) c c c c c c c c
#define TIMES16(c) TIMES8(c) TIMES8(c)
#define TIMES32(c) TIMES16(c) TIMES16(c)

/* program, apply, kind, flags, recipe, apply_flags; then id to kept_bytes,
 * and how long the answer may get */
#define HEAD "\1\2\3\4\5\6\7\x08" "\x12\x34" "\2" "\7" "\1" "\x80\0\0\x2a"
#define FIELDS TIMES32("i") TIMES32("f") TIMES16("t") TIMES16("r") \
	"\0\0\1\x8b\xcf\xe5\x68\0" "\0\0\0\0\x05\x26\x5c\0" \
	"\0\0\0\0\x9a\x7e\xc8\0" "\0\0\0\0\0\x36\xee\x80" \
	"\0\0\0\0\0\x0f\x42\x40" "\0\0\0\0\0\0\0\2" \
	"\0\0\0\0\0\0\4\0"
#define INPUT "\0\0\0\3" "a\0b"

static const char whole[] = HEAD FIELDS INPUT;
#define KIND_AT 10
#define FLAGS_AT 11
#define KEPT_AT (sizeof whole - 1 - 16)
#define ROOM_AT (KEPT_AT + 7)

static struct idem_op
the_op(void)
{
	static struct idem_buf answer = { .max_bytes = 1024 };
	struct idem_op op = {
		.kind = IDEM_OP_FINISH,
		.apply = 0x1234,
		.apply_flags = 0x8000002a,
		.recipe = 1,
		.retry = true,
		.evict = true,
		.now_ms = INT64_C(1700000000000),
		.ttl_ms = 86400000,
		.unknown_ttl_ms = INT64_C(2592000000),
		.min_keep_ms = 3600000,
		.max_keys = 1000000,
		.input = { "a\0b", 3 },
		.kept_bytes = 2,
		.answer = &answer,
	};

	memset(op.id, 'i', sizeof op.id);
	memset(op.fingerprint, 'f', sizeof op.fingerprint);
	memset(op.token, 't', sizeof op.token);
	memset(op.random, 'r', sizeof op.random);
	return op;
}

static void
each_field_in_its_place(void **state)
{
	struct idem_op op = the_op();
	struct idem_buf b;

	(void)state;
	idem_buf_init(&b, 1024);
	op_encode(&op, UINT64_C(0x0102030405060708), &b);
	assert_int_equal(b.n, sizeof whole - 1);
	assert_memory_equal(b.p, whole, b.n);
	idem_buf_free(&b);
}

static void
comes_back_as_it_was(void **state)
{
	struct idem_op op, was = the_op();
	size_t room;

	(void)state;
	assert_int_equal(op_decode((struct idem_span){ whole,
	    sizeof whole - 1 }, &op, &room), IDEM_OK);
	assert_int_equal(op.kind, was.kind);
	assert_int_equal(op.apply, was.apply);
	assert_int_equal(op.apply_flags, was.apply_flags);
	assert_int_equal(op.recipe, was.recipe);
	assert_true(op.retry);
	assert_true(op.evict);
	assert_memory_equal(op.id, was.id, sizeof op.id);
	assert_memory_equal(op.fingerprint, was.fingerprint,
	    sizeof op.fingerprint);
	assert_memory_equal(op.token, was.token, sizeof op.token);
	assert_memory_equal(op.random, was.random, sizeof op.random);
	assert_int_equal(op.now_ms, was.now_ms);
	assert_int_equal(op.ttl_ms, was.ttl_ms);
	assert_int_equal(op.unknown_ttl_ms, was.unknown_ttl_ms);
	assert_int_equal(op.min_keep_ms, was.min_keep_ms);
	assert_int_equal(op.max_keys, was.max_keys);
	assert_int_equal(op.kept_bytes, was.kept_bytes);
	assert_span(op.input, IDEM_LIT("a\0b"));
	assert_null(op.answer);
	assert_int_equal(room, 1024);
}

/* To release a key is another order than to finish it with an empty answer. */
static void
an_absent_input_stays_absent(void **state)
{
	static const struct idem_span inputs[] = { { NULL, 0 }, { "", 0 } };
	struct idem_op op = the_op(), back;
	struct idem_buf b;
	size_t room;

	(void)state;
	idem_buf_init(&b, 1024);
	op.kept_bytes = 0;
	for (size_t i = 0; i < COUNT(inputs); i++) {
		idem_buf_reset(&b);
		op.input = inputs[i];
		op_encode(&op, 1, &b);
		assert_int_equal(op_decode(idem_buf_span(&b), &back, &room),
		    IDEM_OK);
		assert_int_equal(back.input.p == NULL, i == 0);
		assert_int_equal(back.input.n, 0);
	}
	idem_buf_free(&b);
}

static void
what_nobody_wrote_is_refused(void **state)
{
	static const struct {
		size_t at;
		char byte;
	} rows[] = {
		{ KIND_AT, 8 }, { KIND_AT, '\xff' }, { FLAGS_AT, 8 },
		{ FLAGS_AT, 3 }, /* no input, and yet its bytes */
		{ KEPT_AT, 4 }, { KEPT_AT - 7, 1 },
		{ ROOM_AT, 0 }, /* a handler without room for its answer */
		{ sizeof whole - 1 - 4, 2 }, /* a byte behind the input */
		{ sizeof whole - 1 - 4, 4 },
	};
	char bytes[sizeof whole];
	struct idem_op op;
	size_t room;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		memcpy(bytes, whole, sizeof whole);
		bytes[rows[i].at] = rows[i].byte;
		assert_int_equal(op_decode((struct idem_span){ bytes,
		    sizeof whole - 1 }, &op, &room), IDEM_ECORRUPT);
	}
	memcpy(bytes, whole, sizeof whole);
	bytes[8] = bytes[9] = 0;
	bytes[KIND_AT] = 6; /* a handler alone, and none is named */
	assert_int_equal(op_decode((struct idem_span){ bytes,
	    sizeof whole - 1 }, &op, &room), IDEM_ECORRUPT);
	for (size_t n = 0; n < sizeof whole - 1; n++)
		assert_int_equal(op_decode((struct idem_span){ whole, n },
		    &op, &room), IDEM_ECORRUPT);
}

static void
a_handler_is_run_by_its_own_program(void **state)
{
	static const struct {
		op_program asks, runs;
		uint16_t apply;
		bool may;
	} rows[] = {
		{ 5, 5, 1, true },
		{ 5, 6, 1, false },
		{ 5, 0, 1, false },
		{ 0, 5, 1, false },
		{ 0, 0, 1, false }, /* neither says which it is */
		{ 5, 6, 0, true },
		{ 0, 0, 0, true },
	};
	struct idem_op op = the_op();
	struct idem_buf b;

	(void)state;
	idem_buf_init(&b, 1024);
	for (size_t i = 0; i < COUNT(rows); i++) {
		idem_buf_reset(&b);
		op.apply = rows[i].apply;
		op_encode(&op, rows[i].asks, &b);
		assert_int_equal(op_is_for(idem_buf_span(&b), rows[i].runs),
		    rows[i].may);
	}
	idem_buf_free(&b);
}

static void
an_outcome_and_its_answer(void **state)
{
	struct idem_op op = { .verdict = IDEM_STORED, .took_over = true };
	enum idem_err err = IDEM_EIO;
	struct idem_buf b, answer;

	(void)state;
	idem_buf_init(&b, 1024);
	idem_buf_init(&answer, 1024);
	op.answer = &answer;
	idem_buf_puts(&answer, IDEM_LIT("ok"));
	op_encode_outcome(&op, IDEM_OK, &b);
	assert_span(idem_buf_span(&b),
	    IDEM_LIT("\0" "\7" "\1" "\0\0\0\2" "ok"));

	op = (struct idem_op){ .answer = &answer };
	assert_int_equal(op_decode_outcome(idem_buf_span(&b), &op, &err),
	    IDEM_OK);
	assert_int_equal(err, IDEM_OK);
	assert_int_equal(op.verdict, IDEM_STORED);
	assert_true(op.took_over);
	assert_text(idem_buf_span(&answer), "ok");

	/* of what failed no answer is told */
	op = (struct idem_op){ .answer = &answer };
	idem_buf_reset(&b);
	op_encode_outcome(&op, IDEM_EFULL, &b);
	assert_span(idem_buf_span(&b),
	    IDEM_LIT("\7" "\0" "\0" "\0\0\0\0"));
	idem_buf_free(&b);
	idem_buf_free(&answer);
}

static void
outcomes_that_nobody_wrote(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
	} rows[] = {
		{ "", 0 },
		{ "\0\7\1\0\0\0", 6 },
		{ "\x0e\7\1\0\0\0\0", 7 }, /* no such error */
		{ "\0\x0b\1\0\0\0\0", 7 }, /* no such verdict */
		{ "\0\7\2\0\0\0\0", 7 },
		{ "\0\7\1\0\0\0\1", 7 },
		{ "\0\7\1\0\0\0\0x", 8 },
		{ "\7\0\0\0\0\0\1x", 8 }, /* a failure with an answer */
	};
	struct idem_op op = { .verdict = IDEM_LOST };
	enum idem_err err = IDEM_EIO;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(op_decode_outcome((struct idem_span){
		    rows[i].bytes, rows[i].n }, &op, &err), IDEM_ECORRUPT);
		assert_int_equal(op.verdict, IDEM_LOST);
		assert_int_equal(err, IDEM_EIO);
	}
}

static void
an_answer_without_room(void **state)
{
	struct idem_op op = { .verdict = IDEM_LOST };
	enum idem_err err = IDEM_EIO;
	struct idem_buf answer;

	(void)state;
	idem_buf_init(&answer, 1);
	op.answer = &answer;
	assert_int_equal(op_decode_outcome((struct idem_span){
	    "\0\7\1\0\0\0\2ok", 9 }, &op, &err), IDEM_ETOOBIG);
	assert_int_equal(op.verdict, IDEM_LOST);
	assert_int_equal(err, IDEM_EIO);
	idem_buf_free(&answer);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_field_in_its_place),
		cmocka_unit_test(comes_back_as_it_was),
		cmocka_unit_test(an_absent_input_stays_absent),
		cmocka_unit_test(what_nobody_wrote_is_refused),
		cmocka_unit_test(a_handler_is_run_by_its_own_program),
		cmocka_unit_test(an_outcome_and_its_answer),
		cmocka_unit_test(outcomes_that_nobody_wrote),
		cmocka_unit_test(an_answer_without_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
