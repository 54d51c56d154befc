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

#endif
