/*
 * tables.c - the application's tables: checks what the caller promised and
 * passes on to the back end.
 */
#include <assert.h>

#include "store/backend.h"

#define KEY_MAX 511 /* bytes; LMDB's limit, kept by every back end */

static bool
is_key(struct idem_span key)
{
	return key.p != NULL && key.n >= 1 && key.n <= KEY_MAX;
}

enum idem_err
idem_tables_get(struct idem_tables *t, unsigned table, struct idem_span key,
    struct idem_span *value)
{
	assert(table < t->ntables && is_key(key));
	return t->verbs->get(t->self, table, key, value);
}

enum idem_err
idem_tables_put(struct idem_tables *t, unsigned table, struct idem_span key,
    struct idem_span value)
{
	assert(t->writable && table < t->ntables && is_key(key));
	return t->verbs->put(t->self, table, key, value);
}

enum idem_err
idem_tables_del(struct idem_tables *t, unsigned table, struct idem_span key)
{
	assert(t->writable && table < t->ntables && is_key(key));
	return t->verbs->del(t->self, table, key);
}

enum idem_err
idem_tables_last(struct idem_tables *t, unsigned table, struct idem_span *key,
    struct idem_span *value)
{
	assert(table < t->ntables);
	return t->verbs->last(t->self, table, key, value);
}

enum idem_err
idem_tables_each(struct idem_tables *t, unsigned table, struct idem_span from,
    idem_entry_fn fn, void *arg)
{
	assert(table < t->ntables);
	assert(from.p == NULL || is_key(from));
	return t->verbs->each(t->self, table, from, fn, arg);
}
