/*
 * sweep.c - delete what is due, a bounded step at a time, so that requests get
 * the writer's lock between two steps; it does not know what is due.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "command/command.h"

#define LOCK_NAME "sweep.lock"
#define STEP_RECORDS_MAX 500
#define STEP_RECORDS_MIN 32
#define STEP_MS 8 /* no writer is to wait longer for a step, if it can be */
#define PAUSE_MIN_MS 1
#define PAUSE_MAX_MS 100
#define SECONDS_MAX 86400

/* What one run did. */
struct run {
	struct idem_sweep sum;
	int64_t began_ms;
	int64_t took_ms;
	size_t step_records;
	bool busy;
};

static int
open_lock(const char *dir)
{
	int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd = -1;
	int saved = errno;

	if (dirfd >= 0) {
		fd = openat(dirfd, LOCK_NAME, O_RDWR | O_CREAT | O_CLOEXEC |
		    O_NOFOLLOW | O_NONBLOCK, 0600);
		saved = errno;
		(void)close(dirfd); /* nothing was written */
	}
	errno = saved;
	return fd;
}

/*
 * The lock that one sweep at a time holds: its descriptor, or -1 where another
 * one has it (*busy) or there was an error (logged).  The kernel drops it with
 * the process.
 */
static int
lock(struct command *c, bool *busy)
{
	char dir[COMMAND_PATH_BYTES];
	int fd = -1;
	int saved;

	*busy = false;
	if (!command_store_path(c, dir))
		return -1;
	fd = open_lock(dir);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	saved = errno;
	*busy = fd >= 0 && saved == EWOULDBLOCK;
	if (!*busy)
		idem_log(c->log, IDEM_ERROR, "cannot %s " LOCK_NAME " in "
		    "%.400s: %s", fd < 0 ? "open" : "lock", dir,
		    strerror(saved));
	if (fd >= 0)
		(void)close(fd); /* nothing was written */
	return -1;
}

/* Requests that wait for the writer's lock get it while we are away: as long as
 * the step took, so that a sweep takes at most half of the disk. */
static void
let_through(int64_t step_ms)
{
	int64_t ms = step_ms < PAUSE_MIN_MS ? PAUSE_MIN_MS : step_ms;
	struct timespec t;

	if (ms > PAUSE_MAX_MS)
		ms = PAUSE_MAX_MS;
	t = (struct timespec){ .tv_nsec = (long)ms * 1000000 };
	(void)nanosleep(&t, NULL); /* a shorter pause does no harm */
}

static uint64_t
changed(const struct idem_sweep *s)
{
	return s->nexpired + s->nunknown + s->nheld + s->nreleased;
}

/* Each record that goes dirties a page of its own, which the next commit has to
 * flush: a slow disk, or one that is shared, gets smaller steps. */
static void
adapt(struct run *run, int64_t step_ms)
{
	if (step_ms > STEP_MS)
		run->step_records /= 2;
	else if (step_ms < STEP_MS / 2)
		run->step_records *= 2;
	if (run->step_records < STEP_RECORDS_MIN)
		run->step_records = STEP_RECORDS_MIN;
	if (run->step_records > STEP_RECORDS_MAX)
		run->step_records = STEP_RECORDS_MAX;
}

static enum idem_err
step(struct command *c, struct idem_store *store, struct run *run)
{
	int64_t began = c->world->steady_ms(), ended;
	uint64_t before = changed(&run->sum);
	enum idem_err err = idem_store_sweep(store, c->world->wall_ms(),
	    c->settings.policy.unknown_ttl_ms, run->step_records, &run->sum);

	ended = c->world->steady_ms();
	run->took_ms = ended - run->began_ms;
	adapt(run, ended - began);
	if (err == IDEM_OK && run->sum.more && changed(&run->sum) > before)
		let_through(ended - began);
	return err;
}

/* limit_ms 0: none.  A run takes one step at least. */
static enum idem_err
sweep(struct command *c, struct idem_store *store, int64_t limit_ms,
    struct run *run)
{
	enum idem_err err;

	run->began_ms = c->world->steady_ms();
	run->step_records = STEP_RECORDS_MAX;
	do
		err = step(c, store, run);
	while (err == IDEM_OK && run->sum.more &&
	    (limit_ms == 0 || run->took_ms < limit_ms));
	if (err != IDEM_OK)
		idem_log(c->log, IDEM_ERROR, "the sweep ended early: %s",
		    idem_strerror(err));
	return err;
}

static void
report(struct command *c, const struct run *run, bool well)
{
	const struct figure figures[] = {
		{ "seen", run->sum.nseen, false },
		{ "expired", run->sum.nexpired, false },
		{ "unknown_expired", run->sum.nunknown, false },
		{ "held", run->sum.nheld, false },
		{ "released", run->sum.nreleased, false },
		{ "ms", (uint64_t)run->took_ms, false },
		{ "more", run->sum.more, true },
		{ "busy", run->busy, true },
	};
	size_t n = sizeof figures / sizeof figures[0];

	if (c->options.value[OPT_QUIET] != NULL && well)
		return;
	if (c->options.value[OPT_JSON] != NULL)
		figures_json(&c->out, figures, n);
	else if (run->busy)
		idem_buf_puts(&c->out,
		    IDEM_LIT("another sweep is at work: nothing was done\n"));
	else
		figures_line(&c->out, figures, n - 1);
}

/* A sweep makes no room while somebody still reads what it deleted. */
static void
look_for_reader(struct command *c, struct idem_store *store)
{
	struct idem_room room;

	if (idem_store_room(store, &room) == IDEM_OK)
		idem_room_warn(c->log, room.reader_pid,
		    room.reader_behind);
}

static bool
limit(struct command *c, int64_t *ms)
{
	const char *text = c->options.value[OPT_MAX_SECONDS];
	uint64_t s = 0;

	*ms = 0;
	if (text == NULL)
		return true;
	if (parse_u64(span_of(text), SECONDS_MAX, &s) != IDEM_OK || s == 0) {
		idem_log(c->log, IDEM_ERROR, "--max-seconds %.200s: a whole "
		    "number from 1 to %d is wanted; see idem sweep --help",
		    text, SECONDS_MAX);
		return false;
	}
	*ms = (int64_t)s * 1000;
	return true;
}

int
command_sweep(struct command *c)
{
	struct idem_store *store = NULL;
	struct run run = { .busy = false };
	enum idem_err err = IDEM_OK;
	int64_t limit_ms;
	int fd;

	if (!limit(c, &limit_ms))
		return COMMAND_USAGE;
	if (!command_store_open(c, &store))
		return COMMAND_FAILED;
	fd = lock(c, &run.busy);
	if (fd >= 0) {
		err = sweep(c, store, limit_ms, &run);
		(void)close(fd); /* nothing was written */
		look_for_reader(c, store);
	}
	if (fd >= 0 || run.busy)
		report(c, &run, err == IDEM_OK);
	idem_store_close(&store);
	return (fd >= 0 || run.busy) && err == IDEM_OK ?
	    COMMAND_FINE : COMMAND_FAILED;
}
