/*
 * load_deed.c - what a worker of the load does for one client, and says in the
 * log.  Knows no other process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "load.h"

void
load_say(struct load *l, enum mark_kind kind, const unsigned char *id,
    struct idem_span answer)
{
	struct mark m = { .kind = kind, .deed = deed_kind_of(id) };
	struct trace_entry e = { .magic = TRACE_MAGIC, .kind = TRACE_MARK,
		.pid = (uint32_t)getpid(), .n = sizeof m + answer.n };
	struct iovec parts[] = { { &e, sizeof e }, { &m, sizeof m },
		{ (void *)(uintptr_t)answer.p, answer.n },
		{ (char[8]){ 0 }, TRACE_PAD(e.n) } };

	memcpy(m.id, id, sizeof m.id);
	if (writev(l->log, parts, 4) !=
	    (ssize_t)(sizeof e + e.n + TRACE_PAD(e.n)))
		abort();
}

void
load_must(enum idem_err err, const char *what)
{
	if (err == IDEM_OK)
		return;
	(void)fprintf(stderr, "load: %s: %s\n", what, idem_strerror(err));
	_exit(3);
}

static void
submit(struct load *l, struct idem_op *op, enum idem_verdict expected)
{
	load_must(idem_store_submit(l->store, op), "submit");
	if (op->verdict == expected)
		return;
	(void)fprintf(stderr, "load: verdict %d, not %d\n", (int)op->verdict,
	    (int)expected);
	_exit(3);
}

static void
at_once(struct load *l, const unsigned char *id)
{
	struct idem_op op;

	deed_op(&op, IDEM_OP_ONCE, id, &l->seed, &l->answer);
	if (l->early)
		load_say(l, MARK_ANSWERED, id, IDEM_ABSENT);
	submit(l, &op, IDEM_STORED);
	if (!l->early)
		load_say(l, MARK_ANSWERED, id, idem_buf_span(&l->answer));
}

static void
alone(struct load *l, const unsigned char *id)
{
	struct idem_op op;

	deed_op(&op, IDEM_OP_APPLY, id, &l->seed, &l->answer);
	submit(l, &op, IDEM_STORED);
	load_say(l, MARK_APPLIED, id, idem_buf_span(&l->answer));
}

/* The second commit of a deed, and what its client is told then. */
static void
end_deed(struct load *l, struct idem_op *op)
{
	struct idem_buf stored;

	switch (deed_kind_of(op->id)) {
	case DEED_HOLD:
		op->kind = IDEM_OP_HOLD;
		submit(l, op, IDEM_HELD);
		load_say(l, MARK_HELD, op->id, IDEM_ABSENT);
		return;
	case DEED_RELEASE:
		op->kind = IDEM_OP_RELEASE;
		submit(l, op, IDEM_RELEASED);
		load_say(l, MARK_RELEASED, op->id, IDEM_ABSENT);
		return;
	case DEED_OUTSIDE:
		idem_buf_init(&stored, DEED_ANSWER_MAX);
		deed_outside(op->id, &stored);
		op->kind = IDEM_OP_FINISH;
		op->input = idem_buf_span(&stored);
		op->kept_bytes = op->input.n;
		submit(l, op, IDEM_STORED);
		load_say(l, MARK_ANSWERED, op->id, op->input);
		idem_buf_free(&stored);
		return;
	case DEED_WORK:
		op->kind = IDEM_OP_FINISH;
		op->apply = 1;
		submit(l, op, IDEM_STORED);
		load_say(l, MARK_ANSWERED, op->id, idem_buf_span(&l->answer));
		return;
	case DEED_LEFT:
	case DEED_ONCE:
	case DEED_BIG:
	case DEED_SHORT:
	case DEED_APPLY:
	case DEED_HUGE:
		return;
	}
}

static void
in_two(struct load *l, const unsigned char *id)
{
	struct idem_op op;

	deed_op(&op, IDEM_OP_CLAIM, id, &l->seed, &l->answer);
	submit(l, &op, IDEM_CLAIMED);
	if (deed_kind_of(id) != DEED_RELEASE)
		load_say(l, MARK_BEGAN, id, IDEM_ABSENT);
	end_deed(l, &op);
	idem_store_leave(l->store, op.token);
}

void
load_deed(struct load *l, unsigned number)
{
	static const enum deed_kind mix[] = { DEED_ONCE, DEED_WORK, DEED_ONCE,
		DEED_OUTSIDE, DEED_SHORT, DEED_WORK, DEED_BIG, DEED_HOLD,
		DEED_ONCE, DEED_RELEASE, DEED_APPLY, DEED_LEFT, DEED_OUTSIDE };
	enum deed_kind kind = mix[deed_random(&l->seed) %
	    (sizeof mix / sizeof mix[0])];
	unsigned char id[IDEM_ID_BYTES];

	if (l->huge && number % 3 != 0)
		kind = DEED_HUGE;
	deed_id(id, kind, l->me, number);
	memcpy(l->board->latest[l->me], id, sizeof id);
	load_say(l, MARK_ASKED, id, IDEM_ABSENT);
	if (kind == DEED_APPLY)
		alone(l, id);
	else if (kind == DEED_ONCE || kind == DEED_BIG ||
	    kind == DEED_SHORT || kind == DEED_HUGE)
		at_once(l, id);
	else
		in_two(l, id);
}

void
load_insist(struct load *l, const unsigned char *id)
{
	enum deed_kind kind = deed_kind_of(id);
	struct idem_op op;

	deed_op(&op, IDEM_OP_ONCE, id, &l->seed, &l->answer);
	load_must(idem_store_look(l->store, &op), "look");
	if (op.verdict != IDEM_REPLAY && (kind == DEED_ONCE ||
	    kind == DEED_BIG || kind == DEED_HUGE))
		load_must(idem_store_submit(l->store, &op), "submit");
	if ((op.verdict == IDEM_REPLAY || op.verdict == IDEM_STORED) &&
	    kind != DEED_SHORT)
		load_say(l, MARK_ANSWERED, id, idem_buf_span(&l->answer));
}
