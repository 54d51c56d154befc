/*
 * cgi.h - one plain CGI request (RFC 3875): the environment, descriptors 0
 * and 1.
 */
#ifndef FRONT_CGI_H
#define FRONT_CGI_H

#include "exchange.h"

/* Fill in an exchange over these variables and descriptors; *fds lives as long
 * as it. */
struct cgi_fds {
	int in;
	int out;
};
struct exchange cgi_exchange(const char *const *vars, struct cgi_fds *fds);

/* Do the variables hold a CGI request? */
bool cgi_is_request(const char *const *vars);

#endif
