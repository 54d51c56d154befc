/*
 * census.h - the records of a store, each with its state, a bounded snapshot at
 * a time.
 */
#ifndef COMMAND_CENSUS_H
#define COMMAND_CENSUS_H

#include "idem/store.h"

enum census_class {
	CENSUS_RUNNING,  /* its worker lives */
	CENSUS_ORPHANED, /* running, and its worker is gone */
	CENSUS_DONE,
	CENSUS_UNKNOWN,
	CENSUS_EXPIRED,  /* done or unknown, and past its time */
	CENSUS_DAMAGED
};
#define CENSUS_NCLASSES ((size_t)CENSUS_DAMAGED + 1)

struct census_row {
	uint64_t number;
	enum census_class class;
	struct idem_record r; /* without its answer; CENSUS_DAMAGED: zeroed */
	unsigned status;      /* of the stored answer; 0: there is none */
};

#define CENSUS_STEP 256
struct census {
	uint64_t from; /* where to go on; 0 at the start */
	bool more;
	size_t n;
	struct census_row rows[CENSUS_STEP];
};

/*
 * The next rows, in the order of the claims.  Zero c->from, then call again
 * while c->more.  Bounded snapshots, so that no page is held back for long:
 * what is claimed meanwhile may be seen, and a key that is claimed anew
 * meanwhile may be seen twice.  The errors of idem_store_walk().
 */
IDEM_MUST_CHECK enum idem_err
census_step(struct idem_store *s, int64_t now_ms, struct census *c);

/* All records counted, each once. */
IDEM_MUST_CHECK enum idem_err
census_take(struct idem_store *s, int64_t now_ms,
    uint64_t count[CENSUS_NCLASSES]);

#endif
