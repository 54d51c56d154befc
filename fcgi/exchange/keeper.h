/*
 * keeper.h - the store of a web program for the life of a worker: opened, tried
 * again, kept out of document roots, and asked whether it is still the one that
 * was opened.  Knows no requests.
 */
#ifndef FRONT_KEEPER_H
#define FRONT_KEEPER_H

#include "settings/settings.h"

#include "idem/wrap.h"

#define KEEPER_RANDOM_BYTES 480 /* for ten requests, by one system call */

struct keeper {
	/* Set these first; they live as long. */
	const struct settings *settings;
	const struct idem_log *log;
	struct idem_engine *engine; /* its store is NULL: may not serve */
	const char *const *tables;  /* the application's own */
	size_t ntables;

	struct idem_store *store; /* owned; NULL: could not be opened yet */
	int64_t tried_ms;         /* to open the store, last */
	struct idem_buf root;     /* the document root that was judged last */
	bool outside;             /* the store does not lie in it */
	/* Drawn and not given out yet: the last nrandom of them. */
	unsigned char random[KEEPER_RANDOM_BYTES];
	size_t nrandom;
	bool leave;               /* the store was moved or is damaged: this
	                           * process should end */
};

/* Open the store, if that works: the log has the cause where it does not, and
 * requests are told 503 until it does.  In this document root (absent: not
 * known yet) none is made. */
void keeper_open(struct keeper *k, struct idem_span document_root);
void keeper_close(struct keeper *k);

/*
 * Before a request: try again to open the store if that has not worked yet,
 * once a second at most, for the log's sake; and see that it does not lie in
 * this document root (absent: not told).
 */
void keeper_ready(struct keeper *k, struct idem_span document_root);

/* idem_store_read(); IDEM_ESTORE too where there is no store to be read. */
IDEM_MUST_CHECK enum idem_err
keeper_read(struct keeper *k, idem_reader fn, void *arg);

/* Ask the store whether it is still the one that was opened. */
void keeper_probe(struct keeper *k);

/* The engine's clock and random bytes in a program; arg is the keeper. */
int64_t keeper_now_ms(void *arg);
enum idem_err keeper_random(void *arg, void *p, size_t n);

#endif
