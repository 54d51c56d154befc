/*
 * whole.c - scenarios of a store as a whole: opened, swept, walked, grown.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "verb.h"

static const struct step empty[] = { { SEE, .walk = "" } };
static const struct step running[] = {
	{ CLAIM, 'a', 'T', .now = 10, .verdict = IDEM_CLAIMED, .walk = "1aR" },
};
static const struct step done[] = {
	{ ONCE, 'a', 'T', .now = 10, .script = "put 0 x 1\nsay hello",
	    .verdict = IDEM_STORED, .answer = "hello", .walk = "1aD",
	    .table = "x=1" },
};
static const struct step two_done[] = {
	{ ONCE, 'a', 'T', .now = 10, .script = "say a",
	    .verdict = IDEM_STORED, .answer = "a" },
	{ ONCE, 'b', 'T', .now = 11, .script = "say b",
	    .verdict = IDEM_STORED, .answer = "b", .walk = "1aD 2bD" },
};

static void
make_closed(void)
{
	verb_make_kit(verb()->flavour);
	if (verb()->before == empty)
		return;
	assert_int_equal(kit_reopen(&k, true), IDEM_OK);
	kit_run(&k, verb()->before, verb()->nbefore);
	idem_store_close(&k.store);
}

static enum idem_err
open_store(void)
{
	return kit_reopen(&k, true);
}

static void
opened_right(void)
{
	kit_run(&k, &verb()->step, 1);
}

static struct idem_sweep swept;

static enum idem_err
sweep(void)
{
	swept = (struct idem_sweep){ .from = 0 };
	return idem_store_sweep(k.store, verb()->step.now, KIT_UNKNOWN_TTL_MS,
	    3, &swept);
}

static void
swept_right(void)
{
	const struct step seen[] = { { SEE, .walk = verb()->step.walk } };

	must(swept.nexpired == 2);
	must(!swept.more);
	KIT_RUN(&k, seen);
}

static unsigned nvisited;

static bool
visit(void *arg, uint64_t number, const struct idem_record *r)
{
	(void)arg;
	nvisited += r != NULL && r->state == IDEM_STATE_DONE && number > 0;
	return true;
}

static enum idem_err
walk(void)
{
	uint64_t from = 0;
	bool more = true;

	nvisited = 0;
	return idem_store_walk(k.store, &from, 10, &more, visit, NULL);
}

static void
walk_right(void)
{
	must(nvisited == 2);
}

static struct idem_room room;

static enum idem_err
ask_room(void)
{
	return idem_store_room(k.store, &room);
}

static void
room_right(void)
{
	must(room.nrecords == 2);
}

static uint64_t nbad;

static enum idem_err
check(void)
{
	return idem_store_check(k.store, &nbad);
}

static void
check_right(void)
{
	must(nbad == 0);
}

static unsigned nread;

static enum idem_err
look_at_tables(void *arg, struct idem_tables *t)
{
	struct idem_span value, key;
	enum idem_err err = idem_tables_get(t, 0, IDEM_LIT("x"), &value);

	(void)arg;
	if (err != IDEM_OK ||
	    (err = idem_tables_last(t, 0, &key, &value)) != IDEM_OK)
		return err;
	nread = (unsigned)(key.n + value.n);
	return IDEM_OK;
}

static enum idem_err
read_tables(void)
{
	return idem_store_read(k.store, look_at_tables, NULL);
}

static void
read_right(void)
{
	must(nread == 2);
}

static enum idem_err
ask_outside(void)
{
	return idem_store_outside(k.store, IDEM_LIT("/usr"));
}

/* --- room ---------------------------------------------------------------- */

/* Another process makes the map larger than this one knows. */
static void
make_resized(void)
{
	const struct step more[] = { { FINISH, 'a', 'T', .now = 11,
	    .input = verb_big, .verdict = IDEM_STORED } };
	int status = 1;
	pid_t pid;

	verb_make();
	if ((pid = fork()) == 0) {
		k.store = NULL; /* the parent's */
		assert_int_equal(kit_reopen(&k, false), IDEM_OK);
		kit_op(&k, more, &op);
		_exit(idem_store_submit(k.store, &op) != IDEM_OK ||
		    op.verdict != IDEM_STORED);
	}
	assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
	assert_int_equal(status, 0);
}

static void
resized_right(void)
{
	const struct step seen[] = { { SEE, .walk = "1aD 2bR" } };

	must(op.verdict == IDEM_CLAIMED);
	KIT_RUN(&k, seen);
}

static void
grown_right(void)
{
	const struct step seen[] = { { SEE, .walk = "1aD" } };

	must(op.verdict == IDEM_STORED);
	KIT_RUN(&k, seen);
}

#define WHOLE(name_, flavour_, make_, run_, right_, before_, ...) \
	{ .name = name_, .make = make_, .run = run_, .right = right_, \
	    .end = verb_end, .logs = true, .errors = ERR(ENOMEM) | ((run_) == \
	    verb_run_anew ? ERR(ESTORE) | ERR(EMOVED) : 0), \
	    .with = &(const struct verb){ .flavour = flavour_, \
	    .before = before_, .nbefore = COUNT(before_), __VA_ARGS__ } }
#define WHOLE_LMDB(name, make, run, right, before, ...) \
	WHOLE("LMDB, " name, ALONE, make, run, right, before, __VA_ARGS__), \
	WHOLE("group, " name, GROUP, make, run, right, before, __VA_ARGS__)

static const struct scenario scenarios[] = {
	WHOLE("memory, open one", MEMORY, make_closed, open_store,
	    opened_right, empty, .step = { CLAIM, 'a', 'T', .now = 10, .verdict
	    = IDEM_CLAIMED, .walk = "1aR" }),
	WHOLE_LMDB("open a new one", make_closed, open_store, opened_right,
	    empty, .step = { CLAIM, 'a', 'T', .now = 10, .verdict =
	    IDEM_CLAIMED, .walk = "1aR" }),
	WHOLE("LMDB, open one that is there", ALONE, make_closed, open_store,
	    opened_right, two_done, .step = { LOOK, 'b', .now = 12, .verdict =
	    IDEM_REPLAY, .answer = "b", .walk = "1aD 2bD" }),
	WHOLE_LMDB("sweep", verb_make, sweep, swept_right, two_done, .step = {
	    SWEEP, .now = 20000, .walk = "" }),
	WHOLE_LMDB("walk", verb_make, walk, walk_right, two_done, .step = {
	    SEE, .walk = NULL }),
	WHOLE_LMDB("room", verb_make, ask_room, room_right, two_done, .step = {
	    SEE, .walk = NULL }),
	WHOLE_LMDB("check", verb_make, check, check_right, two_done, .step = {
	    SEE, .walk = NULL }),
	WHOLE_LMDB("read tables", verb_make, read_tables, read_right, done,
	    .step = { SEE, .walk = NULL }),
	WHOLE("LMDB, is it outside", ALONE, verb_make, ask_outside, NULL,
	    empty, .step = { SEE, .walk = NULL }),
	WHOLE("LMDB, a map that grew", ALONE, make_resized, verb_run_anew,
	    resized_right, running, .step = { CLAIM, 'b', 'U', .now = 12 }),
	WHOLE("group, a map that grew", GROUP, make_resized, verb_run_anew,
	    resized_right, running, .step = { CLAIM, 'b', 'U', .now = 12 }),
	WHOLE("LMDB, grow the map", ALONE, verb_make, verb_run_anew,
	    grown_right, running, .step = { FINISH, 'a', 'T', .now = 11, .input
	    = verb_big }),
	WHOLE("group, grow the map", GROUP, verb_make, verb_run_anew,
	    grown_right, running, .step = { FINISH, 'a', 'T', .now = 11, .input
	    = verb_big }),
};

const struct part part_whole = { scenarios, COUNT(scenarios) };
