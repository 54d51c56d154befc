/*
 * turn.c - a problem as the answer to one request.
 */
#include "tasks/turn.h"

#include "tasks/service.h"

struct turn *
turn_of(struct idem_call *call)
{
	return (struct turn *)(void *)call;
}

void
turn_problem(struct turn *t, struct idem_response *res,
    enum idem_problem problem, struct idem_span detail,
    struct idem_span members)
{
	struct idem_problem_note note = {
		.base = t->settings->policy.problem_base,
		.instance = t->call.instance,
		.detail = detail,
		.members = members,
		.rules = t->call.rules,
	};

	idem_problem_write(res, problem, t->call.who, &note);
}

void
turn_failed(struct turn *t, struct idem_response *res, enum idem_err err)
{
	bool memory = err == IDEM_ENOMEM || err == IDEM_ETOOBIG;

	/* a store tells its own failures */
	if (memory)
		idem_log(t->service->log, IDEM_ERROR, "request %s: %s",
		    t->request_id, idem_strerror(err));
	turn_problem(t, res, memory ? IDEM_P_INTERNAL :
	    IDEM_P_STORE_UNAVAILABLE, IDEM_ABSENT, IDEM_ABSENT);
}

void
turn_faults(struct turn *t, struct idem_response *res,
    const struct idem_buf *faults)
{
	enum idem_err err = idem_buf_err(faults);

	if (err == IDEM_OK)
		turn_problem(t, res, IDEM_P_VALIDATION, IDEM_ABSENT,
		    idem_buf_span(faults));
	else
		turn_failed(t, res, err);
}
