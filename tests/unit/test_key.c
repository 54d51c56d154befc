/*
 * test_key.c - the Idempotency-Key field, row by row and byte by byte.
 */
#include "tests.h"

#include "base/text.h"
#include "idem/key.h"
#include "rows.h"

#define L(s) IDEM_LIT_INIT(s)

static void
assert_zeroed(const struct idem_key *key)
{
	static const struct idem_key zero;

	assert_memory_equal(key, &zero, sizeof zero);
}

/* Parse a copy at the very end of its block. */
static enum idem_err
parse(struct idem_span field, struct idem_key *key)
{
	char *block;
	enum idem_err err;

	memset(key, 'Z', sizeof *key);
	err = idem_key_parse(exact_copy(field, &block), key);
	free(block);
	if (err != IDEM_OK)
		assert_zeroed(key);
	return err;
}

static void
assert_key(struct idem_span field, struct idem_span want)
{
	struct idem_key key;
	enum idem_err err = parse(field, &key);

	if (err != IDEM_OK)
		fail_msg("%.*s: %s", IDEM_FMT(field), idem_strerror(err));
	assert_span(((struct idem_span){ key.b, key.n }), want);
}

static void
assert_no_key(struct idem_span field, enum idem_err want)
{
	struct idem_key key;
	enum idem_err err = parse(field, &key);

	if (err != want)
		fail_msg("%.*s: %s, not %s", IDEM_FMT(field),
		    idem_strerror(err), idem_strerror(want));
}

static void
vectors_hold(void **state)
{
	struct rows rows;
	struct row row;
	struct idem_key key;

	(void)state;
	rows_open(&rows, "tests/vectors/keys.tsv");
	while (rows_next(&rows, &row)) {
		struct idem_span field = unescape(row.cell[0]);

		assert_int_equal(row.ncells, 3);
		if (span_eq(row.cell[1], IDEM_LIT("OK"))) {
			assert_key(field, unescape(row.cell[2]));
			continue;
		}
		assert_span(row.cell[1], IDEM_LIT("INVALID"));
		if (parse(field, &key) == IDEM_OK)
			fail_msg("line %u was taken", row.line);
	}
	assert_true(row.line > 40);
	rows_close(&rows);
}

/* No part of a good field may be read past its end or give a half key. */
static void
prefixes_are_safe(void **state)
{
	struct rows rows;
	struct row row;
	struct idem_key key;
	size_t good = 0;

	(void)state;
	rows_open(&rows, "tests/vectors/keys.tsv");
	while (rows_next(&rows, &row)) {
		struct idem_span field = unescape(row.cell[0]);

		for (size_t n = 0; n < field.n; n++)
			if (parse(span_first(field, n), &key) == IDEM_OK) {
				assert_in_range(key.n, 1, IDEM_KEY_MAX);
				good++;
			}
	}
	assert_true(good > 500);
	rows_close(&rows);
}

static void
limit_is_255_bytes(void **state)
{
	char text[600];

	(void)state;
	memset(text, 'k', sizeof text);
	assert_key((struct idem_span){ text, 255 },
	    (struct idem_span){ text, 255 });
	assert_no_key((struct idem_span){ text, 256 }, IDEM_ETOOBIG);
	assert_no_key((struct idem_span){ text, 600 }, IDEM_ETOOBIG);
	text[599] = ',';
	assert_no_key((struct idem_span){ text, 600 }, IDEM_ESYNTAX);
}

/* A quoted key of n bytes, the last of them escaped, and a tail. */
static struct idem_span
quoted(char *text, size_t n, const char *tail)
{
	memset(text, 'q', n);
	text[0] = '"';
	text[n] = '\\';
	text[n + 1] = '"';
	text[n + 2] = '"';
	memcpy(text + n + 3, tail, strlen(tail));
	return (struct idem_span){ text, n + 3 + strlen(tail) };
}

static void
limit_counts_unquoted_bytes(void **state)
{
	char text[600], want[255];

	(void)state;
	memset(want, 'q', sizeof want);
	want[254] = '"';
	assert_key(quoted(text, 255, ""), (struct idem_span){ want, 255 });
	assert_key(quoted(text, 255, ";a=1"), (struct idem_span){ want, 255 });
	assert_no_key(quoted(text, 256, ""), IDEM_ETOOBIG);
	assert_no_key(quoted(text, 256, ";a=1"), IDEM_ETOOBIG);
	assert_no_key(quoted(text, 256, ";a="), IDEM_ESYNTAX);
	assert_no_key(quoted(text, 256, "x"), IDEM_ESYNTAX);
}

static void
each_byte_bare_and_quoted(void **state)
{
	static const char bare[] = "!#$%&'()*+-./0123456789:<=>?@"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~";
	static const char quoted_too[] = " ,;";

	(void)state;
	for (int c = 0; c < 256; c++) {
		char field[] = { '"', 'x', (char)c, 'y', '"' };
		struct idem_span in = { field, 5 }, key = { field + 1, 3 };
		bool is_bare = c != 0 && strchr(bare, c) != NULL;
		bool is_quoted = c != 0 && strchr(quoted_too, c) != NULL;

		if (is_bare)
			assert_key(key, key);
		else
			assert_no_key(key, IDEM_ESYNTAX);
		if (is_bare || is_quoted)
			assert_key(in, key);
		else
			assert_no_key(in, IDEM_ESYNTAX);
	}
}

static void
nothing_is_no_key(void **state)
{
	struct idem_key key;

	(void)state;
	assert_int_equal(idem_key_parse(IDEM_ABSENT, &key), IDEM_ESYNTAX);
	assert_zeroed(&key);
	assert_no_key(IDEM_LIT(""), IDEM_ESYNTAX);
	assert_no_key(IDEM_LIT("\0"), IDEM_ESYNTAX);
	assert_no_key(IDEM_LIT("k\0"), IDEM_ESYNTAX);
	assert_no_key(IDEM_LIT("\"k\0\""), IDEM_ESYNTAX);
	assert_no_key(IDEM_LIT("\"k\";a=\"\0\""), IDEM_ESYNTAX);
	assert_no_key(IDEM_LIT("\"\";v=1"), IDEM_ESYNTAX);
	assert_no_key(IDEM_LIT("k\r\n"), IDEM_ESYNTAX);
	assert_no_key(IDEM_LIT("\"k\"\n"), IDEM_ESYNTAX);
}

/* What may follow the key k: RFC 9651 3.1.2 and 4.2.3 to 4.2.10. */
static void
good_parameters_are_dropped(void **state)
{
	static const char *const tails[] = {
		";a", ";*", ";*a", ";a1_-.*", ";a;b;c", ";   a", ";a ", ";a\t",
		";a;a=1;a=2",
		/* Integer, Decimal */
		";a=0", ";a=-0", ";a=00", ";a=-999999999999999", ";a=0.0",
		";a=999999999999999", ";a=-123456789012.123", ";a=1.5;b=2",
		/* String */
		";a=\"\"", ";a=\" ,;\"", ";a=\"\\\\\\\"\"", ";a=\"x\";b=\"y\"",
		/* Token */
		";a=b", ";a=*", ";a=B/c:d", ";a=a!#$%&'*+-.^_`|~", ";a=A;b=B",
		/* Byte Sequence */
		";a=::", ";a=:YQ==:", ";a=:YWI=:", ";a=:YWJj:", ";a=:YQ:",
		";a=:YWI:", ";a=:+/09:",
		/* Boolean */
		";a=?0", ";a=?1;b=?0",
		/* Date */
		";a=@0", ";a=@-1", ";a=@1659578233", ";a=@999999999999999",
		/* Display String */
		";a=%\"\"", ";a=%\"abc ,;'\"", ";a=%\"%00%22%25\"",
		";a=%\"f%c3%bc%c3%bc\"", ";a=%\"%e2%82%ac%f0%9f%98%80\"",
	};
	char field[80];

	(void)state;
	for (size_t i = 0; i < COUNT(tails); i++) {
		assert_int_equal(text_format(field, sizeof field, "\"k\"%s",
		    tails[i]), IDEM_OK);
		assert_key(span_of(field), IDEM_LIT("k"));
	}
}

static void
bad_parameters_are_refused(void **state)
{
	static const char *const tails[] = {
		" ;a", ";", "; ", ";;a", ";a;", ";a; ", ";\ta", ";A", ";1",
		";_a", ";a =1", ";a= 1", ";a=1 ;b", ";a,b", ";a b", ";aB",
		";a=", ";=1",
		/* Integer, Decimal */
		";a=-", ";a=--1", ";a=+1", ";a=1000000000000000",
		";a=1.", ";a=.1", ";a=1.1234", ";a=1234567890123.1",
		";a=1.2.3", ";a=1e3",
		/* String */
		";a=\"", ";a=\"x", ";a=\"\\x\"", ";a=\"\\", ";a=\"\x7f\"",
		";a=\"\x1f\"", ";a=\"\xc3\xbc\"", ";a='x'",
		/* Token */
		";a=b\"c\"", ";a=b,c", ";a=!b", ";a=b\\", ";a=b(c",
		/* Byte Sequence */
		";a=:", ";a=:YQ==", ";a=:Y:", ";a=:YWJjZ:", ";a=:YQ=:",
		";a=:YWJj=:", ";a=:Y===:", ";a=:====:", ";a=:=YQ:", ";a=:Y=Q=:",
		";a=:_-A:", ";a=:Y Q:", ";a=:YWJj:x",
		/* Boolean */
		";a=?", ";a=?2", ";a=?01", ";a=?T",
		/* Date */
		";a=@", ";a=@1.5", ";a=@x", ";a=@-", ";a=@1000000000000000",
		";a=@@1",
		/* Display String */
		";a=%", ";a=%x", ";a=%\"", ";a=%\"x", ";a=%\"%\"", ";a=%\"%2\"",
		";a=%\"%2", ";a=%\"%zz\"", ";a=%\"%C3%BC\"", ";a=%\"\xc3\xbc\"",
		";a=%\"\x7f\"", ";a=%\"%c3\"", ";a=%\"%c3x\"", ";a=%\"%80\"",
		";a=%\"%ff%ff%ff%ff%ff\"", ";a=%\"%ed%a0%80\"",
		";a=%\"%f0%9f%98\"", ";a=%\"x\"y",
		/* no item */
		";a=()", ";a=(1)", ";a=,", ";a=;", ";a=;b", ";a=~", ";a=\x80",
	};
	char field[80];

	(void)state;
	for (size_t i = 0; i < COUNT(tails); i++) {
		assert_int_equal(text_format(field, sizeof field, "\"k\"%s",
		    tails[i]), IDEM_OK);
		assert_no_key(span_of(field), IDEM_ESYNTAX);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors_hold),
		cmocka_unit_test(prefixes_are_safe),
		cmocka_unit_test(limit_is_255_bytes),
		cmocka_unit_test(limit_counts_unquoted_bytes),
		cmocka_unit_test(each_byte_bare_and_quoted),
		cmocka_unit_test(nothing_is_no_key),
		cmocka_unit_test(good_parameters_are_dropped),
		cmocka_unit_test(bad_parameters_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
