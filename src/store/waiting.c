/*
 * waiting.c - one futex for many records: who is woken for another one's end
 * looks, and sleeps again.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/io.h"
#include "store/waiting.h"

#define TABLE_BYTES (WAITING_SLOTS * sizeof(struct waiting_slot))

/* The seats of the attached, and of those who wait. */
enum seats { ATTACHED, WAITING };

/* Where they stand: each program has a place of its own, behind the table.
 * Two that met there would only let fewer wait. */
static off_t
first_seat(const struct waiting *w, enum seats seats)
{
	off_t place = 1 + (off_t)(w->program & 0x7fffffff);

	return (2 * place + (off_t)seats) * WAITING_SEATS_MAX * 4;
}

/* 0, or errno. */
static int
set_lock(int fd, short type, off_t at)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET,
		.l_start = at, .l_len = 1 };

	while (fcntl(fd, F_OFD_SETLK, &lock) != 0)
		if (errno != EINTR)
			return errno;
	return 0;
}

/* Is one of n bytes locked by anybody else? */
static bool
is_locked(int fd, off_t at, off_t n)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET,
		.l_start = at, .l_len = n };

	return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* The first free one of these seats is ours; -1: there is none. */
static off_t
take_seat(const struct waiting *w, enum seats seats)
{
	off_t from = first_seat(w, seats);

	for (off_t at = from; at < from + WAITING_SEATS_MAX; at++) {
		int err = set_lock(w->fd, F_WRLCK, at);

		if (err == 0)
			return at;
		if (err != EAGAIN && err != EACCES)
			break;
	}
	return -1;
}

/* How many of these seats others hold.  Seats are taken from the front, so
 * few are looked at. */
static size_t
count_others(const struct waiting *w, enum seats seats)
{
	off_t from = first_seat(w, seats), end = from + WAITING_SEATS_MAX;
	size_t n = 0;

	for (off_t at = from; at < end && is_locked(w->fd, at, end - at); at++)
		n += is_locked(w->fd, at, 1);
	return n;
}

/* 0, or errno. */
static int
map_file(struct waiting *w, const char *path)
{
	void *p;
	int err;

	w->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (w->fd < 0)
		return errno;
	/* A hole in the file would be a SIGBUS on a full disk. */
	if ((err = posix_fallocate(w->fd, 0, TABLE_BYTES)) != 0)
		return err;
	p = mmap(NULL, TABLE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd,
	    0);
	if (p == MAP_FAILED)
		return errno;
	w->slots = p;
	return 0;
}

void
waiting_open(struct waiting *w, const char *path, bool worker,
    uint64_t program, const struct idem_log *log)
{
	int err;

	*w = (struct waiting){ .fd = -1, .program = program };
	if (path == NULL)
		return;
	if ((err = map_file(w, path)) != 0) {
		idem_log(log, IDEM_WARN, "%s: %s: no retry will wait for the "
		    "request that is running", path, strerror(err));
		waiting_close(w);
		return;
	}
	w->worker = worker && take_seat(w, ATTACHED) >= 0;
}

void
waiting_close(struct waiting *w)
{
	if (w->slots != NULL)
		(void)munmap(w->slots, TABLE_BYTES);
	if (w->fd >= 0)
		(void)close(w->fd); /* nothing was written to it */
	*w = (struct waiting){ .fd = -1 };
}

static struct waiting_slot *
slot_of(const struct waiting *w, const unsigned char id[IDEM_ID_BYTES])
{
	return &w->slots[u64_from_key(id) % WAITING_SLOTS];
}

void
waiting_ended(struct waiting *w, const unsigned char id[IDEM_ID_BYTES])
{
	struct waiting_slot *slot;

	if (w->slots == NULL)
		return;
	slot = slot_of(w, id);
	atomic_fetch_add(&slot->ends, 1);
	if (atomic_load(&slot->sleepers) > 0)
		(void)syscall(SYS_futex, &slot->ends, FUTEX_WAKE, INT32_MAX,
		    NULL, NULL, 0); /* who is not woken looks each second */
}

static void
sleep_on(struct waiting_slot *slot, uint32_t ends, int64_t ms)
{
	struct timespec t = { .tv_sec = ms / 1000,
		.tv_nsec = ms % 1000 * 1000000 };

	/* woken, late, interrupted: the caller looks again in any case */
	(void)syscall(SYS_futex, &slot->ends, FUTEX_WAIT, ends, &t, NULL, 0);
}

static bool
says_stop(const struct waiting_for *what)
{
	return what->stop != NULL && what->stop(what->stop_arg);
}

static int64_t
least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* The word is read before the record: an end in between is not slept over. */
static bool
sleep_until_it_ends(const struct waiting *w, const struct waiting_for *what,
    int64_t end_ms)
{
	struct waiting_slot *slot = slot_of(w, what->id);
	uint32_t ends = atomic_load(&slot->ends), seen;
	int64_t now_ms = io_steady_ms(), look_ms = now_ms + WAITING_LOOK_MS;

	if (!what->runs(what->runs_arg, what->id))
		return true;
	while (now_ms < end_ms && !says_stop(what)) {
		sleep_on(slot, ends, least(WAITING_SLICE_MS, end_ms - now_ms));
		now_ms = io_steady_ms();
		seen = atomic_load(&slot->ends);
		if (seen == ends && now_ms < look_ms)
			continue;
		ends = seen;
		look_ms = now_ms + WAITING_LOOK_MS;
		if (!what->runs(what->runs_arg, what->id))
			return true;
	}
	return false;
}

/* Takes a seat before it counts: of two who come at once both may be turned
 * away, but never one too many may stay. */
static off_t
begin(const struct waiting *w)
{
	off_t seat;

	if (!w->worker || (seat = take_seat(w, WAITING)) < 0)
		return -1;
	if (2 * (count_others(w, WAITING) + 1) <=
	    count_others(w, ATTACHED) + 1)
		return seat;
	(void)set_lock(w->fd, F_UNLCK, seat);
	return -1;
}

bool
waiting_for(struct waiting *w, const struct waiting_for *what,
    int64_t *left_ms)
{
	int64_t from_ms = io_steady_ms(), took_ms;
	off_t seat = begin(w);
	struct waiting_slot *slot;
	bool ended;

	if (seat < 0)
		return false;
	slot = slot_of(w, what->id);
	atomic_fetch_add(&slot->sleepers, 1);
	ended = sleep_until_it_ends(w, what, from_ms + *left_ms);
	atomic_fetch_sub(&slot->sleepers, 1);
	(void)set_lock(w->fd, F_UNLCK, seat); /* close() drops it at last */
	took_ms = io_steady_ms() - from_ms;
	*left_ms = took_ms > *left_ms ? 0 : *left_ms - took_ms;
	return ended;
}
