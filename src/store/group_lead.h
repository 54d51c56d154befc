/*
 * group_lead.h - the leader's half of the group commit: what is done while one
 * holds the mutex.  Only group.c, group_lead.c and group_batch.c know it.
 *
 * tests/model/group_commit.pml is the model of what they do; a part taken away
 * there has a counter-example, so take none away here.
 */
#ifndef STORE_GROUP_LEAD_H
#define STORE_GROUP_LEAD_H

#include "store/group_file.h"

/* A sleep ends after this long even when nobody woke it: needed only where a
 * process was killed between taking the mutex and waking the next leader. */
#define GROUP_NET_MS 50

/* That many leaders have died while they ran a request: nobody else will. */
#define GROUP_CRASHES_MAX 2

struct group {
	struct group_file file;
	struct group_work work;
	struct idem_buf scratch; /* a result on its way into a slot */
	int64_t wait_ms;
	int64_t net_ms;
	bool in_doubt; /* a leader has a request that I gave up */
	/*
	 * Taken behind the shared mutex.  The kernel gives back what the dead
	 * held by a list that leads through the mutexes themselves, the last
	 * one first, and whoever takes or gives one writes to its neighbour.
	 * Where that lay in the shared file, and somebody had cut the file
	 * short, a process died while it gave the store's own lock, and nobody
	 * ever got that again.
	 */
	pthread_mutex_t between;
};

/* A request too long for a slot: its owner leads with it in its own memory. */
struct group_own {
	struct idem_span request;
	struct idem_buf *result;
};

/* Is this word pending, asked to lead or taken? */
bool group_waits(uint32_t word);

/* What stands in a slot: borrowed, and to be read only while it waits. */
struct idem_span group_request(const struct group_shared *s, uint32_t i);

/* Take the mutex, as group_lock(). */
bool group_enter(struct group *g, int64_t wait_ms);

/* Mutex held by all below; batch and leave leave it unlocked. */

/* Verdicts for all that are listed, and wakes. */
void group_publish(struct group *g);
/* What a leader took waits as before. */
void group_put_back(struct group_slot *slot);

/* Finish or undo what a dead leader began.  What flush or find returned. */
IDEM_MUST_CHECK enum idem_err group_recover(struct group *g);
/* Run all that wait, and own (NULL: none), in one commit. */
void group_batch(struct group *g, const struct group_own *own);
/* Unlock, then ask the next who waits to lead. */
void group_leave(struct group *g);

#endif
