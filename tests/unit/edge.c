/*
 * edge.c - puts inputs against pages that cannot be touched.
 */
#include "tests.h"

#include <sys/mman.h>
#include <unistd.h>

#include "edge.h"
#include "rows.h"

static char *first; /* of EDGE_BYTES that can be touched */
static unsigned long nprefixes;

/* Between two pages that cannot. */
static char *
area(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p;

	if (first != NULL)
		return first;
	p = mmap(NULL, EDGE_BYTES + 2 * page, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(mprotect(p + page, EDGE_BYTES, PROT_READ | PROT_WRITE),
	    0);
	return first = p + page;
}

char *
edge_room(size_t n)
{
	assert_in_range(n, 0, EDGE_BYTES);
	return area() + EDGE_BYTES - n;
}

static struct idem_span
put_at(char *at, struct idem_span s)
{
	if (s.n > 0)
		memcpy(at, s.p, s.n);
	return (struct idem_span){ at, s.n };
}

static void
say_at_end(const struct edge_grammar *g, struct idem_span s,
    struct idem_buf *said)
{
	size_t behind = g->text ? 1 : 0;
	char *at = edge_room(s.n + behind);

	if (g->text)
		at[s.n] = '\0';
	idem_buf_reset(said);
	g->say(put_at(at, s), said);
	assert_int_equal(idem_buf_err(said), IDEM_OK);
}

/* What follows looks as if it belonged to it. */
static void
say_at_start(const struct edge_grammar *g, struct idem_span row, size_t n,
    struct idem_buf *said)
{
	struct idem_span s = put_at(area(), row);

	if (g->text)
		area()[n] = '\0';
	s.n = n;
	idem_buf_reset(said);
	g->say(s, said);
	assert_int_equal(idem_buf_err(said), IDEM_OK);
}

static void
judge(const struct edge_grammar *g, const struct edge_case *c,
    struct idem_span at_start)
{
	nprefixes++;
	if (!span_eq(c->said, at_start))
		fail_msg("%s: first %zu bytes of \"%.*s\":\n%.*s\nor\n%.*s",
		    g->name, c->prefix.n, IDEM_FMT(c->whole), IDEM_FMT(c->said),
		    IDEM_FMT(at_start));
	if (g->holds != NULL && !g->holds(c))
		fail_msg("%s: first %zu bytes of \"%.*s\":\n%.*s\nwhole:\n"
		    "%.*s", g->name, c->prefix.n, IDEM_FMT(c->whole),
		    IDEM_FMT(c->said), IDEM_FMT(c->said_whole));
}

void
edge_prefixes(const struct edge_grammar *g, struct idem_span row)
{
	struct idem_buf whole, said, again;

	idem_buf_init(&whole, 1 << 20);
	idem_buf_init(&said, 1 << 20);
	idem_buf_init(&again, 1 << 20);
	if (g->text && row.n > 0 && memchr(row.p, '\0', row.n) != NULL)
		row.n = span_find(row, '\0');
	say_at_end(g, row, &whole);
	for (size_t n = 0; n <= row.n; n++) {
		struct edge_case c = { .whole = row,
			.prefix = span_first(row, n),
			.said_whole = idem_buf_span(&whole) };

		say_at_end(g, c.prefix, &said);
		say_at_start(g, row, n, &again);
		c.said = idem_buf_span(&said);
		judge(g, &c, idem_buf_span(&again));
	}
	idem_buf_free(&whole);
	idem_buf_free(&said);
	idem_buf_free(&again);
}

void
edge_cells(const struct edge_grammar *g, const char *path, size_t cell,
    bool escaped)
{
	struct rows rows;
	struct row row;

	rows_open(&rows, path);
	while (rows_next(&rows, &row)) {
		assert_true(cell < row.ncells);
		edge_prefixes(g, escaped ? unescape(row.cell[cell]) :
		    row.cell[cell]);
	}
	rows_close(&rows);
}

unsigned long
edge_count(void)
{
	return nprefixes;
}

struct idem_span
edge_upto(struct idem_span s, char c)
{
	while (s.n > 0 && s.p[s.n - 1] != c)
		s.n--;
	if (s.n > 0)
		s.n--;
	return s;
}
