/*
 * request_id.h - the name of one request, for its answer and its log lines.
 */
#ifndef FRONT_REQUEST_ID_H
#define FRONT_REQUEST_ID_H

#include "idem/base.h"

#define REQUEST_ID_MAX 64

/*
 * The client's own, where it is 1 to 64 of [A-Za-z0-9._-]; else new: the 16
 * random bytes in hex.  NUL-terminated.
 */
void request_id_choose(struct idem_span from_client,
    const unsigned char random[16], char out[REQUEST_ID_MAX + 1]);

#endif
