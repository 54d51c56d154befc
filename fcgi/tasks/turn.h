/*
 * turn.h - one request of tasks.fcgi on its way, and the answers that any step
 * of it may have to give.
 */
#ifndef TASKS_TURN_H
#define TASKS_TURN_H

#include "exchange/exchange.h"
#include "exchange/request_id.h"
#include "settings/settings.h"

#include "idem/wrap.h"

/* What a worker keeps; see service.h. */
struct service;

struct turn {
	struct idem_call call; /* first: a handler is given its address */
	struct service *service;
	struct exchange *x;
	struct idem_request req;
	const struct settings *settings; /* of this request */
	struct settings own;    /* where its parameters override some */
	struct idem_span path;  /* less IDEM_BASE, decoded */
	uint64_t id;            /* {id} of the route */
	struct idem_span kod;   /* {kod} of the route; borrowed from path */
	const char *pattern;    /* of the route; NULL: none */
	bool preflight;         /* answered as one, CORS fields and all */
	char request_id[REQUEST_ID_MAX + 1];
};

/* The turn that a handler's call belongs to. */
struct turn *turn_of(struct idem_call *call);

/*
 * Make res the answer for a problem.  detail absent: the problem's own; members
 * absent: none.
 */
void turn_problem(struct turn *t, struct idem_response *res,
    enum idem_problem problem, struct idem_span detail,
    struct idem_span members);

/* The problem of values that are wrong: faults is what faults_end() left. */
void turn_faults(struct turn *t, struct idem_response *res,
    const struct idem_buf *faults);

/* The problem that tells of an error of the store or of memory. */
void turn_failed(struct turn *t, struct idem_response *res, enum idem_err err);

#endif
