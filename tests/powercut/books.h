/*
 * books.h - the effects and the records of a store, and whether they agree.
 */
#ifndef BOOKS_H
#define BOOKS_H

#include "deed.h"

struct books;

struct books *books_new(void);
void books_free(struct books **b);

/*
 * Read all of it anew.  false, and why in what: rows are not numbered from 1
 * without gaps, an effect has no record, a record no effect, or one has two.
 */
bool books_read(struct books *b, struct idem_store *s, char *what, size_t n);

bool books_have_record(struct books *b, const unsigned char *id,
    enum idem_state *state);
/* Does the row that this answer names belong to this key? */
bool books_have_row(struct books *b, const unsigned char *id,
    struct idem_span answer);

#endif
