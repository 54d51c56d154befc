/*
 * test_group_recover.c - a leader of the group commit, or the owner of a slot,
 * has died: what is found, done again or left.
 */
#include "tests.h"

#include "stage.h"

static void
a_dead_leaders_batch_is_found_or_done_again(void **state)
{
	static const struct {
		const char *at;      /* or the step of the store's commit */
		enum fake_step step;
		unsigned nrecoveries, nrecovered;
	} rows[] = {
		{ "group-taken:kill:2", FAKE_ALIVE, 0, 0 },
		{ "group-marked:kill", FAKE_ALIVE, 0, 0 },
		{ "group-open:kill", FAKE_ALIVE, 0, 0 },
		{ "group-opened:kill", FAKE_ALIVE, 1, 0 },
		{ NULL, FAKE_WRITTEN, 1, 0 },
		{ NULL, FAKE_VISIBLE, 1, 1 },
		{ NULL, FAKE_DURABLE, 1, 1 },
		{ "group-committed:kill", FAKE_ALIVE, 1, 1 },
		{ "group-published:kill:2", FAKE_ALIVE, 1, 1 },
		{ "group-woke:kill", FAKE_ALIVE, 1, 1 },
		{ "group-closed:kill", FAKE_ALIVE, 0, 0 },
	};
	struct stage *s = *state;
	uint32_t id = 1;

	for (size_t i = 0; i < COUNT(rows); i++, id += 4) {
		struct puppet *p[3] = { puppet_open(s, 1, 0),
			puppet_open(s, 1, 0), puppet_open(s, 1, 0) };
		struct group_shared *shared = group_peek(s->dir);
		const struct puppet_order o[3] = { order(id, FAKE_ADD),
			order(id + 1, FAKE_ADD), order(id + 2, FAKE_ADD) };
		struct puppet_reply r;

		puppet_ask(p[0], rows[i].at != NULL ? arm(rows[i].at) :
		    (struct puppet_order){ .verb = PUPPET_DIE_AT,
		    .step = rows[i].step, .nth = 1 });
		stage_gather(s, shared, p, o, 3);
		puppet_killed(&p[0]);
		assert_outcome(puppet_reply(p[1]), id + 1, FAKE_DID);
		assert_outcome(puppet_reply(p[2]), id + 2, FAKE_DID);
		assert_int_equal(fake_times_durable(s->fake, id), 1);
		/* who had his verdict needed no mutex; the next one does */
		r = puppet_ask(p[2], order(id + 3, FAKE_ADD));
		assert_outcome(r, id + 3, FAKE_DID);
		assert_int_equal(r.counts.nrecoveries, rows[i].nrecoveries);
		assert_int_equal(r.counts.nrecovered, rows[i].nrecovered);
		assert_ends(p[1]);
		assert_ends(p[2]);
		group_unpeek(&shared);
	}
}

/* He who finds his verdict in the recovery has no batch to lead; the one who
 * came meanwhile, and sleeps, must be asked all the same. */
static void
recovery_alone_hands_off_too(void **state)
{
	struct stage *s = *state;
	struct puppet *p[3];
	struct group_shared *shared;
	const struct puppet_order o[2] = { order(1, FAKE_ADD),
		order(2, FAKE_ADD) };

	p[0] = puppet_open(s, 1, 0);
	p[1] = puppet_open(s, 1, 0);
	s->net_ms = NEVER_MS;
	p[2] = puppet_open(s, 1, 0);
	shared = group_peek(s->dir);
	puppet_ask(p[0], arm("group-committed:kill"));
	puppet_ask(p[1], arm("group-inherited:stop"));
	stage_gather(s, shared, p, o, 2);
	puppet_killed(&p[0]);
	puppet_until_stopped(p[1]);
	puppet_tell(p[2], order(3, FAKE_ADD));
	group_until(shared, 2, GROUP_PENDING);
	puppet_go_on(p[1]);
	assert_outcome(puppet_reply(p[1]), 2, FAKE_DID);
	assert_outcome(puppet_reply(p[2]), 3, FAKE_DID);
	assert_ends(p[1]);
	assert_ends(p[2]);
	group_unpeek(&shared);
}

/* What a dead leader took and did not commit waits as before: who attaches
 * asks its owner to lead. */
static void
recovery_puts_back_what_was_taken(void **state)
{
	struct stage *s = *state;
	struct puppet *p[2];
	struct group_shared *shared;
	const struct puppet_order o[2] = { order_of(1, 1), order(2, FAKE_ADD) };

	p[0] = puppet_open(s, 1, 0);
	s->net_ms = NEVER_MS;
	p[1] = puppet_open(s, 1, 0);
	shared = group_peek(s->dir);
	puppet_ask(p[0], arm("group-marked:kill"));
	stage_gather(s, shared, p, o, 2);
	puppet_killed(&p[0]);
	assert_int_equal(WORD_STATE(shared->slot[1].word), GROUP_TAKEN);
	p[0] = puppet_open(s, 2, 0); /* has nothing to carry out */
	assert_outcome(puppet_reply(p[1]), 2, FAKE_DID);
	assert_int_equal(fake_times(s->fake, 1), 0);
	for (int i = 0; i < 2; i++)
		assert_ends(p[i]);
	group_unpeek(&shared);
}

static void
a_recovery_that_cannot_look_is_told(void **state)
{
	struct stage *s = *state;
	const struct { _Atomic int *fault; } rows[] = {
		{ &s->fake->flush_err }, { &s->fake->find_err },
	};
	uint32_t id = 1;

	for (size_t row = 0; row < COUNT(rows); row++, id += 5) {
		struct puppet *p[3] = { puppet_open(s, 1, 0),
			puppet_open(s, 1, 0), puppet_open(s, 1, 0) };
		struct group_shared *shared = group_peek(s->dir);
		const struct puppet_order o[2] = { order(id, FAKE_ADD),
			order(id + 1, FAKE_ADD) };
		struct puppet_reply r;

		puppet_ask(p[0], (struct puppet_order){ .verb = PUPPET_DIE_AT,
		    .step = FAKE_VISIBLE, .nth = 1 });
		*rows[row].fault = IDEM_ESTORE;
		stage_gather(s, shared, p, o, 2);
		puppet_killed(&p[0]);
		r = puppet_reply(p[1]); /* it was in that batch */
		assert_int_equal(r.err, IDEM_ESTORE);
		assert_true(r.in_doubt);
		r = puppet_ask(p[2], order(id + 2, FAKE_ADD)); /* was not */
		assert_int_equal(r.err, IDEM_ESTORE);
		assert_false(r.in_doubt);
		r = puppet_ask(p[1], order(id + 3, FAKE_ADD));
		assert_int_equal(r.err, IDEM_ESTORE); /* still the first one */
		assert_true(r.in_doubt);
		*rows[row].fault = IDEM_OK;
		r = puppet_ask(p[1], order(id + 4, FAKE_ADD));
		assert_outcome(r, id + 4, FAKE_DID);
		assert_false(r.in_doubt);
		assert_int_equal(fake_times_durable(s->fake, id + 1), 1);
		assert_int_equal(fake_times(s->fake, id + 2), 0);
		assert_int_equal(fake_times(s->fake, id + 3), 0);
		assert_ends(p[1]);
		assert_ends(p[2]);
		group_unpeek(&shared);
	}
}

static void
what_a_dead_owner_asked_for_is_done(void **state)
{
	struct stage *s = *state;
	struct puppet *keeper = puppet_open(s, 1, 0), *p = puppet_open(s, 1, 0);

	puppet_ask(p, arm("group-pending:kill"));
	puppet_tell(p, order_of(2, 1));
	puppet_killed(&p);
	assert_int_equal(fake_times(s->fake, 2), 0);
	p = puppet_open(s, 1, 0); /* the same slot, the same program */
	assert_int_equal(fake_times_durable(s->fake, 2), 1);
	/* its result is not the new owner's */
	assert_outcome(puppet_ask(p, order(3, FAKE_ADD)), 3, FAKE_DID);

	puppet_ask(p, arm("group-pending:kill"));
	puppet_tell(p, order_of(4, 1));
	puppet_killed(&p);
	p = puppet_open(s, 2, 0); /* another program cannot do it */
	assert_outcome(puppet_ask(p, order(5, FAKE_ADD)), 5, FAKE_DID);
	assert_int_equal(fake_times(s->fake, 4), 0);
	assert_ends(p);
	assert_ends(keeper);
}

/* A dead process of another program waits in a slot, and nobody here may run
 * it: whoever hands off must not stop at it. */
static void
a_dead_one_does_not_swallow_the_handoff(void **state)
{
	struct stage *s = *state;
	struct puppet *p[4];
	struct group_shared *shared;

	s->net_ms = NEVER_MS;
	p[0] = puppet_open(s, 1, 0);
	p[1] = puppet_open(s, 2, 0);
	p[2] = puppet_open(s, 1, 0);
	p[3] = puppet_open(s, 1, 0);
	shared = group_peek(s->dir);
	puppet_ask(p[1], arm("group-pending:kill"));
	puppet_tell(p[1], order_of(50, 2));
	puppet_killed(&p[1]);
	for (uint32_t id = 100; id < 105; id++) {
		puppet_ask(p[0], arm("group-marked:stop"));
		puppet_tell(p[0], order(id, FAKE_ADD));
		puppet_until_stopped(p[0]); /* what comes now is not in it */
		puppet_tell(p[2], order_of(id + 100, 1));
		group_until(shared, 2, GROUP_PENDING);
		puppet_tell(p[3], order_of(id + 200, 1));
		group_until(shared, 3, GROUP_PENDING);
		puppet_go_on(p[0]);
		assert_outcome(puppet_reply(p[0]), id, FAKE_DID);
		assert_outcome(puppet_reply(p[2]), id + 100, FAKE_DID);
		assert_outcome(puppet_reply(p[3]), id + 200, FAKE_DID);
	}
	assert_int_equal(shared->ntimeouts, 0);
	assert_int_equal(fake_times(s->fake, 50), 0);
	p[1] = puppet_open(s, 2, 0);
	assert_int_equal(fake_times(s->fake, 50), 1);
	for (int i = 0; i < 4; i++)
		assert_ends(p[i]);
	group_unpeek(&shared);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		STAGE(recovery_alone_hands_off_too),
		STAGE(recovery_puts_back_what_was_taken),
		STAGE(a_dead_leaders_batch_is_found_or_done_again),
		STAGE(a_recovery_that_cannot_look_is_told),
		STAGE(what_a_dead_owner_asked_for_is_done),
		STAGE(a_dead_one_does_not_swallow_the_handoff),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
