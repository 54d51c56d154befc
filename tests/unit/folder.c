/*
 * folder.c - the folder of a test program, with what lies in it.
 */
#include "folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"

static const char *folder; /* one a process */

void
folder_make(char *path)
{
	folder = mkdtemp(path);
	if (folder != NULL)
		return;
	perror(path);
	exit(1);
}

void
folder_remove(void)
{
	tree_remove(folder);
}

const char *
folder_path(const char *name)
{
	static char path[4][128];
	static size_t i;
	char *p = path[i++ % COUNT(path)];

	assert_int_equal(text_format(p, sizeof path[0], "%s/%s", folder,
	    name), IDEM_OK);
	return p;
}

static const char *
make_file(const char *name, struct idem_span text, mode_t mode)
{
	const char *path = folder_path(name);
	int fd;

	(void)unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	assert_true(fd >= 0);
	assert_int_equal(io_write(fd, text.p, text.n), IDEM_OK);
	assert_int_equal(fchmod(fd, mode), 0);
	assert_int_equal(close(fd), 0);
	return path;
}

const char *
folder_write(const char *name, struct idem_span text)
{
	return make_file(name, text, 0600);
}

const char *
folder_program(const char *script)
{
	if (script != NULL)
		return make_file("program", span_of(script), 0700);
	(void)unlink(folder_path("program"));
	return folder_path("program");
}

void
tree_remove(const char *path)
{
	char below[512];
	struct dirent *e;
	DIR *d = opendir(path);

	while (d != NULL && (e = readdir(d)) != NULL) {
		struct idem_span name = span_of(e->d_name);

		if (span_eq(name, IDEM_LIT(".")) ||
		    span_eq(name, IDEM_LIT("..")))
			continue;
		assert_int_equal(text_format(below, sizeof below, "%s/%s",
		    path, e->d_name), IDEM_OK);
		if (unlink(below) != 0)
			tree_remove(below);
	}
	if (d != NULL)
		closedir(d);
	(void)rmdir(path);
}
