/*
 * test_group_still.c - the group commit while a process stands still: who waits
 * for how long, what can be taken back, and what happens when it goes on.
 */
#include "tests.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "stage.h"
#include "store/failpoint.h"

#define WAIT_MS 150 /* of those that are to give up */

/* He stops when he is about to give up, so that a leader has taken his request
 * before, however late it is. */
static struct puppet *
open_doubter(struct stage *s)
{
	struct puppet *p = puppet_open(s, 1, WAIT_MS);

	puppet_ask(p, arm("group-give-up:stop"));
	return p;
}

/* A leader has it now, and perhaps had it before he was about to. */
static struct puppet_reply
reply_of_doubter(struct puppet *p)
{
	struct pollfd in = { .fd = p->fd, .events = POLLIN };
	int64_t end_ms = io_steady_ms() + PATIENCE_MS;
	struct puppet_reply r;

	do {
		assert_true(io_steady_ms() < end_ms);
		puppet_go_on(p);
	} while (poll(&in, 1, 5) == 0);
	r = puppet_reply(p);
	puppet_ask(p, arm("")); /* it may not have come there */
	return r;
}

/* The leader stands before it took anything: all can be taken back. */
static void
what_nobody_took_is_taken_back(void **state)
{
	struct stage *s = *state;
	struct puppet *lead = puppet_open(s, 1, 0),
	    *p = puppet_open(s, 1, WAIT_MS);
	struct puppet_reply r;

	puppet_ask(lead, arm("group-begun:stop"));
	puppet_tell(lead, order(1, FAKE_ADD));
	puppet_until_stopped(lead);
	for (uint32_t id = 2; id < 4; id++) {
		r = puppet_ask(p, order(id, FAKE_ADD));
		assert_int_equal(r.err, IDEM_EBUSY);
		assert_false(r.in_doubt);
	}
	puppet_go_on(lead);
	assert_outcome(puppet_reply(lead), 1, FAKE_DID);
	assert_outcome(puppet_ask(p, order(4, FAKE_ADD)), 4, FAKE_DID);
	assert_int_equal(fake_times(s->fake, 2), 0);
	assert_int_equal(fake_times(s->fake, 3), 0);
	assert_ends(lead);
	assert_ends(p);
}

/* Just when he gives up a leader takes it: the verdict counts. */
static void
a_verdict_that_comes_after_all_is_taken(void **state)
{
	struct stage *s = *state;
	struct puppet *lead = puppet_open(s, 1, 0),
	    *p = puppet_open(s, 1, WAIT_MS);
	struct puppet_reply r;

	puppet_ask(lead, arm("group-begun:stop"));
	puppet_ask(p, arm("group-give-up:stop"));
	puppet_tell(lead, order(1, FAKE_ADD));
	puppet_until_stopped(lead);
	puppet_tell(p, order(2, FAKE_ADD));
	puppet_until_stopped(p);
	puppet_go_on(lead);
	assert_outcome(puppet_reply(lead), 1, FAKE_DID);
	puppet_go_on(p);
	r = puppet_reply(p);
	assert_outcome(r, 2, FAKE_DID);
	assert_false(r.in_doubt);
	assert_ends(lead);
	assert_ends(p);
}

/* It stands with the others' requests in hand, on either side of the commit. */
static void
what_a_leader_took_is_in_doubt(void **state)
{
	static const char *const places[] = { "group-running:stop:1",
		"group-opened:stop", "group-committed:stop",
		"group-publish:stop" };
	struct stage *s = *state;
	uint32_t id = 1;

	for (size_t i = 0; i < COUNT(places); i++, id += 5) {
		struct puppet *p[3] = { puppet_open(s, 1, 0),
			open_doubter(s),
			puppet_open(s, 1, WAIT_MS) };
		struct group_shared *shared = group_peek(s->dir);
		const struct puppet_order o[2] = { order(id, FAKE_ADD),
			order(id + 1, FAKE_ADD) };
		struct puppet_reply r;

		puppet_ask(p[0], arm(places[i]));
		stage_gather(s, shared, p, o, 2);
		puppet_until_stopped(p[0]);
		r = reply_of_doubter(p[1]);
		assert_int_equal(r.err, IDEM_EBUSY);
		assert_true(r.in_doubt);
		r = puppet_ask(p[1], order(id + 2, FAKE_ADD)); /* at once */
		assert_int_equal(r.err, IDEM_EBUSY);
		assert_true(r.in_doubt);
		r = puppet_ask(p[2], order(id + 3, FAKE_ADD)); /* came later */
		assert_int_equal(r.err, IDEM_EBUSY);
		assert_false(r.in_doubt);
		puppet_go_on(p[0]);
		assert_outcome(puppet_reply(p[0]), id, FAKE_DID);
		r = puppet_ask(p[1], order(id + 4, FAKE_ADD));
		assert_outcome(r, id + 4, FAKE_DID);
		assert_false(r.in_doubt);
		assert_int_equal(fake_times_durable(s->fake, id + 1), 1);
		assert_int_equal(fake_times(s->fake, id + 2), 0);
		assert_int_equal(fake_times(s->fake, id + 3), 0);
		for (int n = 0; n < 3; n++)
			assert_ends(p[n]);
		group_unpeek(&shared);
	}
}

/* The doubter leaves, as it should; its slot's next owner gets no answer of
 * that request, before or after the leader goes on. */
static void
a_doubters_slot_can_be_had(void **state)
{
	struct stage *s = *state;
	struct puppet *p[3] = { puppet_open(s, 1, 0),
		open_doubter(s), NULL };
	struct group_shared *shared = group_peek(s->dir);
	const struct puppet_order o[2] = { order(1, FAKE_ADD),
		order(2, FAKE_ADD) };

	puppet_ask(p[0], arm("group-committed:stop"));
	stage_gather(s, shared, p, o, 2);
	puppet_until_stopped(p[0]);
	assert_true(reply_of_doubter(p[1]).in_doubt);
	assert_ends(p[1]);
	p[1] = puppet_make(s->fake, s->dir, 1);
	puppet_tell(p[1], (struct puppet_order){ .verb = PUPPET_OPEN });
	p[2] = puppet_make(s->fake, s->dir, 1);
	assert_int_equal(puppet_ask(p[2], (struct puppet_order){
	    .verb = PUPPET_OPEN, .wait_ms = WAIT_MS }).err, IDEM_EBUSY);
	assert_non_null(strstr(p[2]->log, "stands still while it writes"));
	puppet_go_on(p[0]);
	assert_outcome(puppet_reply(p[0]), 1, FAKE_DID);
	assert_int_equal(puppet_reply(p[1]).err, IDEM_OK);
	assert_outcome(puppet_ask(p[1], order(3, FAKE_ADD)), 3, FAKE_DID);
	assert_int_equal(fake_times(s->fake, 2), 1);
	for (int n = 0; n < 3; n++)
		assert_ends(p[n]);
	group_unpeek(&shared);
}

static void
a_leader_killed_while_it_stands_is_recovered(void **state)
{
	struct stage *s = *state;
	struct puppet *p[3] = { puppet_open(s, 1, 0),
		open_doubter(s), puppet_open(s, 1, 0) };
	struct group_shared *shared = group_peek(s->dir);
	const struct puppet_order o[3] = { order(1, FAKE_ADD),
		order(2, FAKE_ADD), order(3, FAKE_ADD) };

	puppet_ask(p[0], arm("group-marked:stop"));
	stage_gather(s, shared, p, o, 3);
	puppet_until_stopped(p[0]);
	assert_true(reply_of_doubter(p[1]).in_doubt);
	assert_int_equal(kill(p[0]->pid, SIGKILL), 0);
	puppet_killed(&p[0]);
	/* nothing was committed: he who still waits leads all three */
	assert_outcome(puppet_reply(p[2]), 3, FAKE_DID);
	assert_int_equal(fake_times_durable(s->fake, 1), 1);
	assert_int_equal(fake_times_durable(s->fake, 2), 1);
	assert_outcome(puppet_ask(p[1], order(4, FAKE_ADD)), 4, FAKE_DID);
	assert_ends(p[1]);
	assert_ends(p[2]);
	group_unpeek(&shared);
}

/* A long request waits for the mutex itself; it never is in doubt. */
static void
a_long_request_waits_as_long(void **state)
{
	struct stage *s = *state;
	struct puppet *lead = puppet_open(s, 1, 0),
	    *p = puppet_open(s, 1, WAIT_MS);
	struct puppet_order big = order(2, FAKE_ADD);
	struct puppet_reply r;

	big.nrequest = 5000;
	puppet_ask(lead, arm("group-committed:stop"));
	puppet_tell(lead, order(1, FAKE_ADD));
	puppet_until_stopped(lead);
	r = puppet_ask(p, big);
	assert_int_equal(r.err, IDEM_EBUSY);
	assert_false(r.in_doubt);
	puppet_go_on(lead);
	assert_outcome(puppet_reply(lead), 1, FAKE_DID);
	assert_int_equal(fake_times(s->fake, 2), 0);
	assert_outcome(puppet_ask(p, big), 2, FAKE_DID);
	assert_ends(lead);
	assert_ends(p);
}

/* Who stands between unlock and hand-off, or was asked to lead and stands,
 * stops nobody for longer than a sleep. */
static void
standing_elsewhere_stops_nobody(void **state)
{
	static const char *const places[] = { "group-unlocked:stop",
		"group-asked:stop", "group-left:stop", "group-verdict:stop" };
	struct stage *s = *state;
	uint32_t id = 1;

	for (size_t i = 0; i < COUNT(places); i++, id += 3) {
		struct puppet *p[3] = { puppet_open(s, 1, 0),
			puppet_open(s, 2, 0), puppet_open(s, 1, 0) };
		struct group_shared *shared = group_peek(s->dir);
		const struct puppet_order o[3] = { order_of(id, 1),
			order_of(id + 1, 2), order_of(id + 2, 1) };

		puppet_ask(p[0], arm(places[i]));
		stage_gather(s, shared, p, o, 3);
		puppet_until_stopped(p[0]);
		assert_outcome(puppet_reply(p[1]), id + 1, FAKE_DID);
		assert_outcome(puppet_reply(p[2]), id + 2, FAKE_DID);
		if (i < 2) /* nobody woke anybody: that is counted */
			assert_in_range(shared->ntimeouts, 1, 2);
		puppet_go_on(p[0]);
		assert_outcome(puppet_reply(p[0]), id, FAKE_DID);
		for (int n = 0; n < 3; n++)
			assert_ends(p[n]);
		group_unpeek(&shared);
	}
}

static void
a_process_that_stands_while_it_attaches(void **state)
{
	struct stage *s = *state;
	struct puppet *member = puppet_open(s, 1, 0),
	    *slow = puppet_make(s->fake, s->dir, 1),
	    *p = puppet_make(s->fake, s->dir, 1);
	const struct puppet_order open_short = { .verb = PUPPET_OPEN,
		.wait_ms = WAIT_MS };

	puppet_ask(slow, arm("group-attach:stop"));
	puppet_tell(slow, (struct puppet_order){ .verb = PUPPET_OPEN });
	puppet_until_stopped(slow);
	assert_int_equal(puppet_ask(p, open_short).err, IDEM_EBUSY);
	assert_non_null(strstr(p->log, "stands still while it attaches"));
	/* members do not mind */
	assert_outcome(puppet_ask(member, order(1, FAKE_ADD)), 1, FAKE_DID);
	puppet_go_on(slow);
	assert_int_equal(puppet_reply(slow).err, IDEM_OK);
	assert_int_equal(puppet_ask(p, open_short).err, IDEM_OK);
	assert_outcome(puppet_ask(p, order(2, FAKE_ADD)), 2, FAKE_DID);
	assert_outcome(puppet_ask(slow, order(3, FAKE_ADD)), 3, FAKE_DID);
	assert_ends(slow);
	assert_ends(member);
	assert_ends(p);
}

/* Asked to lead just when he gives up: the next one is asked, too. */
static void
giving_up_does_not_swallow_the_handoff(void **state)
{
	struct stage *s = *state;
	struct puppet *p[3];
	struct group_shared *shared;
	const struct puppet_order o[3] = { order_of(1, 1), order_of(2, 2),
		order_of(3, 3) };
	struct puppet_reply r;

	p[0] = puppet_open(s, 1, 0);
	p[1] = puppet_open(s, 2, WAIT_MS);
	s->net_ms = NEVER_MS;
	p[2] = puppet_open(s, 3, 0); /* sleeps until he is woken */
	shared = group_peek(s->dir);
	puppet_ask(p[0], arm("group-committed:stop"));
	puppet_ask(p[1], arm("group-give-up:stop"));
	stage_gather(s, shared, p, o, 3);
	puppet_until_stopped(p[0]);
	puppet_until_stopped(p[1]);
	puppet_go_on(p[0]);
	assert_outcome(puppet_reply(p[0]), 1, FAKE_DID);
	assert_outcome(puppet_reply(p[2]), 3, FAKE_DID);
	assert_int_equal(WORD_STATE(shared->slot[1].word), GROUP_LEAD);
	puppet_go_on(p[1]);
	r = puppet_reply(p[1]);
	assert_int_equal(r.err, IDEM_EBUSY);
	assert_false(r.in_doubt);
	assert_int_equal(fake_times(s->fake, 2), 0);
	assert_outcome(puppet_ask(p[1], order_of(4, 2)), 4, FAKE_DID);
	for (int n = 0; n < 3; n++)
		assert_ends(p[n]);
	group_unpeek(&shared);
}

/* A sleeper that is stopped is woken, but does not come: the others notice by
 * themselves after a short while. */
static void
a_sleeper_that_stands_stops_nobody(void **state)
{
	struct stage *s = *state;
	struct puppet *p[3] = { puppet_open(s, 1, 0), puppet_open(s, 2, 0),
		puppet_open(s, 3, 0) };
	struct group_shared *shared = group_peek(s->dir);
	const struct puppet_order o[3] = { order_of(1, 1), order_of(2, 2),
		order_of(3, 3) };

	puppet_ask(p[0], arm("group-committed:stop"));
	stage_gather(s, shared, p, o, 3);
	puppet_until_stopped(p[0]);
	assert_int_equal(kill(p[1]->pid, SIGSTOP), 0);
	puppet_until_stopped(p[1]);
	puppet_go_on(p[0]);
	assert_outcome(puppet_reply(p[0]), 1, FAKE_DID);
	assert_outcome(puppet_reply(p[2]), 3, FAKE_DID);
	puppet_go_on(p[1]);
	assert_outcome(puppet_reply(p[1]), 2, FAKE_DID);
	for (int n = 0; n < 3; n++)
		assert_ends(p[n]);
	group_unpeek(&shared);
}

int
main(void)
{
	const struct CMUnitTest all[] = {
		STAGE(what_nobody_took_is_taken_back),
		STAGE(a_verdict_that_comes_after_all_is_taken),
		STAGE(what_a_leader_took_is_in_doubt),
		STAGE(a_doubters_slot_can_be_had),
		STAGE(a_leader_killed_while_it_stands_is_recovered),
		STAGE(a_long_request_waits_as_long),
		STAGE(standing_elsewhere_stops_nobody),
		STAGE(a_process_that_stands_while_it_attaches),
		STAGE(giving_up_does_not_swallow_the_handoff),
		STAGE(a_sleeper_that_stands_stops_nobody),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
