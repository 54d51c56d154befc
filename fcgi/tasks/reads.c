/*
 * reads.c - one task and the list of them, each from one snapshot.
 */
#include "tasks/reads.h"

#include <inttypes.h>

#include "base/text.h"
#include "tasks/conditions.h"
#include "tasks/service.h"
#include "tasks/task_list.h"
#include "tasks/task_rows.h"

#define TAG_MAX_BYTES 4096
#define FAULTS_MAX_BYTES 4096

struct list_reading {
	const struct task_query *query;
	struct idem_buf *out;
	uint64_t bad_id;
};

static enum idem_err
list_reader(void *arg, struct idem_tables *tables)
{
	struct list_reading *r = arg;

	return task_list_json(tables, r->query, r->out, &r->bad_id);
}

static void
begin(struct idem_response *res, unsigned status)
{
	res->status = status;
	/* to be shown again only after asking whether it changed */
	idem_response_field(res, IDEM_LIT("Cache-Control"),
	    IDEM_LIT("no-cache"));
	/* RFC 9110 15.4.5: a 304 describes no content */
	if (status != 304)
		idem_response_field(res, IDEM_LIT("Content-Type"),
		    IDEM_LIT("application/json"));
}

/* IDEM_ECORRUPT is told here; the store itself told the others. */
static void
fail(struct turn *t, enum idem_err err, uint64_t id)
{
	if (err == IDEM_ECORRUPT)
		idem_log(t->service->log, IDEM_ERROR, "task %" PRIu64 " of the"
		    " store is damaged: restore the store from a copy", id);
	turn_failed(t, t->call.res, err);
}

static void
list(struct turn *t, const struct task_query *query)
{
	struct idem_response *res = t->call.res;
	struct list_reading r = { .query = query, .out = &res->body };
	enum idem_err err;

	begin(res, 200);
	err = keeper_read(&t->service->keeper, list_reader, &r);
	if (err != IDEM_OK)
		fail(t, err, r.bad_id);
}

void
reads_list(struct turn *t)
{
	struct idem_buf tag, out;
	struct faults faults = { &out, t->call.who.lang };
	struct task_query query;
	enum idem_err err;

	idem_buf_init(&tag, TAG_MAX_BYTES);
	idem_buf_init(&out, FAULTS_MAX_BYTES);
	err = task_query_parse(idem_request_query(&t->req), &tag, &faults,
	    &query);
	if (faults_end(&faults))
		turn_faults(t, t->call.res, &out);
	else if (err != IDEM_OK)
		turn_failed(t, t->call.res, err);
	else
		list(t, &query);
	idem_buf_free(&tag);
	idem_buf_free(&out);
}

/* What the conditions say of a task that is there (RFC 9110 13.2.2). */
static unsigned
status_of(const struct turn *t, struct idem_span etag)
{
	struct idem_span match = t->req.var[IDEM_VAR_IF_MATCH];
	struct idem_span none_match = t->req.var[IDEM_VAR_IF_NONE_MATCH];

	if (match.p != NULL && !conditions_name(match, etag, ETAG_STRONG))
		return 412;
	if (none_match.p != NULL &&
	    conditions_name(none_match, etag, ETAG_WEAK))
		return 304;
	return 200;
}

static void
answer(struct turn *t, const struct task *task)
{
	struct idem_response *res = t->call.res;
	char buf[TASK_ETAG_MAX];
	struct idem_span etag = task_etag(task, buf);
	unsigned status = status_of(t, etag);

	if (status == 412) {
		turn_problem(t, res, IDEM_P_PRECONDITION_FAILED, IDEM_ABSENT,
		    IDEM_ABSENT);
		return;
	}
	begin(res, status);
	idem_response_field(res, IDEM_LIT("ETag"), etag);
	if (status == 200)
		task_json(task, &res->body);
}

/* The row is borrowed from the snapshot: the answer is written inside it. */
static enum idem_err
task_reader(void *arg, struct idem_tables *tables)
{
	struct turn *t = arg;
	struct task task;
	bool found;
	enum idem_err err = task_rows_get(tables, t->id, &task, &found);

	if (err != IDEM_OK)
		return err;
	if (found)
		answer(t, &task);
	else
		turn_problem(t, t->call.res, IDEM_P_NOT_FOUND, IDEM_ABSENT,
		    IDEM_ABSENT);
	return IDEM_OK;
}

void
reads_task(struct turn *t)
{
	enum idem_err err = keeper_read(&t->service->keeper, task_reader, t);

	if (err != IDEM_OK)
		fail(t, err, t->id);
}
