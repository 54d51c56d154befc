/*
 * harmkit.h - a store in a folder of its own that a test harms before it is
 * opened, once more or by another.
 */
#ifndef UNIT_HARMKIT_H
#define UNIT_HARMKIT_H

#include "storekit.h"

#define KIB 1024

/* cmocka's setup and teardown: *state is a struct kit whose store is not open
 * yet. */
int harm_set(void **state);
int harm_strike(void **state);
#define HARM(f) cmocka_unit_test_setup_teardown(f, harm_set, harm_strike)

/* What harm_two_records() leaves: a is done with "answer of a", b runs. */
void harm_two_records(struct kit *k);

/* A store with two records, closed. */
void harm_make_store(struct kit *k);

/* Replace every occurrence of a run of bytes in data.mdb by another of the same
 * length; how many there were. */
size_t harm_patch(struct kit *k, struct idem_span from, struct idem_span to);

/* Bytes in the place of what is there in data.mdb, from this offset; n is at
 * most 8192. */
void harm_overwrite(struct kit *k, off_t at, size_t n);

/* Answers of 8 KiB under new keys until one is refused with err; how many
 * stood. */
size_t harm_fill(struct kit *k, enum idem_err err);

/* Sweep to the end; so many records have expired. */
void harm_sweep_all(struct kit *k, int64_t now_ms, uint64_t nexpired);

#endif
