/*
 * storekit.h - what the tests of the store share: a store in a folder of its
 * own, a handler that does what its input says, and steps with their expected
 * outcome.
 */
#ifndef STOREKIT_H
#define STOREKIT_H

#include "tests.h"

#include "idem/store.h"

#define KIT_TTL_MS 1000
#define KIT_UNKNOWN_TTL_MS 5000

struct kit {
	struct idem_store *store;
	char dir[64];          /* "" for the memory back end */
	struct idem_log log;
	struct idem_buf lines; /* what was logged, each with a line end */
	struct idem_buf answer;
	idem_apply apply;      /* in place of the script; may be NULL */
	bool durable;
	int64_t wait_ms; /* 0: as built in */
	uint64_t max_bytes;
};

/* Open a new store; removed again by kit_close(). */
void kit_open(struct kit *k, bool memory);
/* As kit_open(), but the store is not opened yet; kit_reopen() does. */
void kit_make(struct kit *k, bool memory);
enum idem_err kit_reopen(struct kit *k, bool create);
void kit_close(struct kit *k);
/* Remove a file or a whole folder of dir. */
void kit_remove(const struct kit *k, const char *name);
/* dir and name joined; static storage. */
const char *kit_path(const struct kit *k, const char *name);
/* Fails unless a line of the log holds this text. */
void kit_logged(const struct kit *k, const char *text);

enum kit_do {
	CLAIM = IDEM_OP_CLAIM,
	ONCE = IDEM_OP_ONCE,
	FINISH = IDEM_OP_FINISH,
	HOLD = IDEM_OP_HOLD,
	RELEASE = IDEM_OP_RELEASE,
	RESOLVE = IDEM_OP_RESOLVE,
	APPLY = IDEM_OP_APPLY,
	LOOK,   /* idem_store_look() */
	LEAVE,  /* idem_store_leave() of token */
	SWEEP,  /* steps of a sweep until nothing more is there */
	SEE     /* nothing: only walk and table are looked at */
};

/*
 * One step.  id, token and fingerprint are one letter repeated.
 * A script is lines of: "put TABLE KEY VALUE", "del TABLE KEY", "say TEXT",
 * "keep N" (bytes of the answer), "fail" and the effect, "done" (the default),
 * "undo" (done, but the writes go), "none" or "hold".
 */
struct step {
	enum kit_do what;
	char key;
	char token;
	char body;         /* fingerprint; 0: 'f' */
	uint8_t recipe;    /* 0: 1 */
	int64_t now;
	bool retry;
	bool evict;
	int64_t min_keep;
	uint64_t max_keys; /* 0: 100 */
	const char *script; /* handler 1 runs it */
	const char *input;  /* the answer, where there is no script */
	size_t kept;        /* 0: all of input */

	enum idem_err err;
	enum idem_verdict verdict;
	bool took_over;
	const char *answer; /* NULL: empty */
	const char *walk;   /* "1aR 3bD 4cU"; NULL: not looked at */
	const char *table;  /* table 0: "k=v k=v"; NULL: not looked at */
	const char *swept;  /* "expired unknown held released" */
};
void kit_run(struct kit *k, const struct step *steps, size_t n);
#define KIT_RUN(k, steps) kit_run((k), (steps), COUNT(steps))

/* idem_store_leave() of a token that is one letter repeated. */
void kit_leave(struct kit *k, char token);

/* The operation of a step, with its answer in k->answer. */
void kit_op(struct kit *k, const struct step *s, struct idem_op *op);

/* Everything a store holds as text: records with all fields, then tables. */
void kit_dump(struct idem_store *store, struct idem_buf *out);

#endif
