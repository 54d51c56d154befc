/*
 * test_race.c - many processes and few keys: of all claims on one key exactly
 * one is granted, also while processes are killed among them.
 */
#include "storekit.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"

#define NPROCESSES 16
#define NKEYS 200
#define NKILLS 60

/* What the processes tell each other, outside of the store. */
struct ledger {
	_Atomic unsigned ready;
	_Atomic unsigned go;
	_Atomic unsigned claimed[NKEYS]; /* granted */
	_Atomic unsigned errors;
};

struct race {
	struct kit kit;
	struct ledger *ledger;
};

static int
setup(void **state)
{
	static struct race r;

	kit_open(&r.kit, false);
	idem_store_close(&r.kit.store); /* every process opens it by itself */
	r.ledger = mmap(NULL, sizeof *r.ledger, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(r.ledger != MAP_FAILED);
	*state = &r;
	return 0;
}

static int
teardown(void **state)
{
	struct race *r = *state;

	kit_close(&r->kit);
	munmap(r->ledger, sizeof *r->ledger);
	return 0;
}

/* Key number i, with a token never used before. */
static void
make_op(struct idem_op *op, enum idem_op_kind kind, size_t i,
    struct idem_buf *answer)
{
	memset(op, 0, sizeof *op);
	op->kind = kind;
	op->recipe = 1;
	op->id[0] = (unsigned char)(i >> 8);
	op->id[31] = (unsigned char)i;
	op->max_keys = 1000;
	op->ttl_ms = op->unknown_ttl_ms = 1000000;
	op->answer = answer;
	if (io_random(op->token, sizeof op->token) != IDEM_OK)
		_exit(2);
}

/* A row of its own for every run of the handler: a key that was done twice has
 * two. */
static void
once(struct race *r, size_t i)
{
	struct idem_op op;
	char script[64];

	make_op(&op, IDEM_OP_ONCE, i, &r->kit.answer);
	op.apply = 1;
	if (text_format(script, sizeof script,
	    "put 0 %03zu:%02x%02x%02x%02x x\nsay %03zu", i, op.token[0],
	    op.token[1], op.token[2], op.token[3], i) != IDEM_OK)
		_exit(2);
	op.input = span_of(script);
	if (idem_store_submit(r->kit.store, &op) != IDEM_OK ||
	    !span_eq(idem_buf_span(&r->kit.answer), span_from(op.input,
	    op.input.n - 3)))
		r->ledger->errors++;
	else if (op.verdict == IDEM_STORED)
		r->ledger->claimed[i]++;
	else if (op.verdict != IDEM_REPLAY)
		r->ledger->errors++;
}

static void
claim_and_finish(struct race *r, size_t i)
{
	struct idem_op op;

	make_op(&op, IDEM_OP_CLAIM, i, &r->kit.answer);
	if (idem_store_submit(r->kit.store, &op) != IDEM_OK) {
		r->ledger->errors++;
		return;
	}
	if (op.verdict != IDEM_CLAIMED) {
		r->ledger->errors += op.verdict != IDEM_RUNNING &&
		    op.verdict != IDEM_REPLAY && op.verdict != IDEM_ORPHAN &&
		    op.verdict != IDEM_UNKNOWN;
		return;
	}
	r->ledger->claimed[i]++;
	/* the work: most of a worker's time, so that most are killed in it */
	(void)nanosleep(&(struct timespec){ 0, 200000 }, NULL);
	op.kind = IDEM_OP_FINISH;
	op.input = IDEM_LIT("done");
	op.kept_bytes = 4;
	if (idem_store_submit(r->kit.store, &op) != IDEM_OK ||
	    op.verdict != IDEM_STORED)
		r->ledger->errors++;
	idem_store_leave(r->kit.store, op.token);
}

/* The process tries every key; each process in another order. */
static void
racer(struct race *r, unsigned number, void (*try)(struct race *r, size_t i))
{
	if (kit_reopen(&r->kit, false) != IDEM_OK)
		_exit(3);
	r->ledger->ready++;
	while (r->ledger->go == 0)
		(void)nanosleep(&(struct timespec){ 0, 100000 }, NULL);
	for (size_t i = 0; i < NKEYS; i++)
		try(r, (i * 7 + (number & 1) * 13) % NKEYS);
	idem_store_close(&r->kit.store);
	_exit(0);
}

static pid_t
start(struct race *r, unsigned number, void (*try)(struct race *r, size_t i))
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		racer(r, number, try);
	return pid;
}

static void
all_together(struct race *r, void (*try)(struct race *r, size_t i))
{
	pid_t pids[NPROCESSES];
	int status;

	for (unsigned i = 0; i < NPROCESSES; i++)
		pids[i] = start(r, i, try);
	while (r->ledger->ready < NPROCESSES)
		(void)nanosleep(&(struct timespec){ 0, 100000 }, NULL);
	r->ledger->go = 1;
	for (unsigned i = 0; i < NPROCESSES; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(r->ledger->errors, 0);
	assert_int_equal(kit_reopen(&r->kit, false), IDEM_OK);
}

struct rows {
	unsigned of[NKEYS];
	unsigned n;
};

static bool
count_row(void *arg, struct idem_span key, struct idem_span value)
{
	struct rows *rows = arg;
	uint64_t i;

	assert_span(value, IDEM_LIT("x"));
	assert_int_equal(parse_u64(span_first(key, 3), NKEYS - 1, &i),
	    IDEM_OK);
	rows->of[i]++;
	rows->n++;
	return true;
}

static enum idem_err
count_rows(void *arg, struct idem_tables *t)
{
	return idem_tables_each(t, 0, IDEM_ABSENT, count_row, arg);
}

static void
assert_one_row_each(struct race *r)
{
	struct rows rows = { .n = 0 };

	assert_int_equal(idem_store_read(r->kit.store, count_rows, &rows),
	    IDEM_OK);
	for (size_t i = 0; i < NKEYS; i++)
		assert_int_equal(rows.of[i], 1);
	assert_int_equal(rows.n, NKEYS);
}

struct states {
	unsigned n[4];
};

static bool
count_state(void *arg, uint64_t number, const struct idem_record *record)
{
	struct states *s = arg;

	(void)number;
	assert_non_null(record);
	s->n[record->state]++;
	return true;
}

static struct states
states_of(struct race *r)
{
	struct states s = { { 0 } };
	uint64_t from = 0, nbad;
	bool more;

	assert_int_equal(idem_store_walk(r->kit.store, &from, 1000, &more,
	    count_state, &s), IDEM_OK);
	assert_false(more);
	assert_int_equal(idem_store_check(r->kit.store, &nbad), IDEM_OK);
	assert_int_equal(nbad, 0);
	return s;
}

static void
one_claim_each(void **state)
{
	struct race *r = *state;

	all_together(r, claim_and_finish);
	for (size_t i = 0; i < NKEYS; i++)
		assert_int_equal(r->ledger->claimed[i], 1);
	assert_int_equal(states_of(r).n[IDEM_STATE_DONE], NKEYS);
}

static void
one_effect_each(void **state)
{
	struct race *r = *state;

	all_together(r, once);
	for (size_t i = 0; i < NKEYS; i++)
		assert_int_equal(r->ledger->claimed[i], 1);
	assert_one_row_each(r);
	assert_int_equal(states_of(r).n[IDEM_STATE_DONE], NKEYS);
}

/* Kill one after the other at random moments, each replaced at once; those that
 * are alive in the end go on to their end. */
static void
all_together_and_killed(struct race *r,
    void (*try)(struct race *r, size_t i))
{
	pid_t pids[NPROCESSES];
	unsigned char dice[2];
	unsigned ndied = 0;
	int status;

	r->ledger->go = 1;
	for (unsigned i = 0; i < NPROCESSES; i++)
		pids[i] = start(r, i, try);
	for (unsigned k = 0; k < NKILLS; k++) {
		unsigned who;

		assert_int_equal(io_random(dice, sizeof dice), IDEM_OK);
		who = dice[0] % NPROCESSES;
		(void)nanosleep(&(struct timespec){ 0, dice[1] * 8000 }, NULL);
		assert_int_equal(kill(pids[who], SIGKILL), 0);
		assert_int_equal(waitpid(pids[who], &status, 0), pids[who]);
		ndied += WIFSIGNALED(status);
		pids[who] = start(r, k, try);
	}
	for (unsigned i = 0; i < NPROCESSES; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	print_message("    %u killed at work\n", ndied);
	assert_int_equal(r->ledger->errors, 0);
	assert_int_equal(kit_reopen(&r->kit, false), IDEM_OK);
}

static void
one_effect_each_under_kills(void **state)
{
	struct race *r = *state;

	all_together_and_killed(r, once);
	assert_one_row_each(r);
	for (size_t i = 0; i < NKEYS; i++)
		assert_in_range(r->ledger->claimed[i], 0, 1);
	assert_int_equal(states_of(r).n[IDEM_STATE_DONE], NKEYS);
}

/* Work that may not be repeated is never granted twice, and what a killed
 * process left behind is unknown, not stuck. */
static void
one_claim_each_under_kills(void **state)
{
	struct race *r = *state;
	struct idem_sweep sweep = { .from = 0 };
	struct states s;

	all_together_and_killed(r, claim_and_finish);
	for (size_t i = 0; i < NKEYS; i++)
		assert_in_range(r->ledger->claimed[i], 0, 1);
	do {
		assert_int_equal(idem_store_sweep(r->kit.store, 1, 1000, 100,
		    &sweep), IDEM_OK);
	} while (sweep.more);
	s = states_of(r);
	assert_int_equal(s.n[IDEM_STATE_RUNNING], 0);
	assert_int_equal(s.n[IDEM_STATE_DONE] + s.n[IDEM_STATE_UNKNOWN],
	    NKEYS);
	print_message("    %u unknown\n", s.n[IDEM_STATE_UNKNOWN]);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_claim_each, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(one_effect_each, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(one_effect_each_under_kills,
		    setup, teardown),
		cmocka_unit_test_setup_teardown(one_claim_each_under_kills,
		    setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
