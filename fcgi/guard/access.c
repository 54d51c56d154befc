/*
 * access.c - which file a request may run.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "guard/access.h"

/* mod_proxy_fcgi: "proxy:fcgi://localhost:9000/srv/www/x.php" */
static struct idem_span
without_proxy(struct idem_span file)
{
	const struct idem_span proxy = IDEM_LIT("proxy:fcgi://");

	if (!span_starts(file, proxy))
		return file;
	file = span_from(file, proxy.n);
	return span_from(file, span_find(file, '/'));
}

static bool
is_script(struct idem_span file, struct idem_span scripts)
{
	struct idem_span ending;

	while (span_next(&scripts, ',', &ending)) {
		ending = span_trim(ending);
		if (ending.n > 0 && file.n > ending.n && span_eq(ending,
		    span_from(file, file.n - ending.n)))
			return true;
	}
	return false;
}

/* Steps up would name a folder whose rules the web server did not ask. */
static bool
climbs(struct idem_span path)
{
	struct idem_span step;

	while (span_next(&path, '/', &step))
		if (span_eq(step, IDEM_LIT("..")))
			return true;
	return false;
}

static bool
is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool
same_as(const struct exe *guard, const char *path)
{
	struct stat st;

	return guard->path[0] != '\0' && stat(path, &st) == 0 &&
	    st.st_dev == guard->dev && st.st_ino == guard->ino;
}

/* Shorten the path until it names a file: "/x.php/more" runs /x.php.  false:
 * there is none on the way. */
static bool
find_file(struct access_script *s)
{
	char *slash;

	while (!is_file(s->file)) {
		if ((slash = strrchr(s->file, '/')) == NULL ||
		    slash == s->file)
			return false;
		*slash = '\0';
	}
	return true;
}

/* The guard was named, so the script is what stands behind it. */
static const char *
take_path_info(const struct idem_request *req, struct access_script *s)
{
	struct idem_span info = req->var[IDEM_VAR_PATH_INFO];
	struct idem_span file = idem_request_var(req,
	    IDEM_LIT("PATH_TRANSLATED"));
	size_t cut;

	if (info.n == 0)
		return "no script is named";
	if (climbs(info))
		return "PATH_INFO climbs";
	s->moved = true;
	/* behind a rewrite rule of a folder Apache says "redirect:/guard..." */
	if (!span_starts(file, IDEM_LIT("/")))
		file = IDEM_ABSENT;
	if ((file.n > 0 ? text_format(s->file, sizeof s->file, "%.*s",
	    IDEM_FMT(file)) : text_format(s->file, sizeof s->file, "%.*s%.*s",
	    IDEM_FMT(req->var[IDEM_VAR_DOCUMENT_ROOT]), IDEM_FMT(info))) !=
	    IDEM_OK)
		return "its path is too long";
	cut = strlen(s->file);
	if (!find_file(s))
		return "there is no such file";
	cut -= strlen(s->file);
	if (cut > info.n)
		return "PATH_TRANSLATED is not of PATH_INFO";
	s->name = span_first(info, info.n - cut);
	s->rest = cut == 0 ? IDEM_ABSENT : span_from(info, info.n - cut);
	return NULL;
}

static const char *
take_file(const struct idem_request *req, struct idem_span scripts,
    const struct exe *guard, struct access_script *s)
{
	struct idem_span file = without_proxy(idem_request_var(req,
	    IDEM_LIT("SCRIPT_FILENAME")));

	*s = (struct access_script){ .moved = false };
	if (climbs(file))
		return "SCRIPT_FILENAME climbs";
	if (text_format(s->file, sizeof s->file, "%.*s", IDEM_FMT(file)) !=
	    IDEM_OK)
		return "its path is too long";
	if (!is_script(file, scripts) || same_as(guard, s->file))
		return take_path_info(req, s);
	return NULL;
}

static bool
lies_in(struct idem_span path, struct idem_span folder)
{
	while (folder.n > 0 && folder.p[folder.n - 1] == '/')
		folder.n--;
	return span_starts(path, folder) && path.n > folder.n &&
	    path.p[folder.n] == '/';
}

static const char *
judge(const struct access_script *s, struct idem_span root,
    struct idem_span scripts, const struct exe *guard)
{
	char resolved[PATH_MAX], resolved_root[PATH_MAX], named_root[PATH_MAX];

	if (root.n == 0 || text_format(named_root, sizeof named_root, "%.*s",
	    IDEM_FMT(root)) != IDEM_OK ||
	    realpath(named_root, resolved_root) == NULL)
		return "DOCUMENT_ROOT is not there";
	if (realpath(s->file, resolved) == NULL || !is_file(resolved))
		return "there is no such file";
	if (!lies_in(span_of(resolved), span_of(resolved_root)))
		return "it lies outside DOCUMENT_ROOT";
	if (same_as(guard, resolved))
		return "it is the guard itself";
	if (!is_script(span_of(s->file), scripts) ||
	    !is_script(span_of(resolved), scripts))
		return "its name ends in none of IDEM_SCRIPTS";
	return NULL;
}

const char *
access_refuses(const struct idem_request *req, struct idem_span scripts,
    const struct exe *guard, struct access_script *out)
{
	const char *why;

	if (idem_request_var(req, IDEM_LIT("REDIRECT_STATUS")).n == 0)
		return "REDIRECT_STATUS did not come with it";
	if ((why = take_file(req, scripts, guard, out)) != NULL)
		return why;
	return judge(out, req->var[IDEM_VAR_DOCUMENT_ROOT], scripts, guard);
}
