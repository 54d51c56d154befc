/*
 * task_order.h - what a change of a task needs inside the transaction, read
 * from the request before it: complete, as bytes.
 */
#ifndef TASKS_TASK_ORDER_H
#define TASKS_TASK_ORDER_H

#include "idem/problem.h"
#include "tasks/validate.h"

struct task_order {
	uint64_t id;                    /* 0: a new task */
	struct task_change change;
	struct idem_span if_match;      /* absent: no condition */
	struct idem_span if_none_match;
	struct idem_span base;          /* IDEM_BASE: stands before Location */
	/* for the problem that may come of it */
	struct idem_audience who;
	struct idem_span problem_base;
	struct idem_span instance;
};

void task_order_encode(const struct task_order *o, struct idem_buf *out);

/* All spans are borrowed from bytes.  IDEM_ECORRUPT. */
IDEM_MUST_CHECK enum idem_err
task_order_decode(struct idem_span bytes, struct task_order *out);

#endif
