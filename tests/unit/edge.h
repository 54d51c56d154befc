/*
 * edge.h - inputs against pages that cannot be touched: what reads one byte
 * before or behind an input dies.
 */
#ifndef UNIT_EDGE_H
#define UNIT_EDGE_H

#include "idem/buf.h"

#define EDGE_BYTES 65536 /* of one input, at most */

/* A prefix of a row, and what the two are read as. */
struct edge_case {
	struct idem_span whole, prefix;
	struct idem_span said_whole, said;
};

struct edge_grammar {
	const char *name;
	bool text; /* a NUL stands behind the input, and none in it */
	/* Read input and write down everything that came of it. */
	void (*say)(struct idem_span input, struct idem_buf *said);
	/* May that come of this prefix?  NULL: anything may. */
	bool (*holds)(const struct edge_case *c);
};

/*
 * Every prefix of row, the empty one and row itself too: once with its last
 * byte at the end of what can be read, once with its first byte at the
 * beginning and the rest of row behind it.  Both must be read as the same.
 */
void edge_prefixes(const struct edge_grammar *g, struct idem_span row);

/* Every cell of a file of rows; undo C escapes first where escaped says so. */
void edge_cells(const struct edge_grammar *g, const char *path, size_t cell,
    bool escaped);

/* How many prefixes there were until now. */
unsigned long edge_count(void);

/* Where n more bytes of an input that a test builds itself end at the edge. */
char *edge_room(size_t n);

/* The whole of s up to (without) the last byte c, or nothing. */
struct idem_span edge_upto(struct idem_span s, char c);

#endif
