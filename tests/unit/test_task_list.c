/*
 * test_task_list.c - pages of tasks, filtered and counted.
 */
#include "served.h"

#include <inttypes.h>

#include "base/text.h"

#define L(s) IDEM_LIT_INIT(s)

/* Nine tasks: 3, 6 and 9 are done, 2, 4, 6 and 8 have #juft, 5 was deleted. */
static void
fill(struct served *s)
{
	for (unsigned i = 1; i <= 9; i++) {
		struct idem_buf b;

		idem_buf_init(&b, 512);
		idem_buf_printf(&b, "POST /vazifalar\n"
		    "CONTENT_TYPE=application/json\n\n"
		    "{\"matn\":\"t%u%s\",\"bajarildi\":%s}", i,
		    i % 2 == 0 ? " #juft" : " #jufti #toq",
		    i % 3 == 0 ? "true" : "false");
		idem_buf_putc(&b, '\0');
		assert_true(span_starts(served_ask(s, b.p),
		    IDEM_LIT("Status: 201 Created\r\n")));
		idem_buf_free(&b);
	}
	assert_true(span_starts(served_ask(s, "DELETE /vazifalar/5\n"),
	    IDEM_LIT("Status: 204 No Content\r\n")));
}

/* The ids in a list and, behind them, what keyingi says. */
static struct idem_span
ids_of(struct idem_span answer, struct idem_buf *out)
{
	static const char id[] = "{\"id\":", next[] = "\"keyingi\":";
	const char *at, *end;

	idem_buf_putc(out, '\0'); /* as a string: ask for its own buffer */
	idem_buf_reset(out);
	for (size_t i = 0; i + sizeof id < answer.n; i++) {
		at = answer.p + i;
		if (memcmp(at, id, sizeof id - 1) != 0)
			continue;
		at += sizeof id - 1;
		end = memchr(at, ',', answer.n - (size_t)(at - answer.p));
		assert_non_null(end);
		idem_buf_put(out, at, (size_t)(end - at));
		idem_buf_putc(out, ' ');
	}
	at = memmem(answer.p, answer.n, next, sizeof next - 1);
	assert_non_null(at);
	at += sizeof next - 1;
	idem_buf_put(out, at, answer.n - (size_t)(at - answer.p));
	return idem_buf_span(out);
}

static void
gives_the_page_asked_for(void **state)
{
	static const struct {
		const char *query;
		struct idem_span want;
	} rows[] = {
		{ "", L("1 2 3 4 6 7 8 9 null}") },
		{ "?soni=8", L("1 2 3 4 6 7 8 9 null}") },
		{ "?soni=7", L("1 2 3 4 6 7 8 8}") },
		{ "?soni=1", L("1 1}") },
		{ "?soni=4", L("1 2 3 4 4}") },
		{ "?soni=4&keyin=4", L("6 7 8 9 null}") },
		{ "?soni=3&keyin=5", L("6 7 8 8}") },
		{ "?keyin=9", L("null}") },
		{ "?keyin=18446744073709551615", L("null}") },
		{ "?bajarildi=true", L("3 6 9 null}") },
		{ "?bajarildi=true&soni=2", L("3 6 6}") },
		{ "?bajarildi=true&soni=2&keyin=6", L("9 null}") },
		{ "?bajarildi=false&keyin=2", L("4 7 8 null}") },
		{ "?teg=juft", L("2 4 6 8 null}") },
		{ "?teg=Juft", L("null}") },
		{ "?teg=juf", L("null}") },
		{ "?teg=juft-emas", L("null}") },
		{ "?teg=toq&soni=3", L("1 3 7 7}") },
		{ "?teg=juft&bajarildi=true", L("6 null}") },
		{ "?boshqa=1", L("1 2 3 4 6 7 8 9 null}") },
	};
	struct served s;
	struct idem_buf b;

	(void)state;
	served_open(&s, NULL);
	idem_buf_init(&b, 4096);
	fill(&s);
	for (size_t i = 0; i < COUNT(rows); i++) {
		char request[256];

		print_message("row %zu\n", i);
		assert_int_equal(text_format(request, sizeof request,
		    "GET /vazifalar%s\n", rows[i].query), IDEM_OK);
		assert_span(ids_of(served_ask(&s, request), &b), rows[i].want);
	}
	idem_buf_free(&b);
	served_close(&s);
}

/* 50 where nobody says how many; 200 at most. */
static void
has_50_and_at_most_200(void **state)
{
	struct served s;
	struct idem_buf b;

	(void)state;
	served_open(&s, NULL);
	idem_buf_init(&b, 4096);
	for (unsigned i = 1; i <= 201; i++)
		served_ask(&s, "POST /vazifalar\n"
		    "CONTENT_TYPE=application/json\n\n{\"matn\":\"t\"}");
	ids_of(served_ask(&s, "GET /vazifalar\n"), &b);
	assert_true(span_starts(idem_buf_span(&b), IDEM_LIT("1 2 3 4 ")));
	assert_span(span_from(idem_buf_span(&b), b.n - 9),
	    IDEM_LIT("49 50 50}"));
	ids_of(served_ask(&s, "GET /vazifalar?soni=200\n"), &b);
	assert_span(span_from(idem_buf_span(&b), b.n - 12),
	    IDEM_LIT("199 200 200}"));
	ids_of(served_ask(&s, "GET /vazifalar?soni=200&keyin=1\n"), &b);
	assert_span(span_from(idem_buf_span(&b), b.n - 13),
	    IDEM_LIT("200 201 null}"));
	idem_buf_free(&b);
	served_close(&s);
}

static void
refuses_a_bad_query(void **state)
{
	static const struct served_step steps[] = {
		{ "GET /vazifalar?soni=201\nHTTP_ACCEPT_LANGUAGE=en\n",
		  "Status: 422 Unprocessable Content\r\n"
		  "Content-Type: application/problem+json\r\n"
		  "Content-Language: en\r\nCache-Control: no-store\r\n"
		  "X-Request-Id: r1\r\nContent-Length: #\r\n\r\n"
		  "{\"type\":\"https://vazifalar-api.example/xatolar/tekshiruv"
		  "\",\"title\":\"Validation failed\",\"status\":422,"
		  "\"detail\":\"Some fields do not meet the requirements\","
		  "\"instance\":\"/vazifalar\",\"kod\":\"tekshiruv\","
		  "\"code\":\"validation\",\"xatolar\":[{\"maydon\":\"soni\","
		  "\"xabar\":\"must be a whole number from 1 to 200\"}]}" },
	};

	(void)state;
	served_steps(NULL, steps, COUNT(steps));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_the_page_asked_for),
		cmocka_unit_test(has_50_and_at_most_200),
		cmocka_unit_test(refuses_a_bad_query),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
