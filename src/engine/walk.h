/*
 * walk.h - one request on its way through the engine, and the small steps that
 * both halves of the way share.
 */
#ifndef ENGINE_WALK_H
#define ENGINE_WALK_H

#include "idem/wrap.h"

/* Number of no handler: an operation that finds out and changes nothing. */
#define WALK_APPLY_NOTHING UINT16_MAX

struct walk {
	struct idem_engine *e;
	struct idem_call *call;
	bool keyed;
	struct idem_key key;
	enum idem_effect said; /* by the handler */
	struct idem_op op;
};

/* policy's share in an operation: keep_5xx and max_response_bytes. */
uint32_t walk_apply_flags(const struct idem_policy *p);

/* Answer with a problem.  Always false, so that a step may return it. */
bool walk_refuse(struct walk *w, enum idem_problem problem,
    enum idem_outcome outcome);

/* Answer for an operation that failed: nothing happened.  Always false. */
bool walk_failed(struct walk *w, enum idem_err err);

/* Answer for a verdict that leaves the key with another request. */
void walk_answer_other(struct walk *w);

/* One line with the request's and the record's name; why may be NULL. */
void walk_log(const struct walk *w, enum idem_level level, const char *what,
    const char *why);

/* Call prepare().  true: e->input is ready for work() and commit(); false:
 * *res is the answer. */
bool walk_prepare(struct walk *w);

/* Call work().  true: commit() is to follow; false: *res is the answer. */
bool walk_work(struct walk *w);

/* Fill in what the policy says, a token for this claim and random bytes for
 * its handler.  false: answered, nothing can be asked of the store. */
bool walk_draw(struct walk *w);

/* The operation runs this handler on e->input; 0: none, and no answer. */
void walk_set_apply(struct walk *w, uint16_t number);

/* The operation's answer is *res, encoded in place of e->input. */
IDEM_MUST_CHECK enum idem_err walk_set_answer(struct walk *w);

/* Carry the operation out as kind, at the time it is now. */
IDEM_MUST_CHECK enum idem_err
walk_submit(struct walk *w, enum idem_op_kind kind);

/* *res becomes the answer that commit() left in e->answer. */
void walk_answer_from_commit(struct walk *w, enum idem_outcome outcome);

/* One intent under two scopes is done twice: the owner has to hear of it. */
void walk_note_scope(struct walk *w);
void walk_note_take_over(struct walk *w);

/* The three ways to run a handler and answer. */
void walk_once(struct walk *w);
void walk_claimed(struct walk *w);
void walk_unprotected(struct walk *w);

#endif
