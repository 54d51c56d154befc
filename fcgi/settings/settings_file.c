/*
 * settings_file.c - the settings file: where it lies, and its lines.  The
 * grammar is that of systemd's EnvironmentFile.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/io.h"
#include "base/text.h"
#include "settings/settings_table.h"

#define FILE_BYTES 65536
#define BESIDE ".htidem.conf"

/* Values are unquoted where they stand: they never get longer. */
struct lines {
	char *p;
	size_t n, at;
	unsigned line;
	const char *path;
	const struct idem_log *log;
};

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool
is_end(char c)
{
	return c == '\n' || c == '\r';
}

static void
step(struct lines *l)
{
	if (l->p[l->at] == '\n')
		l->line++;
	l->at++;
}

static void
skip_line(struct lines *l)
{
	while (l->at < l->n && !is_end(l->p[l->at]))
		l->at++;
}

/* To the next line that says something; false at the end. */
static bool
next_line(struct lines *l)
{
	while (l->at < l->n) {
		char c = l->p[l->at];

		if (c == '#' || c == ';')
			skip_line(l);
		else if (is_blank(c) || is_end(c))
			step(l);
		else
			return true;
	}
	return false;
}

static enum idem_err
complain(const struct lines *l, unsigned line, const char *what)
{
	idem_log(l->log, IDEM_ERROR, "%s:%u: %s", l->path, line, what);
	return IDEM_ESYNTAX;
}

static enum idem_err
take_name(struct lines *l, struct idem_span *name)
{
	size_t from = l->at;

	while (l->at < l->n && l->p[l->at] != '=' && !is_end(l->p[l->at]))
		l->at++;
	if (l->at == l->n || l->p[l->at] != '=')
		return complain(l, l->line,
		    "not a line of the form NAME=value");
	*name = span_trim((struct idem_span){ l->p + from, l->at - from });
	l->at++;
	if (!span_starts(*name, IDEM_LIT("IDEM_")))
		return complain(l, l->line,
		    "only names that begin with IDEM_ may stand here");
	return IDEM_OK;
}

/* In double quotes a backslash counts before these only. */
static bool
needs_escape(char c)
{
	return c == '"' || c == '\\' || c == '`' || c == '$';
}

/* Copy what stands in quotes to *out; l stands behind the opening one. */
static bool
take_quoted(struct lines *l, char quote, char **out)
{
	while (l->at < l->n && !is_end(l->p[l->at])) {
		char c = l->p[l->at++];

		if (c == quote)
			return true;
		if (c == '\\' && quote == '"' && l->at < l->n &&
		    needs_escape(l->p[l->at]))
			c = l->p[l->at++];
		*(*out)++ = c;
	}
	return false;
}

/* A backslash outside quotes: the next byte as it is, or the next line. */
static void
take_escaped(struct lines *l, char **out)
{
	char c;

	if (l->at == l->n)
		return;
	c = l->p[l->at];
	step(l);
	if (!is_end(c))
		*(*out)++ = c;
	else if (c == '\r' && l->at < l->n && l->p[l->at] == '\n')
		step(l);
}

static enum idem_err
take_value(struct lines *l, struct idem_span *value)
{
	char *start, *out, *end;

	while (l->at < l->n && is_blank(l->p[l->at]))
		l->at++;
	start = out = end = l->p + l->at;
	while (l->at < l->n && !is_end(l->p[l->at])) {
		char c = l->p[l->at++];

		if (c == '\'' || c == '"') {
			if (!take_quoted(l, c, &out))
				return complain(l, l->line,
				    "a quote is not closed in its line");
		} else if (c == '\\')
			take_escaped(l, &out);
		else
			*out++ = c;
		if (!is_blank(c))
			end = out;
	}
	*value = (struct idem_span){ start, (size_t)(end - start) };
	return IDEM_OK;
}

static enum idem_err
take_lines(struct settings *s, struct lines *l)
{
	struct settings_origin from = { SETTINGS_FILE, l->path, 0 };
	struct idem_span name, value;
	enum idem_err err;

	while (next_line(l)) {
		from.line = l->line;
		if ((err = take_name(l, &name)) != IDEM_OK ||
		    (err = take_value(l, &value)) != IDEM_OK ||
		    (err = settings_set(s, l->log, &from, name,
		    value)) != IDEM_OK)
			return err;
	}
	return IDEM_OK;
}

/*
 * Read one file.  The buffer holds its name, a NUL and its bytes.  optional: a
 * file that is not there is IDEM_EBUSY, without a log line.
 */
static enum idem_err
read_one(struct settings *s, const struct idem_log *log, const char *path,
    bool optional, struct idem_buf *file)
{
	size_t head = strlen(path) + 1;
	struct lines l = { .line = 1, .log = log };
	enum idem_err err;
	int saved;

	idem_buf_reset(file);
	idem_buf_put(file, path, head);
	err = io_read_file(path, file);
	saved = errno;
	if (err == IDEM_EIO && optional &&
	    (saved == ENOENT || saved == ENOTDIR))
		return IDEM_EBUSY;
	if (err != IDEM_OK) {
		idem_log(log, IDEM_ERROR, "cannot read the settings file "
		    "%s: %s", path, err == IDEM_EIO ? strerror(saved) :
		    idem_strerror(err));
		return err;
	}
	s->file = l.path = file->p;
	l.p = file->p + head;
	l.n = file->n - head;
	if (memchr(l.p, '\0', l.n) != NULL)
		return complain(&l, 1, "the file holds a NUL byte");
	return take_lines(s, &l);
}

enum idem_err
settings_file(struct settings *s, const struct idem_log *log,
    const char *path, struct idem_buf *file)
{
	return read_one(s, log, path, false, file);
}

static const char *
variable(const char *const *env, struct idem_span name)
{
	for (; *env != NULL; env++) {
		struct idem_span text = span_of(*env);

		if (text.n > name.n && text.p[name.n] == '=' &&
		    span_eq(span_first(text, name.n), name))
			return text.p + name.n + 1;
	}
	return NULL;
}

/* The file's name in the folder of path; IDEM_EBUSY where path names none. */
static enum idem_err
read_beside(struct settings *s, const struct idem_log *log, const char *path,
    struct idem_buf *file)
{
	char name[PATH_MAX];
	const char *slash = path == NULL ? NULL : strrchr(path, '/');

	if (slash == NULL || text_format(name, sizeof name, "%.*s/" BESIDE,
	    (int)(slash - path), path) != IDEM_OK)
		return IDEM_EBUSY;
	return read_one(s, log, name, true, file);
}

static enum idem_err
find_file(struct settings *s, const struct idem_log *log,
    const struct settings_places *places, const char *const *env, bool cgi,
    struct idem_buf *file)
{
	const char *beside[] = { places->exe, places->argv0,
	    cgi ? variable(env, IDEM_LIT("SCRIPT_FILENAME")) : NULL };
	const char *named = places->config != NULL ? places->config :
	    variable(env, IDEM_LIT("IDEM_CONFIG"));
	enum idem_err err = IDEM_EBUSY;

	if (named != NULL)
		return settings_file(s, log, named, file);
	for (size_t i = 0; i < 3 && err == IDEM_EBUSY; i++)
		err = read_beside(s, log, beside[i], file);
	if (err == IDEM_EBUSY)
		err = read_one(s, log, places->fallback, true, file);
	return err == IDEM_EBUSY ? IDEM_OK : err;
}

enum idem_err
settings_load(struct settings *s, const struct idem_log *log,
    const struct settings_places *places, const char *const *env, bool cgi,
    struct idem_buf *file)
{
	enum idem_err err;

	idem_buf_init(file, FILE_BYTES);
	err = find_file(s, log, places, env, cgi, file);
	return err != IDEM_OK ? err : settings_environment(s, log, env, cgi);
}
