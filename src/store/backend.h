/*
 * backend.h - what a back end provides, and what all of them share.
 */
#ifndef STORE_BACKEND_H
#define STORE_BACKEND_H

#include "idem/store.h"
#include "store/liveness.h"
#include "store/sightings.h"
#include "store/waiting.h"

/* What a claim does when the store is full, alike on every back end: */
#define ROOM_LOOKED_AT 128 /* records that could go, from the oldest on */
#define ROOM_DROPS_MAX 8   /* of them at most, so a lowered limit is reached */
#define ROOM_HUNTED 1024   /* records looked at for expired ones where none of
                            * those goes, or there is no room for bytes; the
                            * next claim goes on there */
/* ... and one step of a sweep: */
#define SWEEP_LOOK_MAX 4096 /* records looked at */
#define SWEEP_DUE_MAX 480   /* due ones treated, whatever the caller allows: as
                             * many as fit a slot of the group commit */

/* The verbs of store.h, with the back end's own value in place of the store. */
struct backend {
	enum idem_err (*look)(void *self, struct idem_op *op);
	enum idem_err (*submit)(void *self, struct idem_op *op);
	enum idem_err (*read)(void *self, idem_reader fn, void *arg);
	enum idem_err (*walk)(void *self, uint64_t *from, size_t max,
	    bool *more, idem_visit fn, void *arg);
	enum idem_err (*sweep)(void *self, int64_t now_ms,
	    int64_t unknown_ttl_ms, size_t max, struct idem_sweep *sweep);
	enum idem_err (*room)(void *self, struct idem_room *out);
	enum idem_err (*check)(void *self, uint64_t *nbad);
	/* NULL: nothing of it lies on a disk. */
	enum idem_err (*copy)(void *self, const struct idem_copy *copy,
	    struct idem_copied *out);
	enum idem_err (*outside)(void *self, struct idem_span document_root);
	bool (*stuck)(void *self); /* NULL: never */
	/* Is the record running, and its worker alive?  false too where it
	 * cannot be read: the next look says why.  NULL: nobody can wait for
	 * another process here. */
	bool (*runs)(void *self, const unsigned char id[IDEM_ID_BYTES]);
	void (*close)(void *self);
};

struct idem_store {
	const struct backend *backend;
	void *self;              /* owned by the back end */
	idem_apply apply;
	void *apply_arg;
	unsigned ntables;
	uint64_t program;        /* whose handlers these are */
	const struct idem_log *log;
	struct liveness live;
	struct sightings sightings;
	struct waiting waiting;
	bool told_full;          /* the log said so at ... */
	int64_t told_full_ms;
};

/*
 * Fill in s->backend and s->self, and open s->live and s->sightings.  On error
 * nothing is left open.
 */
IDEM_MUST_CHECK enum idem_err
store_memory_open(struct idem_store *s, const struct idem_store_config *config);
IDEM_MUST_CHECK enum idem_err
store_lmdb_open(struct idem_store *s, const struct idem_store_config *config);

/* Nothing of an earlier run of op is left in it. */
void store_start(struct idem_op *op);

/* A limit that was met, for the log. */
struct store_full {
	const char *name;      /* of the setting */
	uint64_t limit;
	uint64_t nrecords;     /* that there are */
	size_t nlooked, nheld; /* records looked at, and those of them whose
	                        * outcome is unknown: they do not go */
	bool evicts;           /* the oldest go, and nothing is refused */
	int reader_pid;         /* as in struct idem_room */
	uint64_t reader_behind;
};

/* Say so, and what to do, at most once a minute. */
void store_tell_full(struct idem_store *s, int64_t now_ms,
    const struct store_full *full);

/* The verdict of a look on a record that has not expired; REPLAY: its answer is
 * still to be given.  IDEM_ENEWER: it was made by another recipe. */
IDEM_MUST_CHECK enum idem_err
store_look_at(const struct idem_store *s, const struct idem_record *r,
    struct idem_op *op);

/* now_ms + ttl_ms, or INT64_MAX where that does not fit. */
int64_t store_expiry(int64_t now_ms, int64_t ttl_ms);

/* The verbs of tables.h on one transaction of a back end. */
struct tables_verbs {
	enum idem_err (*get)(void *self, unsigned table, struct idem_span key,
	    struct idem_span *value);
	enum idem_err (*put)(void *self, unsigned table, struct idem_span key,
	    struct idem_span value);
	enum idem_err (*del)(void *self, unsigned table, struct idem_span key);
	enum idem_err (*last)(void *self, unsigned table,
	    struct idem_span *key, struct idem_span *value);
	enum idem_err (*each)(void *self, unsigned table, struct idem_span from,
	    idem_entry_fn fn, void *arg);
};
struct idem_tables {
	const struct tables_verbs *verbs;
	void *self;
	unsigned ntables;
	bool writable;
};

#endif
