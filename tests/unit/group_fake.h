/*
 * group_fake.h - a store for the tests of the group commit, shared by forked
 * processes: an array that counts how often each request was carried out.
 *
 * A commit is one atomic flip of what is visible; what is durable follows in a
 * step of its own, so a death in between leaves a commit that is not on disk.
 */
#ifndef GROUP_FAKE_H
#define GROUP_FAKE_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/group.h"

#define FAKE_NIDS 65536u

/* What a request wants; ADD is the ordinary one. */
enum fake_kind {
	FAKE_ADD,
	FAKE_REFUSE,   /* writes, then fails by itself */
	FAKE_SPOIL,    /* spoils the transaction it runs in */
	FAKE_CRASH,    /* kills whoever runs it */
	FAKE_LONG,     /* its result fits no slot, and it sees that */
	FAKE_CARELESS  /* the same, but it does not look */
};

struct fake_request {
	uint32_t id;
	uint32_t nonce;   /* comes back in the result */
	uint32_t weight;  /* room that it takes */
	uint8_t kind;
	uint8_t program;  /* the only one that may run it; 0: any */
};

enum fake_outcome { FAKE_NONE, FAKE_DID, FAKE_REFUSED, FAKE_TOO_LONG,
	FAKE_FAILED };

struct fake_result {
	uint32_t id;
	uint32_t nonce;
	enum fake_outcome outcome;
	enum idem_err err; /* of FAILED */
};
#define FAKE_LONG_BYTES 70000u /* a LONG result, the struct in front */

struct fake_image {
	uint64_t used;
	unsigned char marks[GROUP_MARKS_BYTES];
	uint8_t times[FAKE_NIDS];
};

/* Shared by all processes: made before the first fork. */
struct fake {
	pthread_mutex_t writer;   /* as the store's own lock: robust */
	_Atomic uint64_t visible; /* number << 2 | image */
	_Atomic uint64_t durable;
	struct fake_image image[4];
	_Atomic uint64_t room;    /* for the weights of all */
	_Atomic uint64_t grow_to; /* room after growing; no more than once */
	_Atomic uint32_t commit_us; /* a commit's flush takes that long */
	_Atomic uint32_t nflushes;
	_Atomic uint32_t nbegins; /* begun, or waiting for the lock */
	/* what these return from now on */
	_Atomic int begin_err, mark_err, commit_err, flush_err, find_err;
	_Atomic bool once;        /* commit_err: the next time only */
};

/* Where a commit can be cut off. */
enum fake_step { FAKE_ALIVE, FAKE_WRITTEN, FAKE_VISIBLE, FAKE_DURABLE };

/* One process's view. */
struct fake_client {
	struct fake *fake;
	struct fake_image *work; /* the open transaction */
	uint8_t program;
	enum fake_step die_at;
	unsigned nth;            /* commit, counted down */
	bool sick;               /* cannot begin: this process alone */
};

struct fake *fake_make(void);
void fake_free(struct fake *f);
void fake_client_init(struct fake_client *c, struct fake *f, uint8_t program);
void fake_client_free(struct fake_client *c);
struct group_work fake_work(struct fake_client *c);

uint8_t fake_times(const struct fake *f, uint32_t id);
uint8_t fake_times_durable(const struct fake *f, uint32_t id);
/* All are dead: what was not durable is gone. */
void fake_power_cut(struct fake *f);

#endif
