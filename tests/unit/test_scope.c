/*
 * test_scope.c - IDEM_SCOPE, who is asking, and the record's id.
 */
#include "tests.h"

#include "base/sha256.h"
#include "idem/scope.h"

static void
rules_parse(void **state)
{
	static const struct {
		const char *text;
		enum idem_err err;
		enum idem_scope_from from;
		const char *name;
	} rows[] = {
		{ "", IDEM_OK, IDEM_SCOPE_DEFAULT, NULL },
		{ "REMOTE_USER", IDEM_OK, IDEM_SCOPE_REMOTE_USER, NULL },
		{ "cookie:sid", IDEM_OK, IDEM_SCOPE_COOKIE, "sid" },
		{ "header:X-T", IDEM_OK, IDEM_SCOPE_HEADER, "X-T" },
		{ "param:TENANT", IDEM_OK, IDEM_SCOPE_PARAM, "TENANT" },
		{ "cookie:", IDEM_ESYNTAX, 0, NULL },
		{ "cookie", IDEM_ESYNTAX, 0, NULL },
		{ "cookie:a b", IDEM_ESYNTAX, 0, NULL },
		{ "cookie: a", IDEM_ESYNTAX, 0, NULL },
		{ "Cookie:a", IDEM_ESYNTAX, 0, NULL },
		{ "remote_user", IDEM_ESYNTAX, 0, NULL },
		{ "REMOTE_USER ", IDEM_ESYNTAX, 0, NULL },
		{ "REMOTE_USER:x", IDEM_ESYNTAX, 0, NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct idem_scope_rule rule;

		assert_int_equal(idem_scope_rule_parse(span_of(rows[i].text),
		    &rule), rows[i].err);
		if (rows[i].err != IDEM_OK)
			continue;
		assert_int_equal(rule.from, rows[i].from);
		assert_text(rule.name, rows[i].name);
	}
}

/* At most three variables; value NULL: the anonymous scope. */
struct row {
	const char *rule;
	const char *vars[4];
	const char *source, *name, *value;
};
static const struct row rows[] = {
	/* without IDEM_SCOPE: REMOTE_USER, else Basic or Bearer */
	{ "", { "REMOTE_USER=ali" }, "REMOTE_USER", "", "ali" },
	{ "", { "HTTP_AUTHORIZATION=Basic eDp5", "REMOTE_USER=ali" },
	    "REMOTE_USER", "", "ali" },
	{ "", { "REMOTE_USER=", "HTTP_AUTHORIZATION=Basic eDp5" },
	    "Authorization", "Basic", "eDp5" },
	{ "", { "HTTP_AUTHORIZATION=bearer  t.o.k " },
	    "Authorization", "Bearer", "t.o.k" },
	{ "", { "REDIRECT_HTTP_AUTHORIZATION=Basic eDp5" },
	    "Authorization", "Basic", "eDp5" },
	{ "", { "HTTP_AUTHORIZATION=", "REDIRECT_HTTP_AUTHORIZATION=Basic z" },
	    "Authorization", "Basic", "z" },
	{ "", { "HTTP_AUTHORIZATION=Digest username=ali" }, "", "", NULL },
	{ "", { "HTTP_AUTHORIZATION=Basic" }, "", "", NULL },
	{ "", { "HTTP_AUTHORIZATION=Basic " }, "", "", NULL },
	{ "", { "HTTP_AUTHORIZATION=Basicx y" }, "", "", NULL },
	{ "", { "HTTP_AUTHORIZATION=Basic a", "HTTP_AUTHORIZATION=Basic b" },
	    "", "", NULL },
	{ "", { "HTTP_COOKIE=sid=1" }, "", "", NULL },
	{ "", { NULL }, "", "", NULL },
	/* with it that source alone counts */
	{ "REMOTE_USER", { "REMOTE_USER=ali" }, "REMOTE_USER", "", "ali" },
	{ "REMOTE_USER", { "HTTP_AUTHORIZATION=Basic x" }, "", "", NULL },
	{ "REMOTE_USER", { "REMOTE_USER=" }, "", "", NULL },
	{ "cookie:sid", { "HTTP_COOKIE=a=1; sid=x; sid=y", "REMOTE_USER=ali" },
	    "cookie", "sid", "x" },
	{ "cookie:sid", { "HTTP_COOKIE=sid=; sid=y" }, "", "", NULL },
	{ "cookie:sid", { "HTTP_COOKIE=a=1", "REMOTE_USER=u" }, "", "", NULL },
	{ "header:X-Tenant", { "HTTP_X_TENANT=t1" }, "header", "X-Tenant",
	    "t1" },
	{ "header:X-Tenant", { "HTTP_X_TENANT=t1", "HTTP_X_TENANT=t1" }, "", "",
	    NULL },
	{ "header:X-Tenant", { "HTTP_X_TENANT=" }, "", "", NULL },
	{ "header:X-Tenant", { "X_TENANT=t1", "HTTP_X_TENANTS=t2" }, "", "",
	    NULL },
	{ "header:authorization", { "HTTP_AUTHORIZATION=Digest d" }, "header",
	    "authorization", "Digest d" },
	{ "header:Authorization", { "REDIRECT_HTTP_AUTHORIZATION=Own o" },
	    "header", "Authorization", "Own o" },
	{ "param:TENANT", { "TENANT=shop1" }, "param", "TENANT", "shop1" },
	{ "param:TENANT", { "HTTP_TENANT=shop1" }, "", "", NULL },
};

static void
who_is_asking(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct row *r = &rows[i];
		struct idem_scope_rule rule;
		struct idem_request req;
		struct idem_scope scope;
		struct idem_buf scratch;

		idem_buf_init(&scratch, 16);
		assert_int_equal(idem_request_init(&req, r->vars, &scratch),
		    IDEM_OK);
		assert_int_equal(idem_scope_rule_parse(span_of(r->rule), &rule),
		    IDEM_OK);
		assert_int_equal(idem_scope_find(&rule, &req, &scope),
		    r->value != NULL);
		assert_text(scope.source, r->source);
		assert_text(scope.name, r->name);
		assert_text(scope.value, r->value == NULL ? "" : r->value);
		idem_buf_free(&scratch);
	}
}

static void
ids_are_known_hashes(void **state)
{
	static const struct {
		const char *source, *name, *value, *key, *id;
	} ids[] = {
		{ "REMOTE_USER", "", "ali", "k1", "a534d296fbe65fa1e886069aa4"
		    "ffa85e73b091051d82437c76ead2f1c98fdc19" },
		{ "REMOTE_USER", "", "vali", "k1", "5944ec07131f76f43e6ba0c719"
		    "47f00bb2d9e977322d3fa805bfe46c32ed0fdc" },
		{ "REMOTE_USER", "", "ali", "k2", "588913c981fc032a6ef802238f"
		    "85bd151a54700716d3b49dfb159a5f4af7a814" },
		{ "header", "X-Tenant", "ali", "k1", "20b2b5c68481fe33ce176b30"
		    "b02f9ae104cc95df693a0883f8cd5777e413eec5" },
		{ "cookie", "X-Tenant", "ali", "k1", "c2c7cae7a60c0faf7f1fea65"
		    "748bc6d220134d5022d54907e87e4f8e6ec3a3ea" },
		{ "", "", "", "k1", "40a1d68813c1ab307ff4ae18367803046c6921af"
		    "a610f13eb42656375dc5f4a6" },
		{ "REMOTE_USER", "", "a", "b:c", "8b25ce3b835882738732f5f98d6d"
		    "11428e81c6f886ffc6cef6a82d27a9c1a343" },
		{ "REMOTE_USER", "", "a:b", "c", "01760c82880557606c27b9e6ebc6"
		    "598dfa3d9361188aa4d70604efde08c0be47" },
	};
	struct sha256 *h;

	(void)state;
	assert_int_equal(sha256_create(&h), IDEM_OK);
	for (size_t i = 0; i < COUNT(ids); i++) {
		struct idem_scope scope = { span_of(ids[i].source),
		    span_of(ids[i].name), span_of(ids[i].value) };
		unsigned char id[IDEM_ID_BYTES];
		char hex[2 * IDEM_ID_BYTES];

		assert_int_equal(idem_record_id(h, &scope, span_of(ids[i].key),
		    id), IDEM_OK);
		hex_lower(id, sizeof id, hex);
		assert_text(((struct idem_span){ hex, sizeof hex }), ids[i].id);
	}
	sha256_destroy(&h);
}

static void
ids_of_parts_are_known_hashes(void **state)
{
	static const char fingerprint[] = "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF";
	struct idem_scope scope = { IDEM_LIT("cookie"), IDEM_LIT("sid"),
		IDEM_LIT("1") };
	struct idem_scope nobody = { IDEM_LIT(""), IDEM_LIT(""),
		IDEM_LIT("") };
	unsigned char id[IDEM_ID_BYTES];
	char hex[2 * IDEM_ID_BYTES];
	struct sha256 *h;

	(void)state;
	assert_int_equal(sha256_create(&h), IDEM_OK);
	assert_int_equal(idem_record_id_of_parts(h, &scope,
	    IDEM_LIT("form:a+form:b"), IDEM_LIT("\0\0\0\1x\0\0\0\2yz"),
	    span_of(fingerprint), id), IDEM_OK);
	hex_lower(id, sizeof id, hex);
	assert_text(((struct idem_span){ hex, sizeof hex }),
	    "3878e8de0885e8b8e7292cebfe1e2536518120d55be8d848e0c1f03c6a1f01ae");
	assert_int_equal(idem_record_id_of_parts(h, &nobody,
	    IDEM_LIT("header:A+header:B"), IDEM_LIT("\0\0\0\1x\0\0\0\1y"),
	    IDEM_ABSENT, id), IDEM_OK);
	hex_lower(id, sizeof id, hex);
	assert_text(((struct idem_span){ hex, sizeof hex }),
	    "f45397a1f614265b6f498e1ebca39b2ee1314e23d15971c7465992251e90676c");
	sha256_destroy(&h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_parse),
		cmocka_unit_test(who_is_asking),
		cmocka_unit_test(ids_are_known_hashes),
		cmocka_unit_test(ids_of_parts_are_known_hashes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
