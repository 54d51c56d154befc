/*
 * fastcgi.h - one FastCGI request on one connection.
 */
#ifndef FRONT_FASTCGI_H
#define FRONT_FASTCGI_H

#include "exchange/exchange.h"

typedef void (*exchange_fn)(void *arg, struct exchange *x);

/* How a connection ended. */
enum fastcgi_end {
	FASTCGI_SERVED,
	FASTCGI_UNHEARD, /* served, but the web server was gone before the
	                  * answer was written */
	FASTCGI_UNTAKEN, /* served, but the web server did not take the answer
	                  * in time */
	FASTCGI_BROKE_OFF, /* so did the answer: no END_REQUEST was sent, and
	                    * the web server sees that */
	FASTCGI_NOTHING, /* closed, silent, half-sent or no FastCGI */
	FASTCGI_CUT,     /* the parameters broke off; not served */
	FASTCGI_NO_MEMORY, /* for the parameters; not served, and told so */
	FASTCGI_ROLE     /* for an authorizer or a filter; not served */
};

/* For a peer that takes nothing of the answer.  A web server that does not
 * spool answers passes a slow client's pace on: see patience.h. */
#define FASTCGI_SEND_MS 10000

/*
 * Read one request from conn, pass it to serve and finish it.  The connection
 * is always closed afterwards: FCGI_KEEP_CONN would pin the worker to it.
 * We wait for the peer no longer than receive_ms for all that stands before the
 * body, so long at a time and three times so long for each KiB of the body; so
 * long for all of it that nobody read; and FASTCGI_SEND_MS for the answer, with
 * more for what of it was taken.
 */
enum fastcgi_end fastcgi_serve(int conn, int receive_ms, exchange_fn serve,
    void *arg);

#endif
