/*
 * records.h - the records of FastCGI 1.0 and their name-value pairs, for both
 * sides of a connection.  Knows no descriptors.
 */
#ifndef FRONT_RECORDS_H
#define FRONT_RECORDS_H

#include "base/bytes.h"

#define RECORD_HEAD_BYTES 8
#define RECORD_CONTENT_MAX 65535
#define RECORD_RESPONDER 1 /* role; FastCGI 1.0, 5.1 */

enum { /* FastCGI 1.0, 8 */
	RECORD_BEGIN_REQUEST = 1,
	RECORD_ABORT_REQUEST = 2,
	RECORD_END_REQUEST = 3,
	RECORD_PARAMS = 4,
	RECORD_STDIN = 5,
	RECORD_STDOUT = 6,
	RECORD_STDERR = 7,
	RECORD_GET_VALUES = 9,
	RECORD_GET_VALUES_RESULT = 10,
	RECORD_UNKNOWN_TYPE = 11
};

/* Takes records apart as they come; zero-initialise. */
struct records {
	unsigned char head[RECORD_HEAD_BYTES];
	size_t nhead;
	unsigned type; /* these four: of the record that was met last */
	uint16_t id;
	size_t content_left, padding_left;
};

enum record_event {
	RECORD_MORE, /* all bytes were read */
	RECORD_HEAD, /* a record begins: type, id, content_left */
	RECORD_PART, /* *part of its content, not empty; content_left is less */
	RECORD_BAD   /* no FastCGI 1.0 */
};

/* Read on from the front of *bytes up to the next event; *part is borrowed from
 * them. */
enum record_event records_next(struct records *r, struct idem_span *bytes,
    struct idem_span *part);

/* Append a record with at most RECORD_CONTENT_MAX bytes; or its head alone. */
void record_put(struct idem_buf *out, unsigned type, uint16_t id,
    struct idem_span content);
void record_put_head(struct idem_buf *out, unsigned type, uint16_t id,
    size_t ncontent);
/* The head at that offset, written before its content, has this length. */
void record_set_length(struct idem_buf *out, size_t at, size_t ncontent);

/* One name-value pair (FastCGI 1.0, 3.4), both below 2 GiB. */
void pair_put(struct idem_buf *out, struct idem_span name,
    struct idem_span value);
/* false: there is no other, or r->bad: it is not whole. */
bool pair_next(struct reader *r, struct idem_span *name,
    struct idem_span *value);

#endif
