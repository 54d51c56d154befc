/*
 * census.h - the records of a store counted by state.
 */
#ifndef COMMAND_CENSUS_H
#define COMMAND_CENSUS_H

#include "idem/store.h"

/* Each record is counted once. */
enum census_class {
	CENSUS_RUNNING,  /* its worker lives */
	CENSUS_ORPHANED, /* running, and its worker is gone */
	CENSUS_DONE,
	CENSUS_UNKNOWN,
	CENSUS_EXPIRED,  /* done or unknown, and past its time */
	CENSUS_DAMAGED
};
#define CENSUS_NCLASSES ((size_t)CENSUS_DAMAGED + 1)

/*
 * Walk over all records and count them by class at now_ms.  Bounded snapshots,
 * so that no page is held back for long; what is claimed meanwhile may count.
 * The errors of idem_store_walk().
 */
IDEM_MUST_CHECK enum idem_err
census_take(struct idem_store *s, int64_t now_ms,
    uint64_t count[CENSUS_NCLASSES]);

#endif
