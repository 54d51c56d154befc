/*
 * names.c - hosts and users by name, and in a static build by number only.
 */
#include "process/names.h"

#ifndef IDEM_STATIC

#include <errno.h>
#include <netdb.h>
#include <pwd.h>
#include <string.h>

enum idem_err
names_addresses(const char *host, const char *port,
    struct names_address out[NAMES_ADDRESSES_MAX], size_t *n, const char **why)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE };
	struct addrinfo *list;
	int rc = getaddrinfo(host, port, &hints, &list);

	if (rc != 0) {
		*why = rc == EAI_SYSTEM ? strerror(errno) : gai_strerror(rc);
		return IDEM_EIO;
	}
	*n = 0;
	for (const struct addrinfo *ai = list; ai != NULL &&
	    *n < NAMES_ADDRESSES_MAX; ai = ai->ai_next) {
		struct names_address *to = &out[(*n)++];

		memset(to, 0, sizeof *to);
		to->n = ai->ai_addrlen;
		memcpy(&to->sa, ai->ai_addr, ai->ai_addrlen);
	}
	freeaddrinfo(list);
	return IDEM_OK;
}

const char *
names_user(uid_t uid)
{
	const struct passwd *pw = getpwuid(uid);

	return pw == NULL ? NULL : pw->pw_name;
}

#else

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>

#include "base/text.h"

static bool
is_four(const char *host, in_port_t port, struct names_address *out)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = port };

	if (inet_pton(AF_INET, host, &sin.sin_addr) != 1)
		return false;
	out->n = sizeof sin;
	memcpy(&out->sa, &sin, sizeof sin);
	return true;
}

static bool
is_six(const char *host, in_port_t port, struct names_address *out)
{
	struct sockaddr_in6 sin = { .sin6_family = AF_INET6,
		.sin6_port = port };

	if (inet_pton(AF_INET6, host, &sin.sin6_addr) != 1)
		return false;
	out->n = sizeof sin;
	memcpy(&out->sa, &sin, sizeof sin);
	return true;
}

enum idem_err
names_addresses(const char *host, const char *port,
    struct names_address out[NAMES_ADDRESSES_MAX], size_t *n, const char **why)
{
	uint64_t number;

	*why = "a static program knows addresses by number only: "
	    "127.0.0.1:9000";
	if (parse_u64(span_of(port), UINT16_MAX, &number) != IDEM_OK)
		return IDEM_EIO;
	memset(out, 0, sizeof *out);
	if (!is_four(host, htons((uint16_t)number), out) &&
	    !is_six(host, htons((uint16_t)number), out))
		return IDEM_EIO;
	*n = 1;
	return IDEM_OK;
}

const char *
names_user(uid_t uid)
{
	(void)uid; /* as nobody can be asked, nobody has a name */
	return NULL;
}

#endif
