/*
 * test_multipart.c - multipart/form-data: what is hashed, byte for byte, and
 * what is not taken for multipart at all.
 */
#include "tests.h"

#include "base/text.h"
#include "request/multipart.h"
#include "rows.h"

#define L(s) IDEM_LIT_INIT(s)
#define F "Content-Disposition: form-data; name=\"f\""
#define AAA L("multipart/form-data; boundary=AAA")

/* Of h so far; digest is printable. */
static struct idem_span
finish(struct sha256 *h, char digest[BASE64URL_BYTES(SHA256_BYTES)])
{
	unsigned char bytes[SHA256_BYTES];

	assert_int_equal(sha256_finish(h, bytes), IDEM_OK);
	base64url(bytes, sizeof bytes, digest);
	return (struct idem_span){ digest, BASE64URL_BYTES(SHA256_BYTES) };
}

/* The hash of a copy at the very end of its block. */
static enum idem_err
hash_parts(struct idem_span type, struct idem_span body, struct sha256 *h)
{
	char *type_block, *body_block;
	enum idem_err err;

	type = exact_copy(type, &type_block);
	body = exact_copy(body, &body_block);
	err = multipart_hash(type, body, NULL, NULL, h);
	free(type_block);
	free(body_block);
	return err;
}

/* want: the text that is hashed; absent where the body does not parse. */
static void
assert_parts(struct idem_span type, struct idem_span body,
    struct idem_span want)
{
	char got_text[BASE64URL_BYTES(SHA256_BYTES)];
	char want_text[BASE64URL_BYTES(SHA256_BYTES)];
	enum idem_err err, want_err = want.p == NULL ? IDEM_ESYNTAX : IDEM_OK;
	struct idem_span got;
	struct sha256 *h;

	assert_int_equal(sha256_create(&h), IDEM_OK);
	sha256_start(h);
	sha256_update(h, IDEM_LIT("before "));
	err = hash_parts(type, body, h);
	got = finish(h, got_text);
	sha256_start(h);
	sha256_update(h, IDEM_LIT("before "));
	sha256_update(h, want); /* nothing where it does not parse */
	if (err != want_err || !span_eq(got, finish(h, want_text)))
		fail_msg("%.*s\n%.*s\n: %s", IDEM_FMT(type), IDEM_FMT(body),
		    idem_strerror(err));
	sha256_destroy(&h);
}

static void
good_bodies(void **state)
{
	static const struct {
		struct idem_span type, body, want;
	} rows[] = {
		{ AAA, L("--AAA\r\n" F "\r\n\r\nvalue\r\n--AAA--\r\n"),
		    L("1:f,-,-,5:value,") },
		{ AAA, L("--AAA\r\n" F "; filename=\"a.bin\"\r\n"
		    "Content-Type: text/plain; charset=utf-8\r\n\r\n"
		    "\0\x01\xff\r\n--AAA\r\n"
		    "Content-Disposition: form-data; name=\"x\"\r\n\r\n1"
		    "\r\n--AAA--\r\n"),
		    L("1:f,5:a.bin,25:text/plain; charset=utf-8,3:\0\x01\xff,"
		    "1:x,-,-,1:1,") },
		/* nothing, and not there */
		{ AAA, L("--AAA\r\n" F "\r\n\r\n\r\n--AAA--"),
		    L("1:f,-,-,0:,") },
		{ AAA, L("--AAA\r\n" F "; filename=\"\"\r\nContent-Type:\r\n"
		    "\r\n\r\n--AAA--"), L("1:f,0:,0:,0:,") },
		{ AAA, L("--AAA\r\nContent-Disposition: form-data; name=\"\""
		    "\r\n\r\n\r\n--AAA--"), L("0:,-,-,0:,") },
		{ AAA, L("--AAA--"), L("") },
		{ AAA, L("--AAA--\r\n"), L("") },
		/* line ends before and behind */
		{ AAA, L("\r\n\n\r\n--AAA\r\n" F "\r\n\r\nv\r\n--AAA--"
		    "\r\n\r\n\n"), L("1:f,-,-,1:v,") },
		/* content that looks like more than it is */
		{ AAA, L("--AAA\r\n" F "\r\n\r\na--AAA--\r\n-AAA\r\n--AA\r\n"
		    "\r\n\r\n--AAA--"),
		    L("1:f,-,-,24:a--AAA--\r\n-AAA\r\n--AA\r\n\r\n,") },
		{ AAA, L("--AAA\r\n" F "\r\n\r\n\r\n\n\r\r\n--AAA--"),
		    L("1:f,-,-,4:\r\n\n\r,") },
		{ AAA, L("--AAA\r\n" F "\r\n\r\n--BBB\r\n--AAA--"),
		    L("1:f,-,-,5:--BBB,") },
		/* letters, space, order of headers and of parameters */
		{ AAA, L("--AAA\r\ncontent-TYPE:text/x \t\r\nCONTENT-"
		    "disposition:Form-Data;FileName=\"b\" \t;\t NAME=\"f\"\r\n"
		    "\r\nv\r\n--AAA--"), L("1:f,1:b,6:text/x,1:v,") },
		{ AAA, L("--AAA\r\nContent-Disposition: form-data ; ; name=f-1;"
		    "\r\n\r\nv\r\n--AAA--"), L("3:f-1,-,-,1:v,") },
		/* between the quotes as it is, but for \" */
		{ AAA, L("--AAA\r\nContent-Disposition: form-data; "
		    "name=\"a;b=\\\"c\\\" \xd0\xb6%22\\\"\"; "
		    "filename=\"C:\\dir\\x=y\"\r\n\r\nv\r\n--AAA--"),
		    L("14:a;b=\"c\" \xd0\xb6%22\",10:C:\\dir\\x=y,-,1:v,") },
		{ AAA, L("--AAA\r\nContent-Disposition: form-data; "
		    "name=\"\\\"\"; filename=\"\\\\\\\"\"\r\n\r\nv"
		    "\r\n--AAA--"), L("1:\",3:\\\\\",-,1:v,") },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_parts(rows[i].type, rows[i].body, rows[i].want);
}

/* Of the whole request, where the boundary stands. */
static void
boundaries(void **state)
{
#define SEVENTY "0123456789abcdefghijklmnopqrstuvwxyz" \
	"0123456789ABCDEFGHIJKLMNOPQRSTUVWX"
	static const struct {
		const char *type;
		const char *boundary; /* of the body */
		bool good;
	} rows[] = {
		{ "multipart/form-data; boundary=AAA", "AAA", true },
		{ "Multipart/Form-Data;BOUNDARY=AAA", "AAA", true },
		{ "multipart/form-data; boundary=\"AAA\"", "AAA", true },
		{ "multipart/form-data; charset=utf-8; boundary=AAA ; x=\"a;"
		    " boundary=BBB\"", "AAA", true },
		{ "multipart/form-data; boundary=----WebKit7MA4YWxk",
		    "----WebKit7MA4YWxk", true },
		{ "multipart/form-data; boundary=a'()+_,-./:=?9",
		    "a'()+_,-./:=?9", true },
		{ "multipart/form-data; boundary=\"a b\"", "a b", true },
		{ "multipart/form-data; boundary=-", "-", true },
		{ "multipart/form-data; boundary=" SEVENTY, SEVENTY, true },
		{ "multipart/form-data; boundary=" SEVENTY "Y", SEVENTY "Y",
		    false },
		{ "multipart/form-data; boundary=AAA", "AAB", false },
		{ "multipart/form-data; boundary=AAA", "aaa", false },
		{ "multipart/form-data; boundary=AA", "AAA", false },
		{ "multipart/form-data; boundary=AAAA", "AAA", false },
		{ "multipart/form-data", "AAA", false },
		{ "multipart/form-data;", "AAA", false },
		{ "multipart/form-data; boundary", "AAA", false },
		{ "multipart/form-data; boundary=", "", false },
		{ "multipart/form-data; boundary=\"\"", "", false },
		{ "multipart/form-data; boundary=\"AAA", "AAA", false },
		{ "multipart/form-data; boundary=\"AAA \"", "AAA ", false },
		{ "multipart/form-data; boundary=A*A", "A*A", false },
		{ "multipart/form-data; boundary=A\\A", "A\\A", false },
		{ "multipart/form-data; boundary=\"\\AAA\"", "AAA", false },
		{ "multipart/form-data; boundary =AAA", "AAA", false },
		{ "multipart/form-data; boundary= AAA", "AAA", false },
		{ "multipart/form-data; boundary=AAA x", "AAA", false },
		{ "multipart/form-data; boundary=AAA, x", "AAA,", false },
		{ "multipart/form-data; boundary=AAA; boundary=AAA", "AAA",
		    false },
		{ "multipart/form-data; boundary*=AAA", "AAA", false },
		{ "", "AAA", false },
	};
	char body[400];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(text_format(body, sizeof body,
		    "--%s\r\n" F "\r\n\r\nv\r\n--%s--\r\n", rows[i].boundary,
		    rows[i].boundary), IDEM_OK);
		assert_parts(span_of(rows[i].type), span_of(body),
		    rows[i].good ? IDEM_LIT("1:f,-,-,1:v,") : IDEM_ABSENT);
	}
}

static void
bad_bodies(void **state)
{
	static const struct idem_span rows[] = {
		L(""), L("\r\n"), L("not multipart"), L("--AAA"),
		L("--AAA\r\n"), L("--AAA-"), L("--AAA-x"),
		/* a preamble, an epilogue, padding */
		L("x\r\n--AAA\r\n" F "\r\n\r\nv\r\n--AAA--"),
		L(" --AAA\r\n" F "\r\n\r\nv\r\n--AAA--"),
		L("\r--AAA\r\n" F "\r\n\r\nv\r\n--AAA--"),
		L("--AAA\r\n" F "\r\n\r\nv\r\n--AAA--x"),
		L("--AAA\r\n" F "\r\n\r\nv\r\n--AAA--\r\nx"),
		L("--AAA\r\n" F "\r\n\r\nv\r\n--AAA--\r"),
		L("--AAA\r\n" F "\r\n\r\nv\r\n--AAA--\r\n\0"),
		L("--AAA\r\n" F "\r\n\r\nv\r\n--AAA--\r\n--AAA\r\n" F
		    "\r\n\r\nv\r\n--AAA--"),
		L("--AAA \r\n" F "\r\n\r\nv\r\n--AAA--"),
		L("--AAA\r\n" F "\r\n\r\nv\r\n--AAA-- "),
		/* the last boundary is missing, or not the last */
		L("--AAA\r\n" F "\r\n\r\nv"),
		L("--AAA\r\n" F "\r\n\r\nv\r\n"),
		L("--AAA\r\n" F "\r\n\r\nv\r\n--AAA"),
		L("--AAA\r\n" F "\r\n\r\nv\r\n--AAA\r\n"),
		L("--AAA\r\n" F "\r\n\r\nv\r\n--AAA-"),
		L("--AAA\r\n" F "\r\n\r\nv\r\n--AA"),
		L("--AAA\r\n" F "\r\n\r\nv--AAA--"),
		/* what only some readers take for a boundary */
		L("--AAA\r\n" F "\r\n\r\nv\n--AAA--"),
		L("--AAA\r\n" F "\r\n\r\nv\n--AAA\r\nw\r\n--AAA--"),
		L("--AAA\r\n" F "\r\n\r\nv\r--AAA--"),
		L("--AAA\r\n" F "\r\n\r\nv\r\n--AAAB\r\n--AAA--"),
		L("--AAA\r\n" F "\r\n\r\nv\r\n--AAA\n--AAA--"),
		L("--AAA\r\n" F "\r\n\r\n--AAA--"),
		L("--AAA\r\n" F "\r\n\r\n--AAA\r\n--AAA--"),
		L("--AAA\r\n" F "\r\n\r\n\n--AAA\r\n--AAA--"),
		/* line ends */
		L("--AAA\n" F "\n\nv\n--AAA--\n"),
		L("--AAA\n" F "\r\n\r\nv\r\n--AAA--"),
		L("--AAA\r\n" F "\n\r\nv\r\n--AAA--"),
		L("--AAA\r\n" F "\r\n\nv\r\n--AAA--"),
		L("--AAA\r\n" F "\r\r\n\r\nv\r\n--AAA--"),
		L("--AAA\r\n" F "\r; filename=\"x\"\r\n\r\nv\r\n--AAA--"),
		L("--AAA\r\n" F "\r\nContent-Type: a\rb\r\n\r\nv\r\n--AAA--"),
		L("--AAA\r\n" F "\r\nContent-Type: a/b\n\r\nv\r\n--AAA--"),
		/* headers */
		L("--AAA\r\n\r\nv\r\n--AAA--"),
		L("--AAA\r\n" F "\r\n--AAA--"),
		L("--AAA\r\n" F "\r\nv\r\n--AAA--"),
		L("--AAA\r\nContent-Type: text/plain\r\n\r\nv\r\n--AAA--"),
		L("--AAA\r\n" F "\r\nContent-Length: 1\r\n\r\nv\r\n--AAA--"),
		L("--AAA\r\nContent-Transfer-Encoding: binary\r\n" F
		    "\r\n\r\nv\r\n--AAA--"),
		L("--AAA\r\n" F "\r\n" F "\r\n\r\nv\r\n--AAA--"),
		L("--AAA\r\n" F "\r\nContent-Disposition: form-data;\r\n\r\n"
		    "v\r\n--AAA--"),
		L("--AAA\r\n" F "\r\nContent-Disposition: form-data; "
		    "filename=\"x\"\r\n\r\nv\r\n--AAA--"),
		L("--AAA\r\n" F "\r\nContent-Type: a/b\r\nContent-Type: a/b"
		    "\r\n\r\nv\r\n--AAA--"),
		L("--AAA\r\n" F ";\r\n filename=\"x\"\r\n\r\nv\r\n--AAA--"),
		L("--AAA\r\nContent-Disposition : form-data; name=\"f\"\r\n"
		    "\r\nv\r\n--AAA--"),
		L("--AAA\r\n" F "\r\nno colon\r\n\r\nv\r\n--AAA--"),
		L("--AAA\r\n" F "\r\nContent-Type: a\0b\r\n\r\nv\r\n--AAA--"),
		L("--AAA\r\nContent-Disposition: form-data; name=\"f\0\"\r\n"
		    "\r\nv\r\n--AAA--"),
		L("--AAA\r\nContent-Disposition: form-data; filename=\"x\"\r\n"
		    F "\r\n\r\nv\r\n--AAA--"),
		/* Content-Disposition */
#define D(value) L("--AAA\r\nContent-Disposition:" value \
	"\r\n\r\nv\r\n--AAA--")
		D(""), D("form-data"), D("form-data;"),
		D("form-data; filename=\"x\""), D("attachment; name=\"f\""),
		D("file; name=\"f\""), D("form-data name=\"f\""),
		D("form-data; name"), D("form-data; name="),
		D("form-data; name=\"f"), D("form-data; name=\"f\\\""),
		D("form-data; name=\"f\"x"), D("form-data; name=\"f\" x"),
		D("form-data; name=\"f\"; name=\"f\""),
		D("form-data; name=f; filename=\"a\"; filename=\"b\""),
		D("form-data; name=\"f\"; filename*=UTF-8''a"),
		D("form-data; name=\"f\"; size=3"),
		D("form-data; name*=f"), D("form-data; name =\"f\""),
		D("form-data; name= \"f\""), D("form-data; name='f g'"),
		D("form-data; name=a\"b\""), D("form-data; name=a/b"),
		D("form-data, name=\"f\""), D("form-data; =\"f\""),
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_parts((struct idem_span)AAA, rows[i], IDEM_ABSENT);
}

static void
prefixes_do_not_parse(void **state)
{
	static const struct idem_span body = L("\r\n--AAA\r\n" F
	    "; filename=\"a\\\"b\"\r\nContent-Type: a/b\r\n\r\nv\r\n--AAA\r\n"
	    "Content-Disposition: form-data; name=x\r\n\r\n\r\n--AAA--\r\n\n");

	(void)state;
	for (size_t n = 0; n + 4 <= body.n; n++)
		assert_parts((struct idem_span)AAA, span_first(body, n),
		    IDEM_ABSENT);
	assert_parts((struct idem_span)AAA, span_first(body, body.n - 2),
	    IDEM_ABSENT); /* ends in CR */
	for (size_t less = 0; less <= 3; less++)
		if (less != 2)
			assert_parts((struct idem_span)AAA,
			    span_first(body, body.n - less), IDEM_LIT(
			    "1:f,3:a\"b,3:a/b,1:v,1:x,-,-,0:,"));
}

/* The text of a request up to what stands for its body. */
static void
hash_request(struct sha256 *h, const struct row *row, const char *kind)
{
	sha256_start(h);
	sha256_update(h, row->cell[0]);
	sha256_update(h, IDEM_LIT(" "));
	sha256_update(h, row->cell[1]);
	sha256_update(h, IDEM_LIT("\n"));
	sha256_update(h, span_of(kind));
	sha256_update(h, IDEM_LIT("\n"));
}

static void
vectors_hold(void **state)
{
	char text[BASE64URL_BYTES(SHA256_BYTES)];
	size_t good = 0, raw = 0;
	struct sha256 *h;
	struct rows rows;
	struct row row;

	(void)state;
	assert_int_equal(sha256_create(&h), IDEM_OK);
	rows_open(&rows, "tests/vectors/fingerprints.tsv");
	while (rows_next(&rows, &row)) {
		struct idem_span body = unescape(row.cell[3]);

		if (!span_starts(row.cell[2], IDEM_LIT("multipart/")))
			continue;
		hash_request(h, &row, "multipart/form-data;parts");
		if (hash_parts(row.cell[2], body, h) == IDEM_OK)
			good++;
		else {
			hash_request(h, &row, "multipart/form-data");
			sha256_update(h, body);
			raw++;
		}
		assert_span(finish(h, text), row.cell[4]);
	}
	assert_int_equal(good, 4);
	assert_int_equal(raw, 2);
	rows_close(&rows);
	sha256_destroy(&h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_bodies),
		cmocka_unit_test(boundaries),
		cmocka_unit_test(bad_bodies),
		cmocka_unit_test(prefixes_do_not_parse),
		cmocka_unit_test(vectors_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
