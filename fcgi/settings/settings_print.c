/*
 * settings_print.c - the settings as people read them: --check-config, --help.
 */
#include "base/text.h"
#include "settings/settings_table.h"

static const char *const program_names[] = { "tasks.fcgi", "guard.fcgi",
	"idem" };
_Static_assert(sizeof program_names / sizeof program_names[0] ==
    SETTINGS_NPROGRAMS, "one name for each program");

static void
put_source(const struct settings *s, const struct settings_value *v,
    struct idem_buf *out)
{
	static const char *const words[] = { "default", "file", "environment",
	    "command line", "routes file", "request parameter" };
	_Static_assert(sizeof words / sizeof words[0] ==
	    (size_t)SETTINGS_PARAMETER + 1, "one word for each source");

	if (v->text.p == NULL) {
		idem_buf_puts(out, IDEM_LIT("not set"));
	} else if (v->source == SETTINGS_FILE) {
		idem_buf_puts(out, span_of(s->file));
		idem_buf_printf(out, ":%u", v->line);
	} else {
		idem_buf_puts(out, span_of(words[v->source]));
	}
}

void
settings_print(const struct settings *s, struct idem_buf *out)
{
	const char *name = program_names[s->program];

	for (size_t i = 0; i < settings_nrows; i++) {
		const struct setting *row = &settings_table[i];
		bool used = (row->users & USED_BY(s->program)) != 0;

		idem_buf_printf(out, "%s=", row->name);
		idem_buf_puts(out, s->value[i].text);
		idem_buf_putc(out, '\t');
		put_source(s, &s->value[i], out);
		idem_buf_printf(out, "\t%s\t%s %s\n",
		    row->route ? "route" : "process",
		    used ? "used by" : "not used by", name);
	}
	if (s->store.p != NULL && !span_eq(s->store, IDEM_LIT("memory:")))
		idem_buf_printf(out, "# commits: %s\n",
		    idem_store_commits(s->durable));
}

static void
put_option(const struct setting *row, struct idem_buf *out)
{
	size_t from = out->n;

	idem_buf_printf(out, "  --");
	for (const char *c = row->name + 5; *c != '\0'; c++)
		idem_buf_putc(out, *c == '_' ? '-' : ascii_lower(*c));
	while (idem_buf_err(out) == IDEM_OK && out->n - from < 24)
		idem_buf_putc(out, ' ');
}

void
settings_help(enum settings_program program, struct idem_buf *out)
{
	for (size_t i = 0; i < settings_nrows; i++) {
		const struct setting *row = &settings_table[i];
		const char *dflt = row->dflt[program];

		if ((row->users & USED_BY(program)) == 0)
			continue;
		put_option(row, out);
		idem_buf_printf(out, "%s\n%24s", row->help, "");
		settings_allowed(row, out);
		if (dflt != NULL)
			idem_buf_printf(out, "; default: %s",
			    dflt[0] != '\0' ? dflt : "empty");
		idem_buf_putc(out, '\n');
	}
}
