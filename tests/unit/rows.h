/*
 * rows.h - tables of test rows: tab-separated files with C escapes.
 */
#ifndef UNIT_ROWS_H
#define UNIT_ROWS_H

#include "idem/base.h"

#define ROW_CELLS 8

struct row {
	size_t ncells;
	struct idem_span cell[ROW_CELLS]; /* into the file's text */
	unsigned line;                    /* in the file, from 1 */
};

struct rows {
	char *text; /* owned */
	struct idem_span rest;
	unsigned line;
};

/* Read a whole file; the test fails where it cannot. */
void rows_open(struct rows *r, const char *path);
/* The next line that is no "#" comment; false at the end. */
bool rows_next(struct rows *r, struct row *row);
void rows_close(struct rows *r);

/* Undo C escapes (\n \t \r \" \\ \xHH) where they stand. */
struct idem_span unescape(struct idem_span cell);

#endif
