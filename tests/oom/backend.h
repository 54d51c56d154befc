/*
 * backend.h - an application behind the guard, by CGI and by FastCGI, that
 * writes a line to a ledger for each request.
 */
#ifndef OOM_BACKEND_H
#define OOM_BACKEND_H

#include "kit.h"

/* Put it there; the ledger is empty. */
void backend_make(void);
/* "cgi:/path" and "fcgi:unix:/path". */
struct idem_span backend_cgi_setting(void);
struct idem_span backend_fcgi_setting(void);
/* How often it was asked since backend_make(). */
unsigned backend_count(void);

/* What it answers: 201 and this body. */
#define BACKEND_BODY "made by the application\n"

#endif
