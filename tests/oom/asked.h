/*
 * asked.h - one request to a program's serve(), in memory of the test's own,
 * and what came back.
 */
#ifndef OOM_ASKED_H
#define OOM_ASKED_H

#include "kit.h"

#include "exchange/exchange.h"

#define ASKED_VARS 8

struct asked {
	const char *method; /* NULL: POST */
	const char *uri;    /* NULL: /vazifalar */
	const char *key;    /* NULL: none */
	const char *body;   /* NULL: none */
	const char *more[3];
	bool big;           /* a body of asked_big() */
};

/* Ask; afterwards asked_status() is 0 where nothing came. */
void asked_serve(const struct asked *a,
    void (*serve)(void *app, struct exchange *x), void *app);
unsigned asked_status(void);
struct idem_span asked_answer(void);
/* Does a part of the answer read so? */
bool asked_has(const char *text);
/* A JSON text of 100,000 bytes. */
struct idem_span asked_big(void);

#endif
