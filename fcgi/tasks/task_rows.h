/*
 * task_rows.h - the table of tasks, row by row.  Knows no requests.
 */
#ifndef TASKS_TASK_ROWS_H
#define TASKS_TASK_ROWS_H

#include "idem/tables.h"
#include "tasks/task.h"

/*
 * All of these: IDEM_OK; IDEM_ESTORE; IDEM_ECORRUPT for what does not decode;
 * those that write also IDEM_EFULL and IDEM_ENOMEM.
 */

/* *found false: no such task, or it was deleted.  out->text is borrowed until
 * the next write. */
IDEM_MUST_CHECK enum idem_err
task_rows_get(struct idem_tables *t, uint64_t id, struct task *out,
    bool *found);

/* The id of the newest row, 0 where there is none; *deleted: it is no task. */
IDEM_MUST_CHECK enum idem_err
task_rows_newest(struct idem_tables *t, uint64_t *id, bool *deleted);

/* task->text may be borrowed from the row that is replaced. */
IDEM_MUST_CHECK enum idem_err
task_rows_put(struct idem_tables *t, const struct task *task);

IDEM_MUST_CHECK enum idem_err
task_rows_del(struct idem_tables *t, uint64_t id);

/* In the place of the newest task: keeps its id from being given again. */
IDEM_MUST_CHECK enum idem_err
task_rows_bury(struct idem_tables *t, uint64_t id);

#endif
