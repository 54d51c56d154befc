/*
 * kv_readers.c - who reads in an LMDB environment, and since when; who writes
 * and does not go on.
 */
#include "store/kv_lmdb.h"

#include "base/text.h"
#include "store/writelock.h"

/* The next word of a line whose columns stand apart by spaces. */
static struct idem_span
word(struct idem_span *line)
{
	struct idem_span w = IDEM_LIT("");

	while (w.n == 0 && span_next(line, ' ', &w))
		continue;
	return w;
}

/* A line of mdb_reader_list(): pid, thread, number of the snapshot.  Its head,
 * and a reader without a snapshot, have no number there. */
static int
look_at(const char *text, void *arg)
{
	struct kv_reader *oldest = arg;
	struct idem_span line = span_of(text), end;
	uint64_t pid, snapshot;

	if (!span_next(&line, '\n', &end))
		return 0;
	line = end;
	end = word(&line);
	if (parse_u64(end, INT32_MAX, &pid) != IDEM_OK)
		return 0;
	(void)word(&line);
	if (parse_u64(word(&line), UINT64_MAX, &snapshot) == IDEM_OK &&
	    (oldest->pid == 0 || snapshot < oldest->snapshot)) {
		oldest->pid = (int)pid;
		oldest->snapshot = snapshot;
	}
	return 0;
}

enum idem_err
kv_oldest_reader(struct kv *kv, struct kv_reader *out)
{
	MDB_envinfo info;
	int rc;

	*out = (struct kv_reader){ .pid = 0 };
	if ((rc = mdb_env_info(kv->env, &info)) != 0)
		return kv_fail(kv, "size", rc);
	if ((rc = mdb_reader_list(kv->env, look_at, out)) < 0)
		return kv_fail(kv, "listing the readers", rc);
	if (out->pid != 0 && info.me_last_txnid > out->snapshot)
		out->behind = info.me_last_txnid - out->snapshot;
	return IDEM_OK;
}

/* That it was stopped is not known: it may be one of many that come and go. */
void
kv_say_stuck(struct kv *kv)
{
	int pid = writelock_holder(kv->open_lock);

	if (pid > 0)
		idem_log(kv->log, IDEM_ERROR, "store %s: nobody has committed "
		    "for IDEM_STORE_WAIT: process %d writes: if it was "
		    "stopped, let it go on (kill -CONT %d), or end it",
		    kv->dir, pid, pid);
	else
		idem_log(kv->log, IDEM_ERROR, "store %s: nobody has committed "
		    "for IDEM_STORE_WAIT: a program that uses the store was "
		    "stopped (let it go on, or end it), or the group file was "
		    "overwritten (restart them all)", kv->dir);
}
