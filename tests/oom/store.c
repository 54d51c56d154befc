/*
 * store.c - scenarios of the verbs of the store: each on memory, on LMDB with a
 * commit for each operation, and on LMDB with group commit.
 */
#include "verb.h"

/* --- what was there ------------------------------------------------------ */

static const struct step empty[] = { { SEE, .walk = "" } };
static const struct step running[] = {
	{ CLAIM, 'a', 'T', .now = 10, .verdict = IDEM_CLAIMED, .walk = "1aR" },
};
static const struct step orphaned[] = {
	{ CLAIM, 'a', 'O', .now = 10, .verdict = IDEM_CLAIMED },
	{ LEAVE, 'a', 'O', .walk = "1aR" },
};
static const struct step done[] = {
	{ ONCE, 'a', 'T', .now = 10, .script = "put 0 x 1\nsay hello",
	    .verdict = IDEM_STORED, .answer = "hello", .walk = "1aD",
	    .table = "x=1" },
};
static const struct step unknown[] = {
	{ CLAIM, 'a', 'T', .now = 10, .verdict = IDEM_CLAIMED },
	{ HOLD, 'a', 'T', .now = 11, .verdict = IDEM_HELD, .walk = "1aU" },
	{ LEAVE, 'a', 'T', .walk = "1aU" },
};
static const struct step two_done[] = {
	{ ONCE, 'a', 'T', .now = 10, .script = "say a",
	    .verdict = IDEM_STORED, .answer = "a" },
	{ ONCE, 'b', 'T', .now = 11, .script = "say b",
	    .verdict = IDEM_STORED, .answer = "b", .walk = "1aD 2bD" },
};

/* Each verb on each back end. */
#define ON(name_, flavour_, before_, ...) \
	{ .name = name_, .make = verb_make, .run = verb_run, \
	    .right = verb_right, .end = verb_end, \
	    .unharmed = verb_unharmed, .logs = true, \
	    .with = &(const struct verb){ .flavour = flavour_, \
	    .before = before_, .nbefore = COUNT(before_), __VA_ARGS__ } }
#define ON_LMDB(name, before, ...) \
	ON("LMDB, " name, ALONE, before, __VA_ARGS__), \
	ON("group, " name, GROUP, before, __VA_ARGS__)
#define ON_ALL(name, before, ...) \
	ON("memory, " name, MEMORY, before, __VA_ARGS__), \
	ON_LMDB(name, before, __VA_ARGS__)

static const struct scenario scenarios[] = {
	ON_ALL("claim", empty, .step = { CLAIM, 'a', 'T', .now = 10, .verdict =
	    IDEM_CLAIMED, .walk = "1aR" }),
	ON_LMDB("claim beside others", two_done, .step = { CLAIM, 'c', 'T',
	    .now = 12, .verdict = IDEM_CLAIMED, .walk = "1aD 2bD 3cR" }),
	ON_LMDB("claim in the place of others", two_done, .step = { CLAIM, 'c',
	    'T', .now = 12, .max_keys = 2, .evict = true, .verdict =
	    IDEM_CLAIMED, .walk = "2bD 3cR" }),
	ON_LMDB("claim an expired one", done, .step = { CLAIM, 'a', 'U', .now =
	    20000, .verdict = IDEM_CLAIMED, .walk = "2aR" }),
	ON_LMDB("claim an orphan", orphaned, .step = { CLAIM, 'a', 'T', .now =
	    12, .verdict = IDEM_ORPHAN, .walk = "1aU" }),
	ON_LMDB("claim an orphan anew", orphaned, .step = { CLAIM, 'a', 'T',
	    .now = 12, .retry = true, .verdict = IDEM_CLAIMED, .took_over =
	    true, .walk = "2aR" }),
	ON_LMDB("claim what is done", done, .step = { CLAIM, 'a', 'U', .now =
	    12, .verdict = IDEM_REPLAY, .answer = "hello", .walk = "1aD" }),
	ON_LMDB("claim for another body", done, .step = { CLAIM, 'a', 'U', 'x',
	    .now = 12, .verdict = IDEM_MISMATCH, .walk = "1aD" }),
	ON_LMDB("look at what is done", done, .step = { LOOK, 'a', .now = 12,
	    .verdict = IDEM_REPLAY, .answer = "hello", .walk = "1aD" }),
	ON_LMDB("look at nothing", done, .step = { LOOK, 'b', .now = 12,
	    .verdict = IDEM_ABSENT_KEY, .walk = "1aD" }),
	ON_ALL("once", empty, .step = { ONCE, 'a', 'T', .now = 10, .script =
	    "put 0 x 1\nput 0 y 2\nsay hello", .answer = "hello", .verdict =
	    IDEM_STORED, .walk = "1aD", .table = "x=1 y=2" }),
	ON_ALL("once, replacing", done, .step = { ONCE, 'b', 'T', .now = 10,
	    .script = "put 0 x 9\nput 1 z 2\nsay hello", .answer = "hello",
	    .verdict = IDEM_STORED, .walk = "1aD 2bD", .table = "x=9" }),
	ON("group, once, a long answer", GROUP, done, .step = { ONCE, 'b', 'T',
	    .now = 10, .script = verb_long_script, .answer = verb_long_script +
	    4, .verdict = IDEM_STORED, .walk = "1aD 2bD" }, .may_have_happened
	    = true, .again = IDEM_REPLAY),
	ON_LMDB("once, and nothing stays", done, .step = { ONCE, 'b', 'T', .now
	    = 10, .script = "del 0 x\nsay no\nnone", .answer = "no", .verdict =
	    IDEM_RELEASED, .walk = "1aD", .table = "x=1" }),
	ON_ALL("apply", done, .step = { APPLY, .now = 10, .script =
	    "put 0 y 2\ndel 0 x\nsay hello", .answer = "hello", .verdict =
	    IDEM_STORED, .walk = "1aD", .table = "y=2" }),
	ON_ALL("finish", running, .step = { FINISH, 'a', 'T', .now = 12,
	    .script = "put 0 x 1\nsay hello", .answer = "hello", .verdict =
	    IDEM_STORED, .walk = "1aD", .table = "x=1" }),
	ON_ALL("finish with an answer", running, .step = { FINISH, 'a', 'T',
	    .now = 12, .input = verb_medium, .verdict = IDEM_STORED, .walk =
	    "1aD" }),
	ON_LMDB("hold", running, .step = { HOLD, 'a', 'T', .now = 12, .verdict
	    = IDEM_HELD, .walk = "1aU" }),
	ON_LMDB("release", running, .step = { RELEASE, 'a', 'T', .now = 12,
	    .verdict = IDEM_RELEASED, .walk = "" }),
	ON_ALL("resolve as done", unknown, .step = { RESOLVE, 'a', .now = 12,
	    .input = "by hand", .verdict = IDEM_STORED, .walk = "1aD" }),
	ON_LMDB("resolve as nothing", unknown, .step = { RESOLVE, 'a', .now =
	    12, .verdict = IDEM_RELEASED, .walk = "" }),
};

const struct part part_store = { scenarios, COUNT(scenarios) };
