/*
 * netstring.h - values in a hash so that no two lists of them are one text:
 * "5:a.bin,", and "-," for one that is absent.
 */
#ifndef REQUEST_NETSTRING_H
#define REQUEST_NETSTRING_H

#include "base/sha256.h"
#include "request/spelling.h"

/* Hash what s stands for. */
void netstring_hash(struct sha256 *h, struct spelled s);

#endif
