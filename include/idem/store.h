/*
 * store.h - the store's contract: what a record is, and the verbs on it.
 *
 * Opaque bytes: the store knows neither HTTP nor what an answer means.  One
 * suite of cases runs on every back end.  A handle belongs to one process (open
 * it after fork) and one thread.
 *
 * Records go   absent -> running -> done | unknown | absent.
 * Whether a running record's worker lives is asked of the kernel: each claim
 * holds a lock that ends with its process (see idem_store_alive).
 */
#ifndef IDEM_STORE_H
#define IDEM_STORE_H

#include "buf.h"
#include "fingerprint.h"
#include "log.h"
#include "scope.h"
#include "tables.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IDEM_TOKEN_BYTES 16
#define IDEM_RANDOM_BYTES 16

struct idem_store;
struct idem_op;

/* What a handler did to the world. */
enum idem_effect {
	IDEM_BY_STATUS, /* the handler does not say: its status is the guess */
	IDEM_DONE,
	IDEM_NONE,      /* nothing: the key is given back */
	IDEM_HOLD       /* the work began and nobody can say how it ended */
};

/* What came of a handler that ran inside the write transaction. */
struct idem_applied {
	enum idem_effect effect; /* never IDEM_BY_STATUS */
	bool undo;         /* DONE, but its table writes must not stay */
	size_t kept_bytes; /* of the answer's front, what the record keeps */
};

/*
 * Run the in-transaction handler number op->apply: read and write tables, write
 * the answer to *answer.  It may run more than once for one operation and in
 * another process than the one that asked, so it touches nothing but the
 * transaction; time and random bytes come in with op.
 * Anything but IDEM_OK undoes its writes and fails the operation with that
 * code.
 */
typedef enum idem_err (*idem_apply)(void *arg, struct idem_tables *t,
    const struct idem_op *op, struct idem_buf *answer,
    struct idem_applied *out);

struct idem_store_config {
	struct idem_span place;  /* IDEM_STORE: a directory, or "memory:" */
	struct idem_span document_root; /* of the web server: no store is made
	                          * or opened in it; absent: not known, see
	                          * idem_store_outside() */
	bool create;             /* make the directory (0700) and the store */
	bool worker;             /* this process serves requests: it counts
	                          * among those of which half may wait */
	bool durable;            /* IDEM_DURABILITY=full */
	uint64_t max_bytes;      /* IDEM_MAX_STORE */
	const char *const *tables; /* names of the application's tables */
	size_t ntables;          /* at most IDEM_TABLES_MAX */
	idem_apply apply;        /* NULL: this program has no such handlers */
	void *apply_arg;
	uint64_t program;        /* names the executable: processes of equal
	                          * ones run each other's handlers; 0: not
	                          * known */
	int64_t wait_ms;         /* IDEM_STORE_WAIT, for a leader that hangs;
	                          * 0: 10 s */
	const struct idem_log *log; /* lives as long as the store */
};

/*
 * Open the store.  *out is set on success only; the caller closes it.
 * IDEM_EREFUSED: a place where no store may be (another owner, a network file
 * system, the document root, not a directory); IDEM_ESTORE, IDEM_ECORRUPT,
 * IDEM_ENEWER, IDEM_EFULL, IDEM_ENOMEM.  One log line says which thing, and
 * what to do.
 */
IDEM_MUST_CHECK enum idem_err
idem_store_open(const struct idem_store_config *config,
    struct idem_store **out);
void idem_store_close(struct idem_store **s); /* sets NULL; NULL is fine */

/*
 * How a store in a directory commits on this machine, for people: "many at
 * once, by one flush", or "one at a time: " and why.  Opens nothing.  Static
 * storage.
 */
const char *idem_store_commits(bool durable);

/*
 * May a web server with this document root use the store?  IDEM_EREFUSED with a
 * log line where the store's directory lies inside it, after realpath().
 */
IDEM_MUST_CHECK enum idem_err
idem_store_outside(struct idem_store *s, struct idem_span document_root);

enum idem_verdict {
	IDEM_ABSENT_KEY,  /* look: not to be answered from here; claim it */
	IDEM_CLAIMED,     /* CLAIM: running, and ours */
	IDEM_REPLAY,      /* done: op->answer holds the stored bytes */
	IDEM_MISMATCH,    /* another fingerprint; compared before the state */
	IDEM_RUNNING,     /* its worker lives */
	IDEM_ORPHAN,      /* its worker is gone: it has just become unknown */
	IDEM_UNKNOWN,
	IDEM_STORED,      /* ONCE, FINISH, RESOLVE: done; APPLY: applied */
	IDEM_RELEASED,    /* ONCE, FINISH, RELEASE, RESOLVE, APPLY: absent
	                   * again, undone */
	IDEM_HELD,        /* ONCE, FINISH, HOLD, APPLY: unknown now, undone */
	IDEM_LOST         /* FINISH, HOLD, RELEASE: not our token; nothing
	                   * changed */
};
#define IDEM_NVERDICTS ((size_t)IDEM_LOST + 1)

enum idem_op_kind {
	IDEM_OP_CLAIM,   /* take the key; work outside the store follows */
	IDEM_OP_ONCE,    /* take the key, apply, store the answer: one commit */
	IDEM_OP_FINISH,  /* running with my token: apply, store the answer */
	IDEM_OP_HOLD,    /* running with my token: unknown */
	IDEM_OP_RELEASE, /* running with my token: absent */
	IDEM_OP_RESOLVE, /* unknown or orphaned: done with the input as the
	                  * answer, or as the handler says, or absent where the
	                  * input is absent; refuses a live one with RUNNING,
	                  * another state with ABSENT_KEY or REPLAY */
	IDEM_OP_APPLY,   /* no key: apply alone */
	IDEM_OP_SWEEP    /* the store's own: idem_store_sweep() makes it */
};
#define IDEM_NOPS ((size_t)IDEM_OP_SWEEP + 1)

/*
 * One operation: a value, and all that carrying it out needs, so that another
 * process of the same program could do it.  Zero-initialise, then fill in.
 */
struct idem_op {
	enum idem_op_kind kind;
	uint16_t apply;      /* number of the handler; 0: input is the answer */
	uint32_t apply_flags; /* the handler's own; opaque here */
	unsigned char id[IDEM_ID_BYTES];
	unsigned char fingerprint[IDEM_FINGERPRINT_BYTES];
	unsigned char token[IDEM_TOKEN_BYTES];   /* drawn for each claim */
	unsigned char random[IDEM_RANDOM_BYTES]; /* for the handler */
	uint8_t recipe;      /* IDEM_RECIPE; a record of another: IDEM_ENEWER */
	bool retry;          /* orphaned and unknown records are claimed anew */
	bool evict;          /* full: drop the oldest done record */
	int64_t now_ms;
	int64_t ttl_ms;         /* of the answer, from now_ms on */
	int64_t unknown_ttl_ms; /* of a record that becomes unknown now */
	int64_t min_keep_ms;    /* no younger done record is dropped */
	uint64_t max_keys;      /* all states counted */
	struct idem_span input; /* for the handler, or the answer; borrowed */
	size_t kept_bytes;      /* apply == 0: of input, what is kept */

	struct idem_buf *answer; /* the caller's; reset, then written */
	enum idem_verdict verdict;
	bool took_over;      /* CLAIMED or ONCE: from an orphan or an unknown */
};

/*
 * Read only, no writer's lock: op's id, fingerprint, recipe and now_ms count.
 * Of a record that has not expired: another fingerprint: IDEM_MISMATCH; done:
 * IDEM_REPLAY and its bytes in op->answer; running, and its worker lives:
 * IDEM_RUNNING.  Everything else: IDEM_ABSENT_KEY, go and claim.
 * IDEM_ENEWER, IDEM_ECORRUPT, IDEM_ESTORE, IDEM_EMOVED, IDEM_ENOMEM.
 */
IDEM_MUST_CHECK enum idem_err
idem_store_look(struct idem_store *s, struct idem_op *op);

/*
 * Carry op out in one transaction and return when it is on disk (durable).
 * Of any number of simultaneous claims on one absent or expired id exactly one
 * gets CLAIMED (or STORED, RELEASED, HELD for ONCE).  A claim that finds its
 * own token in a running record is CLAIMED: a claim may be repeated when nobody
 * knows whether the first one took.
 *
 * CLAIM locks op->token before anything else.  After CLAIMED it stays locked
 * until idem_store_leave(); every other outcome, and ONCE, unlocks it.
 *
 * IDEM_OK: op->verdict says what happened.  Else nothing happened, except as
 * noted: IDEM_EFULL (max_keys with nothing to drop, or no room on disk or in
 * the map: only CLAIM, ONCE and APPLY); IDEM_EMOVED; IDEM_ENEWER;
 * IDEM_ECORRUPT; IDEM_EBUSY (no free lock, or nobody committed for wait_ms);
 * IDEM_ESTORE (a commit that failed on the disk may still be there after a
 * restart; its record is then an orphan); IDEM_ENOMEM (it may have happened
 * where there was no memory for its answer); what the handler returned.  The
 * cause went to the log.
 */
IDEM_MUST_CHECK enum idem_err
idem_store_submit(struct idem_store *s, struct idem_op *op);

/*
 * Was an operation given up after wait_ms (IDEM_EBUSY) that may still be
 * carried out?  Then answer 503 and leave the process: whoever begins anew is
 * not in doubt.
 */
bool idem_store_stuck(const struct idem_store *s);

/*
 * Wait for the running record of this id, at most *left_ms, which goes down by
 * what it took.  true: it has ended, or its worker has; look again.  false: it
 * runs on; or half of the workers wait already, or no one can wait here; or
 * stop (NULL: never) said that this process is asked to leave.  A read-only
 * look each second; no transaction is open meanwhile.
 */
bool idem_store_wait(struct idem_store *s,
    const unsigned char id[IDEM_ID_BYTES], int64_t *left_ms,
    bool (*stop)(void *arg), void *stop_arg);

/* Unlock the token of a claim that this worker will not touch again. */
void idem_store_leave(struct idem_store *s,
    const unsigned char token[IDEM_TOKEN_BYTES]);

/*
 * Run fn with a read-only view on the tables: one consistent snapshot, no
 * writer's lock.  What it borrows ends when it returns.  Returns its code, or
 * IDEM_ESTORE, IDEM_ECORRUPT, IDEM_EMOVED, IDEM_ENOMEM.
 */
typedef enum idem_err (*idem_reader)(void *arg, struct idem_tables *t);
IDEM_MUST_CHECK enum idem_err
idem_store_read(struct idem_store *s, idem_reader fn, void *arg);

/* A record without its index, as walk, stats and check see it. */
enum idem_state { IDEM_STATE_RUNNING = 1, IDEM_STATE_DONE, IDEM_STATE_UNKNOWN };
struct idem_record {
	enum idem_state state;
	uint8_t recipe;
	uint8_t seal;        /* 0: the answer is stored as it is */
	bool retry;          /* an orphan may be claimed anew */
	unsigned char id[IDEM_ID_BYTES];
	unsigned char fingerprint[IDEM_FINGERPRINT_BYTES];
	unsigned char token[IDEM_TOKEN_BYTES];
	int64_t claimed_ms;
	int64_t stored_ms;   /* done or unknown since; 0 while running */
	int64_t expires_ms;  /* INT64_MAX while running */
	struct idem_span answer; /* borrowed; empty unless done */
};

/*
 * Visit records in the order of their claims, starting behind number *from (0:
 * all), at most max of them in one snapshot; *from is where to go on, and *more
 * says whether there is anything behind it.  fn returning false ends the walk
 * early with *more true.
 * A record that does not decode comes as NULL with its number.  Codes as
 * idem_store_read().
 */
typedef bool (*idem_visit)(void *arg, uint64_t number,
    const struct idem_record *record);
IDEM_MUST_CHECK enum idem_err
idem_store_walk(struct idem_store *s, uint64_t *from, size_t max, bool *more,
    idem_visit fn, void *arg);

/* true where the record's worker lives, or when nobody can say. */
bool idem_store_alive(struct idem_store *s,
    const unsigned char token[IDEM_TOKEN_BYTES]);

/*
 * One bounded step of a sweep: look at records behind s->from without the
 * writer's lock, then in one transaction treat at most max due ones, each only
 * if it is still due there: expired done and unknown records are deleted,
 * orphans become unknown, or absent where their work may be repeated.
 * Zero-initialise; call again while ->more.  Codes as idem_store_submit().
 */
struct idem_sweep {
	uint64_t from;
	bool more;
	uint64_t nseen;
	uint64_t nexpired;  /* done, deleted */
	uint64_t nunknown;  /* unknown past its time, deleted */
	uint64_t nheld;     /* orphans that are unknown now */
	uint64_t nreleased; /* orphans that are absent now */
};
IDEM_MUST_CHECK enum idem_err
idem_store_sweep(struct idem_store *s, int64_t now_ms, int64_t unknown_ttl_ms,
    size_t max, struct idem_sweep *sweep);

struct idem_room {
	uint64_t nrecords;
	uint64_t used_bytes; /* pages in use */
	uint64_t file_bytes; /* the file never shrinks */
	uint64_t max_bytes;  /* IDEM_MAX_STORE */
	/* Who has been reading for longest: what was freed since it began takes
	 * room until it ends.  0: nobody. */
	int reader_pid;
	uint64_t reader_behind; /* commits since it began */
};
/* Codes as idem_store_read(). */
IDEM_MUST_CHECK enum idem_err
idem_store_room(struct idem_store *s, struct idem_room *out);

/* Warn of a reader that is so far behind that the store grows. */
void idem_room_warn(const struct idem_log *log, int reader_pid,
    uint64_t reader_behind);

/*
 * Every record decodes, index and records agree both ways.  *nbad counts what
 * does not; each is a log line.  IDEM_OK also where *nbad > 0; other codes as
 * idem_store_read().
 */
IDEM_MUST_CHECK enum idem_err
idem_store_check(struct idem_store *s, uint64_t *nbad);

/*
 * Copy the store while others use it: one snapshot, with every answer that was
 * given before the call, in a directory of its own that is a store.  It is read
 * back as by idem_store_check(), and gets its name when it is whole and on
 * disk: until then, and after every error, nothing stands under that name.
 * A call that a kill cuts off leaves ".NAME.partial-..." beside it.
 *
 * What runs at that moment is running in the copy too, where nobody holds its
 * claim: there it is an orphan.
 *
 * IDEM_EREFUSED: to is there already, or no store may lie there, or this one
 * lies in memory; IDEM_EFULL, IDEM_ESTORE, IDEM_ECORRUPT, IDEM_EMOVED,
 * IDEM_ENOMEM.  Logged.  *out is zeroed on error.  IDEM_OK also where
 * out->nbad > 0: a damaged record is no reason to have no copy.
 */
struct idem_copy {
	struct idem_span to;   /* a directory; the one above it is there */
	struct idem_span document_root; /* a web server's; absent: not known */
	bool compact;          /* leave the free pages out */
};
struct idem_copied {
	uint64_t nrecords;
	uint64_t nrunning;     /* of these */
	uint64_t nbad;         /* as idem_store_check() counts */
	uint64_t file_bytes;
};
IDEM_MUST_CHECK enum idem_err
idem_store_copy(struct idem_store *s, const struct idem_copy *copy,
    struct idem_copied *out);

/*
 * Note that this key-and-fingerprint (a 64-bit hash of both) came under record
 * id.  true: it came under another id less than ten minutes before, so two
 * scopes used it.  Lossy on purpose; costs no transaction.
 */
bool idem_store_other_scope(struct idem_store *s, uint64_t what,
    const unsigned char id[IDEM_ID_BYTES], int64_t now_ms);

#ifdef __cplusplus
}
#endif
#endif
