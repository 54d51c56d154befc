/*
 * rows.c - reads tables of test rows.
 */
#include "tests.h"

#include "base/io.h"
#include "base/text.h"
#include "rows.h"

void
rows_open(struct rows *r, const char *path)
{
	struct idem_buf b;

	idem_buf_init(&b, 1 << 24);
	if (io_read_file(path, &b) != IDEM_OK)
		fail_msg("cannot read %s (run from the top folder)", path);
	*r = (struct rows){ .text = b.p, .rest = idem_buf_span(&b) };
	if (r->rest.n > 0 && r->rest.p[r->rest.n - 1] == '\n')
		r->rest.n--;
}

bool
rows_next(struct rows *r, struct row *row)
{
	struct idem_span line;

	do {
		if (!span_next(&r->rest, '\n', &line))
			return false;
		r->line++;
	} while (span_starts(line, IDEM_LIT("#")));
	*row = (struct row){ .line = r->line };
	while (row->ncells < ROW_CELLS &&
	    span_next(&line, '\t', &row->cell[row->ncells]))
		row->ncells++;
	if (line.p != NULL)
		fail_msg("line %u: more than %d cells", r->line, ROW_CELLS);
	return true;
}

void
rows_close(struct rows *r)
{
	free(r->text);
	*r = (struct rows){ .text = NULL };
}

static char
escape_value(struct idem_span s, size_t *at)
{
	static const char names[] = "ntr\"\\", values[] = "\n\t\r\"\\";
	const char *name = NULL;

	if (s.n - *at >= 4 && s.p[*at + 1] == 'x') {
		char c = (char)(hex_value(s.p[*at + 2]) << 4 |
		    hex_value(s.p[*at + 3]));

		*at += 4;
		return c;
	}
	if (s.n - *at >= 2 && s.p[*at + 1] != '\0')
		name = strchr(names, s.p[*at + 1]);
	if (name == NULL)
		fail_msg("unknown escape in %.*s", IDEM_FMT(s));
	*at += 2;
	return values[name - names];
}

struct idem_span
unescape(struct idem_span cell)
{
	char *out = (char *)cell.p; /* rows.text, which is ours to change */
	size_t n = 0;

	for (size_t i = 0; i < cell.n; n++)
		out[n] = cell.p[i] != '\\' ? cell.p[i++] :
		    escape_value(cell, &i);
	return (struct idem_span){ out, n };
}
