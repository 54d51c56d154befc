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
	bool other;              /* the key comes from no header: it is what
	                          * the application happens to send */
	struct idem_span place;  /* IDEM_KEY_FROM's word for where it stood;
	                          * the key itself is in e->key, by parts */
	bool body_asked;         /* read_body() was called and said: */
	enum idem_err body_err;
	bool json_asked;         /* canonical was made, if there is one */
	enum idem_effect said; /* by the handler */
	struct idem_op op;
};

/*
 * The steps before the record, in this order.  false: answered.  take_key()
 * and the others set call->keyed; take_identity() is for a keyed call, and it
 * may find that there is no key after all.
 */
bool take_key(struct walk *w);
bool take_body(struct walk *w);
bool take_identity(struct walk *w);

/* What changes nothing needs no writer's lock; the rest is for the claim.
 * false: answered from it, or the store cannot answer; true: verdict RUNNING
 * spares the claim. */
bool walk_look(struct walk *w);

/* What decides on an answer whose handler does not say what it did. */
struct walk_judge {
	struct idem_span keep; /* IDEM_KEEP; absent: not set */
	bool keep_5xx;
	bool other;            /* the key comes from no header */
};
struct walk_judge walk_judge(const struct walk *w);
/* As idem_policy_effect(), by IDEM_KEEP too.  Uses e->fp.pruned. */
enum idem_effect walk_effect(struct idem_engine *e,
    const struct walk_judge *judge, enum idem_effect said,
    const struct idem_response *res);

/* What of the policy and the key decides inside a transaction: keep_5xx,
 * max_response_bytes, other. */
uint32_t walk_apply_flags(const struct walk *w);

/* Answer with a problem.  Always false, so that a step may return it. */
bool walk_refuse(struct walk *w, enum idem_problem problem,
    enum idem_outcome outcome);

/* Refuse for an error of our own, before the store was asked: the log says what
 * the answer does not.  Always false. */
bool walk_cannot(struct walk *w, enum idem_err err);

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

/*
 * Take the key as kind, with e->input or without; where its record is running
 * elsewhere, wait for its end and ask again, as long as IDEM_WAIT and the
 * request's Prefer allow.  false: answered from the record.
 */
bool walk_claim(struct walk *w, enum idem_op_kind kind, enum idem_err *err);

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
