/*
 * test_json_random.c - the canonical form of texts that nobody thought of, good
 * ones and broken ones, against the slow form.
 *
 * usage: test_json_random [SEED [TEXTS]]
 */
#include "canon.h"

#include "base/text.h"
#include "json_slow.h"

#define TEXTS 40000

struct maker {
	struct idem_buf text;
	uint64_t seed;
	size_t max_members, max_depth;
};

static uint64_t seed = 20261130;
static unsigned long ntexts = TEXTS;

static unsigned
draw(struct maker *m, unsigned below)
{
	m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(m->seed >> 33) % below;
}

static void
pick(struct maker *m, const char *const *from, size_t n)
{
	idem_buf_puts(&m->text, span_of(from[draw(m, (unsigned)n)]));
}
#define PICK(m, from) pick(m, from, COUNT(from))

static void
make_space(struct maker *m)
{
	static const char *const spaces[] = { " ", "\n", "\r\n\t", "     " };

	if (draw(m, 6) == 0)
		PICK(m, spaces);
}

static void
make_string(struct maker *m, unsigned max_pieces)
{
	static const char *const pieces[] = { "a", "b", "ab", "A", "!", "~",
		"x0", "12345678", "a longer run of plain text, longer than any",
		"\\\"", "\\\\", "\\/", "/", "\\n", "\\u000A", "\\u0000", "\\b",
		"\\u001f", "\\u0022", "\\u005c", "\\u0061", "\x7f", "\\u007f",
		"\xc3\xa9", "\\u00e9", "\xd0\xb6", "\\u0436", "\xca\xbb",
		"\xed\x9f\xbf", "\xee\x80\x80", "\\ue000", "\xef\xbf\xbf",
		"\xf0\x9f\x98\x80", "\\ud83d\\uDE00", "\xf0\x90\x80\x80",
		"\xf4\x8f\xbf\xbf", "\xe2\x82\xac" };
	static const char *const bad[] = { "\\ud800", "\\udc00", "\\ud8", "\\x",
		"\x80", "\xc3", "\xed\xa0\x80", "\xf5", "\t", "\x01", "\\" };

	idem_buf_putc(&m->text, '"');
	for (unsigned i = draw(m, max_pieces + 1); i > 0; i--)
		if (draw(m, 800) == 0)
			PICK(m, bad);
		else
			PICK(m, pieces);
	idem_buf_putc(&m->text, '"');
}

static void
make_digits(struct maker *m)
{
	static const char *const runs[] = { "0", "00", "000000", "1", "9", "12",
		"100", "12345678", "90071992547409931", "000000000001" };

	for (unsigned i = draw(m, 3); i > 0; i--)
		PICK(m, runs);
	idem_buf_putc(&m->text, (char)('0' + draw(m, 10)));
}

static void
make_number(struct maker *m)
{
	static const char *const wholes[] = { "0", "1", "7", "10", "123",
		"100000", "12345678", "123456789012345678901",
		"1234567890123456789012", "00" };
	static const char *const exponents[] = { "e0", "E1", "e+2", "e-3",
		"e20", "e21", "e-6", "e-7", "e15", "e999999999", "e-999999999",
		"e1000000000", "e-999999998", "e99999999999999999999", "e",
		"e+", "e00000000000000000000000000012" };

	if (draw(m, 4) == 0)
		idem_buf_putc(&m->text, '-');
	pick(m, wholes, COUNT(wholes) - (draw(m, 100) != 0));
	if (draw(m, 2) == 0) {
		idem_buf_putc(&m->text, '.');
		make_digits(m);
	}
	if (draw(m, 4) == 0)
		PICK(m, exponents);
}

static void make_value(struct maker *m, size_t depth);

static void
make_array(struct maker *m, size_t depth)
{
	unsigned n = draw(m, 5);

	idem_buf_putc(&m->text, '[');
	for (unsigned i = 0; i < n; i++) {
		if (i > 0)
			idem_buf_putc(&m->text, ',');
		make_value(m, depth + 1);
	}
	make_space(m);
	idem_buf_putc(&m->text, ']');
}

static void
make_object(struct maker *m, size_t depth)
{
	unsigned n = draw(m, (unsigned)m->max_members + 1);

	idem_buf_putc(&m->text, '{');
	make_space(m);
	for (unsigned i = 0; i < n; i++) {
		if (i > 0)
			idem_buf_putc(&m->text, ',');
		make_space(m);
		make_string(m, m->max_members > 8 ? 6 : 3);
		make_space(m);
		idem_buf_putc(&m->text, ':');
		make_value(m, depth + 1);
	}
	idem_buf_putc(&m->text, '}');
}

static void
make_value(struct maker *m, size_t depth)
{
	static const char *const words[] = { "true", "false", "null" };

	make_space(m);
	switch (draw(m, depth < m->max_depth ? 8 : 5)) {
	case 0:
		PICK(m, words);
		break;
	case 1:
	case 2:
		make_number(m);
		break;
	case 3:
	case 4:
		make_string(m, 5);
		break;
	case 5:
		make_array(m, depth);
		break;
	default:
		make_object(m, depth);
	}
	make_space(m);
}

/* One byte put in, taken out or changed, or the end cut off. */
static void
make_mistake(struct maker *m)
{
	static const char bytes[] = "{}[]:,\"\\ue0-.1 \n\x01\x7f\x80\xc3"
	    "\xed\xf0";
	struct idem_buf *b = &m->text;
	unsigned at = draw(m, (unsigned)b->n);
	char c = bytes[draw(m, sizeof bytes)];

	switch (draw(m, 4)) {
	case 0:
		b->p[at] = c;
		return;
	case 1:
		idem_buf_putc(b, c);
		memmove(b->p + at + 1, b->p + at, b->n - 1 - at);
		b->p[at] = c;
		return;
	case 2:
		memmove(b->p + at, b->p + at + 1, b->n - at - 1);
		idem_buf_cut(b, b->n - 1);
		return;
	}
	idem_buf_cut(b, at);
}

/* Now and then a big object, or many levels. */
static void
make_text(struct maker *m)
{
	idem_buf_reset(&m->text);
	m->max_members = draw(m, 40) == 0 ? 400 : draw(m, 10) == 0 ? 30 : 6;
	m->max_depth = m->max_members > 6 ? 1 : draw(m, 20) == 0 ? 70 : 6;
	if (m->max_members > 6)
		make_object(m, 0);
	else
		make_value(m, 0);
	if (draw(m, 3) == 0)
		make_mistake(m);
}

static void
compare(struct idem_json_work *work, struct idem_span text, unsigned *counts)
{
	struct idem_buf out, again, want;
	size_t at = 0, want_at = 0;
	enum idem_err err, want_err;

	idem_buf_init(&want, 1 << 20);
	want_err = json_slow(text, &want, &want_at);
	assert_int_equal(idem_buf_err(&want), IDEM_OK);
	err = canon_with(work, text, &out, &at);
	if (err != want_err || at != want_at)
		fail_msg("%.*s\n%s at %zu, slow says %s at %zu", IDEM_FMT(text),
		    idem_strerror(err), at, idem_strerror(want_err), want_at);
	assert_span(idem_buf_span(&out), idem_buf_span(&want));
	if (err == IDEM_OK) {
		assert_int_equal(canon_with(work, idem_buf_span(&out), &again,
		    &at), IDEM_OK);
		assert_span(idem_buf_span(&again), idem_buf_span(&want));
		idem_buf_free(&again);
	}
	counts[err]++;
	idem_buf_free(&out);
	idem_buf_free(&want);
}

static void
fast_and_slow_agree(void **state)
{
	struct maker m = { .seed = seed };
	struct idem_json_work work;
	unsigned counts[IDEM_NERRORS] = { 0 };

	(void)state;
	print_message("seed %llu, %lu texts\n", (unsigned long long)seed,
	    ntexts);
	idem_buf_init(&m.text, 1 << 20);
	idem_json_work_init(&work);
	for (unsigned long i = 0; i < ntexts; i++) {
		make_text(&m);
		assert_int_equal(idem_buf_err(&m.text), IDEM_OK);
		compare(&work, idem_buf_span(&m.text), counts);
	}
	print_message("%u good, %u broken, %u inexact\n", counts[IDEM_OK],
	    counts[IDEM_ESYNTAX], counts[IDEM_EINEXACT]);
	assert_true(counts[IDEM_OK] > ntexts / 4);
	assert_true(counts[IDEM_ESYNTAX] > ntexts / 20);
	assert_true(counts[IDEM_EINEXACT] > ntexts / 20);
	idem_json_work_free(&work);
	idem_buf_free(&m.text);
}

static uint64_t
number_of(const char *arg)
{
	uint64_t n;

	if (parse_u64(span_of(arg), UINT64_MAX, &n) != IDEM_OK)
		exit(2);
	return n;
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fast_and_slow_agree),
	};

	if (argc > 1)
		seed = number_of(argv[1]);
	if (argc > 2)
		ntexts = number_of(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
