/*
 * test_fingerprint.c - the published rows, and what they leave out.
 */
#include "tests.h"

#include "idem/fingerprint.h"
#include "rows.h"

static struct idem_fingerprinter f;

static void
hash(const char *const *vars, struct idem_span body, const char *want,
    const char *canonical)
{
	unsigned char digest[IDEM_FINGERPRINT_BYTES];
	char text[IDEM_FINGERPRINT_CHARS];
	struct idem_request req;
	struct idem_buf scratch;
	struct idem_span found;

	idem_buf_init(&scratch, 256);
	assert_int_equal(idem_request_init(&req, vars, &scratch), IDEM_OK);
	req.body = body;
	assert_int_equal(idem_fingerprint(&f, &req, digest, &found), IDEM_OK);
	base64url(digest, sizeof digest, text);
	assert_text(((struct idem_span){ text, sizeof text }), want);
	if (canonical == NULL || *canonical != '\0')
		assert_text(found, canonical);
	idem_buf_free(&scratch);
}
#define ANY "" /* for canonical: not looked at */

static void
line(struct idem_buf *b, const char *name, struct idem_span value)
{
	idem_buf_reset(b);
	idem_buf_puts(b, span_of(name));
	idem_buf_puts(b, value);
	idem_buf_putc(b, '\0');
	assert_int_equal(idem_buf_err(b), IDEM_OK);
}

static void
published_rows(void **state)
{
	struct idem_buf method, uri, type;
	struct rows rows;
	struct row row;
	size_t nrows = 0;

	(void)state;
	idem_buf_init(&method, 64);
	idem_buf_init(&uri, 64);
	idem_buf_init(&type, 128);
	rows_open(&rows, "tests/vectors/fingerprints.tsv");
	for (; rows_next(&rows, &row); nrows++) {
		char want[IDEM_FINGERPRINT_CHARS + 1] = "";
		const char *vars[4] = { NULL };

		assert_int_equal(row.ncells, 5);
		line(&method, "REQUEST_METHOD=", row.cell[0]);
		line(&uri, "REQUEST_URI=", row.cell[1]);
		line(&type, "CONTENT_TYPE=", row.cell[2]);
		vars[0] = method.p;
		vars[1] = uri.p;
		if (row.cell[2].n > 0)
			vars[2] = type.p;
		assert_int_equal(row.cell[4].n, IDEM_FINGERPRINT_CHARS);
		memcpy(want, row.cell[4].p, row.cell[4].n);
		hash(vars, unescape(row.cell[3]), want, ANY);
	}
	assert_int_equal(nrows, 29);
	rows_close(&rows);
	idem_buf_free(&method);
	idem_buf_free(&uri);
	idem_buf_free(&type);
}

static void
the_canonical_form_comes_out(void **state)
{
	static const struct {
		const char *type, *body, *want, *canonical;
	} rows[] = {
		{ "CONTENT_TYPE=application/json", "{ \"b\":1.0,\"a\":2}",
		    "LlmlWVkyd6FZY9JxwfW_wo9xpcK74wAS6XOEnz3uUbQ",
		    "{\"a\":2,\"b\":1}" },
		{ "CONTENT_TYPE=APPLICATION/Json ; x=y", "1e20",
		    "euXCquAZFaqkwQnigy1lx9EWUESF5bTUI9toWhKRrnQ",
		    "100000000000000000000" },
		{ "CONTENT_TYPE=application/merge-patch+json", "{}",
		    "WWT_RW72kqzNxLDRfAeAxsuYcRt3x5ZnKIxE-VWTB0w",
		    "{}" },
		{ "CONTENT_TYPE=application/json", "{\"a\":1,\"a\":1}",
		    "g5gPwubPQnWPMOoSELvszJHHV2dTemxYAXoPnZIKwjE", NULL },
		{ "CONTENT_TYPE=application/json", "",
		    "5-h8eWTkVXbWC5r8-R86jzxWFfJE4zhjTIH22i_9288", NULL },
		{ "CONTENT_TYPE=text/json", "{}",
		    "cZE5tJuqn_QePRNYoAY-8alRup1oPjzGSY_wJy4Q_-A", NULL },
		{ "CONTENT_TYPE=text/x+json", "{}",
		    "2SAJ1w77OKsb5dvGUXAK9kAbgCrrX7jqkBcq3yJpROw", NULL },
		{ "CONTENT_TYPE=application/+json", "{}",
		    "-7SPViY1i68B5shKo6AEIJS3EpofzJVJnTprt6Oc_YQ", "{}" },
		{ "CONTENT_TYPE=+json", "{}",
		    "E135BpQ5RP7poFNbHZ1aUvEMqifNPUT7WUjUup-GorU", NULL },
		{ "X=", "{}",
		    "7wSKBz2a5E5SHYvRP10i4UduOGphMbLCqLjzDvz5Lr8", NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *vars[] = { "REQUEST_METHOD=POST",
		    "REQUEST_URI=/t", rows[i].type, NULL };

		hash(vars, span_of(rows[i].body), rows[i].want,
		    rows[i].canonical);
	}
}

static void
an_absent_body_is_an_empty_one(void **state)
{
	const char *vars[] = { "REQUEST_METHOD=POST", "REQUEST_URI=/vazifalar",
	    NULL };

	(void)state;
	hash(vars, IDEM_ABSENT, "jhZr5vYvWdX7fVp5J5hLhider4tEz7T1ZJswloqVrjQ",
	    NULL);
	hash(vars, IDEM_LIT(""), "jhZr5vYvWdX7fVp5J5hLhider4tEz7T1ZJswloqVrjQ",
	    NULL);
}

/* A media type longer than any buffer on the way, and a NUL in the body. */
static void
long_types_and_any_bytes(void **state)
{
	const char *vars[] = { "REQUEST_METHOD=POST", "REQUEST_URI=/t",
	    "CONTENT_TYPE=X/"
	    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	    "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB", NULL };

	(void)state;
	hash(vars, IDEM_LIT("a\0b"),
	    "12dxUwWVtTrBDMK2CAyrdyIWXKTWuxvMHFCS_XU06aU", NULL);
	hash(vars, IDEM_LIT("a\0c"),
	    "iSBNjURPOpvuolUcyC7CSGZrleaUfRX_cziYDrCoRAI", NULL);
}

/* The scanner works in chunks, also where bodies are shorter than one. */
static void
a_small_limit_is_enough(void **state)
{
	const char *vars[] = { "REQUEST_METHOD=POST", "REQUEST_URI=/t",
	    "CONTENT_TYPE=application/json", NULL };
	struct idem_fingerprinter kept = f;

	(void)state;
	assert_int_equal(idem_fingerprinter_init(&f, 4), IDEM_OK);
	hash(vars, IDEM_LIT("1e20"),
	    "euXCquAZFaqkwQnigy1lx9EWUESF5bTUI9toWhKRrnQ",
	    "100000000000000000000");
	idem_fingerprinter_free(&f);
	f = kept;
}

static int
make(void **state)
{
	(void)state;
	return idem_fingerprinter_init(&f, 4096) != IDEM_OK;
}

static int
drop(void **state)
{
	(void)state;
	idem_fingerprinter_free(&f);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_rows),
		cmocka_unit_test(the_canonical_form_comes_out),
		cmocka_unit_test(an_absent_body_is_an_empty_one),
		cmocka_unit_test(long_types_and_any_bytes),
		cmocka_unit_test(a_small_limit_is_enough),
	};

	return cmocka_run_group_tests(tests, make, drop);
}
