/*
 * group_file.h - the shared file of the group commit: its layout, its mutex,
 * the words that processes sleep on.  Only the files of the group know it.
 */
#ifndef STORE_GROUP_FILE_H
#define STORE_GROUP_FILE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "store/group.h"

/*
 * Also raised where what a leader writes for others cannot be read by programs
 * of before: theirs commit beside ours then, ordered by LMDB's own lock.
 * 2: records of version 2.
 */
#define GROUP_LAYOUT 2
#define GROUP_NSLOTS 1024

/*
 * A slot's word is number << 3 | state; its number only goes up, whoever owns
 * it, so that a verdict can never meet a later request.
 * LEAD is PENDING, and the owner is asked to lead.  TAKEN: a leader has it, so
 * its owner cannot take it back any more.
 */
enum group_state {
	GROUP_IDLE, GROUP_PENDING, GROUP_LEAD, GROUP_TAKEN, GROUP_DONE
};
#define WORD_NUMBER(w) ((w) >> 3)
#define WORD_STATE(w) ((enum group_state)((w) & 7u))
#define WORD(number, state) ((uint32_t)(number) << 3 | (uint32_t)(state))

struct group_slot {
	_Alignas(64) _Atomic uint32_t word; /* one cache line each */
	uint32_t nrequest; /* the owner writes it before PENDING */
	uint32_t nresult;  /* the leader writes it before DONE */
	uint32_t ncrashed; /* leaders that died while they ran it */
};

struct group_payload {
	char request[GROUP_REQUEST_MAX];
	char result[GROUP_RESULT_MAX];
};

struct group_listed {
	uint32_t slot;
	uint32_t word;
};

struct group_shared {
	char magic[8];
	uint32_t layout;
	uint32_t build;          /* who can share the mutex with whom */
	uint64_t size;           /* of all this, in bytes */
	uint64_t pid_namespace;  /* the mutex names its owner by thread id */
	pthread_mutex_t mutex;   /* robust, process-shared */
	uint64_t incarnation;    /* random: batch numbers never come twice */
	uint64_t counter;
	_Atomic uint32_t nslots; /* slots ever used: how far a leader looks */
	_Atomic uint32_t open;   /* an intent stands: somebody was committing */
	_Atomic uint32_t running; /* 1 + the slot whose request is being run */
	uint32_t nlisted;
	unsigned char batch[GROUP_BATCH_BYTES];
	struct group_listed listed[GROUP_NSLOTS];
	_Atomic uint64_t ncommits, nrequests, ntimeouts;
	_Atomic uint64_t nrecoveries, nrecovered;
	struct group_slot slot[GROUP_NSLOTS];
	struct group_payload payload[GROUP_NSLOTS];
};

/* This process's hold on the file. */
struct group_file {
	int fd;
	struct group_shared *shared;
	uint32_t me; /* my slot */
};

/*
 * Open or make the file under its initialisation lock, attach, and take a free
 * slot's lock.  The first to attach flushes the store: what is visible after a
 * crash of all may be more than is durable.  Codes as group_open().
 */
IDEM_MUST_CHECK enum idem_err
group_file_open(const char *dir, const struct group_work *work,
    int64_t wait_ms, const struct idem_log *log, struct group_file *out);
void group_file_close(struct group_file *f);

/* Sleep while *word is value, at most ms; false: the time ran out. */
bool group_sleep(_Atomic uint32_t *word, uint32_t value, int64_t ms);
/* Wake who sleeps on it; false: nobody did. */
bool group_wake(_Atomic uint32_t *word);

/* What the file needs of the machine: false where it has none. */
bool group_make_mutex(pthread_mutex_t *m); /* robust, shared by processes */
bool group_has_futex(_Atomic uint32_t *word);

/* Lock (F_RDLCK, F_WRLCK) or unlock (F_UNLCK) the byte at this offset for this
 * open file description, without waiting; 0, or -1 with errno. */
int group_lock_byte(int fd, short type, off_t at);

/* Take the mutex; wait_ms 0 only tries.  false: somebody else has it.  A dead
 * owner's mutex is taken like a free one. */
bool group_lock(struct group_shared *s, int64_t wait_ms);
void group_unlock(struct group_shared *s);

#endif
