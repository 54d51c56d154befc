/*
 * answer.c - an answer as bytes: what was encoded is the first answer again and
 * its replay; bytes that nobody encoded are refused or an answer like others.
 *
 * Input: a line of IDEM_KEEP_HEADERS, a line of the Origin, then a CGI
 * program's head and the body; or bytes as they are stored.
 */
#include "engine/answer.h"
#include "kit.h"
#include "request/cgi_head.h"
#include "slow.h"

#define ANSWER_MAX 65536 /* bytes */
#define BODY_KEPT 100

static bool
is_named(struct idem_span list, struct idem_span name)
{
	struct idem_span one;

	while (slow_split(&list, ',', &one))
		if (span_eq_nocase(span_trim(one), name))
			return true;
	return false;
}

static bool
is_ours(struct idem_span name)
{
	return span_starts_nocase(name, IDEM_LIT("idempotency-"));
}

/* All lines of lines but ours, in sorted order of where they went: the kept
 * ones first, so only their number and each one's presence is compared. */
static size_t
count_lines(struct idem_span lines, struct idem_span name,
    struct idem_span value)
{
	struct idem_span n, v;
	size_t count = 0;

	while (idem_fields_next(&lines, &n, &v))
		count += span_eq(n, name) && span_eq(v, value);
	must(lines.n == 0);
	return count;
}

/* Every line of a that is not ours stands in b as often. */
static void
must_hold_lines(struct idem_span a, struct idem_span b)
{
	struct idem_span rest = a, name, value;

	while (idem_fields_next(&rest, &name, &value))
		if (!is_ours(name))
			must(count_lines(b, name, value) ==
			    count_lines(a, name, value));
	must(rest.n == 0);
}

static void
first_is_the_same(const struct idem_response *res, struct idem_span bytes)
{
	struct idem_span rest, name, value;
	struct idem_response first;

	idem_response_init(&first, ANSWER_MAX);
	must(answer_first(bytes, &first) == IDEM_OK);
	must(first.status == res->status);
	must(span_eq(idem_buf_span(&first.body), idem_buf_span(&res->body)));
	rest = idem_buf_span(&first.fields);
	while (idem_fields_next(&rest, &name, &value))
		must(!is_ours(name));
	must_hold_lines(idem_buf_span(&res->fields),
	    idem_buf_span(&first.fields));
	must_hold_lines(idem_buf_span(&first.fields),
	    idem_buf_span(&res->fields));
	idem_response_free(&first);
}

/* Nothing that no list names comes back, nor to another origin. */
static void
replay_line(const struct idem_response *res, struct idem_span keep,
    bool same_origin, struct idem_span name, struct idem_span value)
{
	static const char *const never[] = { "Date", "Age", "Server",
		"WWW-Authenticate", "Connection", "Content-Length",
		"X-Request-Id", "Request-Id", "X-Correlation-Id" };
	struct idem_span fields = idem_buf_span(&res->fields);

	if (is_ours(name)) {
		must(span_eq(name, IDEM_LIT("Idempotency-Replayed")) ||
		    span_eq(name, IDEM_LIT("Idempotency-Body")));
		return;
	}
	if (span_eq(name, IDEM_LIT("Cache-Control")) &&
	    span_eq(value, IDEM_LIT("no-store")))
		return;
	must(count_lines(fields, name, value) > 0);
	if (span_eq_nocase(name, IDEM_LIT("Set-Cookie")) ||
	    span_eq_nocase(name, IDEM_LIT("Cache-Control")) ||
	    span_starts_nocase(name, IDEM_LIT("X-A")))
		must(is_named(keep, name));
	for (size_t i = 0; i < sizeof never / sizeof never[0]; i++)
		must(!span_eq_nocase(name, span_of(never[i])));
	if (span_starts_nocase(name, IDEM_LIT("Access-Control-")))
		must(same_origin);
}

static void
replay_is_of(const struct idem_response *res, struct idem_span bytes,
    struct idem_span keep, struct idem_span first_origin,
    struct idem_span origin)
{
	const struct answer_reader reader = { .keep_headers = keep,
		.origin = origin };
	bool same = span_eq(first_origin, origin), omitted;
	struct idem_span rest, name, value;
	struct idem_response again;
	size_t nmarks = 0, nbody = 0;

	idem_response_init(&again, ANSWER_MAX);
	must(answer_replay(bytes, &reader, &again) == IDEM_OK);
	must(again.status == res->status);
	omitted = res->body.n > BODY_KEPT;
	must(span_eq(idem_buf_span(&again.body), omitted ? IDEM_LIT("") :
	    idem_buf_span(&res->body)));
	rest = idem_buf_span(&again.fields);
	while (idem_fields_next(&rest, &name, &value)) {
		replay_line(res, keep, same, name, value);
		nmarks += span_eq(name, IDEM_LIT("Idempotency-Replayed"));
		nbody += span_eq(name, IDEM_LIT("Idempotency-Body"));
		if (omitted)
			must(!span_eq_nocase(name,
			    IDEM_LIT("Content-Type")));
	}
	must(nmarks == 1 && nbody == omitted);
	idem_response_free(&again);
}

static void
answers_come_back(struct idem_span keep, struct idem_span origin,
    struct idem_span answer)
{
	const struct answer_rules rules = { .keep_headers = keep,
		.max_body_bytes = BODY_KEPT, .keep_cors = true,
		.origin = origin };
	struct idem_buf *out = kit_buf();
	struct idem_response res;
	struct cgi_head head;
	size_t from = 0, end = cgi_head_end(answer, &from), kept;
	struct idem_span bytes;

	idem_response_init(&res, ANSWER_MAX);
	if (end > 0 && answer.n < ANSWER_MAX && cgi_head_parse(span_first(
	    answer, end), &res, &head) == IDEM_OK) {
		idem_buf_puts(&res.body, span_from(answer, end));
		idem_buf_puts(out, IDEM_LIT("before"));
		must(answer_encode(&res, &rules, out, &kept) == IDEM_OK);
		bytes = span_from(idem_buf_span(out), 6);
		must(kept <= bytes.n);
		first_is_the_same(&res, kit_copy(bytes));
		bytes = kit_copy(span_first(bytes, kept));
		replay_is_of(&res, bytes, keep, origin, origin);
		replay_is_of(&res, bytes, keep, origin,
		    IDEM_LIT("https://other.example"));
	}
	idem_response_free(&res);
}

/* Either reader, on bytes that may be anything. */
static void
bytes_are_read(struct idem_span bytes)
{
	const struct answer_reader reader = { .person = true };
	const struct answer_rules rules = { .max_body_bytes = SIZE_MAX };
	struct idem_response res;
	struct idem_buf *out = kit_buf();
	size_t kept;
	enum idem_err err;

	idem_response_init(&res, ANSWER_MAX);
	err = answer_replay(bytes, &reader, &res);
	must(err == IDEM_OK || err == IDEM_ECORRUPT);
	must(err != IDEM_OK || idem_response_err(&res) == IDEM_OK);
	err = answer_first(bytes, &res);
	must(err == IDEM_OK || err == IDEM_ECORRUPT);
	if (err == IDEM_OK) {
		must(answer_encode(&res, &rules, out, &kept) == IDEM_OK);
		first_is_the_same(&res, kit_copy(idem_buf_span(out)));
	}
	idem_response_free(&res);
}

void
fuzz_answer(struct idem_span input)
{
	struct idem_span keep, origin;

	if (input.n < ANSWER_MAX)
		bytes_are_read(input);
	keep = kit_copy(kit_line(&input));
	origin = kit_copy(kit_line(&input));
	answers_come_back(keep, origin.n == 0 ? IDEM_ABSENT : origin,
	    kit_copy(input));
}
