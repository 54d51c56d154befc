/*
 * lmdb_group.c - the LMDB back end's half of the group commit: operations as
 * requests, a batch as one write transaction.
 */
#include <string.h>

#include "base/io.h"
#include "base/text.h"
#include "store/group.h"
#include "store/lmdb_store.h"
#include "store/op.h"

/* The last batches, in LMDB's main table: its page is written with every commit
 * anyway.  No table's name begins with NUL. */
#define MARKS_KEY ((struct idem_span){ "\0batches", 8 })

/* The whole result where it fits no slot: nothing was done, and who asked is to
 * lead himself. */
#define TOO_LONG IDEM_LIT("!")

#define KEEP_BYTES (64 * 1024) /* of memory, in a buffer between operations */

static enum idem_err
begin(void *arg)
{
	struct lmdb_store *s = arg;
	enum idem_err err = lmdb_crowded(s, &s->crowded);

	return err != IDEM_OK ? err : kv_begin(s->kv, true, &s->batch);
}

static void
outcome(struct idem_op *op, enum idem_err err, struct idem_buf *result)
{
	idem_buf_reset(result);
	op_encode_outcome(op, err, result);
}

/*
 * A child transaction for each operation would cost more than the operation:
 * one that fails by itself leaves nothing behind (lmdb_run), and an answer that
 * does not fit is found by its ceiling before anything is written.
 */
static enum idem_err
run(void *arg, struct idem_span request, struct idem_buf *result)
{
	struct lmdb_store *s = arg;
	struct idem_op op = { .verdict = IDEM_ABSENT_KEY };
	size_t room = 0;
	enum idem_err err = op_decode(request, &op, &room);
	size_t fits = result->max_bytes - OP_OUTCOME_BYTES;
	bool cut = room > fits; /* else it fails here as it would there */

	idem_buf_reset(&s->answer);
	if (room > 0) {
		s->answer.max_bytes = cut ? fits : room;
		op.answer = &s->answer;
	}
	if (err == IDEM_OK)
		err = lmdb_run(s, &s->batch, &op, s->crowded);
	if (s->batch.full)
		return IDEM_EFULL;
	if (s->batch.spoiled || err == IDEM_EMOVED)
		return err != IDEM_OK ? err : IDEM_ESTORE;
	outcome(&op, err, result);
	if (cut && idem_buf_err(&s->answer) == IDEM_ETOOBIG) {
		idem_buf_reset(result);
		idem_buf_puts(result, TOO_LONG);
	}
	return idem_buf_err(result);
}

static void
failed(void *arg, enum idem_err err, struct idem_buf *result)
{
	struct idem_op op = { .verdict = IDEM_ABSENT_KEY };

	(void)arg; /* the same for all */
	outcome(&op, err, result);
}

static enum idem_err
marks(struct kv_txn *t, unsigned char out[GROUP_MARKS_BYTES])
{
	struct idem_span value;
	enum idem_err err = kv_get(t, KV_NAMES, MARKS_KEY, &value);

	memset(out, 0, GROUP_MARKS_BYTES);
	if (err != IDEM_OK || value.p == NULL)
		return err;
	if (value.n != GROUP_MARKS_BYTES)
		return IDEM_ECORRUPT; /* "none" would run a batch again */
	memcpy(out, value.p, GROUP_MARKS_BYTES);
	return IDEM_OK;
}

static enum idem_err
mark(void *arg, const unsigned char batch[GROUP_BATCH_BYTES])
{
	struct lmdb_store *s = arg;
	unsigned char all[GROUP_MARKS_BYTES];
	enum idem_err err = marks(&s->batch, all);

	if (err != IDEM_OK)
		return err;
	group_marks_set(all, batch);
	return kv_put(&s->batch, KV_NAMES, MARKS_KEY,
	    (struct idem_span){ (const char *)all, sizeof all }, IDEM_ABSENT,
	    false);
}

static enum idem_err
commit(void *arg)
{
	struct lmdb_store *s = arg;

	return kv_commit(&s->batch);
}

static void
abort_batch(void *arg)
{
	struct lmdb_store *s = arg;

	kv_abort(&s->batch);
}

static enum idem_err
grow(void *arg)
{
	struct lmdb_store *s = arg;

	/* A larger map is no help where the disk is full.  beyond: a batch may
	 * hold the answers of finished work. */
	return s->batch.full ? kv_grow(s->kv, true) : IDEM_EFULL;
}

static enum idem_err
flush(void *arg)
{
	struct lmdb_store *s = arg;

	return kv_flush(s->kv);
}

static enum idem_err
find(void *arg, const unsigned char batch[GROUP_BATCH_BYTES], bool *committed)
{
	struct lmdb_store *s = arg;
	unsigned char all[GROUP_MARKS_BYTES];
	struct kv_txn t;
	enum idem_err err = kv_begin(s->kv, true, &t);

	if (err != IDEM_OK)
		return err;
	err = marks(&t, all);
	kv_abort(&t);
	*committed = group_marks_have(all, batch);
	return err;
}

static bool
mine(void *arg, struct idem_span request)
{
	const struct lmdb_store *s = arg;

	return op_is_for(request, s->base->program);
}

/* --- the member's side ----------------------------------------------------*/

static const struct group_work work = {
	.begin = begin,
	.run = run,
	.failed = failed,
	.mark = mark,
	.commit = commit,
	.abort = abort_batch,
	.grow = grow,
	.flush = flush,
	.find = find,
	.mine = mine,
};

/* At the first write: a process that only reads never attaches. */
static enum idem_err
attach(struct lmdb_store *s)
{
	struct group_work mine_now = work;
	int64_t end_ms = io_steady_ms() + s->wait_ms;
	enum idem_err err;

	mine_now.arg = s;
	err = group_open(s->place.path, &mine_now, s->wait_ms, s->base->log,
	    &s->group);
	/* else there was no slot */
	if (err == IDEM_EBUSY && io_steady_ms() >= end_ms)
		kv_say_stuck(s->kv);
	/* LMDB's own lock orders single commits and batches, so where the file
	 * cannot be had nothing is lost but speed. */
	s->plain = err == IDEM_EREFUSED || err == IDEM_EFULL ||
	    err == IDEM_EIO || err == IDEM_ENOMEM;
	return s->plain ? IDEM_OK : err;
}

enum idem_err
lmdb_group_ready(struct lmdb_store *s, bool *ready)
{
	enum idem_err err = IDEM_OK;

	if (s->group == NULL && !s->plain)
		err = attach(s);
	*ready = s->group != NULL;
	return err;
}

/* What comes back in a slot then fits: who is told that there was no memory
 * must not have a claim that he knows nothing of. */
static enum idem_err
make_room(struct idem_buf *answer)
{
	idem_buf_reset(answer);
	(void)idem_buf_room(answer, answer->max_bytes < GROUP_RESULT_MAX ?
	    answer->max_bytes : GROUP_RESULT_MAX);
	return idem_buf_err(answer);
}

static enum idem_err
submit(struct lmdb_store *s, struct idem_op *op)
{
	enum idem_err err, failure;

	idem_buf_reset(&s->request);
	op_encode(op, s->base->program, &s->request);
	if ((err = idem_buf_err(&s->request)) != IDEM_OK ||
	    (op->answer != NULL && (err = make_room(op->answer)) != IDEM_OK))
		return err;
	err = group_submit(s->group, idem_buf_span(&s->request), &s->result);
	if (err == IDEM_OK && span_eq(idem_buf_span(&s->result), TOO_LONG))
		err = group_lead(s->group, idem_buf_span(&s->request),
		    &s->result);
	if (err == IDEM_EBUSY)
		kv_say_stuck(s->kv);
	if (err != IDEM_OK)
		return err;
	err = op_decode_outcome(idem_buf_span(&s->result), op, &failure);
	return err != IDEM_OK ? err : failure;
}

enum idem_err
lmdb_group_submit(struct lmdb_store *s, struct idem_op *op)
{
	enum idem_err err = submit(s, op);

	idem_buf_trim(&s->request, KEEP_BYTES);
	idem_buf_trim(&s->result, KEEP_BYTES);
	idem_buf_trim(&s->answer, KEEP_BYTES);
	return err;
}
