/*
 * test_answer.c - answers as bytes: whole, as a record keeps them, damaged.
 */
#include "tests.h"

#include "engine/answer.h"

#define SET_COOKIE IDEM_LIT("Set-Cookie")

static void
build(struct idem_response *res)
{
	idem_response_init(res, 1024);
	res->status = 201;
	idem_response_field(res, IDEM_LIT("X-Request-Id"), IDEM_LIT("r1"));
	idem_response_field(res, IDEM_LIT("Link"), IDEM_LIT("<a>"));
	idem_response_field(res, SET_COOKIE, IDEM_LIT("s=1"));
	idem_response_field(res, IDEM_LIT("Idempotency-Replayed"),
	    IDEM_LIT("true"));
	idem_response_field(res, IDEM_LIT("Content-Type"), IDEM_LIT("t/p"));
	idem_response_field(res, IDEM_LIT("Content-Encoding"),
	    IDEM_LIT("gzip"));
	idem_response_field(res, IDEM_LIT("Link"), IDEM_LIT("<b>"));
	idem_buf_puts(&res->body, IDEM_LIT("a\0b\r\n"));
}

/* status, kept fields, body, other fields */
#define KEPT_LINES "Link: <a>\r\nContent-Type: t/p\r\n" \
	"Content-Encoding: gzip\r\nLink: <b>\r\n"
#define OTHER_LINES "X-Request-Id: r1\r\nSet-Cookie: s=1\r\n"
#define HEAD "\x00\xc9" "\x00\x00\x00\x41" KEPT_LINES "\x00\x00\x00\x05"
#define WHOLE HEAD "a\0b\r\n" "\x00\x00\x00\x23" OTHER_LINES

static void
bytes_are_known(void **state)
{
	struct idem_response res;
	struct idem_buf out;
	size_t kept = 0;

	(void)state;
	build(&res);
	idem_buf_init(&out, 1024);
	assert_int_equal(answer_encode(&res, IDEM_ABSENT, 5, &out, &kept),
	    IDEM_OK);
	assert_span(idem_buf_span(&out), IDEM_LIT(WHOLE));
	assert_int_equal(kept, sizeof(HEAD) - 1 + 5);
	/* one byte over the limit: the record ends before the body */
	idem_buf_reset(&out);
	idem_buf_putc(&out, 'x');
	assert_int_equal(answer_encode(&res, IDEM_ABSENT, 4, &out, &kept),
	    IDEM_OK);
	assert_span(idem_buf_span(&out), IDEM_LIT("x" WHOLE));
	assert_int_equal(kept, sizeof(HEAD) - 1);
	idem_buf_free(&out);
	idem_response_free(&res);
}

static void
first_and_replay(void **state)
{
	struct idem_response res;

	(void)state;
	idem_response_init(&res, 1024);
	assert_int_equal(answer_first(IDEM_LIT(WHOLE), &res), IDEM_OK);
	assert_int_equal(res.status, 201);
	assert_text(idem_buf_span(&res.fields), KEPT_LINES OTHER_LINES);
	assert_span(idem_buf_span(&res.body), IDEM_LIT("a\0b\r\n"));
	assert_int_equal(answer_replay(IDEM_LIT(HEAD "a\0b\r\n"), &res),
	    IDEM_OK);
	assert_int_equal(res.status, 201);
	assert_text(idem_buf_span(&res.fields), KEPT_LINES
	    "Cache-Control: no-store\r\nIdempotency-Replayed: true\r\n");
	assert_span(idem_buf_span(&res.body), IDEM_LIT("a\0b\r\n"));
	assert_int_equal(answer_replay(IDEM_LIT(HEAD), &res), IDEM_OK);
	assert_int_equal(res.status, 201);
	assert_text(idem_buf_span(&res.fields),
	    "Link: <a>\r\nLink: <b>\r\nCache-Control: no-store\r\n"
	    "Idempotency-Replayed: true\r\nIdempotency-Body: omitted\r\n");
	assert_text(idem_buf_span(&res.body), "");
	idem_response_free(&res);
}

static void
fields_kept_by_setting(void **state)
{
	struct idem_response res;
	struct idem_buf out;
	size_t kept;

	(void)state;
	build(&res);
	idem_buf_init(&out, 1024);
	assert_int_equal(answer_encode(&res,
	    IDEM_LIT("set-cookie,Idempotency-Replayed"), 5, &out, &kept),
	    IDEM_OK);
	assert_int_equal(answer_replay(span_first(idem_buf_span(&out), kept),
	    &res), IDEM_OK);
	assert_text(idem_buf_span(&res.fields),
	    "Link: <a>\r\nSet-Cookie: s=1\r\nContent-Type: t/p\r\n"
	    "Content-Encoding: gzip\r\nLink: <b>\r\n"
	    "Cache-Control: no-store\r\nIdempotency-Replayed: true\r\n");
	idem_buf_free(&out);
	idem_response_free(&res);
}

static void
an_empty_answer_is_whole(void **state)
{
	static const char bytes[] = "\x00\xcc" "\0\0\0\0" "\0\0\0\0";
	struct idem_response res;
	struct idem_buf out;
	size_t kept;

	(void)state;
	idem_response_init(&res, 64);
	res.status = 204;
	idem_buf_init(&out, 64);
	assert_int_equal(answer_encode(&res, IDEM_ABSENT, 0, &out, &kept),
	    IDEM_OK);
	assert_int_equal(kept, 10);
	assert_span(span_first(idem_buf_span(&out), kept),
	    ((struct idem_span){ bytes, 10 }));
	assert_int_equal(answer_replay(span_first(idem_buf_span(&out), kept),
	    &res), IDEM_OK);
	assert_int_equal(res.status, 204);
	assert_text(idem_buf_span(&res.fields),
	    "Cache-Control: no-store\r\nIdempotency-Replayed: true\r\n");
	idem_buf_free(&out);
	idem_response_free(&res);
}

static void
own_fields_are_taken_out(void **state)
{
	struct idem_response res;

	(void)state;
	build(&res);
	idem_response_field(&res, IDEM_LIT("IDEMPOTENCY-BODY"), IDEM_LIT("x"));
	answer_drop_own_fields(&res);
	assert_text(idem_buf_span(&res.fields),
	    "X-Request-Id: r1\r\nLink: <a>\r\nSet-Cookie: s=1\r\n"
	    "Content-Type: t/p\r\nContent-Encoding: gzip\r\nLink: <b>\r\n");
	answer_drop_own_fields(&res);
	assert_int_equal(res.fields.n, 100);
	idem_response_reset(&res);
	answer_drop_own_fields(&res);
	assert_int_equal(res.fields.n, 0);
	idem_response_free(&res);
}

static void
what_is_wrong_with_an_answer_comes_out(void **state)
{
	struct idem_response res;
	struct idem_buf out;
	size_t kept;

	(void)state;
	build(&res);
	idem_buf_init(&out, 16);
	assert_int_equal(answer_encode(&res, IDEM_ABSENT, 5, &out, &kept),
	    IDEM_ETOOBIG);
	idem_buf_reset(&out);
	res.status = 0;
	assert_int_equal(answer_encode(&res, IDEM_ABSENT, 5, &out, &kept),
	    IDEM_ESYNTAX);
	assert_int_equal(out.n, 0);
	idem_buf_free(&out);
	idem_response_free(&res);
}

/* Every prefix but the two that a record may hold. */
static void
cut_answers_are_corrupt(void **state)
{
	struct idem_span whole = IDEM_LIT(WHOLE);
	struct idem_response res;

	(void)state;
	idem_response_init(&res, 1024);
	for (size_t n = 0; n < whole.n; n++) {
		bool stored = n == sizeof(HEAD) - 1 ||
		    n == sizeof(HEAD) - 1 + 5;
		char *block;
		struct idem_span cut = exact_copy(span_first(whole, n), &block);

		assert_int_equal(answer_first(cut, &res), IDEM_ECORRUPT);
		assert_int_equal(answer_replay(cut, &res),
		    stored ? IDEM_OK : IDEM_ECORRUPT);
		free(block);
	}
	assert_int_equal(answer_replay(whole, &res), IDEM_ECORRUPT);
	assert_int_equal(answer_first(IDEM_LIT(WHOLE "x"), &res),
	    IDEM_ECORRUPT);
	assert_int_equal(answer_first(IDEM_ABSENT, &res), IDEM_ECORRUPT);
	assert_int_equal(answer_replay(IDEM_ABSENT, &res), IDEM_ECORRUPT);
	idem_response_free(&res);
}

static void
what_a_record_keeps(void **state)
{
	struct answer_parts parts;

	(void)state;
	assert_int_equal(answer_open(IDEM_LIT(HEAD "a\0b\r\n"), &parts),
	    IDEM_OK);
	assert_int_equal(parts.status, 201);
	assert_text(parts.fields, KEPT_LINES);
	assert_span(parts.body, IDEM_LIT("a\0b\r\n"));
	assert_int_equal(parts.body_bytes, 5);
	assert_false(parts.omitted);
	assert_int_equal(answer_open(IDEM_LIT(HEAD), &parts), IDEM_OK);
	assert_text(parts.fields, KEPT_LINES);
	assert_int_equal(parts.body.n, 0);
	assert_int_equal(parts.body_bytes, 5);
	assert_true(parts.omitted);
	assert_int_equal(answer_open(IDEM_LIT(HEAD "a"), &parts),
	    IDEM_ECORRUPT);
}

static void
flip(char *p, size_t bit)
{
	p[bit / 8] = (char)((unsigned char)p[bit / 8] ^ 1u << bit % 8);
}

/* A flipped bit gives another answer that is whole, or IDEM_ECORRUPT; in a
 * length it is always IDEM_ECORRUPT. */
static void
flipped_bits_are_told_or_harmless(void **state)
{
	struct idem_span stored = IDEM_LIT(HEAD "a\0b\r\n");
	size_t body_length = sizeof(HEAD) - 1 - 4, ncorrupt = 0;
	struct idem_response res;
	char *block;

	(void)state;
	stored = exact_copy(stored, &block);
	idem_response_init(&res, 1024);
	for (size_t bit = 0; bit < stored.n * 8; bit++) {
		enum idem_err err;

		flip(block, bit);
		err = answer_replay(stored, &res);
		if ((bit / 8 >= 2 && bit / 8 < 6) ||
		    (bit / 8 >= body_length && bit / 8 < body_length + 4))
			assert_int_equal(err, IDEM_ECORRUPT);
		else if (err == IDEM_OK)
			assert_int_equal(idem_response_err(&res), IDEM_OK);
		else
			assert_int_equal(err, IDEM_ECORRUPT);
		ncorrupt += err != IDEM_OK;
		flip(block, bit);
	}
	assert_true(ncorrupt > 64);
	assert_int_equal(answer_replay(stored, &res), IDEM_OK);
	idem_response_free(&res);
	free(block);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_known),
		cmocka_unit_test(first_and_replay),
		cmocka_unit_test(fields_kept_by_setting),
		cmocka_unit_test(an_empty_answer_is_whole),
		cmocka_unit_test(own_fields_are_taken_out),
		cmocka_unit_test(what_is_wrong_with_an_answer_comes_out),
		cmocka_unit_test(what_a_record_keeps),
		cmocka_unit_test(cut_answers_are_corrupt),
		cmocka_unit_test(flipped_bits_are_told_or_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
