/*
 * errand.h - one request of the guard on its way to the application and back.
 */
#ifndef GUARD_ERRAND_H
#define GUARD_ERRAND_H

#include "exchange/request_id.h"
#include "guard/access.h"
#include "guard/service.h"

/* The longest head of an answer that goes out: what a program may write, and
 * what the guard adds. */
#define ERRAND_HEAD_MAX (CGI_HEAD_MAX + 4096) /* bytes */

struct errand {
	struct idem_call call; /* first: the handler is given its address */
	struct guard *guard;
	struct exchange *x;
	struct idem_request req;
	const struct settings *settings; /* of this request */
	struct settings own;        /* where its parameters override some */
	const struct route *route;  /* NULL: none */
	struct access_script script; /* where the guard judges */
	bool read;       /* the body was, or that was tried: */
	enum idem_err body_err; /* as errand_read_body() returned */
	bool answered;   /* by the application: *res is its answer */
	bool sent;       /* the answer has left already, head first */
	bool gone;       /* nobody takes it any more */
	char request_id[REQUEST_ID_MAX + 1];
};

/* The errand that the handler's call belongs to. */
struct errand *errand_of(struct idem_call *call);

/* As struct idem_call says: the whole body, of any length, into the spool. */
enum idem_err errand_read_body(void *arg, struct idem_call *call);

#endif
