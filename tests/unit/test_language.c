/*
 * test_language.c - Accept-Language, Accept and who is a person.
 */
#include "tests.h"

#include "idem/problem.h"

static struct idem_audience
audience(const char *const *vars, enum idem_lang dflt)
{
	struct idem_request req;
	struct idem_buf scratch;

	idem_buf_init(&scratch, 16);
	assert_int_equal(idem_request_init(&req, vars, &scratch), IDEM_OK);
	idem_buf_free(&scratch);
	return idem_audience_of(&req, dflt);
}

static void
tags_parse(void **state)
{
	enum idem_lang lang;

	(void)state;
	assert_int_equal(idem_lang_parse(IDEM_LIT("uz"), &lang), IDEM_OK);
	assert_int_equal(lang, IDEM_UZ);
	assert_int_equal(idem_lang_parse(IDEM_LIT("EN"), &lang), IDEM_OK);
	assert_int_equal(lang, IDEM_EN);
	assert_int_equal(idem_lang_parse(IDEM_LIT("Tr"), &lang), IDEM_OK);
	assert_int_equal(lang, IDEM_TR);
	assert_int_equal(idem_lang_parse(IDEM_LIT("uz-UZ"), &lang),
	    IDEM_ESYNTAX);
	assert_int_equal(idem_lang_parse(IDEM_LIT(""), &lang), IDEM_ESYNTAX);
	assert_text(idem_lang_tag(IDEM_UZ), "uz");
	assert_text(idem_lang_tag(IDEM_EN), "en");
	assert_text(idem_lang_tag(IDEM_TR), "tr");
}

static void
languages_are_looked_up(void **state)
{
	static const struct {
		const char *var;
		enum idem_lang dflt, want;
	} rows[] = {
		{ "X=", IDEM_UZ, IDEM_UZ },
		{ "X=", IDEM_EN, IDEM_EN },
		{ "HTTP_ACCEPT_LANGUAGE=", IDEM_TR, IDEM_TR },
		{ "HTTP_ACCEPT_LANGUAGE=en", IDEM_UZ, IDEM_EN },
		{ "HTTP_ACCEPT_LANGUAGE=tr-TR", IDEM_UZ, IDEM_TR },
		{ "HTTP_ACCEPT_LANGUAGE=TR-Latn-TR-x-a", IDEM_UZ, IDEM_TR },
		{ "HTTP_ACCEPT_LANGUAGE=trx", IDEM_UZ, IDEM_UZ },
		{ "HTTP_ACCEPT_LANGUAGE=de, fr", IDEM_UZ, IDEM_UZ },
		{ "HTTP_ACCEPT_LANGUAGE=de, tr;q=0.3", IDEM_UZ, IDEM_TR },
		/* weights before order; order among equals */
		{ "HTTP_ACCEPT_LANGUAGE=en;q=0.5, tr;q=0.9", IDEM_UZ, IDEM_TR },
		{ "HTTP_ACCEPT_LANGUAGE=en;q=0.899,tr;q=0.9", IDEM_UZ,
		    IDEM_TR },
		{ "HTTP_ACCEPT_LANGUAGE=tr, en", IDEM_UZ, IDEM_TR },
		{ "HTTP_ACCEPT_LANGUAGE=en , tr", IDEM_UZ, IDEM_EN },
		{ "HTTP_ACCEPT_LANGUAGE=en ; q=0.1 , tr ; Q=0.2", IDEM_UZ,
		    IDEM_TR },
		/* '*' is the default and never beats a named range */
		{ "HTTP_ACCEPT_LANGUAGE=*", IDEM_UZ, IDEM_UZ },
		{ "HTTP_ACCEPT_LANGUAGE=*, tr;q=0.1", IDEM_UZ, IDEM_TR },
		{ "HTTP_ACCEPT_LANGUAGE=de, *;q=0.5", IDEM_EN, IDEM_EN },
		/* q=0 excludes */
		{ "HTTP_ACCEPT_LANGUAGE=en;q=0", IDEM_UZ, IDEM_UZ },
		{ "HTTP_ACCEPT_LANGUAGE=uz;q=0", IDEM_UZ, IDEM_EN },
		{ "HTTP_ACCEPT_LANGUAGE=uz;q=0, en;q=0.000", IDEM_UZ, IDEM_TR },
		{ "HTTP_ACCEPT_LANGUAGE=uz;q=0, *", IDEM_UZ, IDEM_EN },
		{ "HTTP_ACCEPT_LANGUAGE=en, en;q=0", IDEM_UZ, IDEM_UZ },
		{ "HTTP_ACCEPT_LANGUAGE=tr-CY;q=0, tr", IDEM_UZ, IDEM_TR },
		{ "HTTP_ACCEPT_LANGUAGE=uz;q=0,en;q=0,tr;q=0", IDEM_TR,
		    IDEM_TR },
		/* what is malformed is passed over */
		{ "HTTP_ACCEPT_LANGUAGE=tr;q=2, en;q=0.1", IDEM_UZ, IDEM_EN },
		{ "HTTP_ACCEPT_LANGUAGE=tr;q=1.001, en;q=0.1", IDEM_UZ,
		    IDEM_EN },
		{ "HTTP_ACCEPT_LANGUAGE=tr;q=, en;q=0.1", IDEM_UZ, IDEM_EN },
		{ "HTTP_ACCEPT_LANGUAGE=tr;q=0.1234, en;q=0.1", IDEM_UZ,
		    IDEM_EN },
		{ "HTTP_ACCEPT_LANGUAGE=tr;q=-1, en;q=0.1", IDEM_UZ, IDEM_EN },
		{ "HTTP_ACCEPT_LANGUAGE=,;,;q=1,en", IDEM_UZ, IDEM_EN },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *const vars[] = { rows[i].var, NULL };
		struct idem_audience who = audience(vars, rows[i].dflt);

		if (who.lang != rows[i].want)
			fail_msg("%s: %.*s", rows[i].var,
			    IDEM_FMT(idem_lang_tag(who.lang)));
	}
}

#define BROWSER "HTTP_ACCEPT=text/html,application/xhtml+xml," \
	"application/xml;q=0.9,image/avif,*/*;q=0.8"

static void
people_and_programs(void **state)
{
	static const struct {
		const char *vars[4];
		bool person;
	} rows[] = {
		{ { NULL }, false },
		{ { BROWSER }, true },
		{ { BROWSER, "HTTP_X_REQUESTED_WITH=XMLHttpRequest" }, false },
		{ { BROWSER, "HTTP_X_REQUESTED_WITH=" }, false },
		{ { BROWSER, "HTTP_SEC_FETCH_MODE=cors" }, true },
		{ { "HTTP_SEC_FETCH_MODE=navigate" }, true },
		{ { "HTTP_SEC_FETCH_MODE=navigate",
		    "HTTP_X_REQUESTED_WITH=XMLHttpRequest" }, true },
		{ { "HTTP_SEC_FETCH_MODE=Navigate" }, false },
		{ { "HTTP_SEC_FETCH_MODE=same-origin" }, false },
		{ { "HTTP_ACCEPT=*/*" }, false },
		{ { "HTTP_ACCEPT=text/html" }, true },
		{ { "HTTP_ACCEPT=TEXT/HTML;level=1" }, true },
		{ { "HTTP_ACCEPT=text/*" }, true },
		{ { "HTTP_ACCEPT=text/html;q=0" }, false },
		{ { "HTTP_ACCEPT=text/*, text/html;q=0" }, false },
		{ { "HTTP_ACCEPT=text/plain" }, false },
		{ { "HTTP_ACCEPT=application/json" }, false },
		{ { "HTTP_ACCEPT=application/json, text/html" }, false },
		{ { "HTTP_ACCEPT=application/json;q=0.9, text/html" }, true },
		{ { "HTTP_ACCEPT=application/json, text/html;q=0.9" }, false },
		{ { "HTTP_ACCEPT=application/problem+json,text/html;q=0.9" },
		    false },
		{ { "HTTP_ACCEPT=application/*, text/html;q=0.5" }, false },
		{ { "HTTP_ACCEPT=*/*;q=0.1, text/html;q=0.05" }, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct idem_audience who = audience(rows[i].vars, IDEM_UZ);

		if (who.person != rows[i].person)
			fail_msg("row %zu: %s", i, rows[i].vars[0]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tags_parse),
		cmocka_unit_test(languages_are_looked_up),
		cmocka_unit_test(people_and_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
