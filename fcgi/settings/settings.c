/*
 * settings.c - values by source: the environment, the command line and the
 * variables of one request.  Knows no kind of value.
 */
#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "settings/settings_table.h"

#define PREFIX IDEM_LIT("IDEM_")
#define REDIRECTED IDEM_LIT("REDIRECT_")
#define SHOWN_BYTES 160 /* of a refused value, in its log line */

/* What mod_fcgid 2.3.9 leaves of a longer value of FcgidInitialEnv. */
#define CUT_BYTES 127

void
settings_init(struct settings *s, enum settings_program program)
{
	memset(s, 0, sizeof *s);
	s->program = program;
	s->policy.wait_ms = -1;
	for (size_t i = 0; i < settings_nrows; i++) {
		const struct setting *row = &settings_table[i];
		struct idem_span text = span_of(row->dflt[program]);
		enum idem_err err = IDEM_OK;

		if (text.p != NULL)
			err = settings_value_store(s, row, SETTINGS_DEFAULT,
			    text);
		assert(err == IDEM_OK);
		s->value[i].text = text;
	}
}

static void
source_text(const struct settings_origin *from, struct idem_buf *out)
{
	switch (from->source) {
	case SETTINGS_FILE:
	case SETTINGS_ROUTE:
		idem_buf_puts(out, span_of(from->path));
		idem_buf_printf(out, ":%u", from->line);
		break;
	case SETTINGS_DEFAULT:
		idem_buf_printf(out, "default");
		break;
	case SETTINGS_ENVIRONMENT:
		idem_buf_printf(out, "environment");
		break;
	case SETTINGS_OPTION:
		idem_buf_printf(out, "command line");
		break;
	case SETTINGS_PARAMETER:
		idem_buf_printf(out, "request parameter");
		break;
	}
	idem_buf_putc(out, '\0');
}

/* why: the buffer's text, NUL-terminated. */
static void
refuse(const struct idem_log *log, const struct settings_origin *from,
    struct idem_span name, struct idem_span value, const char *why)
{
	struct idem_buf source;
	bool cut = value.n > SHOWN_BYTES;

	idem_buf_init(&source, IDEM_LOG_MAX);
	source_text(from, &source);
	if (cut)
		value.n = SHOWN_BYTES;
	if (name.n > SHOWN_BYTES)
		name.n = SHOWN_BYTES;
	idem_log(log, IDEM_ERROR, "%s: %.*s=%.*s%s is refused; %s",
	    idem_buf_err(&source) == IDEM_OK ? source.p : "?",
	    IDEM_FMT(name), IDEM_FMT(value), cut ? "..." : "", why);
	idem_buf_free(&source);
}

static void
refuse_value(const struct idem_log *log, const struct settings_origin *from,
    const struct setting *row, struct idem_span value)
{
	struct idem_buf why;

	idem_buf_init(&why, IDEM_LOG_MAX);
	idem_buf_printf(&why, "allowed: ");
	settings_allowed(row, &why);
	idem_buf_putc(&why, '\0');
	refuse(log, from, span_of(row->name), value,
	    idem_buf_err(&why) == IDEM_OK ? why.p : "no memory to say why");
	idem_buf_free(&why);
}

static const struct setting *
find_row(struct idem_span name)
{
	for (size_t i = 0; i < settings_nrows; i++)
		if (span_eq(span_of(settings_table[i].name), name))
			return &settings_table[i];
	return NULL;
}

enum idem_err
settings_set(struct settings *s, const struct idem_log *log,
    const struct settings_origin *from, struct idem_span name,
    struct idem_span value)
{
	const struct setting *row = find_row(name);
	struct settings_value *held;
	struct settings trial = *s;

	if (row == NULL) {
		refuse(log, from, name, value,
		    "no setting has this name (--check-config prints all)");
		return IDEM_ESYNTAX;
	}
	if (from->source >= SETTINGS_ROUTE && !row->route) {
		refuse(log, from, name, value, "it is a setting of the "
		    "process: file, environment or command line");
		return IDEM_ESYNTAX;
	}
	if (settings_value_store(&trial, row, from->source, value) != IDEM_OK) {
		refuse_value(log, from, row, value);
		return IDEM_ESYNTAX;
	}
	held = &trial.value[row - settings_table];
	if (held->source > from->source)
		return IDEM_OK;
	*held = (struct settings_value){ value, from->source, from->line };
	*s = trial;
	return IDEM_OK;
}

static void
warn_cut(const struct idem_log *log, struct idem_span name,
    struct idem_span value)
{
	if (value.n == CUT_BYTES)
		idem_log(log, IDEM_WARN, "environment: %.*s has exactly %d "
		    "bytes, which is where mod_fcgid cuts a longer value; if "
		    "it is cut, write it in the file .htidem.conf",
		    IDEM_FMT(name), CUT_BYTES);
}

/* Names in the environment that are no settings. */
static bool
is_apart(struct idem_span name)
{
#ifdef IDEM_FAILPOINTS
	if (span_eq(name, IDEM_LIT("IDEM_FAILPOINT")))
		return true;
#endif
	return span_eq(name, IDEM_LIT("IDEM_CONFIG")) ||
	    span_eq(name, IDEM_LIT("IDEM_LENGTH"));
}

/* Split "NAME=value"; false: there is no '='. */
static bool
split(struct idem_span text, struct idem_span *name, struct idem_span *value)
{
	size_t at = span_find(text, '=');

	if (at == text.n)
		return false;
	*name = span_first(text, at);
	*value = span_from(text, at + 1);
	return true;
}

static enum idem_err
take_variables(struct settings *s, const struct idem_log *log,
    const char *const *vars, enum settings_source source, bool redirected)
{
	const struct settings_origin from = { .source = source };
	struct idem_span name, value;
	enum idem_err err;

	for (; *vars != NULL; vars++) {
		if (!split(span_of(*vars), &name, &value))
			continue;
		if (redirected && !span_starts(name, REDIRECTED))
			continue;
		if (redirected)
			name = span_from(name, REDIRECTED.n);
		if (!span_starts(name, PREFIX) || is_apart(name))
			continue;
		err = settings_set(s, log, &from, name, value);
		if (err != IDEM_OK)
			return err;
		if (source == SETTINGS_ENVIRONMENT)
			warn_cut(log, name, value);
	}
	return IDEM_OK;
}

enum idem_err
settings_environment(struct settings *s, const struct idem_log *log,
    const char *const *env, bool cgi)
{
	enum idem_err err = IDEM_OK;

	s->one_request = cgi;
	if (cgi)
		err = take_variables(s, log, env, SETTINGS_ENVIRONMENT,
		    true);
	if (err == IDEM_OK)
		err = take_variables(s, log, env, SETTINGS_ENVIRONMENT,
		    false);
	return err;
}

enum idem_err
settings_request(const struct settings *base, const struct idem_log *log,
    const char *const *vars, struct settings *out)
{
	enum idem_err err;

	*out = *base;
	if (base->one_request)
		return IDEM_OK;
	err = take_variables(out, log, vars, SETTINGS_PARAMETER, true);
	if (err == IDEM_OK)
		err = take_variables(out, log, vars, SETTINGS_PARAMETER,
		    false);
	return err;
}

/* "max-keys" is the option of IDEM_MAX_KEYS. */
static bool
is_option_of(const struct setting *row, struct idem_span option)
{
	struct idem_span name = span_from(span_of(row->name), PREFIX.n);

	if (name.n != option.n)
		return false;
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i] == '_' ? '-' : ascii_lower(name.p[i]);

		if (option.p[i] != c)
			return false;
	}
	return true;
}

static const struct setting *
find_option(struct idem_span option)
{
	for (size_t i = 0; i < settings_nrows; i++)
		if (is_option_of(&settings_table[i], option))
			return &settings_table[i];
	return NULL;
}

enum idem_err
settings_option(struct settings *s, const struct idem_log *log,
    const char *const *argv, size_t *at, bool *taken)
{
	const struct settings_origin from = { .source = SETTINGS_OPTION };
	struct idem_span arg = span_of(argv[*at]), value;
	const struct setting *row;
	size_t equals = span_find(arg, '=');

	*taken = false;
	if (!span_starts(arg, IDEM_LIT("--")))
		return IDEM_OK;
	row = find_option(span_from(span_first(arg, equals), 2));
	if (row == NULL)
		return IDEM_OK;
	*taken = true;
	value = equals < arg.n ? span_from(arg, equals + 1) :
	    span_of(argv[*at + 1]);
	if (value.p == NULL) {
		idem_log(log, IDEM_ERROR, "command line: %s needs a value",
		    argv[*at]);
		return IDEM_ESYNTAX;
	}
	if (equals == arg.n)
		(*at)++;
	return settings_set(s, log, &from, span_of(row->name), value);
}

static enum idem_err
miss(const struct settings *s, const struct idem_log *log, const char *what)
{
	idem_log(log, IDEM_ERROR, "%s in the environment, on the command line "
	    "or in %s", what, s->file != NULL ? s->file : SETTINGS_FALLBACK);
	return IDEM_ESYNTAX;
}

static bool
is_set(const struct settings *s, struct idem_span name)
{
	return s->value[find_row(name) - settings_table].source !=
	    SETTINGS_DEFAULT;
}

/* Which customers share keys is the owner's decision. */
static enum idem_err
check_guard(const struct settings *s, const struct idem_log *log)
{
	if (s->backend.p == NULL)
		return miss(s, log, "IDEM_BACKEND is not set; name the "
		    "application behind the guard");
	if (!is_set(s, IDEM_LIT("IDEM_SCOPE")) &&
	    !is_set(s, IDEM_LIT("IDEM_ANONYMOUS")))
		return miss(s, log, "neither IDEM_SCOPE nor IDEM_ANONYMOUS is "
		    "set; say by what customers are told apart, as in "
		    "IDEM_SCOPE=cookie:PHPSESSID,");
	if (span_eq(s->backend, IDEM_LIT("cgi:")) &&
	    span_eq(s->scripts, IDEM_LIT("none")))
		return miss(s, log, "IDEM_SCRIPTS=none would run any file with "
		    "IDEM_BACKEND=cgi:; name the program or the endings");
	return IDEM_OK;
}

enum idem_err
settings_check(const struct settings *s, const struct idem_log *log,
    size_t nworkers)
{
	if (s->store.p == NULL) {
		idem_log(log, IDEM_ERROR, "IDEM_STORE is not set; name the "
		    "store's directory in the environment, by --store, or in "
		    "%s", s->file != NULL ? s->file : "/etc/idem/idem.conf");
		return IDEM_ESYNTAX;
	}
	if (span_eq(s->store, IDEM_LIT("memory:")) && nworkers > 1) {
		idem_log(log, IDEM_ERROR, "IDEM_STORE=memory: serves one "
		    "worker only; leave --workers away, or name a directory");
		return IDEM_ESYNTAX;
	}
	return s->program == SETTINGS_GUARD ? check_guard(s, log) : IDEM_OK;
}
