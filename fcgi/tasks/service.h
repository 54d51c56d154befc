/*
 * service.h - what a worker of tasks.fcgi keeps between requests: settings,
 * engine, store, buffers.  The calls of struct program.
 */
#ifndef TASKS_SERVICE_H
#define TASKS_SERVICE_H

#include "exchange.h"
#include "settings.h"

#include "idem/wrap.h"

struct service {
	const struct settings *settings;
	const struct idem_log *log;
	struct idem_store *store;  /* owned; NULL: could not be opened yet */
	struct idem_engine engine; /* its store is NULL: may not serve */
	/* of the request being served */
	struct idem_buf target, path, body;
	struct idem_response res;

	int64_t tried_ms;     /* to open the store, last */
	struct idem_buf root; /* the document root that was judged last */
	bool outside;         /* the store does not lie in it */
	bool leave;           /* the store was moved or is damaged */
};

/* As struct program says: *app is the service. */
enum idem_err service_open(const struct settings *settings,
    const struct idem_log *log, void **app);
void service_serve(void *app, struct exchange *x);
void service_idle(void *app);
bool service_leave(void *app);
void service_close(void *app);

/*
 * Before a request: try again to open the store if that has not worked yet,
 * once a second at most, for the log's sake; and see that it does not lie in
 * this document root (absent: not told).
 */
void service_ready(struct service *s, struct idem_span document_root);

/* idem_store_read(); IDEM_ESTORE too where there is no store to be read. */
IDEM_MUST_CHECK enum idem_err
service_read(struct service *s, idem_reader fn, void *arg);

/* Ask the store whether it is still the one that was opened. */
void service_probe(struct service *s);

/* After a request: give back what a large one took. */
void service_rest(struct service *s);

#endif
