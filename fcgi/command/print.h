/*
 * print.h - what stands in a record, for people and as JSON.
 */
#ifndef COMMAND_PRINT_H
#define COMMAND_PRINT_H

#include "command/census.h"

/* "running", "orphaned", "done", "unknown", "expired", "damaged". */
const char *print_class(enum census_class class);
/* false: no such word. */
bool print_class_named(const char *word, enum census_class *out);

/* RFC 3339 in UTC with milliseconds; false, and nothing printed, where there
 * is no such time: 0, and beyond the year 9999. */
bool print_time(struct idem_buf *out, int64_t ms);
/* In quotes, or null. */
void print_time_json(struct idem_buf *out, int64_t ms);

/* The first n hex digits of an id. */
void print_id(struct idem_buf *out, const unsigned char id[IDEM_ID_BYTES],
    size_t n);

/* A JSON string; bytes that are no UTF-8 count as Latin-1. */
void print_json(struct idem_buf *out, struct idem_span s);

#endif
