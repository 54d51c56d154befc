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

static enum idem_err
encode(const struct idem_response *res, const char *keep_headers,
    size_t max_body_bytes, struct idem_buf *out, size_t *kept)
{
	const struct answer_rules rules = {
		.keep_headers = span_of(keep_headers),
		.max_body_bytes = max_body_bytes,
	};

	return answer_encode(res, &rules, out, kept);
}

static enum idem_err
replay(struct idem_span bytes, struct idem_response *res)
{
	static const struct answer_reader reader = { .person = false };

	return answer_replay(bytes, &reader, res);
}

static void
bytes_are_known(void **state)
{
	struct idem_response res;
	struct idem_buf out;
	size_t kept = 0;

	(void)state;
	build(&res);
	idem_buf_init(&out, 1024);
	assert_int_equal(encode(&res, NULL, 5, &out, &kept),
	    IDEM_OK);
	assert_span(idem_buf_span(&out), IDEM_LIT(WHOLE));
	assert_int_equal(kept, sizeof(HEAD) - 1 + 5);
	/* one byte over the limit: the record ends before the body */
	idem_buf_reset(&out);
	idem_buf_putc(&out, 'x');
	assert_int_equal(encode(&res, NULL, 4, &out, &kept),
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
	assert_int_equal(replay(IDEM_LIT(HEAD "a\0b\r\n"), &res),
	    IDEM_OK);
	assert_int_equal(res.status, 201);
	assert_text(idem_buf_span(&res.fields), KEPT_LINES
	    "Cache-Control: no-store\r\nIdempotency-Replayed: true\r\n");
	assert_span(idem_buf_span(&res.body), IDEM_LIT("a\0b\r\n"));
	assert_int_equal(replay(IDEM_LIT(HEAD), &res), IDEM_OK);
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
	assert_int_equal(encode(&res, "set-cookie,Idempotency-Replayed",
	    5, &out, &kept),
	    IDEM_OK);
	assert_int_equal(replay(span_first(idem_buf_span(&out), kept),
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
	assert_int_equal(encode(&res, NULL, 0, &out, &kept),
	    IDEM_OK);
	assert_int_equal(kept, 10);
	assert_span(span_first(idem_buf_span(&out), kept),
	    ((struct idem_span){ bytes, 10 }));
	assert_int_equal(replay(span_first(idem_buf_span(&out), kept),
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
	assert_int_equal(encode(&res, NULL, 5, &out, &kept),
	    IDEM_ETOOBIG);
	idem_buf_reset(&out);
	res.status = 0;
	assert_int_equal(encode(&res, NULL, 5, &out, &kept),
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
		assert_int_equal(replay(cut, &res),
		    stored ? IDEM_OK : IDEM_ECORRUPT);
		free(block);
	}
	assert_int_equal(replay(whole, &res), IDEM_ECORRUPT);
	assert_int_equal(answer_first(IDEM_LIT(WHOLE "x"), &res),
	    IDEM_ECORRUPT);
	assert_int_equal(answer_first(IDEM_ABSENT, &res), IDEM_ECORRUPT);
	assert_int_equal(replay(IDEM_ABSENT, &res), IDEM_ECORRUPT);
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
		err = replay(stored, &res);
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
	assert_int_equal(replay(stored, &res), IDEM_OK);
	idem_response_free(&res);
	free(block);
}

/* The last one's value, and how many there are. */
static struct idem_span
cache_control(const struct idem_response *res, size_t *n)
{
	struct idem_span lines = idem_buf_span(&res->fields), name, value;
	struct idem_span found = IDEM_ABSENT;

	*n = 0;
	while (idem_fields_next(&lines, &name, &value))
		if (span_eq(name, IDEM_LIT("Cache-Control"))) {
			found = value;
			++*n;
		}
	return found;
}

/* Who wrote what, who asks again, and the Cache-Control of the replay. */
static void
cache_control_of_replays(void **state)
{
	static const struct {
		const char *type, *stored; /* NULL: none */
		bool person;
		const char *named;         /* IDEM_KEEP_HEADERS */
		const char *want;
	} rows[] = {
		{ "text/html; charset=utf-8", NULL, true, NULL,
		    "private, no-cache" },
		{ "TEXT/HTML", "max-age=60", true, NULL, "max-age=60" },
		{ "application/xhtml+xml", "no-store", true, NULL,
		    "no-store" },
		{ "text/html", NULL, false, NULL, "no-store" },
		{ "text/html", "max-age=60", false, NULL, "no-store" },
		{ "application/json", "max-age=60", true, NULL, "no-store" },
		{ "application/json", "max-age=60", false, "Cache-Control",
		    "max-age=60" },
		{ "application/json", NULL, false, "Cache-Control",
		    "no-store" },
		{ "text/html", NULL, true, "Cache-Control",
		    "private, no-cache" },
		{ NULL, "max-age=60", true, NULL, "no-store" },
		{ "text/htmlx", NULL, true, NULL, "no-store" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct answer_reader reader = { .person = rows[i].person,
			.keep_headers = span_of(rows[i].named) };
		struct idem_response res;
		struct idem_buf out, want;
		size_t kept, n;

		idem_response_init(&res, 512);
		idem_buf_init(&out, 512);
		idem_buf_init(&want, 512);
		res.status = 200;
		if (rows[i].stored != NULL)
			idem_response_field(&res, IDEM_LIT("Cache-Control"),
			    span_of(rows[i].stored));
		if (rows[i].type != NULL)
			idem_response_field(&res, IDEM_LIT("X-Other"),
			    IDEM_LIT("1"));
		if (rows[i].type != NULL)
			idem_response_field(&res, IDEM_LIT("Content-Type"),
			    span_of(rows[i].type));
		assert_int_equal(encode(&res, rows[i].named, 9, &out, &kept),
		    IDEM_OK);
		assert_int_equal(answer_replay(span_first(idem_buf_span(&out),
		    kept), &reader, &res), IDEM_OK);
		idem_buf_printf(&want, "%s", rows[i].want);
		assert_span(cache_control(&res, &n), idem_buf_span(&want));
		assert_int_equal(n, 1);
		idem_buf_free(&want);
		idem_buf_free(&out);
		idem_response_free(&res);
	}
}

/* At the end of each replay. */
#define MARKED "Cache-Control: no-store\r\nIdempotency-Replayed: true\r\n"

static void
cors_fields_come_back_to_their_origin(void **state)
{
	static const struct {
		bool keep;
		const char *first, *again;
		bool back;
	} rows[] = {
		{ true, "https://a.uz", "https://a.uz", true },
		{ true, "https://a.uz", "https://b.uz", false },
		{ true, "https://a.uz", NULL, false },
		{ true, NULL, "https://a.uz", false },
		{ true, NULL, NULL, true },
		{ true, "", NULL, true },
		{ true, "https://a\r\nX: y", "https://a\r\nX: y", false },
		{ false, "https://a.uz", "https://a.uz", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct answer_rules rules = { .max_body_bytes = 9,
			.keep_cors = rows[i].keep,
			.origin = span_of(rows[i].first) };
		struct answer_reader reader = {
			.origin = span_of(rows[i].again) };
		struct idem_response res;
		struct idem_buf out;
		size_t kept;

		idem_response_init(&res, 512);
		idem_buf_init(&out, 512);
		res.status = 200;
		idem_response_field(&res,
		    IDEM_LIT("Access-Control-Allow-Origin"), IDEM_LIT("o"));
		idem_response_field(&res, IDEM_LIT("Vary"), IDEM_LIT("Origin"));
		assert_int_equal(answer_encode(&res, &rules, &out, &kept),
		    IDEM_OK);
		assert_int_equal(answer_first(idem_buf_span(&out), &res),
		    IDEM_OK);
		assert_null(memmem(res.fields.p, res.fields.n,
		    "Idempotency-", 12));
		assert_int_equal(answer_replay(span_first(idem_buf_span(&out),
		    kept), &reader, &res), IDEM_OK);
		assert_text(idem_buf_span(&res.fields), rows[i].back ?
		    "Access-Control-Allow-Origin: o\r\n"
		    "Vary: Origin\r\n" MARKED :
		    "Vary: Origin\r\n" MARKED);
		idem_buf_free(&out);
		idem_response_free(&res);
	}
}

static void
without_cors_no_origin_is_kept(void **state)
{
	struct answer_rules rules = { .max_body_bytes = 9, .keep_cors = true,
		.origin = IDEM_LIT("https://a.uz") };
	struct idem_response res;
	struct idem_buf out;
	size_t kept;

	(void)state;
	idem_response_init(&res, 64);
	idem_buf_init(&out, 64);
	res.status = 204;
	assert_int_equal(answer_encode(&res, &rules, &out, &kept), IDEM_OK);
	assert_int_equal(kept, 10);
	idem_buf_free(&out);
	idem_response_free(&res);
}

static void
a_body_elsewhere_is_omitted(void **state)
{
	static const struct { uint64_t n; const char *bytes; } rows[] = {
		{ 1, "\0\0\0\1" },
		{ 5242880, "\0\x50\0\0" },
		{ UINT64_C(0x1234567890), "\xff\xff\xff\xff" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct idem_response res;
		struct idem_buf out;
		size_t kept;

		idem_response_init(&res, 512);
		idem_buf_init(&out, 512);
		res.status = 200;
		res.elsewhere_bytes = rows[i].n;
		idem_response_field(&res, IDEM_LIT("Content-Type"),
		    IDEM_LIT("a/b"));
		idem_response_field(&res, IDEM_LIT("ETag"), IDEM_LIT("\"e\""));
		assert_int_equal(encode(&res, NULL, SIZE_MAX, &out, &kept),
		    IDEM_OK);
		assert_memory_equal(out.p + kept - 4, rows[i].bytes, 4);
		assert_int_equal(replay(span_first(idem_buf_span(&out), kept),
		    &res), IDEM_OK);
		assert_true(res.elsewhere_bytes == 0);
		assert_text(idem_buf_span(&res.fields), "ETag: \"e\"\r\n"
		    "Cache-Control: no-store\r\nIdempotency-Replayed: true\r\n"
		    "Idempotency-Body: omitted\r\n");
		idem_buf_free(&out);
		idem_response_free(&res);
	}
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
		cmocka_unit_test(cache_control_of_replays),
		cmocka_unit_test(cors_fields_come_back_to_their_origin),
		cmocka_unit_test(without_cors_no_origin_is_kept),
		cmocka_unit_test(a_body_elsewhere_is_omitted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
