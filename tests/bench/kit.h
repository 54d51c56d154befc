/*
 * kit.h - what the bench programs share: a store to measure, ids, a clock.
 */
#ifndef BENCH_KIT_H
#define BENCH_KIT_H

#include <stdint.h>

#include "idem/idem.h"
#include "store/group.h"

/* Ends the program with a line that says what failed and why. */
void kit_die(const char *what, enum idem_err err) __attribute__((noreturn));
void kit_check(const char *what, enum idem_err err);

/* The store at path, made where it is missing. */
struct idem_store *kit_store(const char *path, bool durable);

uint64_t kit_number(const char *text, uint64_t max);
int64_t kit_now_us(void);
void kit_random(void *p, size_t n);

/* An operation with fresh id and token; answer is the caller's. */
struct idem_op kit_op(enum idem_op_kind kind, struct idem_buf *answer);
/* The answer that is stored: 300 bytes. */
struct idem_span kit_answer(void);

/* What happened in the store's group since it was made; zeros where there is
 * none. */
struct group_counts kit_counts(struct idem_store *s);

/* Sorts v; the element below which the fraction q of them lies. */
uint32_t kit_quantile(uint32_t *v, size_t n, double q);

#endif
