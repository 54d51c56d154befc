/*
 * json_utf8.h - is a run of a string UTF-8?
 */
#ifndef REQUEST_JSON_UTF8_H
#define REQUEST_JSON_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define JSON_UTF8_START 0 /* the state between two code points */

/*
 * The state after the first n of the JSON_CHUNK bytes at p.  Where n is less
 * than JSON_CHUNK the run ends there, which must be between two code points.
 */
uint64_t json_utf8_chunk(uint64_t state, const unsigned char *p, size_t n);

/* The first byte of a run of n that cannot stand where it stands; n: none. */
size_t json_utf8_broken(const unsigned char *p, size_t n);

#endif
