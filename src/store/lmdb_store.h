/*
 * lmdb_store.h - the LMDB back end's own values and steps.
 *
 * Tables: "records" holds id -> number, "log" holds number -> record with its
 * id; a number is 8 bytes, big-endian, one above the last.  So a claim dirties
 * one random leaf and the end of the log, its finish only the log, and the log
 * is in the order of the claims.  "meta" holds the schema's version.
 */
#ifndef STORE_LMDB_STORE_H
#define STORE_LMDB_STORE_H

#include "store/backend.h"
#include "store/group.h"
#include "store/kv.h"
#include "store/place.h"
#include "store/record.h"

enum lmdb_table { LMDB_META, LMDB_RECORDS, LMDB_LOG, LMDB_OWN /* and up */ };

#define LMDB_SCHEMA 1

struct lmdb_store {
	struct idem_store *base;
	struct kv *kv;
	struct place place;
	bool looked;             /* in vain, and so at the place, for the
	                          * submit that follows at once */
	struct idem_buf head;    /* of a record, while it is written */
	uint64_t max_bytes;
	bool settled;            /* what a dead process left visible is on the
	                          * disk, too; or nothing need be */
	bool counted;            /* the pages in use, when last counted: */
	struct kv_pages pages;
	uint64_t short_bytes;    /* an end that found no room; 0: none */
	uint64_t hunted;         /* a hunt for expired ones begins here */

	/* the group commit: lmdb_group.c */
	struct group *group;     /* NULL: not attached yet, or plain */
	bool plain;              /* one operation, one commit */
	int64_t wait_ms;
	struct idem_buf request; /* of this process, and what came of it */
	struct idem_buf result;
	struct kv_txn batch;     /* while this process leads */
	bool crowded;
	struct idem_buf answer;  /* of one operation of the batch */
};

/* Opening: lmdb_open.c. */

/* The files of s->place, and what backend.h says is opened with them.  Codes
 * and log lines as idem_store_open(). */
IDEM_MUST_CHECK enum idem_err
lmdb_open_files(struct lmdb_store *s, const struct idem_store_config *config);

extern const struct tables_verbs lmdb_tables_verbs; /* self: struct kv_txn */

/* Records: lmdb_records.c. */

struct lmdb_found {
	bool there;
	uint64_t number;
	struct idem_record r; /* its answer is borrowed until the next write */
};

/* IDEM_ECORRUPT, IDEM_ENEWER with a log line that names the record. */
IDEM_MUST_CHECK enum idem_err
lmdb_find(struct lmdb_store *s, struct kv_txn *t,
    const unsigned char id[IDEM_ID_BYTES], struct lmdb_found *out);
/* As lmdb_find(), by number. */
IDEM_MUST_CHECK enum idem_err
lmdb_find_number(struct lmdb_store *s, struct kv_txn *t, uint64_t number,
    struct lmdb_found *out);

/*
 * Is there really no record of this id?  One bit of a key in the index hides
 * its record, and those behind it: whoever then does not find his own meets
 * that entry at its side.  IDEM_ECORRUPT with a log line: an entry beside the
 * place of id leads to a record of another id, or is out of order.
 */
IDEM_MUST_CHECK enum idem_err
lmdb_is_absent(struct lmdb_store *s, struct kv_txn *t,
    const unsigned char id[IDEM_ID_BYTES]);

/* The number of a record behind all others. */
IDEM_MUST_CHECK enum idem_err
lmdb_next_number(struct kv_txn *t, uint64_t *number);

/* Write the record, whose answer must not be borrowed from the store: in place
 * of the one with this number, or as a new one behind all others. */
IDEM_MUST_CHECK enum idem_err
lmdb_write(struct lmdb_store *s, struct kv_txn *t, uint64_t number,
    const struct idem_record *r);
IDEM_MUST_CHECK enum idem_err
lmdb_append(struct lmdb_store *s, struct kv_txn *t, uint64_t number,
    const struct idem_record *r);
IDEM_MUST_CHECK enum idem_err
lmdb_drop(struct kv_txn *t, uint64_t number,
    const unsigned char id[IDEM_ID_BYTES]);

/* Make an unknown record of a running one and write it. */
IDEM_MUST_CHECK enum idem_err
lmdb_write_unknown(struct lmdb_store *s, struct kv_txn *t,
    const struct lmdb_found *f, int64_t now_ms, int64_t ttl_ms);

/* Room: lmdb_room.c. */

/* Records that go so that another one fits. */
struct lmdb_victims {
	struct {
		uint64_t number;
		unsigned char id[IDEM_ID_BYTES];
	} one[ROOM_DROPS_MAX];
	size_t n;
};

/*
 * Choose what goes so that one more record fits beside all but op's own; writes
 * nothing.  IDEM_EFULL with a log line where nothing may go.
 */
IDEM_MUST_CHECK enum idem_err
lmdb_make_room(struct lmdb_store *s, struct kv_txn *t,
    const struct idem_op *op, const struct lmdb_found *own,
    struct lmdb_victims *out);

/*
 * The same where the store is crowded: choose expired records, so that what
 * begins now takes the place of what has ended.  own: it takes the place of its
 * own record, too.
 */
IDEM_MUST_CHECK enum idem_err
lmdb_replace_expired(struct lmdb_store *s, struct kv_txn *t,
    const struct idem_op *op, bool own, struct lmdb_victims *out);

/*
 * Is the store so near to max_bytes that nothing may be added?  No transaction
 * is open.  Costs nothing until the file itself is that long.
 */
IDEM_MUST_CHECK enum idem_err
lmdb_crowded(struct lmdb_store *s, bool *crowded);

/* The one way of an operation into the store: store_lmdb.c. */
enum idem_err lmdb_submit(void *self, struct idem_op *op);

/* Operations: lmdb_ops.c. */

/*
 * Carry op out in this transaction.  crowded: something must go for all that is
 * new.  After any error but those that make the transaction itself useless (a
 * full map, no memory for a page) nothing of op is left in it, so that others
 * in the same transaction may stay.
 */
IDEM_MUST_CHECK enum idem_err
lmdb_run(struct lmdb_store *s, struct kv_txn *t, struct idem_op *op,
    bool crowded);

/* Verdict REPLAY, and the answer where the caller has a place for it. */
IDEM_MUST_CHECK enum idem_err
lmdb_replay(struct lmdb_store *s, const struct lmdb_found *f,
    struct idem_op *op);

/* The group commit: lmdb_group.c. */

/* Attach at the first call.  *ready false: not possible here, so commit one
 * operation at a time.  IDEM_EBUSY as group_open(). */
IDEM_MUST_CHECK enum idem_err
lmdb_group_ready(struct lmdb_store *s, bool *ready);
/* Carry op out in a batch.  Codes as idem_store_submit(). */
IDEM_MUST_CHECK enum idem_err
lmdb_group_submit(struct lmdb_store *s, struct idem_op *op);

/*
 * Treat the records whose numbers op->input holds, those that are due in this
 * transaction; op->answer: how many were expired, unknown, held and released.
 */
IDEM_MUST_CHECK enum idem_err
lmdb_sweep_due(struct lmdb_store *s, struct kv_txn *t, struct idem_op *op);

/* Whole walks: lmdb_walk.c, lmdb_sweep.c; backend.h has the verbs. */

enum idem_err lmdb_walk(void *self, uint64_t *from, size_t max, bool *more,
    idem_visit fn, void *arg);
enum idem_err lmdb_check(void *self, uint64_t *nbad);
enum idem_err lmdb_sweep(void *self, int64_t now_ms, int64_t unknown_ttl_ms,
    size_t max, struct idem_sweep *sweep);

/* The whole store: lmdb_copy.c. */

enum idem_err lmdb_copy(void *self, const struct idem_copy *copy,
    struct idem_copied *out);

#endif
