/*
 * test_manual.c - man/idem.conf.5 says of every setting what the programs'
 * table says: name, order, allowed values, defaults, programs and place.
 */
#include "tests.h"

#include "base/io.h"
#include "base/text.h"
#include "settings/settings_table.h"

#define PAGE "man/idem.conf.5"

static const char *const programs[] = { "tasks.fcgi", "guard.fcgi", "idem" };

/* text with every run of blanks and line ends made one space, and the one
 * escape of the page, \e, made a backslash. */
static void
put_plain(struct idem_buf *b, struct idem_span text)
{
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i] == '\n' ? ' ' : text.p[i];

		if (c == ' ' && b->n > 0 && b->p[b->n - 1] == ' ')
			continue;
		if (c == '\\' && i + 1 < text.n && text.p[i + 1] == 'e')
			i++;
		idem_buf_putc(b, c);
	}
	while (b->n > 0 && b->p[b->n - 1] == ' ')
		idem_buf_cut(b, b->n - 1);
}

static const char *
shown(const char *dflt)
{
	return dflt == NULL ? "not set" : dflt[0] == '\0' ? "empty" : dflt;
}

/* One default where the programs that read the setting agree; else each. */
static void
put_default(struct idem_buf *b, const struct setting *row)
{
	const char *first = NULL;
	bool agree = true;

	for (size_t p = 0; p < SETTINGS_NPROGRAMS; p++) {
		if (row->users != 0 && (row->users & USED_BY(p)) == 0)
			continue;
		if (first == NULL)
			first = shown(row->dflt[p]);
		agree = agree && strcmp(first, shown(row->dflt[p])) == 0;
	}
	assert_non_null(first);
	if (agree)
		idem_buf_printf(b, " Default: %s.", first);
	for (size_t p = 0; p < SETTINGS_NPROGRAMS && !agree; p++)
		if ((row->users & USED_BY(p)) != 0)
			idem_buf_printf(b, " Default of %s: %s.", programs[p],
			    shown(row->dflt[p]));
}

static void
put_wanted(struct idem_buf *b, const struct setting *row)
{
	const char *before = " Read by ";

	idem_buf_printf(b, "Value: ");
	settings_allowed(row, b);
	idem_buf_putc(b, '.');
	put_default(b, row);
	for (size_t p = 0; p < SETTINGS_NPROGRAMS; p++)
		if ((row->users & USED_BY(p)) != 0) {
			idem_buf_printf(b, "%s%s", before, programs[p]);
			before = ", ";
		}
	if (row->users == 0)
		idem_buf_printf(b, "%sno program yet", before);
	idem_buf_printf(b, "; %s.", row->route ?
	    "one request may bring it" : "of the process");
}

/* What stands between two marks of the page, without them. */
static struct idem_span
between(struct idem_span text, const char *from, const char *to)
{
	const char *a = strstr(text.p, from);
	const char *b;

	if (a == NULL)
		fail_msg(PAGE " has no line %s", from);
	a += strlen(from);
	b = strstr(a, to);
	if (b == NULL)
		fail_msg(PAGE " has no %s behind %s", to, from);
	return (struct idem_span){ a, (size_t)(b - a) };
}

static void
assert_entry(struct idem_span entry, const struct setting *row)
{
	struct idem_span name, facts = IDEM_ABSENT;
	struct idem_buf got, want;

	assert_true(span_next(&entry, '\n', &name));
	assert_span(name, span_of(row->name));
	for (size_t i = 0; i + 7 <= entry.n && facts.p == NULL; i++)
		if (memcmp(entry.p + i, "\nValue:", 7) == 0)
			facts = span_from(entry, i + 1);
	assert_non_null(facts.p);
	idem_buf_init(&got, 4096);
	idem_buf_init(&want, 4096);
	put_plain(&got, facts);
	put_wanted(&want, row);
	assert_int_equal(idem_buf_err(&got), IDEM_OK);
	assert_int_equal(idem_buf_err(&want), IDEM_OK);
	assert_span(idem_buf_span(&got), idem_buf_span(&want));
	idem_buf_free(&got);
	idem_buf_free(&want);
}

/* An entry too many ends up in its neighbour's, which then differs. */
static void
page_and_table_agree(void **state)
{
	struct idem_span rest, entry;
	struct idem_buf page;

	(void)state;
	idem_buf_init(&page, 1 << 20);
	assert_int_equal(io_read_file(PAGE, &page), IDEM_OK);
	idem_buf_putc(&page, '\0');
	assert_int_equal(idem_buf_err(&page), IDEM_OK);
	rest = between(idem_buf_span(&page), ".Sh SETTINGS\n", "\n.Sh ");
	for (size_t i = 0; i < settings_nrows; i++) {
		const char *end = i + 1 < settings_nrows ? "\n.It Ev " :
		    "\n.El";

		entry = between(rest, "\n.It Ev ", end);
		assert_entry(entry, &settings_table[i]);
		rest = (struct idem_span){ entry.p + entry.n,
		    rest.n - (size_t)(entry.p + entry.n - rest.p) };
	}
	idem_buf_free(&page);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(page_and_table_agree),
	};

	return cmocka_run_group_tests_name("manual", tests, NULL, NULL);
}
