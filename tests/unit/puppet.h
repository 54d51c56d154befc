/*
 * puppet.h - processes for the tests of the group commit: one that does what it
 * is told step by step, and the waiting for what becomes of them.
 */
#ifndef PUPPET_H
#define PUPPET_H

#include <sys/types.h>

#include "group_fake.h"
#include "store/group_file.h"

#define PATIENCE_MS 30000 /* for what must happen */
#define NEVER_MS (20 * PATIENCE_MS) /* who sleeps so long is not found awake */

/* Run fn(arg) in a child that dies with its parent; its exit status is what fn
 * returns. */
pid_t proc_start(int (*fn)(void *arg), void *arg);
/* Its wait status once it has ended; or stopped, where stopped is asked for. */
int proc_wait(pid_t pid, bool stopped);

enum puppet_verb {
	PUPPET_OPEN,   /* attach */
	PUPPET_CLOSE,
	PUPPET_SUBMIT,
	PUPPET_LEAD,
	PUPPET_ARM,    /* text: a failpoint */
	PUPPET_DIE_AT, /* step, nth: of the fake store's commit */
	PUPPET_SICK,   /* it cannot begin a transaction any more */
	PUPPET_END
};

struct puppet_order {
	enum puppet_verb verb;
	struct fake_request request;
	uint32_t nrequest;   /* bytes of it, padded; 0: the struct's own size */
	enum fake_step step;
	unsigned nth;
	int64_t wait_ms;     /* OPEN; 0: PATIENCE_MS */
	int64_t net_ms;      /* OPEN; 0: as built in */
	char text[64];
};

struct puppet_reply {
	enum idem_err err;
	struct fake_result result;
	uint32_t nresult;
	uint32_t slot;
	bool in_doubt;
	bool durable; /* the request is in the durable image */
	struct group_counts counts;
};

struct puppet {
	pid_t pid;
	int fd;
	char log[200]; /* shared with it: its last log line */
};

/* In memory that the child shares: make it with puppet_make(). */
struct puppet *puppet_make(struct fake *f, const char *dir, uint8_t program);
void puppet_tell(struct puppet *p, struct puppet_order order);
struct puppet_reply puppet_reply(struct puppet *p);
/* tell, then reply. */
struct puppet_reply puppet_ask(struct puppet *p, struct puppet_order order);
/* It ends, by itself or by a signal: 0, or the signal. */
int puppet_end(struct puppet **p);
/* Wait until it stands (its failpoint says stop); let it go on. */
void puppet_until_stopped(struct puppet *p);
void puppet_go_on(struct puppet *p);
/* It must be dead or dying by SIGKILL. */
void puppet_killed(struct puppet **p);

/* A look into the shared file; ends with group_unpeek(). */
struct group_shared *group_peek(const char *dir);
void group_unpeek(struct group_shared **s);
/* Wait until that slot's word has that state. */
void group_until(struct group_shared *s, uint32_t slot,
    enum group_state state);

/* What every test has, as cmocka's state: a store and a directory. */
struct stage {
	struct fake *fake;
	char dir[64];
	int64_t net_ms; /* of the puppets opened from here on; 0: as built in */
};
int stage_set(void **state);
int stage_strike(void **state);
#define STAGE(f) cmocka_unit_test_setup_teardown(f, stage_set, stage_strike)

/* A puppet that has attached. */
struct puppet *puppet_open(struct stage *s, uint8_t program, int64_t wait_ms);
/* Orders: a request for anybody; for one program; a failpoint. */
struct puppet_order order(uint32_t id, enum fake_kind kind);
struct puppet_order order_of(uint32_t id, uint8_t program);
struct puppet_order arm(const char *spec);

/* Have this puppet lead, and keep the store's own lock, so that it stands
 * before its batch; let it go on. */
void stage_lead(struct stage *s, struct puppet *p, struct puppet_order o);
void stage_go(struct stage *s);
/* The first of n puppets, in the slots 0 to n - 1, leads a batch of all. */
void stage_gather(struct stage *s, struct group_shared *shared,
    struct puppet **p, const struct puppet_order *o, size_t n);

/* The verdict is this one and that of this request; DID: and it is durable. */
void assert_outcome(struct puppet_reply r, uint32_t id,
    enum fake_outcome outcome);
void assert_failed(struct puppet_reply r, enum idem_err err);
void assert_ends(struct puppet *p);

#endif
