/*
 * judge.c - after a cut: the store opens, is whole, holds what was told, agrees
 * with the effects, and serves on.
 */
#include <inttypes.h>
#include <string.h>

#include "books.h"
#include "judge.h"

#include "base/text.h"

#define RECENT 12 /* keys that are claimed again, beside those on their way */

struct judging {
	struct tale *tale;
	struct verdict *v;
	struct idem_log log;
	char line[400];  /* the last error */
	bool plain;      /* the group commit is not there */
	struct idem_store *store;
	struct idem_buf answer;
	uint64_t seed;
};

static void
keep_line(void *arg, enum idem_level level, const char *text)
{
	struct judging *j = arg;

	if (strstr(text, "no group commit") != NULL)
		j->plain = true;
	if (level == IDEM_ERROR || j->plain)
		deed_say(j->line, sizeof j->line, "%.390s", text);
}

#define WRONG(j, what, ...) \
	(wrong((j)->v, (what)) ? \
	deed_say((j)->v->text, sizeof (j)->v->text, __VA_ARGS__) : (void)0)

/* The first one counts; a lost answer more than all else. */
static bool
wrong(struct verdict *v, enum judgement what)
{
	if (v->what == JUDGED_LOST || (v->what == JUDGED_BAD &&
	    what != JUDGED_LOST))
		return false;
	v->what = what;
	return true;
}

static const char *
name_of(const unsigned char *id, char out[32])
{
	static const char *const kinds[DEED_KINDS] = { "?", "once", "big",
		"short", "work", "outside", "hold", "release", "left",
		"apply", "huge" };
	unsigned kind = (unsigned)deed_kind_of(id);

	deed_say(out, 32, "%s %u/%u",
	    kinds[kind < DEED_KINDS ? kind : 0], id[IDEM_ID_BYTES - 3],
	    (unsigned)id[IDEM_ID_BYTES - 2] << 8 | id[IDEM_ID_BYTES - 1]);
	return out;
}

/* --- what was told ---------------------------------------------------------*/

static void
check_answer(struct judging *j, struct books *b, const struct told *told)
{
	char name[32];
	struct idem_op op;

	if (told->what == MARK_APPLIED || told->deed == DEED_SHORT) {
		if (told->answer.n > 0 && !books_have_row(b, told->id,
		    told->answer))
			WRONG(j, JUDGED_LOST, "%s: its effect is gone",
			    name_of(told->id, name));
		return;
	}
	deed_op(&op, IDEM_OP_CLAIM, told->id, &j->seed, &j->answer);
	if (idem_store_look(j->store, &op) != IDEM_OK ||
	    op.verdict != IDEM_REPLAY)
		WRONG(j, JUDGED_LOST, "%s: the answer that left is gone",
		    name_of(told->id, name));
	else if (told->answer.n > 0 && !span_eq(told->answer,
	    idem_buf_span(&j->answer)))
		WRONG(j, JUDGED_LOST, "%s: another answer than the one "
		    "that left", name_of(told->id, name));
}

static void
check_state(struct judging *j, struct books *b, const struct told *told)
{
	enum idem_state state;
	bool there = books_have_record(b, told->id, &state);
	char name[32];

	if (told->what == MARK_RELEASED && there)
		WRONG(j, JUDGED_LOST, "%s: was released, and is there",
		    name_of(told->id, name));
	if (told->what == MARK_HELD && (!there || state != IDEM_STATE_UNKNOWN))
		WRONG(j, JUDGED_LOST, "%s: was held, and is not",
		    name_of(told->id, name));
	if (told->what == MARK_BEGAN && !there)
		WRONG(j, JUDGED_LOST, "%s: its work had begun, and its "
		    "claim is gone", name_of(told->id, name));
}

static void
check_told(struct judging *j, struct books *b)
{
	for (size_t i = 0; i < j->tale->n; i++) {
		const struct told *told = &j->tale->told[i];

		if (told->what == MARK_ANSWERED || told->what == MARK_APPLIED)
			check_answer(j, b, told);
		else
			check_state(j, b, told);
	}
}

/* --- serving on ------------------------------------------------------------*/

static enum idem_verdict
ask(struct judging *j, struct idem_op *op)
{
	enum idem_err err = idem_store_submit(j->store, op);
	char name[32];

	j->v->nrequests++;
	if (err == IDEM_OK)
		return op->verdict;
	WRONG(j, JUDGED_BAD, "%s: %s: %s", name_of(op->id, name),
	    idem_strerror(err), j->line);
	return IDEM_LOST;
}

static void
surprise(struct judging *j, const unsigned char *id, const char *what,
    enum idem_verdict got)
{
	char name[32];

	WRONG(j, JUDGED_BAD, "%s: %s: verdict %d", name_of(id, name),
	    what, (int)got);
}

static void
finish_new(struct judging *j, struct idem_op *op)
{
	enum idem_verdict got;

	op->kind = IDEM_OP_FINISH;
	op->apply = deed_has_row(deed_kind_of(op->id)) ? 1 : 0;
	op->input = IDEM_LIT("after the cut");
	op->kept_bytes = op->apply == 0 ? op->input.n : 0;
	if ((got = ask(j, op)) != IDEM_STORED)
		surprise(j, op->id, "finish", got);
	idem_store_leave(j->store, op->token);
}

/* A request that was on its way is sent again, as its client would. */
static void
retry(struct judging *j, const struct told *told)
{
	bool once = told->deed == DEED_ONCE || told->deed == DEED_BIG ||
	    told->deed == DEED_SHORT || told->deed == DEED_HUGE;
	struct idem_op op;
	enum idem_verdict got;

	j->v->nretried++;
	deed_op(&op, once ? IDEM_OP_ONCE : IDEM_OP_CLAIM, told->id, &j->seed,
	    &j->answer);
	got = ask(j, &op);
	if (once ? got != IDEM_STORED && got != IDEM_REPLAY :
	    got != IDEM_CLAIMED && got != IDEM_ORPHAN && got != IDEM_UNKNOWN &&
	    got != IDEM_REPLAY)
		surprise(j, told->id, "retry", got);
	if (got == IDEM_CLAIMED && told->what == MARK_BEGAN)
		surprise(j, told->id, "would be done a second time", got);
	if (got == IDEM_CLAIMED)
		finish_new(j, &op);
}

static void
claim_again(struct judging *j, const struct told *told)
{
	struct idem_op op;
	enum idem_verdict got;

	deed_op(&op, IDEM_OP_CLAIM, told->id, &j->seed, &j->answer);
	got = ask(j, &op);
	if (told->what == MARK_ANSWERED ? got != IDEM_REPLAY :
	    told->what == MARK_HELD ? got != IDEM_UNKNOWN :
	    got != IDEM_CLAIMED)
		surprise(j, told->id, "claimed again", got);
	if (got == IDEM_CLAIMED)
		finish_new(j, &op);
}

static void
serve_old(struct judging *j)
{
	const struct tale *t = j->tale;
	size_t recent = t->n > RECENT ? t->n - RECENT : 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct told *told = &t->told[i];

		if (told->deed == DEED_APPLY)
			continue;
		if (told->what == MARK_ASKED || (told->what == MARK_BEGAN &&
		    i >= recent))
			retry(j, told);
		else if (i >= recent && told->deed != DEED_SHORT &&
		    told->what != MARK_BEGAN)
			claim_again(j, told);
	}
}

static void
serve_new(struct judging *j)
{
	struct idem_sweep sweep = { .from = 0 };
	unsigned char id[IDEM_ID_BYTES];
	struct idem_op op;
	enum idem_verdict got;

	deed_id(id, DEED_WORK, 200, 1);
	deed_op(&op, IDEM_OP_CLAIM, id, &j->seed, &j->answer);
	if ((got = ask(j, &op)) != IDEM_CLAIMED)
		surprise(j, id, "a new claim", got);
	finish_new(j, &op);
	deed_op(&op, IDEM_OP_CLAIM, id, &j->seed, &j->answer);
	if ((got = ask(j, &op)) != IDEM_REPLAY)
		surprise(j, id, "a retry of it", got);
	deed_id(id, DEED_BIG, 200, 2);
	deed_op(&op, IDEM_OP_ONCE, id, &j->seed, &j->answer);
	if ((got = ask(j, &op)) != IDEM_STORED)
		surprise(j, id, "a new request", got);
	if (idem_store_sweep(j->store, DEED_NOW + DEED_LATER, DEED_TTL, 50,
	    &sweep) != IDEM_OK)
		WRONG(j, JUDGED_BAD, "sweep: %s", j->line);
}

/* --- the whole -------------------------------------------------------------*/

/* What "idem check" runs, and whether the books agree. */
static bool
audit(struct judging *j, struct books *b, const char *when)
{
	uint64_t nbad = 0;
	char what[200];

	if (idem_store_check(j->store, &nbad) != IDEM_OK || nbad > 0) {
		WRONG(j, JUDGED_BAD, "check %s: %" PRIu64 " bad: %s",
		    when, nbad, j->line);
		return false;
	}
	if (books_read(b, j->store, what, sizeof what))
		return true;
	WRONG(j, JUDGED_BAD, "%s: %s", when, what);
	return false;
}

static bool
open_it(struct judging *j, const char *dir)
{
	enum idem_err err = deed_open(dir, true, &j->log, &j->store);

	if (err == IDEM_OK)
		return true;
	j->v->what = JUDGED_BAD;
	if (j->line[0] != '\0')
		j->v->what = JUDGED_REFUSED;
	for (size_t i = 0; i < j->tale->n; i++)
		if (j->tale->told[i].what != MARK_ASKED)
			j->v->what = JUDGED_LOST;
	deed_say(j->v->text, sizeof j->v->text, "open: %s: %s",
	    idem_strerror(err), j->line);
	return false;
}

void
judge(const char *dir, struct tale *t, uint64_t seed, struct verdict *v)
{
	struct judging j = { .tale = t, .v = v, .seed = seed };
	struct books *b;

	*v = (struct verdict){ .what = JUDGED_GOOD };
	j.log = (struct idem_log){ keep_line, &j };
	idem_buf_init(&j.answer, DEED_ANSWER_MAX);
	if (!open_it(&j, dir))
		return;
	b = books_new();
	if (audit(&j, b, "after the cut")) {
		check_told(&j, b);
		serve_old(&j);
		serve_new(&j);
		(void)audit(&j, b, "after serving on");
	}
	if (j.plain)
		WRONG(&j, JUDGED_BAD, "%s", j.line);
	idem_store_close(&j.store);
	idem_buf_free(&j.answer);
	books_free(&b);
}
