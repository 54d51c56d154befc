/*
 * address.h - what --listen says, taken apart.
 */
#ifndef FRONT_ADDRESS_H
#define FRONT_ADDRESS_H

#include <netdb.h>
#include <sys/types.h>

#include "idem/base.h"

struct address {
	bool is_unix;
	char path[108];        /* of a unix socket */
	mode_t mode;
	char host[NI_MAXHOST]; /* without brackets */
	char port[6];
};

/* IDEM_ESYNTAX: another text; IDEM_ETOOBIG: a path or a host is too long. */
IDEM_MUST_CHECK enum idem_err
address_parse(struct idem_span text, struct address *out);

#endif
