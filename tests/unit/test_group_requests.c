/*
 * test_group_requests.c - requests of a group commit that go wrong, and a store
 * that does: whom it hurts.
 */
#include "tests.h"

#include "stage.h"

static void
a_request_that_fails_hurts_nobody(void **state)
{
	struct stage *s = *state;
	struct puppet *p[3] = { puppet_open(s, 1, 0), puppet_open(s, 1, 0),
		puppet_open(s, 1, 0) };
	struct group_shared *shared = group_peek(s->dir);
	const struct puppet_order o[3] = { order(1, FAKE_ADD),
		order(2, FAKE_REFUSE), order(3, FAKE_ADD) };
	struct puppet_reply r;

	stage_gather(s, shared, p, o, 3);
	assert_outcome(puppet_reply(p[0]), 1, FAKE_DID);
	assert_outcome(puppet_reply(p[1]), 2, FAKE_REFUSED);
	r = puppet_reply(p[2]);
	assert_outcome(r, 3, FAKE_DID);
	assert_int_equal(r.counts.ncommits, 1);
	assert_int_equal(r.counts.nrequests, 3);
	for (int i = 0; i < 3; i++)
		assert_ends(p[i]);
	group_unpeek(&shared);
}

static void
a_request_that_spoils_the_batch_fails_alone(void **state)
{
	struct stage *s = *state;
	struct puppet *p[3] = { puppet_open(s, 1, 0), puppet_open(s, 1, 0),
		puppet_open(s, 1, 0) };
	struct group_shared *shared = group_peek(s->dir);
	const struct puppet_order o[3] = { order(1, FAKE_ADD),
		order(2, FAKE_SPOIL), order(3, FAKE_ADD) };

	stage_gather(s, shared, p, o, 3);
	assert_outcome(puppet_reply(p[0]), 1, FAKE_DID);
	assert_failed(puppet_reply(p[1]), IDEM_ECORRUPT);
	assert_outcome(puppet_reply(p[2]), 3, FAKE_DID);
	assert_int_equal(fake_times(s->fake, 2), 0);
	for (int i = 0; i < 3; i++)
		assert_ends(p[i]);
	group_unpeek(&shared);
}

static void
a_request_that_kills_is_not_run_a_third_time(void **state)
{
	struct stage *s = *state;
	struct puppet *p[3] = { puppet_open(s, 1, 0), puppet_open(s, 1, 0),
		puppet_open(s, 1, 0) };

	puppet_tell(p[1], order(2, FAKE_CRASH));
	puppet_killed(&p[1]);             /* by its own request */
	puppet_tell(p[0], order(1, FAKE_ADD));
	puppet_killed(&p[0]);             /* by that of the dead one */
	assert_outcome(puppet_ask(p[2], order(3, FAKE_ADD)), 3, FAKE_DID);
	assert_int_equal(fake_times(s->fake, 2), 0);
	assert_int_equal(fake_times(s->fake, 1), 1); /* left by the dead */
	/* the slots of both can be had, and work */
	p[0] = puppet_open(s, 1, 0);
	p[1] = puppet_open(s, 1, 0);
	assert_outcome(puppet_ask(p[0], order(4, FAKE_ADD)), 4, FAKE_DID);
	assert_outcome(puppet_ask(p[1], order(5, FAKE_ADD)), 5, FAKE_DID);
	for (int i = 0; i < 3; i++)
		assert_ends(p[i]);
}

/* Leaders that die at the commit are no fault of the request they ran last. */
static void
a_death_at_the_commit_blames_no_request(void **state)
{
	struct stage *s = *state;
	struct puppet *p[3] = { puppet_open(s, 1, 0), puppet_open(s, 1, 0),
		puppet_open(s, 1, 0) };

	puppet_ask(p[2], arm("group-pending:stop"));
	puppet_tell(p[2], order(3, FAKE_ADD));
	puppet_until_stopped(p[2]);
	for (uint32_t i = 0; i < 2; i++) {
		puppet_ask(p[i], (struct puppet_order){ .verb = PUPPET_DIE_AT,
		    .step = FAKE_WRITTEN, .nth = 1 });
		puppet_tell(p[i], order(i + 1, FAKE_ADD));
		puppet_killed(&p[i]);
	}
	puppet_go_on(p[2]);
	assert_outcome(puppet_reply(p[2]), 3, FAKE_DID);
	assert_int_equal(fake_times(s->fake, 1), 1);
	assert_int_equal(fake_times(s->fake, 2), 1);
	assert_int_equal(fake_times(s->fake, 3), 1);
	assert_ends(p[2]);
}

static void
a_long_request_takes_the_others_along(void **state)
{
	struct stage *s = *state;
	struct puppet *p[3] = { puppet_open(s, 1, 0), puppet_open(s, 1, 0),
		puppet_open(s, 1, 0) };
	struct group_shared *shared = group_peek(s->dir);
	const struct puppet_order o[2] = { order(1, FAKE_ADD),
		order(2, FAKE_ADD) };
	struct puppet_order lead = order(3, FAKE_LONG),
	    big = order(4, FAKE_ADD);
	struct puppet_reply r;

	lead.verb = PUPPET_LEAD;
	r = puppet_ask(p[2], lead);
	assert_outcome(r, 3, FAKE_DID);
	assert_int_equal(r.nresult, 70000);
	big.nrequest = 5000;
	stage_lead(s, p[2], big);
	for (uint32_t i = 0; i < 2; i++) {
		puppet_tell(p[i], o[i]);
		group_until(shared, i, GROUP_PENDING);
	}
	stage_go(s);
	assert_outcome(puppet_reply(p[0]), 1, FAKE_DID);
	assert_outcome(puppet_reply(p[1]), 2, FAKE_DID);
	r = puppet_reply(p[2]);
	assert_outcome(r, 4, FAKE_DID);
	assert_int_equal(r.counts.ncommits, 2);
	assert_int_equal(r.counts.nrequests, 4);
	for (int i = 0; i < 3; i++)
		assert_ends(p[i]);
	group_unpeek(&shared);
}

static struct puppet_order
heavy(uint32_t id, uint32_t weight)
{
	struct puppet_order o = order(id, FAKE_ADD);

	o.request.weight = weight;
	return o;
}

static void
a_full_store_grows_or_takes_what_still_fits(void **state)
{
	struct stage *s = *state;
	struct puppet *p[3] = { puppet_open(s, 1, 0), puppet_open(s, 1, 0),
		puppet_open(s, 1, 0) };
	struct group_shared *shared = group_peek(s->dir);
	const struct puppet_order o[3] = { heavy(1, 40), heavy(2, 30),
		heavy(3, 40) };
	const struct puppet_order more[3] = { heavy(4, 5), heavy(5, 50),
		heavy(6, 5) };

	s->fake->room = 60;
	s->fake->grow_to = 120;
	stage_gather(s, shared, p, o, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_outcome(puppet_reply(p[i]), i + 1, FAKE_DID);
	assert_int_equal(s->fake->room, 120);
	/* now it grows no more: 10 are left */
	stage_gather(s, shared, p, more, 3);
	assert_outcome(puppet_reply(p[0]), 4, FAKE_DID);
	assert_failed(puppet_reply(p[1]), IDEM_EFULL);
	assert_outcome(puppet_reply(p[2]), 6, FAKE_DID);
	for (int i = 0; i < 3; i++)
		assert_ends(p[i]);
	group_unpeek(&shared);
}

static void
a_store_that_fails_fails_all(void **state)
{
	struct stage *s = *state;
	struct puppet *p[3] = { puppet_open(s, 1, 0), puppet_open(s, 1, 0),
		puppet_open(s, 1, 0) };
	struct group_shared *shared = group_peek(s->dir);
	const struct { _Atomic int *fault; } rows[] = {
		{ &s->fake->begin_err }, { &s->fake->mark_err },
		{ &s->fake->commit_err },
	};
	uint32_t id = 1;

	for (size_t row = 0; row < COUNT(rows); row++) {
		const struct puppet_order o[3] = { order(id, FAKE_ADD),
			order(id + 1, FAKE_ADD), order(id + 2, FAKE_ADD) };

		*rows[row].fault = IDEM_ESTORE;
		if (row == 0)
			for (int i = 0; i < 3; i++)
				puppet_tell(p[i], o[i]);
		else
			stage_gather(s, shared, p, o, 3);
		for (int i = 0; i < 3; i++)
			assert_failed(puppet_reply(p[i]), IDEM_ESTORE);
		*rows[row].fault = IDEM_OK;
		for (uint32_t i = 0; i < 3; i++, id++) {
			assert_int_equal(fake_times(s->fake, id), 0);
			assert_outcome(puppet_ask(p[i], order(id, FAKE_ADD)),
			    id, FAKE_DID);
		}
	}
	for (int i = 0; i < 3; i++)
		assert_ends(p[i]);
	group_unpeek(&shared);
}

/* Whether such a batch is on the disk nobody knows: it is not tried again. */
static void
a_commit_that_failed_is_not_done_again(void **state)
{
	struct stage *s = *state;
	struct puppet *p[2] = { puppet_open(s, 1, 0), puppet_open(s, 1, 0) };
	struct group_shared *shared = group_peek(s->dir);
	const struct puppet_order o[2] = { order(1, FAKE_ADD),
		order(2, FAKE_ADD) };

	s->fake->once = true;
	s->fake->commit_err = IDEM_EIO;
	stage_gather(s, shared, p, o, 2);
	for (int i = 0; i < 2; i++)
		assert_failed(puppet_reply(p[i]), IDEM_EIO);
	assert_int_equal(s->fake->commit_err, IDEM_OK);
	assert_int_equal(fake_times(s->fake, 1), 0);
	assert_int_equal(fake_times(s->fake, 2), 0);
	for (int i = 0; i < 2; i++)
		assert_ends(p[i]);
	group_unpeek(&shared);
}

static void
a_process_that_cannot_begin_fails_alone(void **state)
{
	struct stage *s = *state;
	struct puppet *p[3] = { puppet_open(s, 1, 0), puppet_open(s, 1, 0),
		puppet_open(s, 1, 0) };
	struct group_shared *shared = group_peek(s->dir);

	puppet_ask(p[0], (struct puppet_order){ .verb = PUPPET_SICK });
	puppet_ask(p[0], arm("group-begin:stop"));
	puppet_tell(p[0], order(1, FAKE_ADD));
	puppet_until_stopped(p[0]);
	for (uint32_t i = 1; i < 3; i++) {
		puppet_tell(p[i], order(i + 1, FAKE_ADD));
		group_until(shared, i, GROUP_PENDING);
	}
	puppet_go_on(p[0]);
	assert_failed(puppet_reply(p[0]), IDEM_EIO);
	assert_outcome(puppet_reply(p[1]), 2, FAKE_DID);
	assert_outcome(puppet_reply(p[2]), 3, FAKE_DID);
	for (int i = 0; i < 3; i++)
		assert_ends(p[i]);
	group_unpeek(&shared);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		STAGE(a_request_that_fails_hurts_nobody),
		STAGE(a_request_that_spoils_the_batch_fails_alone),
		STAGE(a_request_that_kills_is_not_run_a_third_time),
		STAGE(a_death_at_the_commit_blames_no_request),
		STAGE(a_long_request_takes_the_others_along),
		STAGE(a_full_store_grows_or_takes_what_still_fits),
		STAGE(a_store_that_fails_fails_all),
		STAGE(a_commit_that_failed_is_not_done_again),
		STAGE(a_process_that_cannot_begin_fails_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
