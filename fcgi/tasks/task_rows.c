/*
 * task_rows.c - rows of the table of tasks.
 */
#include "tasks/task_rows.h"

#include "base/bytes.h"

#define ROW_MAX_BYTES 4096 /* 500 code points of 4 bytes, and room */

enum idem_err
task_rows_get(struct idem_tables *t, uint64_t id, struct task *out,
    bool *found)
{
	unsigned char bytes[TASK_KEY_BYTES];
	struct idem_span key = task_key(id, bytes), row;
	enum idem_err err = idem_tables_get(t, TASK_TABLE, key, &row);

	*found = err == IDEM_OK && row.n > 0;
	return *found ? task_decode(key, row, out) : err;
}

enum idem_err
task_rows_newest(struct idem_tables *t, uint64_t *id, bool *deleted)
{
	struct idem_span key, row;
	struct reader r;
	enum idem_err err;

	*id = 0;
	*deleted = false;
	if ((err = idem_tables_last(t, TASK_TABLE, &key, &row)) != IDEM_OK ||
	    key.p == NULL)
		return err;
	r = reader_of(key);
	*id = rd_u64(&r);
	*deleted = row.n == 0;
	return r.bad || r.rest.n > 0 ? IDEM_ECORRUPT : IDEM_OK;
}

enum idem_err
task_rows_put(struct idem_tables *t, const struct task *task)
{
	unsigned char key[TASK_KEY_BYTES];
	char memory[ROW_MAX_BYTES];
	struct idem_buf row;
	enum idem_err err;

	idem_buf_over(&row, memory, sizeof memory);
	task_encode(task, &row);
	if ((err = idem_buf_err(&row)) == IDEM_OK)
		err = idem_tables_put(t, TASK_TABLE, task_key(task->id, key),
		    idem_buf_span(&row));
	return err;
}

enum idem_err
task_rows_del(struct idem_tables *t, uint64_t id)
{
	unsigned char key[TASK_KEY_BYTES];

	return idem_tables_del(t, TASK_TABLE, task_key(id, key));
}

enum idem_err
task_rows_bury(struct idem_tables *t, uint64_t id)
{
	unsigned char key[TASK_KEY_BYTES];

	return idem_tables_put(t, TASK_TABLE, task_key(id, key), IDEM_LIT(""));
}
