/*
 * tables.h - the application's own tables inside a transaction of the store.
 *
 * Keys are 1 to 511 bytes, ordered bytewise; values may be empty.  Tables are
 * numbered in the order in which idem_store_config named them.
 *
 * Each call is IDEM_OK; IDEM_ESTORE; IDEM_ECORRUPT: a page is damaged;
 * IDEM_ENOMEM; those that write also IDEM_EFULL.
 */
#ifndef IDEM_TABLES_H
#define IDEM_TABLES_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IDEM_TABLES_MAX 8

/* A transaction's view; a transaction of idem_store_read() cannot write. */
struct idem_tables;

/*
 * *value is borrowed until the next write or the end of the transaction; absent
 * where there is no such key.
 */
IDEM_MUST_CHECK enum idem_err
idem_tables_get(struct idem_tables *t, unsigned table, struct idem_span key,
    struct idem_span *value);

/* Insert or replace.  Neither key nor value may be borrowed from a table. */
IDEM_MUST_CHECK enum idem_err
idem_tables_put(struct idem_tables *t, unsigned table, struct idem_span key,
    struct idem_span value);

/* Deleting what is not there is IDEM_OK.  key may not be borrowed either. */
IDEM_MUST_CHECK enum idem_err
idem_tables_del(struct idem_tables *t, unsigned table, struct idem_span key);

/* The greatest key and its value, both absent in an empty table; borrowed as
 * above. */
IDEM_MUST_CHECK enum idem_err
idem_tables_last(struct idem_tables *t, unsigned table, struct idem_span *key,
    struct idem_span *value);

/*
 * Visit entries in order from the first key >= from (absent: all) until fn
 * returns false.  fn must not write.
 */
typedef bool (*idem_entry_fn)(void *arg, struct idem_span key,
    struct idem_span value);
IDEM_MUST_CHECK enum idem_err
idem_tables_each(struct idem_tables *t, unsigned table, struct idem_span from,
    idem_entry_fn fn, void *arg);

#ifdef __cplusplus
}
#endif
#endif
