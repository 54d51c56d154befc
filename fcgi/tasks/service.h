/*
 * service.h - what a worker of tasks.fcgi keeps between requests: settings,
 * engine, store, buffers.  The calls of struct program.
 */
#ifndef TASKS_SERVICE_H
#define TASKS_SERVICE_H

#include "exchange/exchange.h"
#include "exchange/keeper.h"

#include "idem/wrap.h"

struct service {
	const struct settings *settings;
	const struct idem_log *log;
	struct keeper keeper;      /* of the store */
	struct idem_engine engine; /* its store is NULL: may not serve */
	/* of the request being served */
	struct idem_buf target, path, body, plain;
	struct idem_response res;
};

/* As struct program says: *app is the service. */
enum idem_err service_open(const struct settings *settings,
    const struct idem_log *log, struct idem_span document_root, void **app);
void service_serve(void *app, struct exchange *x);
void service_idle(void *app);
bool service_leave(void *app);
void service_close(void *app);

/* After a request: give back what a large one took. */
void service_rest(struct service *s);

#endif
