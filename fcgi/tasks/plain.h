/*
 * plain.h - canonical JSON made fit for cJSON, which cannot hold a U+0000 and,
 * before its version 1.7.19, refuses numbers of more than 63 characters.
 */
#ifndef TASKS_PLAIN_H
#define TASKS_PLAIN_H

#include "idem/buf.h"

/* Longest number that is handed on, in characters: no member that is read has
 * a longer one. */
#define PLAIN_NUMBER_MAX 40

struct plain {
	struct idem_buf *json; /* the caller's, reset; ask it for its error */
	bool nul_in_member;    /* a string in the watched member has U+0000 */
	bool nul_elsewhere;    /* another string, or a name, has one */
};

/*
 * Copy json, a text in canonical form, to out; longer numbers become 0.
 * member: the name of the root object's member to watch.
 */
void plain_make(struct plain *p, struct idem_span json,
    struct idem_span member, struct idem_buf *out);

#endif
