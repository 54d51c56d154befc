/*
 * task_handlers.c - tasks made, changed and deleted inside the store's write
 * transaction.  Knows no requests: all comes in with the operation.
 */
#include "tasks/task_handlers.h"

#include <errno.h>
#include <time.h>

#include "base/text.h"
#include "tasks/conditions.h"
#include "tasks/task_order.h"
#include "tasks/task_prepare.h"
#include "tasks/task_rows.h"
#include "tasks/turn.h"

#define LOCATION_MAX 512 /* bytes; IDEM_BASE is the long part */

/* A failure of the tables: res carries it out, and the transaction ends. */
static enum idem_effect
give_up(struct idem_response *res, enum idem_err err)
{
	res->err = err;
	return IDEM_NONE;
}

static enum idem_effect
refuse(const struct task_order *o, enum idem_problem problem,
    struct idem_response *res)
{
	struct idem_problem_note note = { .base = o->problem_base,
	    .instance = o->instance };

	idem_problem_write(res, problem, o->who, &note);
	return IDEM_BY_STATUS;
}

/* Written before the row is: its text may be borrowed from the old one. */
static void
answer(const struct task *task, unsigned status, struct idem_response *res)
{
	char etag[TASK_ETAG_MAX];

	res->status = status;
	idem_response_field(res, IDEM_LIT("Content-Type"),
	    IDEM_LIT("application/json"));
	idem_response_field(res, IDEM_LIT("ETag"), task_etag(task, etag));
	task_json(task, &res->body);
}

static void
locate(const struct task_order *o, uint64_t id, struct idem_response *res)
{
	char memory[LOCATION_MAX];
	struct idem_buf place;

	idem_buf_over(&place, memory, sizeof memory);
	idem_buf_puts(&place, o->base);
	idem_buf_puts(&place, IDEM_LIT("/vazifalar/"));
	idem_buf_decimal(&place, id);
	if (idem_buf_err(&place) == IDEM_OK)
		idem_response_field(res, IDEM_LIT("Location"),
		    idem_buf_span(&place));
	else
		res->err = idem_buf_err(&place);
}

static enum idem_effect
create(void *app, struct idem_tables *t, const struct idem_op *op,
    struct idem_response *res)
{
	struct task_order o;
	struct task task;
	uint64_t last;
	bool deleted;
	enum idem_err err;

	(void)app; /* another process may do this */
	if ((err = task_order_decode(op->input, &o)) != IDEM_OK ||
	    (err = task_rows_newest(t, &last, &deleted)) != IDEM_OK)
		return give_up(res, err);
	task = (struct task){ .id = last + 1, .revision = 1,
	    .created_ms = op->now_ms, .done = o.change.done,
	    .text = o.change.text };
	locate(&o, task.id, res);
	answer(&task, 201, res);
	if ((err = task_rows_put(t, &task)) != IDEM_OK ||
	    (deleted && (err = task_rows_del(t, last)) != IDEM_OK))
		return give_up(res, err);
	return IDEM_BY_STATUS;
}

/*
 * The task that an order is about, when it may be changed.  false: *res holds
 * the answer and *effect what it means.  Absence comes before the conditions
 * (RFC 9110 13.2.1).
 */
static bool
find(struct idem_tables *t, const struct task_order *o, struct task *out,
    struct idem_response *res, enum idem_effect *effect)
{
	char etag[TASK_ETAG_MAX];
	bool found;
	enum idem_err err;

	if ((err = task_rows_get(t, o->id, out, &found)) != IDEM_OK)
		*effect = give_up(res, err);
	else if (!found)
		*effect = refuse(o, IDEM_P_NOT_FOUND, res);
	else if (!conditions_allow(o->if_match, o->if_none_match,
	    task_etag(out, etag)))
		*effect = refuse(o, IDEM_P_PRECONDITION_FAILED, res);
	else
		return true;
	return false;
}

/* PUT says everything, PATCH only what has to change. */
static enum idem_effect
change(void *app, struct idem_tables *t, const struct idem_op *op,
    struct idem_response *res)
{
	struct task_order o;
	struct task task;
	enum idem_effect effect;
	enum idem_err err;

	(void)app; /* another process may do this */
	if ((err = task_order_decode(op->input, &o)) != IDEM_OK)
		return give_up(res, err);
	if (!find(t, &o, &task, res, &effect))
		return effect;
	if (o.change.has_text)
		task.text = o.change.text;
	if (o.change.has_done)
		task.done = o.change.done;
	task.revision++;
	answer(&task, 200, res);
	if ((err = task_rows_put(t, &task)) != IDEM_OK)
		return give_up(res, err);
	return IDEM_BY_STATUS;
}

/* The newest task leaves an empty row, so that its id is never given again. */
static enum idem_effect
remove_task(void *app, struct idem_tables *t, const struct idem_op *op,
    struct idem_response *res)
{
	struct task_order o;
	struct task task;
	enum idem_effect effect;
	uint64_t last;
	bool deleted;
	enum idem_err err;

	(void)app; /* another process may do this */
	if ((err = task_order_decode(op->input, &o)) != IDEM_OK)
		return give_up(res, err);
	if (!find(t, &o, &task, res, &effect))
		return effect;
	if ((err = task_rows_newest(t, &last, &deleted)) != IDEM_OK)
		return give_up(res, err);
	err = o.id == last ? task_rows_bury(t, last) : task_rows_del(t, o.id);
	if (err != IDEM_OK)
		return give_up(res, err);
	res->status = 204;
	return IDEM_BY_STATUS;
}

/* Stands for a handler that is slow because of something outside. */
static enum idem_effect
wait_outside(void *app, struct idem_call *call, struct idem_buf *input,
    struct idem_response *res)
{
	int64_t ms = turn_of(call)->settings->task_delay_ms;
	struct timespec left = { .tv_sec = (time_t)(ms / 1000),
	    .tv_nsec = (long)(ms % 1000) * 1000000 };

	(void)app;   /* the turn has the setting */
	(void)input; /* goes on to create() as it is */
	(void)res;   /* written by create() */
	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
	return IDEM_DONE;
}

static const struct idem_handler rows[] = {
	/* An orphan here was claimed while creation was slow. */
	{ .number = TASK_CREATE, .retry = true,
	    .prepare = task_prepare_whole, .commit = create },
	{ .number = TASK_CREATE_SLOWLY, .retry = true,
	    .prepare = task_prepare_whole, .work = wait_outside,
	    .commit = create },
	{ .number = TASK_REPLACE, .prepare = task_prepare_whole,
	    .commit = change },
	{ .number = TASK_PATCH, .prepare = task_prepare_patch,
	    .commit = change },
	{ .number = TASK_DELETE, .prepare = task_prepare_delete,
	    .commit = remove_task },
};
_Static_assert(sizeof rows / sizeof rows[0] == TASK_NHANDLERS,
    "one row per number");

const struct idem_handler *const task_handlers[TASK_NHANDLERS] = {
	&rows[0], &rows[1], &rows[2], &rows[3], &rows[4],
};

const struct idem_handler *
task_handler(enum task_handler number)
{
	return &rows[number - 1];
}
