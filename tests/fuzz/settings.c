/*
 * settings.c - the settings file against a machine that reads it byte by byte
 * into a list; and written anew in quotes it says the same.
 */
#include "idem/log.h"
#include "kit.h"
#include "settings/settings.h"
#include "settings/settings_table.h"

#define FILE_BYTES 65536
#define ENTRIES_MAX 200

struct entry {
	unsigned line;
	struct idem_span name, value;
};

struct slow_file {
	size_t n;
	struct entry entry[ENTRIES_MAX];
	unsigned bad_line; /* 0: none */
	const char *bad;
};

/* One file while it is read; text grows to what is between = and line end. */
struct machine {
	struct idem_span rest;
	unsigned line;
};

static int
ahead(const struct machine *m)
{
	return m->rest.n == 0 ? -1 : (unsigned char)m->rest.p[0];
}

static int
take(struct machine *m)
{
	int c = ahead(m);

	if (c < 0)
		return c;
	m->rest = span_from(m->rest, 1);
	m->line += c == '\n';
	return c;
}

static bool
at_end(const struct machine *m)
{
	return ahead(m) < 0 || ahead(m) == '\n' || ahead(m) == '\r';
}

static bool
at_blank(const struct machine *m)
{
	return ahead(m) == ' ' || ahead(m) == '\t';
}

/* To the first byte of a name; false: there is no more. */
static bool
to_name(struct machine *m)
{
	while (ahead(m) >= 0) {
		if (ahead(m) == '#' || ahead(m) == ';')
			while (!at_end(m))
				(void)take(m);
		else if (at_blank(m) || at_end(m))
			(void)take(m);
		else
			return true;
	}
	return false;
}

/* Behind a backslash outside of quotes. */
static void
escaped(struct machine *m, struct idem_buf *text)
{
	if (ahead(m) == '\r') {
		(void)take(m);
		if (ahead(m) == '\n')
			(void)take(m);
	} else if (ahead(m) == '\n')
		(void)take(m);
	else if (ahead(m) >= 0)
		idem_buf_putc(text, (char)take(m));
}

/* Behind an opening quote. */
static bool
quoted(struct machine *m, int quote, struct idem_buf *text)
{
	while (!at_end(m)) {
		int c = take(m);

		if (c == quote)
			return true;
		if (c == '\\' && quote == '"' && ahead(m) > 0 &&
		    strchr("\"\\`$", ahead(m)) != NULL)
			c = take(m);
		idem_buf_putc(text, (char)c);
	}
	return false;
}

static bool
value(struct machine *m, struct idem_buf *text)
{
	size_t wanted = 0; /* without the blanks that come last */

	while (at_blank(m))
		(void)take(m);
	while (!at_end(m)) {
		int c = take(m);

		if (c == '\'' || c == '"') {
			if (!quoted(m, c, text))
				return false;
		} else if (c == '\\')
			escaped(m, text);
		else
			idem_buf_putc(text, (char)c);
		if (c != ' ' && c != '\t')
			wanted = text->n;
	}
	idem_buf_cut(text, wanted);
	return true;
}

static bool
fault(struct slow_file *f, unsigned line, const char *what)
{
	f->bad_line = line;
	f->bad = what;
	return false;
}

static bool
entry(struct machine *m, struct slow_file *f)
{
	struct entry *e = &f->entry[f->n];
	const char *from = m->rest.p;
	struct idem_buf *text = kit_buf();
	bool good;

	e->line = m->line;
	while (!at_end(m) && ahead(m) != '=')
		(void)take(m);
	if (ahead(m) != '=')
		return fault(f, m->line, "not a line of the form NAME=value");
	e->name = span_trim((struct idem_span){ from,
	    (size_t)(m->rest.p - from) });
	(void)take(m);
	if (!span_starts(e->name, IDEM_LIT("IDEM_")))
		return fault(f, m->line, "only names that begin with IDEM_ "
		    "may stand here");
	good = value(m, text);
	e->value = kit_copy(idem_buf_span(text));
	idem_buf_free(text);
	if (!good)
		return fault(f, m->line, "a quote is not closed in its line");
	f->n++;
	return true;
}

/* Set what the list says, up to its first fault. */
static enum idem_err
apply(const struct slow_file *f, const char *path, const struct idem_log *log,
    struct settings *s)
{
	for (size_t i = 0; i < f->n; i++) {
		struct settings_origin from = { SETTINGS_FILE, path,
		    f->entry[i].line };
		enum idem_err err = settings_set(s, log, &from,
		    f->entry[i].name, f->entry[i].value);

		if (err != IDEM_OK)
			return err;
	}
	if (f->bad == NULL)
		return IDEM_OK;
	idem_log(log, IDEM_ERROR, "%s:%u: %s", path, f->bad_line, f->bad);
	return IDEM_ESYNTAX;
}

/* The same values from the same lines, and all typed fields that are no
 * pointers print alike. */
static void
must_be_settings(const struct settings *a, const struct settings *b,
    bool lines)
{
	struct idem_buf *x = kit_buf(), *y = kit_buf();

	for (size_t i = 0; i < settings_nrows; i++) {
		must_be(a->value[i].text, b->value[i].text);
		must(a->value[i].source == b->value[i].source);
		must(!lines || a->value[i].line == b->value[i].line);
	}
	must(a->policy.ttl_ms == b->policy.ttl_ms);
	must(a->policy.max_keys == b->policy.max_keys);
	must(a->policy.max_body_bytes == b->policy.max_body_bytes);
	must(a->policy.require_key == b->policy.require_key);
	must(a->policy.scope.from == b->policy.scope.from);
	must(a->max_store_bytes == b->max_store_bytes);
	if (!lines)
		return;
	settings_print(a, x);
	settings_print(b, y);
	must_be(idem_buf_span(x), idem_buf_span(y));
}

/* All values of s in double quotes. */
static void
in_quotes(const struct settings *s, struct idem_buf *out)
{
	for (size_t i = 0; i < settings_nrows; i++) {
		struct idem_span text = s->value[i].text;

		if (s->value[i].source != SETTINGS_FILE)
			continue;
		idem_buf_puts(out, span_of(settings_table[i].name));
		idem_buf_puts(out, IDEM_LIT("=\""));
		for (size_t k = 0; k < text.n; k++) {
			if (strchr("\"\\`$", text.p[k]) != NULL)
				idem_buf_putc(out, '\\');
			idem_buf_putc(out, text.p[k]);
		}
		idem_buf_puts(out, IDEM_LIT("\"\r\n"));
	}
}

void
fuzz_settings(struct idem_span input)
{
	struct slow_file f = { .n = 0 };
	struct machine m = { input, 1 };
	struct settings fast, slow, again;
	struct idem_buf *file = kit_buf(), *second = kit_buf();
	struct idem_buf *quotes = kit_buf();
	struct kit_log heard, wanted;
	struct idem_log log = kit_log_to(&heard), slow_log =
	    kit_log_to(&wanted);
	const char *path = kit_file(input);
	enum idem_err err;

	if (input.n > FILE_BYTES)
		return;
	settings_init(&fast, SETTINGS_TASKS);
	settings_init(&slow, SETTINGS_TASKS);
	err = settings_file(&fast, &log, path, file);
	if (span_find(input, '\0') < input.n)
		(void)fault(&f, 1, "the file holds a NUL byte");
	else
		while (f.bad == NULL && f.n < ENTRIES_MAX && to_name(&m))
			if (!entry(&m, &f))
				break;
	if (f.n == ENTRIES_MAX)
		return;
	must(err == apply(&f, path, &slow_log, &slow));
	must(heard.nlines == wanted.nlines && heard.nlines == (err != IDEM_OK));
	must_be(span_of(heard.last), span_of(wanted.last));
	if (err != IDEM_OK)
		return;
	slow.file = fast.file;
	must_be_settings(&fast, &slow, true);
	in_quotes(&fast, quotes);
	settings_init(&again, SETTINGS_TASKS);
	must(settings_file(&again, &log, kit_file(idem_buf_span(quotes)),
	    second) == IDEM_OK);
	must_be_settings(&fast, &again, false);
}
