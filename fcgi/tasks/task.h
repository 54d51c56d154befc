/*
 * task.h - a task: as a row of its table, as JSON, and as an entity tag.  Knows
 * no requests.
 */
#ifndef TASKS_TASK_H
#define TASKS_TASK_H

#include "idem/buf.h"

/* The number of the table in the store's list; rows are keyed by task_key(). */
#define TASK_TABLE 0
#define TASK_TABLE_NAME "tasks"

#define TASK_TEXT_MAX 500 /* code points of matn, after trimming */

struct task {
	uint64_t id;            /* 1 and up; the row's key */
	uint64_t revision;      /* 1 and up with every change */
	int64_t created_ms;     /* yaratilgan */
	bool done;              /* bajarildi */
	struct idem_span text;  /* matn, UTF-8, trimmed; borrowed */
};

/* An id as a table key: 8 bytes that sort as the numbers do. */
#define TASK_KEY_BYTES 8
struct idem_span task_key(uint64_t id, unsigned char key[TASK_KEY_BYTES]);

/*
 * The row of a task, and back.  An empty row stands where the newest task was
 * deleted, so that its id is never given again: it is no task.
 *
 * task_decode: text is borrowed from row.  IDEM_ECORRUPT: key or row does not
 * decode; *out is then undefined.
 */
void task_encode(const struct task *t, struct idem_buf *out);
IDEM_MUST_CHECK enum idem_err
task_decode(struct idem_span key, struct idem_span row, struct task *out);

/* Append the task's JSON: id, matn, bajarildi, teglar, yaratilgan. */
void task_json(const struct task *t, struct idem_buf *out);

/* Its strong entity tag, "ID-REVISION" with the quotes (RFC 9110 8.8.3). */
#define TASK_ETAG_MAX 48
struct idem_span task_etag(const struct task *t, char out[TASK_ETAG_MAX]);

#endif
