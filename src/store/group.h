/*
 * group.h - group commit across processes: one flush for all who wait.
 *
 * Every process that writes holds a slot in a small shared file beside the
 * store.  It puts its request there; whoever gets the mutex leads: runs all
 * waiting requests in one transaction, commits once, hands the verdicts out.
 * A killed leader's batch is either wholly done (its number stands in the
 * store) or not at all, so nothing is ever done again because nobody knew.
 * Knows neither LMDB nor what a request means: both come in as functions.
 */
#ifndef STORE_GROUP_H
#define STORE_GROUP_H

#include "idem/buf.h"
#include "idem/log.h"

#define GROUP_BATCH_BYTES 16   /* group (8), number in it (8) */
#define GROUP_REQUEST_MAX 4096 /* bytes in a slot; a longer request leads */
#define GROUP_RESULT_MAX  4096 /* run must say itself that one was longer */

/*
 * The last batch of each of the last eight groups that wrote the store, newest
 * first; all zero: none.  More than one group serves a store where programs of
 * two layouts do, and after the file was removed under living processes.
 */
#define GROUP_MARKS_BYTES (8 * GROUP_BATCH_BYTES)
void group_marks_set(unsigned char marks[GROUP_MARKS_BYTES],
    const unsigned char batch[GROUP_BATCH_BYTES]);
bool group_marks_have(const unsigned char marks[GROUP_MARKS_BYTES],
    const unsigned char batch[GROUP_BATCH_BYTES]);

/*
 * What a leader does with the store.  begin .. commit or abort is one write
 * transaction; only one process is in one at a time.
 */
struct group_work {
	void *arg;
	/* Begin the transaction of a batch. */
	enum idem_err (*begin)(void *arg);
	/*
	 * Run one request and write its result.  A request that fails by
	 * itself, or whose result does not fit, says so in its result and
	 * leaves nothing behind in the transaction; only what spoils the batch
	 * is returned (IDEM_EFULL: the map; anything else: the store).
	 */
	enum idem_err (*run)(void *arg, struct idem_span request,
	    struct idem_buf *result);
	/* The result of a request that was not carried out, because of err.
	 * At most GROUP_RESULT_MAX bytes. */
	void (*failed)(void *arg, enum idem_err err, struct idem_buf *result);
	/* Put the batch's number into the transaction (group_marks_set). */
	enum idem_err (*mark)(void *arg,
	    const unsigned char batch[GROUP_BATCH_BYTES]);
	/* Commit, durably.  An error means: aborted. */
	enum idem_err (*commit)(void *arg);
	void (*abort)(void *arg);
	/* After an abort for want of room: IDEM_OK where there is more now. */
	enum idem_err (*grow)(void *arg);
	/* Flush what is visible.  Begins no transaction and takes no lock: to
	 * begin may show readers what a dead leader wrote and did not flush. */
	enum idem_err (*flush)(void *arg);
	/* With all other writers out: is batch the last of its group in the
	 * store (group_marks_have)? */
	enum idem_err (*find)(void *arg,
	    const unsigned char batch[GROUP_BATCH_BYTES], bool *committed);
	/* May this program run that request of another process? */
	bool (*mine)(void *arg, struct idem_span request);
};

struct group;

/*
 * Attach to the file "group.2" in the directory dir, made where it is missing,
 * and take a free slot; what a dead owner left pending there is carried out
 * first.  *work is copied.  wait_ms, more than 0: how long to wait for a
 * process that does not move, here and later.
 * IDEM_EREFUSED: not possible here (no robust mutex, futex or
 * open-file-description locks; used by another build or in another pid
 * namespace); commit one at a time instead.  IDEM_EBUSY: no free slot, or
 * nobody led for wait_ms.  IDEM_EFULL: no room for the file.  IDEM_EIO,
 * IDEM_ENOMEM, IDEM_ETOOBIG (the path), or what flush or find returned.  A log
 * line says why.
 */
IDEM_MUST_CHECK enum idem_err
group_open(const char *dir, const struct group_work *work, int64_t wait_ms,
    const struct idem_log *log, struct group **out);
void group_close(struct group **g); /* sets NULL; NULL is fine */

/*
 * Carry request out in some batch and return when that is on disk; *result
 * (reset first) is what run or failed wrote.
 * IDEM_EBUSY: nobody led for wait_ms.  What flush or find returned: a dead
 * leader's batch cannot be looked at.  Then nothing happened, unless
 * group_in_doubt() says that a leader still has the request.
 * IDEM_ENOMEM: nothing happened.  IDEM_ETOOBIG: it was carried out, and *result
 * has no room for what came of it.
 */
IDEM_MUST_CHECK enum idem_err
group_submit(struct group *g, struct idem_span request,
    struct idem_buf *result);

/*
 * As group_submit(), by leading oneself: for a result that fits no slot.  One
 * that does not fit *result either is undone: failed(IDEM_ETOOBIG).
 */
IDEM_MUST_CHECK enum idem_err
group_lead(struct group *g, struct idem_span request, struct idem_buf *result);

/*
 * May a request that was given up still be carried out?  Then its token must
 * be given up too, and the process should leave; further calls are IDEM_EBUSY
 * until it is decided.
 */
bool group_in_doubt(const struct group *g);

/* Has this machine what it takes: robust mutexes, futexes, file locks? */
bool group_possible(void);

/* What happened since the file was made, over all processes. */
struct group_counts {
	uint64_t ncommits;
	uint64_t nrequests;   /* carried out in these */
	uint64_t ntimeouts;   /* who slept too long and found nobody leading */
	uint64_t nrecoveries; /* batches of dead leaders looked at */
	uint64_t nrecovered;  /* of these, found committed */
};
struct group_counts group_counts(const struct group *g);

#endif
