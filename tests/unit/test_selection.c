/*
 * test_selection.c - what counts in the fingerprint, by settings and by the
 * place of the key.  The hashes are of texts written down by hand.
 */
#include "tests.h"

#include "request/selection.h"

static void
settings_are_checked(void **state)
{
	static const struct { const char *text; bool only, ignore; } rows[] = {
		{ "body", true, false },
		{ "none", true, false },
		{ "json:/a", true, true },
		{ " json:/a  form:b query:c ", true, true },
		{ "", false, false },
		{ "Body", false, false },
		{ "body none", false, false },
		{ "body json:/a", false, false },
		{ "header:X-A", false, false },
		{ "cookie:c", false, false },
		{ "json:a", false, false },
		{ "form:a+form:b", true, true }, /* a name with a plus */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct idem_span text = span_of(rows[i].text);

		assert_int_equal(selection_is_good(text), rows[i].only);
		assert_int_equal(selection_ignore_is_good(text),
		    rows[i].ignore);
	}
}

static const struct row {
	const char *only, *ignore, *key; /* NULL: not set */
	const char *uri, *type, *body;
	const char *want;
} rows[] = {
	/* urlencoded bodies are raw under a header key */
	{ NULL, NULL, NULL, "REQUEST_URI=/p?a=1",
	    "CONTENT_TYPE=application/x-www-form-urlencoded", "a=1&b=2",
	    "xW5BXS2acRZY1a0jyn8fXUiHHl3q-p-c6zohjHXsDhc" },
	{ "body", NULL, NULL, "REQUEST_URI=/p",
	    "CONTENT_TYPE=application/json", "{\"b\":1.0,\"a\":2}",
	    "DvIu52UZqlik-PWRrhtwvoYBzpW0g7HYPjBEEqerNAc" },
	/* and pairs without the key's own field under others */
	{ NULL, NULL, "form:k", "REQUEST_URI=/p",
	    "CONTENT_TYPE=application/x-www-form-urlencoded",
	    "b=x+y&k=1&a=%41&c",
	    "Xb5L7FdNTDoEb2Y0F3_a5K_4x6AY7uwZ7tDqIP4TIWM" },
	{ NULL, NULL, "form:k", "REQUEST_URI=/p",
	    "CONTENT_TYPE=application/x-www-form-urlencoded", "k=1",
	    "mADNywc3YfZWYlgqgzYgnxoK82Iqk470V7jce9Tm41I" },
	{ NULL, NULL, "form:k", "REQUEST_URI=/p",
	    "CONTENT_TYPE=application/x-www-form-urlencoded", "",
	    "AgeLLw3iCqPegeRifZ1gzjLJTCptjxvQtnppqw6cqv4" },
	{ NULL, NULL, "query:k", "REQUEST_URI=/p?k=1&a=2",
	    "CONTENT_TYPE=application/x-www-form-urlencoded", "a=1",
	    "TiazKj99_nKe8L-gUqNKlU0r2_9vUoWplLe8ZIjJslw" },
	{ NULL, NULL, "query:k", "REQUEST_URI=/p?k=1", NULL, "",
	    "AgeLLw3iCqPegeRifZ1gzjLJTCptjxvQtnppqw6cqv4" },
	{ NULL, NULL, "cookie:k", "REQUEST_URI=/p?k=1",
	    "CONTENT_TYPE=application/x-www-form-urlencoded", "a=%20",
	    "a4ebdotwnZywYirII4jDzyndL7ww4pPFbq7MP27J_Eg" },
	{ NULL, NULL, "json:/method+json:/params/id", "REQUEST_URI=/p",
	    "CONTENT_TYPE=application/json",
	    "{\"method\":\"M\",\"params\":{\"id\":\"1\",\"sum\":5},\"id\":7}",
	    "y14b-rZTnR-_CQsTjTZchkHdWe56giGq0zaXXhAgh78" },
	{ NULL, NULL, "form:k", "REQUEST_URI=/p",
	    "CONTENT_TYPE=multipart/form-data; boundary=B",
	    "--B\r\nContent-Disposition: form-data; name=\"k\"\r\n\r\n1\r\n--B"
	    "\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--B--",
	    "d7MjqFzJFJeZFL8Ih65LIuT4sJqMDbbjV_04YuBV2ls" },
	/* what is ignored goes first */
	{ NULL, "form:csrf", NULL, "REQUEST_URI=/p",
	    "CONTENT_TYPE=application/x-www-form-urlencoded", "csrf=9&a=1",
	    "v0afIr_oN9EkOist4Of8sImDrr8G0lccTFnpWR79_pQ" },
	{ NULL, "form:csrf  form:t", "form:k", "REQUEST_URI=/p",
	    "CONTENT_TYPE=application/x-www-form-urlencoded",
	    "k=0&csrf=9&a=1&t=5",
	    "v0afIr_oN9EkOist4Of8sImDrr8G0lccTFnpWR79_pQ" },
	{ NULL, "form:csrf", NULL, "REQUEST_URI=/p",
	    "CONTENT_TYPE=multipart/form-data; boundary=B",
	    "--B\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\n1"
	    "\r\n--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx"
	    "\r\n--B--", "d7MjqFzJFJeZFL8Ih65LIuT4sJqMDbbjV_04YuBV2ls" },
	/* a body that does not parse is raw */
	{ NULL, "form:csrf", NULL, "REQUEST_URI=/p",
	    "CONTENT_TYPE=multipart/form-data; boundary=B",
	    "--B\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\n1"
	    "\r\n", "AyTY1KQKjLm_h9-Q40-9IR6k3KWSmwNuIwgywYZrrvM" },
	{ NULL, "json:/ts", NULL, "REQUEST_URI=/p",
	    "CONTENT_TYPE=application/json", "{\"ts\":1,\"a\":[1,2]}",
	    "-cSlBnh1kKR15VsQHyBTsIcRXtzIBl9KabCDG-nNras" },
	{ NULL, "json:/a/0 json:/a/1/b json:/none", NULL, "REQUEST_URI=/p",
	    "CONTENT_TYPE=application/json", "{\"a\":[1,{\"b\":1,\"c\":2}]}",
	    "Y_z-dtJ-X21R0gm-jG3I3iUKIek4r19RT-XlHr6HVJc" },
	{ NULL, "json:/ts", NULL, "REQUEST_URI=/p",
	    "CONTENT_TYPE=application/json", "{\"ts\":1,\"ts\":2}",
	    "EXyCvQw3ThxL772Qk_Uoxe8znK3VtJW_SYwu4JWdNVA" },
	{ NULL, "json:/ts", NULL, "REQUEST_URI=/p", "CONTENT_TYPE=text/json",
	    "{\"ts\":1,\"a\":1}",
	    "MlwNKMbd8DHP4kd7Dj-IhN2TNOXO36HANlU9EdlWiRo" },
	{ NULL, NULL, NULL, "REQUEST_URI=/p", "CONTENT_TYPE=text/json",
	    "{\"a\": 1}", "VVFi8Ar1K8smQQpPaqYWLFER2ujsPfGAn7EtcZrq5Gs" },
	{ NULL, "query:_", NULL, "REQUEST_URI=/p?a=1&_=5&b=%32",
	    "CONTENT_TYPE=application/json", "1",
	    "x7hFEga4FNqwUpsKpmN07qKFEQwyjni0Qcgqj27tFGs" },
	{ NULL, "query:_", NULL, "REQUEST_URI=/p?_=5",
	    "CONTENT_TYPE=application/json", "1",
	    "snmPfxnR0IrYeTHi6rtuAau6kNpJXOOkHW1QvE9ZvrQ" },
	{ NULL, "query:_", NULL, "REQUEST_URI=/p?x=5",
	    "CONTENT_TYPE=application/json", "1",
	    "2g0xfmfRf3RR5UqCikUY5IqGRV_elzWQTSOILF3RkOA" },
	/* none */
	{ "none", NULL, NULL, "REQUEST_URI=/p?a=1",
	    "CONTENT_TYPE=application/json", "{\"a\":1}",
	    "fbEtG3npQqOCTGW1lhG7k6fCEhesW6kJA0sJYNVUmE4" },
	{ "none", NULL, "form:k", "REQUEST_URI=/p",
	    "CONTENT_TYPE=application/x-www-form-urlencoded", "k=1&a=2",
	    "wMypwEBXW9OB7h5iaO6kFlghMofZa-bPjFuEUGcdKEI" },
	{ "none", NULL, NULL, "REQUEST_URI=/p", NULL, "",
	    "wMypwEBXW9OB7h5iaO6kFlghMofZa-bPjFuEUGcdKEI" },
	/* only what is listed */
	{ "json:/a json:/b/c", NULL, NULL, "REQUEST_URI=/p?q=1",
	    "CONTENT_TYPE=application/json",
	    "{\"b\":{\"c\":\"x\"},\"a\":1.50,\"z\":0}",
	    "sFO30khGEYhcZqAbBMLlk90NBQlSJta3hTKRozF8gsc" },
	{ "json:/a json:/b", NULL, NULL, "REQUEST_URI=/p",
	    "CONTENT_TYPE=application/json", "{\"a\":null}",
	    "N2DY_u1bWOShKnV36IX9GRH6C2LVCquiW4YVivdQPHo" },
	{ "json:/a", NULL, NULL, "REQUEST_URI=/p",
	    "CONTENT_TYPE=application/json", "",
	    "N62I_eDQLkuakXX7x2HS-xONkacfeI-bBLVJhukAOls" },
	{ "form:sum form:a%20b", NULL, NULL, "REQUEST_URI=/p",
	    "CONTENT_TYPE=application/x-www-form-urlencoded",
	    "x=1&a+b=2&sum=%35",
	    "q5bQcqbaYzZgl0Km8YPPrdzUJTcDzGqDoUcElUA0xeQ" },
	{ "form:sum", NULL, NULL, "REQUEST_URI=/p",
	    "CONTENT_TYPE=application/x-www-form-urlencoded", "sum=1&sum=2",
	    "Ga9N_FM9gyR8lGgVvq7PdbXgwcKRNglvvxFgikGG4D8" },
	{ "form:sum", NULL, NULL, "REQUEST_URI=/p",
	    "CONTENT_TYPE=multipart/form-data; boundary=B",
	    "--B\r\nContent-Disposition: form-data; name=\"sum\"\r\n\r\n5\r\n-"
	    "-B\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n1\r\n--B-"
	    "-", "30r0ibq84sxYX5pbSLupmRgludOa8K1XahXwXB_82yM" },
	{ "form:sum query:o", NULL, NULL, "REQUEST_URI=/p?o=1&p=2",
	    "CONTENT_TYPE=application/x-www-form-urlencoded", "sum=1&y=3",
	    "iw_LdqSO9w53N53Ap5AHLzZOYv5sOzyF1yfos9I_6Nk" },
	{ "query:o", NULL, NULL, "REQUEST_URI=/p?o=1&p=2",
	    "CONTENT_TYPE=application/json", "{\"a\":1}",
	    "-uEOhnSf3nM-xxRn5VnuSqXPy6i-KMdOO7lax4kG_c4" },
	/* ignored is absent */
	{ "form:sum form:k", "form:sum", "form:k", "REQUEST_URI=/p",
	    "CONTENT_TYPE=application/x-www-form-urlencoded", "sum=1&k=2",
	    "GqujL-7PcoeqNigqTiIvHObxf3Ev1Rlsdv0uVHD7Tl0" },
	{ "json:/a", "json:/a/t", NULL, "REQUEST_URI=/p",
	    "CONTENT_TYPE=application/json", "{\"a\":{\"t\":1,\"s\":2}}",
	    "mP1jjKzsqDDyx_XCv2BJ_E7T3G0-SZWrPMMU9Cqo6Xc" },
	/* a body of no kind that is listed counts whole */
	{ "form:sum", NULL, NULL, "REQUEST_URI=/p",
	    "CONTENT_TYPE=application/json", "{\"sum\":1}",
	    "d0ixTcpOw7gcu_GOpA8XMGFRyJzNGrZLI5dmXd6ayvs" },
	{ "json:/sum", NULL, NULL, "REQUEST_URI=/p",
	    "CONTENT_TYPE=application/x-www-form-urlencoded", "sum=1",
	    "e_5qPI27VsOUYpixwV7jzYT2p2jiD_RpRVHvndf-3m8" },
	{ "json:/sum", NULL, NULL, "REQUEST_URI=/p",
	    "CONTENT_TYPE=application/json", "{\"sum\":1",
	    "7yCmH--HB-OSzwWnWmzCOfes8CBjMUSlwqqvTzqekDU" },
	{ "form:sum query:o", NULL, NULL, "REQUEST_URI=/p?o=1",
	    "CONTENT_TYPE=multipart/form-data; boundary=B",
	    "--B\r\nContent-Disposition: form-data; name=\"sum\"\r\n\r\n5\r\n",
	    "ad87Lidqf13-M1BivwD-LIBr5uID5-gnb9ABoJbfG3o" },
};

static void
hashes_are_known(void **state)
{
	struct idem_fingerprinter f;

	(void)state;
	assert_int_equal(idem_fingerprinter_init(&f, 4096), IDEM_OK);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct row *r = &rows[i];
		const char *vars[] = { "REQUEST_METHOD=POST", r->uri, r->type,
			NULL };
		struct idem_selection sel = { span_of(r->only),
			span_of(r->ignore), span_of(r->key) };
		struct idem_span canonical = IDEM_ABSENT;
		unsigned char digest[IDEM_FINGERPRINT_BYTES];
		char text[IDEM_FINGERPRINT_CHARS], *block;
		struct idem_request req;
		struct idem_buf scratch;

		idem_buf_init(&scratch, 64);
		assert_int_equal(idem_request_init(&req, vars, &scratch),
		    IDEM_OK);
		req.body = exact_copy(span_of(r->body), &block);
		assert_int_equal(idem_fingerprint_selected(&f, &req, &sel,
		    digest, &canonical), IDEM_OK);
		base64url(digest, sizeof digest, text);
		if (memcmp(text, r->want, sizeof text) != 0)
			print_error("row %zu: %s\n", i, r->body);
		assert_text(((struct idem_span){ text, sizeof text }),
		    r->want);
		free(block);
		idem_buf_free(&scratch);
	}
	idem_fingerprinter_free(&f);
}

static void
a_canonical_form_is_made_once(void **state)
{
	static const char *const vars[] = { "REQUEST_METHOD=POST",
		"REQUEST_URI=/p", "CONTENT_TYPE=application/json", NULL };
	struct idem_selection sel = { .key = IDEM_LIT("json:/k") };
	unsigned char first[IDEM_FINGERPRINT_BYTES];
	unsigned char second[IDEM_FINGERPRINT_BYTES];
	struct idem_span canonical;
	struct idem_fingerprinter f;
	struct idem_request req;
	struct idem_buf scratch;

	(void)state;
	idem_buf_init(&scratch, 64);
	assert_int_equal(idem_fingerprinter_init(&f, 4096), IDEM_OK);
	assert_int_equal(idem_request_init(&req, vars, &scratch), IDEM_OK);
	req.body = IDEM_LIT("{ \"k\": 1, \"a\": 2 }");
	assert_int_equal(idem_fingerprint_json(&f, req.body, &canonical),
	    IDEM_OK);
	assert_text(canonical, "{\"a\":2,\"k\":1}");
	assert_int_equal(idem_fingerprint_selected(&f, &req, &sel, first,
	    &canonical), IDEM_OK);
	/* the handler still sees all of it */
	assert_text(canonical, "{\"a\":2,\"k\":1}");
	canonical = IDEM_ABSENT;
	assert_int_equal(idem_fingerprint_selected(&f, &req, &sel, second,
	    &canonical), IDEM_OK);
	assert_memory_equal(first, second, sizeof first);
	assert_text(canonical, "{\"a\":2,\"k\":1}");
	assert_int_equal(idem_fingerprint_json(&f, IDEM_LIT("{"), &canonical),
	    IDEM_OK);
	assert_text(canonical, NULL);
	idem_fingerprinter_free(&f);
	idem_buf_free(&scratch);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_are_checked),
		cmocka_unit_test(hashes_are_known),
		cmocka_unit_test(a_canonical_form_is_made_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
