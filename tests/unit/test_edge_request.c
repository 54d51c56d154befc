/*
 * test_edge_request.c - keys and bodies against pages that cannot be touched:
 * each row, and every prefix of it.
 */
#include "tests.h"

#include "edge.h"
#include "idem/fingerprint.h"
#include "idem/key.h"
#include "request/form.h"
#include "request/multipart.h"

#define VECTORS "tests/vectors/"

static void
say_span(struct idem_buf *said, struct idem_span s)
{
	idem_buf_puts(said, s.p == NULL ? IDEM_LIT("absent") : s);
	idem_buf_putc(said, '\n');
}

/* --- the key ---------------------------------------------------------------*/

static void
say_key(struct idem_span in, struct idem_buf *said)
{
	struct idem_key key;
	enum idem_err err = idem_key_parse(in, &key);

	idem_buf_printf(said, "%d ", err);
	idem_buf_put(said, key.b, key.n);
}

/* What was accepted is accepted in quotes, as the same key. */
static bool
key_holds(const struct edge_case *c)
{
	char memory[2 * IDEM_KEY_MAX + 2];
	struct idem_span key = span_from(c->said, 2);
	struct idem_key again;
	struct idem_buf quoted;

	if (c->said.p[0] != '0')
		return key.n == 0;
	idem_buf_over(&quoted, memory, sizeof memory);
	idem_buf_putc(&quoted, '"');
	for (size_t i = 0; i < key.n; i++) {
		if (key.p[i] == '"' || key.p[i] == '\\')
			idem_buf_putc(&quoted, '\\');
		idem_buf_putc(&quoted, key.p[i]);
	}
	idem_buf_putc(&quoted, '"');
	return key.n > 0 && key.n <= IDEM_KEY_MAX &&
	    idem_key_parse(idem_buf_span(&quoted), &again) == IDEM_OK &&
	    span_eq(key, (struct idem_span){ again.b, again.n });
}

static void
keys(void **state)
{
	static const struct edge_grammar g = { "key", false, say_key,
	    key_holds };

	(void)state;
	edge_cells(&g, VECTORS "keys.tsv", 0, true);
}

/* --- JSON ------------------------------------------------------------------*/

static struct idem_json_work work;

/* "code at canonical" */
static void
say_json(struct idem_span in, struct idem_buf *said)
{
	struct idem_buf out;
	size_t at = 0;
	enum idem_err err;

	idem_buf_init(&out, IDEM_JSON_ROOM(in.n));
	err = idem_json_canonical(&work, in, &out, &at);
	if (err == IDEM_OK)
		at = in.n;
	idem_buf_printf(said, "%d %s ", err, err != IDEM_ESYNTAX ? "whole" :
	    at < in.n ? "inside" : "cut");
	idem_buf_puts(said, idem_buf_span(&out));
	idem_buf_free(&out);
}

/*
 * Of a good text no prefix has a byte that cannot stand there; and what was
 * accepted is accepted in its canonical form, which is itself.
 */
static bool
json_holds(const struct edge_case *c)
{
	struct idem_buf again;
	bool same;

	if (!span_starts(c->said_whole, IDEM_LIT("2 ")) &&
	    span_starts(c->said, IDEM_LIT("2 inside")))
		return false;
	if (c->said.p[0] != '0')
		return true;
	idem_buf_init(&again, 1 << 20);
	say_json(span_from(c->said, 8), &again);
	same = span_eq(c->said, idem_buf_span(&again));
	idem_buf_free(&again);
	return same;
}

static void
json(void **state)
{
	static const struct edge_grammar g = { "JSON", false, say_json,
	    json_holds };

	(void)state;
	idem_json_work_init(&work);
	edge_cells(&g, VECTORS "json_canonical.tsv", 0, false);
	edge_cells(&g, VECTORS "fingerprints.tsv", 3, true);
	edge_prefixes(&g, IDEM_LIT("{\"\xd1\x8f\\ud83d\\ude00\":[-0.1e-20,"
	    "true,false,null,\"\\b\\f\\n\\r\\t\\/\",{}]} \r\n\t"));
	idem_json_work_free(&work);
}

/* --- the fingerprint -------------------------------------------------------*/

#define TYPE(t) "CONTENT_TYPE=" t
static const char *const types[] = { TYPE("application/json"),
	TYPE("application/x-www-form-urlencoded"),
	TYPE("multipart/form-data; boundary=AAA"), TYPE("text/plain"),
	"NO_TYPE=" };

/* Every prefix of a body as each type, whole and as a list of its places. */
static void
say_fingerprint(struct idem_span in, struct idem_buf *said)
{
	static const struct idem_selection picked = {
		.only = IDEM_LIT_INIT("json:/a form:f"),
		.ignore = IDEM_LIT_INIT("json:/b form:g"),
	};
	struct idem_fingerprinter f;
	struct idem_buf scratch;

	assert_int_equal(idem_fingerprinter_init(&f, in.n + 16), IDEM_OK);
	idem_buf_init(&scratch, 1024);
	for (size_t i = 0; i < COUNT(types); i++) {
		const char *const vars[] = { "REQUEST_METHOD=POST",
			"REQUEST_URI=/a?f=1", types[i], NULL };
		unsigned char hash[IDEM_FINGERPRINT_BYTES];
		struct idem_span canonical = IDEM_ABSENT;
		struct idem_request req;

		assert_int_equal(idem_request_init(&req, vars, &scratch),
		    IDEM_OK);
		req.body = in;
		assert_int_equal(idem_fingerprint(&f, &req, hash, &canonical),
		    IDEM_OK);
		idem_buf_put(said, hash, sizeof hash);
		say_span(said, canonical);
		assert_int_equal(idem_fingerprint_selected(&f, &req, &picked,
		    hash, &canonical), IDEM_OK);
		idem_buf_put(said, hash, sizeof hash);
	}
	idem_buf_free(&scratch);
	idem_fingerprinter_free(&f);
}

#define PART "Content-Disposition: form-data; name=\"f\""
static const struct idem_span parts[] = {
	IDEM_LIT_INIT("--AAA\r\n" PART "\r\n\r\nvalue\r\n--AAA--\r\n"),
	IDEM_LIT_INIT("\r\n--AAA\r\n" PART "; filename=\"a\\\"b.bin\"\r\n"
	    "Content-Type: text/plain\r\n\r\n\0\xff\r\n--AAA\r\n"
	    "content-disposition:Form-Data;NAME=g\r\n\r\n\r\n--AA\r\n"
	    "--AAA--\r\n\r\n"),
	IDEM_LIT_INIT("--AAA--"),
	IDEM_LIT_INIT("--AAA \r\n" PART "\r\n\r\nv\r\n--AAA--"),
	IDEM_LIT_INIT("--AAA\r\nX: y\r\n" PART "\r\n\r\nv\r\n--AAA--"),
};

static void
fingerprints(void **state)
{
	static const struct edge_grammar g = { "body", false, say_fingerprint,
	    NULL };

	(void)state;
	for (size_t i = 0; i < COUNT(parts); i++)
		edge_prefixes(&g, parts[i]);
	edge_prefixes(&g, IDEM_LIT("f=1&g=%41%4&+=+&&a%3db=c&f"));
	edge_prefixes(&g, IDEM_LIT("{\"a\":{\"b\":[1,2]},\"b\":\"x\"}"));
}

static void
say_parts(struct idem_span type, struct idem_span body, struct idem_buf *said)
{
	struct multipart m;
	struct multipart_part part;

	if (!multipart_open(&m, type, body)) {
		idem_buf_puts(said, IDEM_LIT("raw"));
		return;
	}
	while (multipart_next(&m, &part)) {
		say_span(said, part.name);
		say_span(said, part.filename);
		say_span(said, part.type);
		say_span(said, part.content);
	}
}

static void
say_multipart(struct idem_span in, struct idem_buf *said)
{
	say_parts(IDEM_LIT("multipart/form-data; boundary=AAA"), in, said);
}

/* The form where a boundary of AA, A or nothing was cut out of its type. */
static void
say_type(struct idem_span in, struct idem_buf *said)
{
	say_parts(in, parts[0], said);
}

/* Once the last boundary was there, only line ends follow: the same form. */
static bool
multipart_holds(const struct edge_case *c)
{
	return span_eq(c->said, IDEM_LIT("raw")) ||
	    span_eq(c->said, c->said_whole);
}

static void
multiparts(void **state)
{
	static const struct edge_grammar g = { "multipart", false,
	    say_multipart, multipart_holds };
	static const struct edge_grammar type = { "content type", false,
	    say_type, NULL };

	(void)state;
	for (size_t i = 0; i < COUNT(parts); i++)
		edge_prefixes(&g, parts[i]);
	edge_prefixes(&type, IDEM_LIT("Multipart/Form-Data; x=\"a\\\";"
	    "boundary=b\" ; boundary=AAA ;y"));
	edge_prefixes(&type, IDEM_LIT("multipart/form-data;boundary=\"A\\"));
	edge_prefixes(&type, IDEM_LIT("multipart/form-data;boundary=\"AAA\""));
}

/* --- forms -----------------------------------------------------------------*/

static void
say_form(struct idem_span in, struct idem_buf *said)
{
	struct idem_span rest = in, raw, name, value;

	while (form_next(&rest, &raw, &name, &value)) {
		struct spelled n = { name, SPELLED_FORM };
		struct spelled v = { value, SPELLED_FORM };

		spelled_put(n, said);
		idem_buf_putc(said, '=');
		spelled_put(v, said);
		idem_buf_putc(said, '\n');
	}
}

/* All pairs but the last are those of the whole row. */
static bool
form_holds(const struct edge_case *c)
{
	return span_starts(c->said_whole, edge_upto(edge_upto(c->said, '\n'),
	    '\n'));
}

static void
forms(void **state)
{
	static const struct edge_grammar g = { "form", false, say_form,
	    form_holds };

	(void)state;
	edge_prefixes(&g, IDEM_LIT("a=1&b=%41%4&c+d=+&&=x&e&a=2&%"));
	edge_prefixes(&g, IDEM_LIT("matn=Non%20olish&teg=uy&bajarildi="));
	edge_prefixes(&g, IDEM_LIT("a=\0b&\xff=%00"));
	assert_in_range(edge_count(), 3000, 1000000);
	print_message("%lu prefixes\n", edge_count());
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys),
		cmocka_unit_test(json),
		cmocka_unit_test(fingerprints),
		cmocka_unit_test(multiparts),
		cmocka_unit_test(forms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
