/*
 * routes_file.c - settings by route.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/io.h"
#include "base/text.h"
#include "settings/routes_file.h"
#include "settings/settings_table.h"

#define FILE_BYTES (256 * 1024)
#define ROUTES_MAX 256
#define BESIDE ".htidem.routes"

void
routes_init(struct routes *r)
{
	idem_buf_init(&r->text, FILE_BYTES);
	idem_buf_init(&r->list, ROUTES_MAX * sizeof(struct route));
}

void
routes_free(struct routes *r)
{
	idem_buf_free(&r->text);
	idem_buf_free(&r->list);
}

struct reading {
	struct routes *routes;
	const struct settings *base;
	const struct idem_log *log;
	struct settings_origin from;
	struct route route; /* the block that is being read */
	bool in_block;
};

static enum idem_err
complain(const struct reading *r, const char *what)
{
	idem_log(r->log, IDEM_ERROR, "%s:%u: %s", r->from.path, r->from.line,
	    what);
	return IDEM_ESYNTAX;
}

static enum idem_err
end_block(struct reading *r)
{
	enum idem_err err;

	if (r->in_block)
		idem_buf_put(&r->routes->list, &r->route, sizeof r->route);
	r->in_block = false;
	err = idem_buf_err(&r->routes->list);
	if (err == IDEM_ETOOBIG)
		return complain(r, "there are too many blocks");
	if (err != IDEM_OK)
		(void)complain(r, idem_strerror(err));
	return err;
}

static bool
good_methods(struct idem_span list)
{
	struct idem_span one;

	if (span_eq(list, IDEM_LIT("*")))
		return true;
	while (span_next(&list, ',', &one))
		if (!settings_is_method(one))
			return false;
	return true;
}

static enum idem_err
begin_block(struct reading *r, struct idem_span line)
{
	size_t blank = 0;
	enum idem_err err = end_block(r);

	if (err != IDEM_OK)
		return err;
	while (blank < line.n && line.p[blank] != ' ' && line.p[blank] != '\t')
		blank++;
	r->route.methods = span_first(line, blank);
	r->route.path = span_trim(span_from(line, blank));
	r->route.settings = *r->base;
	if (!good_methods(r->route.methods) || r->route.path.n == 0 ||
	    r->route.path.p[0] != '/')
		return complain(r, "a block begins with methods in capitals by "
		    "commas, or *, and a path, as in: POST /checkout/*");
	if (span_find(r->route.path, '*') + 1 < r->route.path.n)
		return complain(r, "* may stand at the end of a path only");
	r->in_block = true;
	return IDEM_OK;
}

static enum idem_err
take_setting(struct reading *r, struct idem_span line)
{
	size_t equals = span_find(line, '=');

	if (!r->in_block)
		return complain(r, "a setting stands before the first block");
	if (equals == line.n)
		return complain(r, "not a line of the form NAME=value");
	return settings_set(&r->route.settings, r->log, &r->from,
	    span_trim(span_first(line, equals)),
	    span_trim(span_from(line, equals + 1)));
}

static enum idem_err
take_line(struct reading *r, struct idem_span line)
{
	bool indented;

	if (line.n > 0 && line.p[line.n - 1] == '\r')
		line.n--;
	indented = line.n > 0 && (line.p[0] == ' ' || line.p[0] == '\t');
	line = span_trim(line);
	if (line.n == 0 || line.p[0] == '#')
		return IDEM_OK;
	return indented ? take_setting(r, line) : begin_block(r, line);
}

static enum idem_err
take_lines(struct reading *r, struct idem_span text)
{
	struct idem_span line;
	enum idem_err err = IDEM_OK;

	if (span_find(text, '\0') < text.n)
		return complain(r, "the file holds a NUL byte");
	while (err == IDEM_OK && span_next(&text, '\n', &line)) {
		r->from.line++;
		err = take_line(r, line);
	}
	return err == IDEM_OK ? end_block(r) : err;
}

enum idem_err
routes_read(struct routes *r, const struct settings *base,
    const struct idem_log *log, const char *path, bool optional)
{
	struct reading reading = { .routes = r, .base = base, .log = log,
		.from = { .source = SETTINGS_ROUTE } };
	size_t head = strlen(path) + 1;
	enum idem_err err;
	int saved;

	idem_buf_reset(&r->text);
	idem_buf_reset(&r->list);
	idem_buf_put(&r->text, path, head);
	err = io_read_file(path, &r->text);
	saved = errno;
	if (err == IDEM_EIO && optional &&
	    (saved == ENOENT || saved == ENOTDIR))
		return IDEM_EBUSY;
	if (err != IDEM_OK) {
		idem_log(log, IDEM_ERROR, "cannot read the routes file %s: %s",
		    path, err == IDEM_EIO ? strerror(saved) :
		    idem_strerror(err));
		return err;
	}
	reading.from.path = r->text.p;
	return take_lines(&reading, span_from(idem_buf_span(&r->text), head));
}

/* The file's name in the folder of path; IDEM_EBUSY where path names none. */
static enum idem_err
read_beside(struct routes *r, const struct settings *base,
    const struct idem_log *log, const char *path)
{
	char name[PATH_MAX];
	const char *slash = path == NULL ? NULL : strrchr(path, '/');

	if (slash == NULL || text_format(name, sizeof name, "%.*s/" BESIDE,
	    (int)(slash - path), path) != IDEM_OK)
		return IDEM_EBUSY;
	return routes_read(r, base, log, name, true);
}

enum idem_err
routes_load(struct routes *r, const struct settings *base,
    const struct idem_log *log, const char *exe)
{
	char name[PATH_MAX];
	enum idem_err err;

	if (base->routes.p != NULL) {
		if (text_format(name, sizeof name, "%.*s",
		    IDEM_FMT(base->routes)) != IDEM_OK) {
			idem_log(log, IDEM_ERROR, "the name of the routes "
			    "file is too long");
			return IDEM_ETOOBIG;
		}
		return routes_read(r, base, log, name, false);
	}
	if ((err = read_beside(r, base, log, exe)) == IDEM_EBUSY)
		err = read_beside(r, base, log, base->file);
	if (err != IDEM_EBUSY)
		return err;
	idem_buf_reset(&r->list);
	return IDEM_OK;
}

static bool
is_method_of(const struct route *route, struct idem_span method)
{
	struct idem_span rest = route->methods, one;

	if (span_eq(rest, IDEM_LIT("*")))
		return true;
	while (span_next(&rest, ',', &one))
		if (span_eq(one, method))
			return true;
	return false;
}

static bool
is_path_of(const struct route *route, struct idem_span path)
{
	struct idem_span wanted = route->path;

	if (wanted.p[wanted.n - 1] == '*')
		return span_starts(path, span_first(wanted, wanted.n - 1));
	return span_eq(path, wanted);
}

const struct route *
routes_find(const struct routes *r, struct idem_span method,
    struct idem_span path)
{
	/* the block comes from malloc(), so it is aligned */
	const struct route *list = (const void *)r->list.p;

	for (size_t i = 0; i < r->list.n / sizeof *list; i++)
		if (is_method_of(&list[i], method) &&
		    is_path_of(&list[i], path))
			return &list[i];
	return NULL;
}
