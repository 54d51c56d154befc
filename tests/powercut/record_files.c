/*
 * record_files.c - preloaded: which descriptors are of the directory, and what
 * happens to the names in it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record.h"

#define FDS 1024

static struct known fds[FDS]; /* by descriptor */

/* --- which files -----------------------------------------------------------*/

/* The name within the directory; "." and ".." for it and the one above; NULL:
 * of no interest. */
static const char *
inside(const char *path)
{
	const char *dir = getenv("POWERCUT_DIR"), *slash;
	size_t n;

	if (dir == NULL || path == NULL)
		return NULL;
	n = strlen(dir);
	if (strncmp(path, dir, n) == 0) {
		if (path[n] == '\0')
			return ".";
		if (path[n] != '/')
			return NULL;
		return strcmp(path + n, "/..") == 0 ? ".." : path + n + 1;
	}
	slash = strrchr(dir, '/');
	return strlen(path) == (size_t)(slash - dir) &&
	    strncmp(path, dir, (size_t)(slash - dir)) == 0 ? ".." : NULL;
}

struct known *
record_known(int fd)
{
	return fd >= 0 && fd < FDS && fds[fd].used ? &fds[fd] : NULL;
}

static bool
denied(const char *name)
{
	const char *deny = getenv("POWERCUT_DENY");

	return deny != NULL && *deny != '\0' && name != NULL &&
	    strncmp(name, deny, strlen(deny)) == 0;
}

/* Two that make it at once both say so; the first one counts. */
static int
opened(int fd, const char *name, int flags, bool there)
{
	if (fd < 0 || fd >= FDS || name == NULL)
		return fd;
	fds[fd] = (struct known){ .used = true,
		.synchronous = (flags & O_DSYNC) != 0 };
	record_name(fds[fd].name, name);
	if ((flags & O_CREAT) != 0 && !there)
		record_note(TRACE_CREATE, name, 0);
	if ((flags & O_TRUNC) != 0 && there) {
		record_note(TRACE_SIZE, name, 0);
		record_end(name, true);
	}
	return fd;
}

typedef int open_fn(const char *path, int flags, ...);

static int
open_any(open_fn *real, const char *path, int flags, mode_t mode)
{
	const char *name = inside(path);
	bool there = name != NULL && access(path, F_OK) == 0;

	if (denied(name)) {
		errno = EIO;
		return -1;
	}
	return opened(real(path, flags, mode), name, flags, there);
}

/* The name of a file below an open directory. */
static const char *
inside_at(int dir_fd, const char *path)
{
	const struct known *k = record_known(dir_fd);

	return path[0] == '/' || dir_fd == AT_FDCWD ? inside(path) :
	    k != NULL && strcmp(k->name, ".") == 0 ? path : NULL;
}

static mode_t
mode_of(int flags, va_list ap)
{
	return (flags & (O_CREAT | O_TMPFILE)) != 0 ?
	    (mode_t)va_arg(ap, int) : 0;
}

#define OPENS(call) \
int \
call(const char *path, int flags, ...) \
{ \
	NEXT(call); \
	va_list ap; \
	mode_t mode; \
\
	va_start(ap, flags); \
	mode = mode_of(flags, ap); \
	va_end(ap); \
	return open_any((open_fn *)next, path, flags, mode); \
}
OPENS(open)
OPENS(open64)

int
openat(int dir_fd, const char *path, int flags, ...)
{
	NEXT(openat);
	const char *name = inside_at(dir_fd, path);
	bool there = name != NULL && faccessat(dir_fd, path, F_OK, 0) == 0;
	mode_t mode;
	va_list ap;

	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	return opened(next(dir_fd, path, flags, mode), name, flags, there);
}

int
close(int fd)
{
	NEXT(close);

	if (record_known(fd) != NULL)
		fds[fd].used = false;
	return next(fd);
}

int
mkdir(const char *path, mode_t mode)
{
	NEXT(mkdir);
	const char *name = inside(path);
	int rc = next(path, mode);

	if (rc == 0 && name != NULL)
		record_note(TRACE_MKDIR, name, 0);
	return rc;
}

int
unlink(const char *path)
{
	NEXT(unlink);
	const char *name = inside(path);
	int rc = next(path);

	if (rc == 0 && name != NULL)
		record_note(TRACE_UNLINK, name, 0);
	return rc;
}

int
unlinkat(int dir_fd, const char *path, int flags)
{
	NEXT(unlinkat);
	const char *name = inside_at(dir_fd, path);
	int rc = next(dir_fd, path, flags);

	if (rc == 0 && name != NULL)
		record_note(TRACE_UNLINK, name, 0);
	return rc;
}

/* A directory of a name nobody knows before, beside the one that was given: it
 * is the one that counts from now on. */
char *
mkdtemp(char *path)
{
	NEXT(mkdtemp);
	char *made = next(path);
	const char *slash = made != NULL ? strrchr(made, '/') : NULL;
	char above[4096];

	if (slash == NULL || (size_t)(slash - made) >= sizeof above)
		return made;
	memcpy(above, made, (size_t)(slash - made));
	above[slash - made] = '\0';
	if (inside(above) != NULL && setenv("POWERCUT_DIR", made, 1) == 0)
		record_note(TRACE_MKDIR, ".", 0);
	return made;
}

int
rename(const char *from, const char *to)
{
	NEXT(rename);
	const char *name = inside(from);
	int rc = next(from, to);

	if (rc == 0 && name != NULL)
		record_note(TRACE_RENAME, name, 0);
	return rc;
}
