/*
 * whole.c - compares the last state of a log with the real directory: a call
 * that record.c does not know would show here.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "deed.h"
#include "state.h"
#include "whole.h"

#include "base/io.h"
#include "base/text.h"

#define FILE_MAX ((size_t)256 << 20)

static bool
read_file(const char *dir, const char *name, struct idem_buf *b)
{
	char path[4400];

	idem_buf_init(b, FILE_MAX);
	deed_say(path, sizeof path, "%s/%s", dir, name);
	return io_read_file(path, b) == IDEM_OK;
}

static bool
same_bytes(const char *name, const char *scratch, const char *real)
{
	struct idem_buf a, b;
	bool same = read_file(scratch, name, &a);

	same = read_file(real, name, &b) && same &&
	    span_eq(idem_buf_span(&a), idem_buf_span(&b));
	if (!same)
		(void)fprintf(stderr, "BAD: %s is not what the log says: %zu "
		    "bytes, not %zu\n", name, b.n, a.n);
	idem_buf_free(&a);
	idem_buf_free(&b);
	return same;
}

/* Every name of the real directory is one of the log's. */
static bool
same_names(const struct disk *d, const char *real)
{
	DIR *dir = opendir(real);
	struct dirent *e;
	size_t left = 0, found = 0;

	for (size_t i = 0; i < d->nfiles; i++)
		left += d->file[i].there && !d->file[i].gone;
	while (dir != NULL && (e = readdir(dir)) != NULL)
		for (size_t i = 0; i < d->nfiles; i++)
			found += d->file[i].there && !d->file[i].gone &&
			    strcmp(d->file[i].name, e->d_name) == 0;
	if (dir != NULL)
		rewinddir(dir);
	for (left += 2; dir != NULL && readdir(dir) != NULL; )
		left--; /* "." and "..", too */
	if (dir != NULL)
		(void)closedir(dir);
	if (left == 0 && found > 0)
		return true;
	(void)fprintf(stderr, "BAD: the names in %s are not those of the "
	    "log\n", real);
	return false;
}

bool
whole_log(const struct disk *d, const char *scratch, const char *real)
{
	struct state s = { .npieces = 0 };
	bool same = same_names(d, real);

	state_begin(&s, d);
	state_choose(&s, d, 1, 0);
	s.size = SIZE_LONG;
	state_write(&s, d, scratch, "");
	for (size_t i = 0; i < d->nfiles; i++)
		if (d->file[i].there && !d->file[i].gone && !d->file[i].mapped)
			same = same_bytes(d->file[i].name, scratch, real) &&
			    same;
	return same;
}
