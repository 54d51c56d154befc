/*
 * wrap.h - the engine: one request, step by step, in a fixed order.
 */
#ifndef IDEM_WRAP_H
#define IDEM_WRAP_H

#include "fingerprint.h"
#include "handler.h"
#include "policy.h"
#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a request ended: the log line's word. */
enum idem_outcome {
	IDEM_O_UNPROTECTED, /* no key, or the method is not protected */
	IDEM_O_CREATED,     /* the handler ran and its answer is kept */
	IDEM_O_RELEASED,    /* the handler ran and the key is free again */
	IDEM_O_HELD,        /* the handler ran, nobody can say how it ended */
	IDEM_O_REPLAYED,
	IDEM_O_MISMATCH,
	IDEM_O_RUNNING,
	IDEM_O_UNKNOWN,
	IDEM_O_REFUSED,     /* 400, 413, 503 before the store was asked */
	IDEM_O_FULL,
	IDEM_O_DOWN,        /* the store cannot answer */
	IDEM_O_LOST         /* answered, but the record is no longer ours or
	                     * could not be written */
};
const char *idem_outcome_name(enum idem_outcome o); /* static, lower case */

/* The process's engine: made once.  Clock and random bytes come from
 * outside. */
struct idem_engine {
	struct idem_store *store; /* NULL: it could not be opened */
	const struct idem_policy *policy; /* the process's own, for commit() */
	const struct idem_handler *const *handlers;
	size_t nhandlers;
	void *app;                /* passed to every handler */
	const struct idem_log *log;
	int64_t (*now_ms)(void *arg); /* since the epoch */
	enum idem_err (*random)(void *arg, void *p, size_t n);
	void *arg;

	struct idem_fingerprinter fp;  /* the rest is the engine's own */
	struct idem_buf key;           /* of the request that is served */
	struct idem_buf input;
	struct idem_buf answer;
	struct idem_response scratch;  /* what commit() writes */
};

/*
 * Fill in store to arg first; then this makes the rest.  max_bytes bounds body
 * and answer alike.  IDEM_OK or IDEM_ENOMEM.
 */
IDEM_MUST_CHECK enum idem_err
idem_engine_init(struct idem_engine *e, size_t max_bytes);
void idem_engine_free(struct idem_engine *e);
/* Between requests: give back every buffer that holds more than keep_bytes. */
void idem_engine_rest(struct idem_engine *e, size_t keep_bytes);

/* What the store calls for an operation with a handler: as idem_apply says; arg
 * is the engine. */
enum idem_err idem_engine_apply(void *arg, struct idem_tables *t,
    const struct idem_op *op, struct idem_buf *answer,
    struct idem_applied *out);

/* One request on its way. */
struct idem_call {
	struct idem_request *req;
	const struct idem_policy *policy;   /* of this route */
	const struct idem_handler *handler; /* one of the engine's */
	struct idem_response *res;
	const char *request_id;             /* for log lines; NUL-terminated */
	/*
	 * Read the whole body once and set req->body.  IDEM_ETOOBIG: over
	 * policy->max_body_bytes; IDEM_ESHORT: less than announced;
	 * IDEM_ESYNTAX: the announced length is no number; IDEM_ENOMEM.
	 */
	enum idem_err (*read_body)(void *arg, struct idem_call *call);
	void *body_arg;
	/*
	 * The handler reads the body of a request without a key by itself: it
	 * runs also where read_body() was not called or said IDEM_ETOOBIG or
	 * IDEM_ESYNTAX.
	 */
	bool handler_reads;
	/* An application's own Access-Control-* come back on a replay when its
	 * Origin equals the first one's. */
	bool keep_cors;
	/* Is the process asked to stop?  NULL: never. */
	bool (*stopping)(void *arg);
	void *stopping_arg;

	/* Set by idem_wrap() where instance is absent. */
	struct idem_audience who;
	struct idem_span instance;     /* the path, for problems */
	struct idem_span rules;        /* as in struct idem_problem_note */

	struct idem_engine *engine;    /* the rest is set by idem_wrap() */
	struct idem_span canonical;    /* of a JSON body, once it was made */
	enum idem_outcome outcome;
	bool keyed;           /* protected; also while the handler runs */
	bool key_passed_over; /* where it may stand was something that is none,
	                       * and the request is not protected for that */
	bool replayed;
	bool has_id;
	unsigned char id[IDEM_ID_BYTES];
};

/*
 * Answer one request: afterwards *call->res is complete, whatever happened.
 * Protected requests go key, body, scope, fingerprint, look, claim; the others
 * run the handler without a key, in one transaction.  read_body() is called at
 * most once.
 */
void idem_wrap(struct idem_engine *e, struct idem_call *call);

/* The answer to a problem of this call, in its reader's language. */
void idem_call_problem(struct idem_call *call, enum idem_problem problem);

/*
 * The canonical form of a JSON body, made at most once a request.
 * IDEM_OK: *out is borrowed until the request ends.  IDEM_ESYNTAX and
 * IDEM_EINEXACT as idem_json_canonical(), with the offset in *at.
 */
IDEM_MUST_CHECK enum idem_err
idem_call_json(struct idem_call *call, struct idem_span *out, size_t *at);

#ifdef __cplusplus
}
#endif
#endif
