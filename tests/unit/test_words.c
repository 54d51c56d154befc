/*
 * test_words.c - trimming, counting and #words of Unicode text.
 */
#include "tests.h"

#include "idem/buf.h"
#include "tasks/words.h"

#define L(s) IDEM_LIT_INIT(s)

static void
trims_every_white_space(void **state)
{
	static const char *const spaces[] = {
		"\x09", "\x0A", "\x0B", "\x0C", "\x0D", "\x20", /* ASCII */
		"\xC2\x85",     /* U+0085 */
		"\xC2\xA0",     /* U+00A0 */
		"\xE1\x9A\x80", /* U+1680 */
		"\xE2\x80\x80", "\xE2\x80\x81", "\xE2\x80\x82", /* U+2000.. */
		"\xE2\x80\x83", "\xE2\x80\x84", "\xE2\x80\x85",
		"\xE2\x80\x86", "\xE2\x80\x87", "\xE2\x80\x88",
		"\xE2\x80\x89", "\xE2\x80\x8A",
		"\xE2\x80\xA8", /* U+2028 */
		"\xE2\x80\xA9", /* U+2029 */
		"\xE2\x80\xAF", /* U+202F */
		"\xE2\x81\x9F", /* U+205F */
		"\xE3\x80\x80", /* U+3000 */
	};
	struct idem_buf b;

	(void)state;
	assert_int_equal(COUNT(spaces), 25);
	idem_buf_init(&b, 64);
	for (size_t i = 0; i < COUNT(spaces); i++) {
		size_t n = strlen(spaces[i]);

		idem_buf_reset(&b);
		idem_buf_put(&b, spaces[i], n);
		idem_buf_puts(&b, IDEM_LIT("a b"));
		idem_buf_put(&b, spaces[i], n);
		idem_buf_put(&b, spaces[i], n);
		assert_span(words_trim(idem_buf_span(&b)), IDEM_LIT("a b"));
	}
	idem_buf_free(&b);
}

static void
trims_nothing_else(void **state)
{
	static const struct { struct idem_span in, want; } rows[] = {
		{ L(""), L("") },
		{ L("   "), L("") },
		{ L(" \xC2\xA0\t"), L("") },
		{ L("a"), L("a") },
		{ L("\xE2\x80\x8B" "a"), L("\xE2\x80\x8B" "a") }, /* U+200B */
		{ L("a\xEF\xBB\xBF"), L("a\xEF\xBB\xBF") },       /* U+FEFF */
		{ L("\xE1\xA0\x8E"), L("\xE1\xA0\x8E") },         /* U+180E */
		{ L("\x1F" "a"), L("\x1F" "a") },
		{ L(" \xF0\x9F\x98\x80 "), L("\xF0\x9F\x98\x80") },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *block;
		struct idem_span in = exact_copy(rows[i].in, &block);

		assert_span(words_trim(in), rows[i].want);
		free(block);
	}
}

static void
counts_code_points(void **state)
{
	static const struct { struct idem_span in; size_t want; } rows[] = {
		{ L(""), 0 },
		{ L("abc"), 3 },
		{ L("o\xCA\xBBzbek"), 6 },
		{ L("\xF0\x9F\x98\x80"), 1 },
		{ L("e\xCC\x81"), 2 }, /* a combining mark is one of its own */
		{ L("\xF0\x9F\x87\xBA\xF0\x9F\x87\xBF"), 2 }, /* a flag */
		{ L("a\0b"), 3 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *block;

		assert_int_equal(
		    words_count(exact_copy(rows[i].in, &block)), rows[i].want);
		free(block);
	}
}

/* The tags of a text, each with a '|' behind it. */
static void
finds_tags(void **state)
{
	static const struct { struct idem_span in, want; } rows[] = {
		{ L(""), L("") },
		{ L("Non olish"), L("") },
		{ L("Non olish #uy"), L("uy|") },
		{ L("#uy #ish #bog'"), L("uy|ish|bog|") },
		{ L("#uy Non #ish olish #uy"), L("uy|ish|") },
		{ L("#Uy #uy"), L("Uy|uy|") },
		{ L("#"), L("") },
		{ L("# uy"), L("") },
		{ L("##uy"), L("uy|") },
		{ L("#a#b"), L("a|b|") },
		{ L("12#uy!"), L("uy|") },
		{ L("#uy,#ish."), L("uy|ish|") },
		{ L("#uy-joy"), L("uy|") },
		{ L("#_a_1"), L("_a_1|") },
		{ L("#2026"), L("2026|") },
		/* apostrophes stand between letters only */
		{ L("#o'zbek"), L("o'zbek|") },
		{ L("#o\xCA\xBBzbek"), L("o\xCA\xBBzbek|") },   /* U+02BB */
		{ L("#o\xCA\xBCzbek"), L("o\xCA\xBCzbek|") },   /* U+02BC */
		{ L("#o\xE2\x80\x98zbek"), L("o|") },           /* U+2018 */
		{ L("#'uy'"), L("") },
		{ L("#\xCA\xBBuy"), L("") },
		{ L("#tog'"), L("tog|") },
		{ L("#tog\xCA\xBB \xCA\xBC"), L("tog|") },
		{ L("#o''zbek"), L("o|") },
		{ L("#o'\xCA\xBBzbek"), L("o|") },
		{ L("#5'a"), L("5|") },
		{ L("#a'5"), L("a|") },
		{ L("#a_'b"), L("a_|") },
		{ L("#ma'no_2'x"), L("ma'no_2|") },
		{ L("#qo'l'yozma"), L("qo'l'yozma|") },
		/* other scripts */
		{ L("#\xD1\x83\xD0\xB9 #\xD1\x83"),
		    L("\xD1\x83\xD0\xB9|\xD1\x83|") },
		{ L("#\xE5\xAE\xB6"), L("\xE5\xAE\xB6|") },
		{ L("#\xD9\xA3\xD9\xA4"), L("\xD9\xA3\xD9\xA4|") }, /* Nd */
		{ L("#\xE0\xA5\xA7x"), L("\xE0\xA5\xA7x|") },       /* Nd */
		{ L("#x\xC2\xB2"), L("x|") },         /* superscript: No */
		{ L("#x\xE2\x85\xA7"), L("x|") },     /* Roman numeral: Nl */
		{ L("#e\xCC\x81t"), L("e|") },        /* combining mark: Mn */
		{ L("#\xC3\xA9t"), L("\xC3\xA9t|") },
		{ L("#\xF0\x9F\x98\x80"), L("") },    /* emoji: So */
		{ L("#uy\xF0\x9F\x98\x80"), L("uy|") },
		{ L("#\xF0\x9D\x92\x9C"), L("\xF0\x9D\x92\x9C|") }, /* Lu */
		{ L("\xEF\xBC\x83uy"), L("") },       /* a fullwidth # */
	};
	struct idem_span tags[WORDS_TAGS_MAX];
	struct idem_buf b;

	(void)state;
	idem_buf_init(&b, 256);
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *block;
		size_t n = words_tags(exact_copy(rows[i].in, &block), tags);

		idem_buf_reset(&b);
		for (size_t k = 0; k < n; k++) {
			idem_buf_puts(&b, tags[k]);
			idem_buf_putc(&b, '|');
		}
		assert_span(idem_buf_span(&b), rows[i].want);
		free(block);
	}
	idem_buf_free(&b);
}

/* No text of 500 code points has more: 250 times '#' and a letter, here U+4E00
 * and up. */
static void
holds_all_tags_of_500(void **state)
{
	struct idem_span tags[WORDS_TAGS_MAX];
	struct idem_buf b;

	(void)state;
	idem_buf_init(&b, 2048);
	for (unsigned i = 0; i < 251; i++)
		idem_buf_printf(&b, "#\xE4%c%c", (int)(0xB8 + i / 64),
		    (int)(0x80 + i % 64));
	assert_int_equal(words_tags(idem_buf_span(&b), tags), 250);
	assert_span(tags[249], IDEM_LIT("\xE4\xBB\xB9"));
	idem_buf_free(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trims_every_white_space),
		cmocka_unit_test(trims_nothing_else),
		cmocka_unit_test(counts_code_points),
		cmocka_unit_test(finds_tags),
		cmocka_unit_test(holds_all_tags_of_500),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
