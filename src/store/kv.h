/*
 * kv.h - one LMDB environment: transactions, tables, growth.  It knows no
 * records; nobody else knows LMDB.
 *
 * Every failure is logged where it happens, with the place and what to do, but
 * for IDEM_EFULL of a full map: whoever gave up growing says that.
 */
#ifndef STORE_KV_H
#define STORE_KV_H

#include "idem/store.h"

#define KV_TABLES_MAX 16
/* The environment's own tables: the names of all others, where other keys may
 * stand too; and the free pages, to be read only. */
#define KV_NAMES KV_TABLES_MAX
#define KV_FREE (KV_TABLES_MAX + 1)

struct MDB_txn;
struct kv;
struct lent;

struct kv_txn {
	struct kv *kv;
	struct MDB_txn *txn;    /* NULL: ended */
	struct kv_txn *parent;
	bool full;              /* it, or one nested in it, met a full map:
	                         * abort, grow, and do all of it again */
	bool spoiled;           /* it, or one nested in it, met something else
	                         * that fails; a commit would, too */
	struct lent *lent;      /* values whose time ends with it: lend.h */
	bool locks;             /* holds the writers' lock: writelock.h */
};

struct kv_config {
	const char *dir;
	bool create;            /* else there must be an environment */
	bool fresh;             /* nothing was ever stored here: a data file
	                         * that was never finished is made anew */
	bool durable;
	uint64_t max_bytes;
	int64_t wait_ms;        /* for other writers, while it is opened */
	const struct idem_log *log;
};

/*
 * Open the environment of a directory; after fork, once a process.
 * IDEM_ESTORE, IDEM_ECORRUPT, IDEM_ENEWER (another LMDB made it), IDEM_EFULL
 * (no room on disk), IDEM_ENOMEM, IDEM_EBUSY (as kv_begin()).
 */
IDEM_MUST_CHECK enum idem_err
kv_open(const struct kv_config *config, struct kv **out);
void kv_close(struct kv **kv); /* sets NULL; NULL is fine */
int kv_fd(struct kv *kv);      /* of the data file; borrowed */

/*
 * Open the table of this name under a number of the caller's, below
 * KV_TABLES_MAX.  *there: it exists, or create made it.  It stays open from the
 * commit on, also of a read-only transaction.
 */
IDEM_MUST_CHECK enum idem_err
kv_table(struct kv_txn *t, unsigned table, const char *name, bool create,
    bool *there);

/* Until when writers wait for others, by io_steady_ms(). */
void kv_wait_until(struct kv *kv, int64_t end_ms);
/* Log that nobody commits, and which process is to blame, where it is known. */
void kv_say_stuck(struct kv *kv);

/*
 * One transaction at a time: a writer waits for all other writers, a reader for
 * nobody.  IDEM_EMOVED: the environment broke and must be opened anew.
 * IDEM_EBUSY: another process wrote until the time was up.
 */
IDEM_MUST_CHECK enum idem_err
kv_begin(struct kv *kv, bool write, struct kv_txn *t);
/* parent must not be touched until the nested one ends. */
IDEM_MUST_CHECK enum idem_err
kv_nested(struct kv_txn *parent, struct kv_txn *t);
IDEM_MUST_CHECK enum idem_err kv_commit(struct kv_txn *t); /* ends it anyhow */
void kv_abort(struct kv_txn *t); /* an ended one is fine */

/*
 * Run fn in a write transaction and commit; when the map was full, grow it and
 * run fn again.  Anything but IDEM_OK from fn aborts and comes back.
 * IDEM_EFULL: max_bytes is reached, or twice that where beyond allows it.
 * IDEM_EBUSY as kv_begin().
 */
typedef enum idem_err (*kv_writer)(void *arg, struct kv_txn *t);
IDEM_MUST_CHECK enum idem_err
kv_write(struct kv *kv, bool beyond, kv_writer fn, void *arg);

/* Make the map larger, up to max_bytes or, beyond, twice that; no transaction
 * is open.  IDEM_EFULL: it is that large already. */
IDEM_MUST_CHECK enum idem_err kv_grow(struct kv *kv, bool beyond);

/*
 * Would a value of that many bytes find room, as far as one can see?  Grows the
 * map for it; no transaction is open.  Walks the list of free pages.
 */
bool kv_has_room(struct kv *kv, uint64_t bytes);

/* Flush what is visible to the disk; begins no transaction. */
IDEM_MUST_CHECK enum idem_err kv_flush(struct kv *kv);

/* Values are borrowed until the next write or the end of the transaction;
 * absent where there is no such key. */
IDEM_MUST_CHECK enum idem_err
kv_get(struct kv_txn *t, unsigned table, struct idem_span key,
    struct idem_span *value);
IDEM_MUST_CHECK enum idem_err
kv_last(struct kv_txn *t, unsigned table, struct idem_span *key,
    struct idem_span *value);
IDEM_MUST_CHECK enum idem_err
kv_count(struct kv_txn *t, unsigned table, uint64_t *n);

/* The entry before the place of key, and the one there or behind it; absent
 * where there is none. */
struct kv_entry {
	struct idem_span key;
	struct idem_span value;
};
IDEM_MUST_CHECK enum idem_err
kv_around(struct kv_txn *t, unsigned table, struct idem_span key,
    struct kv_entry *before, struct kv_entry *behind);

/* Write head and tail as one value.  append: key is greater than all others. */
IDEM_MUST_CHECK enum idem_err
kv_put(struct kv_txn *t, unsigned table, struct idem_span key,
    struct idem_span head, struct idem_span tail, bool append);
/* Deleting what is not there is IDEM_OK. */
IDEM_MUST_CHECK enum idem_err
kv_del(struct kv_txn *t, unsigned table, struct idem_span key);

/* From the first key >= from (absent: all) until fn returns false. */
IDEM_MUST_CHECK enum idem_err
kv_each(struct kv_txn *t, unsigned table, struct idem_span from,
    idem_entry_fn fn, void *arg);

/*
 * Write all that is committed now to fd, an empty file, as one environment's
 * data file; compact: without the free pages.  A reader for as long as it
 * takes; it waits for the writer's lock at its start.  to names the file in a
 * log line.  Nothing is flushed.
 */
IDEM_MUST_CHECK enum idem_err
kv_copy(struct kv *kv, int fd, bool compact, const char *to);

/* Free the slots of readers that died. */
void kv_check_readers(struct kv *kv);

/* The reader with the oldest snapshot.  What was freed since then cannot be
 * used again before it ends. */
struct kv_reader {
	int pid;           /* in the pid namespace that it is in; 0: none */
	uint64_t snapshot; /* number of the commit that it sees */
	uint64_t behind;   /* how many commits there were since */
};
IDEM_MUST_CHECK enum idem_err
kv_oldest_reader(struct kv *kv, struct kv_reader *out);

/* Sizes in pages: what the data takes, as the last commit left it. */
struct kv_pages {
	uint64_t page_bytes;
	uint64_t end;    /* pages up to the last one ever used */
	uint64_t free;   /* of these, not in use */
	uint64_t commit; /* number of the last commit */
};
/* Without the free ones: costs nothing.  With them: walks their list.  After
 * an error what could not be learned is 0. */
IDEM_MUST_CHECK enum idem_err
kv_pages(struct kv *kv, bool count_free, struct kv_pages *out);

/*
 * How many pages belong to no table and are not free either: LMDB loses none,
 * so these are of a damaged number of the last page; negative: more belong to
 * something than there are.  Reads one page in many.  0 too where commits come
 * so fast that nobody can say.
 */
IDEM_MUST_CHECK enum idem_err kv_lost_pages(struct kv *kv, int64_t *nlost);

#endif
