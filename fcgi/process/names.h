/*
 * names.h - what the machine's name services say: the addresses of a host, the
 * name of a user.
 *
 * A static build (-DIDEM_STATIC) asks none of them: glibc loads shared
 * libraries for it at run time, and those are what a static build does without.
 */
#ifndef FRONT_NAMES_H
#define FRONT_NAMES_H

#include <sys/socket.h>
#include <sys/types.h>

#include "idem/base.h"

#define NAMES_ADDRESSES_MAX 8

struct names_address {
	struct sockaddr_storage sa;
	socklen_t n;
};

/*
 * The TCP addresses of a host, which may be a number; port is a number.
 * *n is how many there are, at most NAMES_ADDRESSES_MAX.  IDEM_EIO: *why says
 * what is wrong, in static storage.
 */
IDEM_MUST_CHECK enum idem_err
names_addresses(const char *host, const char *port,
    struct names_address out[NAMES_ADDRESSES_MAX], size_t *n,
    const char **why);

/* The name of a user, in static storage that the next call overwrites; NULL:
 * there is none, or nobody to ask. */
const char *names_user(uid_t uid);

#endif
