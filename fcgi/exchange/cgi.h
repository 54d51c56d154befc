/*
 * cgi.h - one plain CGI request (RFC 3875): the environment, descriptors 0
 * and 1.
 */
#ifndef FRONT_CGI_H
#define FRONT_CGI_H

#include "exchange/exchange.h"

/* Fill in an exchange over these variables and descriptors; *fds lives as long
 * as it. */
struct cgi_fds {
	int in;
	int out;
	uint64_t nread; /* bytes of the body; 0 at the start */
};
struct exchange cgi_exchange(const char *const *vars, struct cgi_fds *fds);

/*
 * Read what is left of a body whose length was announced, or that is chunked,
 * after the answer: to end with a part unread resets mod_cgid's socket, and
 * Apache then drops the answer.
 */
void cgi_drain(const char *const *vars, struct cgi_fds *fds);

/* Do the variables hold a CGI request? */
bool cgi_is_request(const char *const *vars);

#endif
