/*
 * test_group.c - the group commit over a store that counts: one process, many,
 * requests that fail, what cannot be attached to, a leader that stands still.
 */
#include "tests.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "puppet.h"
#include "store/failpoint.h"
#include "store/group_lead.h"

/* --- marks --- */

static void
marks_keep_the_last_batch_of_each_group(void **state)
{
	static const struct {
		char set[17];
		char yes[17];
		char no[17];
	} rows[] = {
		{ "AAAAAAAA00000001", "AAAAAAAA00000001", "AAAAAAAA00000000" },
		{ "AAAAAAAA00000002", "AAAAAAAA00000002", "AAAAAAAA00000001" },
		{ "BBBBBBBB00000001", "AAAAAAAA00000002", "BBBBBBBB00000002" },
		{ "CCCCCCCC00000001", "BBBBBBBB00000001", "CCCCCCCC00000000" },
		{ "AAAAAAAA00000003", "CCCCCCCC00000001", "AAAAAAAA00000002" },
		{ "DDDDDDDD00000001", "AAAAAAAA00000003", "AAAAAAAA00000001" },
		{ "EEEEEEEE00000001", "BBBBBBBB00000001", "AAAAAAAA00000001" },
		{ "FFFFFFFF00000001", "BBBBBBBB00000001", "AAAAAAAA00000001" },
		{ "GGGGGGGG00000001", "BBBBBBBB00000001", "AAAAAAAA00000001" },
		{ "HHHHHHHH00000001", "BBBBBBBB00000001", "AAAAAAAA00000001" },
		/* the ninth group drops the one that was silent longest */
		{ "IIIIIIII00000001", "CCCCCCCC00000001", "BBBBBBBB00000001" },
		{ "CCCCCCCC00000002", "AAAAAAAA00000003", "CCCCCCCC00000001" },
		{ "JJJJJJJJ00000001", "CCCCCCCC00000002", "AAAAAAAA00000003" },
	};
	unsigned char marks[GROUP_MARKS_BYTES] = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		group_marks_set(marks, (const unsigned char *)rows[i].set);
		assert_true(group_marks_have(marks,
		    (const unsigned char *)rows[i].set));
		assert_true(group_marks_have(marks,
		    (const unsigned char *)rows[i].yes));
		assert_false(group_marks_have(marks,
		    (const unsigned char *)rows[i].no));
	}
}

/* --- one process, without a fork, so that the sanitizer sees all of it --- */

static void
one_process_is_a_group(void **state)
{
	struct stage *s = *state;
	struct fake_client c;
	struct group *g = NULL;
	struct idem_buf result;
	struct fake_request r = { .id = 5, .nonce = 99 };
	struct fake_result got;
	char request[GROUP_REQUEST_MAX + 1] = "";

	fake_client_init(&c, s->fake, 1);
	idem_buf_init(&result, 1 << 20);
	const struct group_work work = fake_work(&c);
	assert_int_equal(group_open(s->dir, &work, 1000, NULL, &g), IDEM_OK);
	/* bytes in a request, id: 0 is refused by the store itself */
	static const size_t sizes[] = { 0, sizeof r, 4095, 4096, 4097 };
	for (size_t i = 0; i < COUNT(sizes); i++) {
		r.id = (uint32_t)(10 + i);
		memcpy(request, &r, sizeof r);
		assert_int_equal(group_submit(g, (struct idem_span){
		    sizes[i] == 0 ? NULL : request, sizes[i] }, &result),
		    IDEM_OK);
		assert_int_equal(result.n, sizeof got);
		memcpy(&got, result.p, sizeof got);
		assert_int_equal(got.outcome,
		    i == 0 ? FAKE_REFUSED : FAKE_DID);
		assert_int_equal(got.id, i == 0 ? 0 : r.id);
		assert_int_equal(fake_times_durable(s->fake, r.id), i > 0);
	}
	assert_int_equal(group_counts(g).ncommits, 5);
	assert_int_equal(group_counts(g).nrequests, 5);
	assert_int_equal(group_counts(g).ntimeouts, 0);
	assert_int_equal(group_counts(g).nrecoveries, 0);
	group_close(&g);
	assert_null(g);
	group_close(&g);
	idem_buf_free(&result);
	fake_client_free(&c);
}

static void
results_have_their_limits(void **state)
{
	struct stage *s = *state;
	struct fake_client c;
	struct group *g = NULL;
	struct idem_buf result, tiny;
	struct fake_request r = { .id = 5, .nonce = 99, .kind = FAKE_LONG };
	struct fake_result got;
	const struct idem_span request = { (const char *)&r, sizeof r };

	fake_client_init(&c, s->fake, 1);
	idem_buf_init(&result, 1 << 20);
	idem_buf_init(&tiny, 4);
	const struct group_work work = fake_work(&c);
	assert_int_equal(group_open(s->dir, &work, 1000, NULL, &g), IDEM_OK);
	/* a slot is too small for it, and it is not done */
	assert_int_equal(group_submit(g, request, &result), IDEM_OK);
	memcpy(&got, result.p, sizeof got);
	assert_int_equal(got.outcome, FAKE_TOO_LONG);
	assert_int_equal(fake_times(s->fake, 5), 0);
	/* one's own memory is not */
	assert_int_equal(group_lead(g, request, &result), IDEM_OK);
	assert_int_equal(result.n, FAKE_LONG_BYTES);
	memcpy(&got, result.p, sizeof got);
	assert_int_equal(got.outcome, FAKE_DID);
	assert_int_equal(got.id, 5);
	assert_int_equal(fake_times(s->fake, 5), 1);
	/* a result that was cut and not noticed is not kept */
	r = (struct fake_request){ .id = 8, .kind = FAKE_CARELESS };
	assert_int_equal(group_submit(g, request, &result), IDEM_OK);
	memcpy(&got, result.p, sizeof got);
	assert_int_equal(got.outcome, FAKE_FAILED);
	assert_int_equal(got.err, IDEM_ETOOBIG);
	assert_int_equal(group_lead(g, request, &tiny), IDEM_ETOOBIG);
	assert_int_equal(fake_times(s->fake, 8), 0);
	/* a request of one's own that spoils its batch */
	r = (struct fake_request){ .id = 9, .kind = FAKE_SPOIL };
	assert_int_equal(group_lead(g, request, &result), IDEM_OK);
	memcpy(&got, result.p, sizeof got);
	assert_int_equal(got.outcome, FAKE_FAILED);
	assert_int_equal(got.err, IDEM_ECORRUPT);
	assert_int_equal(fake_times(s->fake, 9), 0);
	/* a caller without room for the result: done, and told so */
	r = (struct fake_request){ .id = 6 };
	assert_int_equal(group_submit(g, request, &tiny), IDEM_ETOOBIG);
	assert_int_equal(fake_times(s->fake, 6), 1);
	/* and the slot is free again */
	r.id = 7;
	assert_int_equal(group_submit(g, request, &result), IDEM_OK);
	assert_int_equal(fake_times(s->fake, 7), 1);
	assert_int_equal(group_counts(g).ncommits, 4);
	group_close(&g);
	idem_buf_free(&result);
	idem_buf_free(&tiny);
	fake_client_free(&c);
}

/* --- many processes --- */

struct crowd {
	struct stage *stage;
	uint32_t first; /* ids first .. first + n - 1, one after the other */
	uint32_t n;
	bool one_life_each; /* attach and detach for every request */
};

static int
crowd_request(struct group *g, struct fake *f, uint32_t id,
    struct idem_buf *result)
{
	/* a few refuse, a few are too long for a slot */
	struct fake_request r = { .id = id, .nonce = ~id,
		.kind = id % 16 == 3 ? FAKE_REFUSE : FAKE_ADD };
	enum fake_outcome want = id % 16 == 3 ? FAKE_REFUSED : FAKE_DID;
	char request[5000] = "";
	struct fake_result got;

	memcpy(request, &r, sizeof r);
	if (group_submit(g, (struct idem_span){ request,
	    id % 50 == 7 ? sizeof request : sizeof r }, result) != IDEM_OK)
		return 2;
	if (result->n != sizeof got)
		return 3;
	memcpy(&got, result->p, sizeof got);
	if (got.id != id || got.nonce != ~id || got.outcome != want)
		return 4;
	return fake_times_durable(f, id) == (want == FAKE_DID) ? 0 : 5;
}

static int
crowd_member(void *arg)
{
	const struct crowd *crowd = arg;
	struct fake *f = crowd->stage->fake;
	struct fake_client c;
	struct group *g = NULL;
	struct idem_buf result;
	int bad = 0;

	fake_client_init(&c, f, 1);
	idem_buf_init(&result, 8192);
	const struct group_work work = fake_work(&c);
	for (uint32_t i = 0; i < crowd->n && bad == 0; i++) {
		if (g == NULL && group_open(crowd->stage->dir, &work,
		    PATIENCE_MS, NULL, &g) != IDEM_OK)
			return 1;
		g->net_ms = NEVER_MS; /* nobody is to need it */
		bad = crowd_request(g, f, crowd->first + i, &result);
		if (crowd->one_life_each)
			group_close(&g);
	}
	group_close(&g);
	idem_buf_free(&result);
	fake_client_free(&c);
	return bad;
}

static void
run_crowd(struct stage *s, uint32_t nprocs, uint32_t n, bool one_life_each)
{
	struct crowd crowd[16];
	pid_t pid[16];

	for (uint32_t i = 0; i < nprocs; i++) {
		crowd[i] = (struct crowd){ s, i * n, n, one_life_each };
		pid[i] = proc_start(crowd_member, &crowd[i]);
	}
	for (uint32_t i = 0; i < nprocs; i++)
		assert_int_equal(proc_wait(pid[i], false), 0);
	for (uint32_t id = 0; id < nprocs * n; id++)
		assert_int_equal(fake_times(s->fake, id), id % 16 != 3);
}

static void
many_processes_share_commits(void **state)
{
	struct stage *s = *state;
	struct puppet *p = puppet_open(s, 1, 0); /* keeps the counters */
	struct puppet_reply r;

	s->fake->commit_us = 200;
	run_crowd(s, 8, 1000, false);
	r = puppet_ask(p, order(60000, FAKE_ADD));
	assert_outcome(r, 60000, FAKE_DID);
	assert_int_equal(r.counts.nrequests, 8001);
	assert_int_equal(r.counts.ntimeouts, 0);
	assert_int_equal(r.counts.nrecoveries, 0);
	/* eight wait for one flush: at least three of them share it */
	assert_in_range(r.counts.ncommits, 1000, 8001 / 3);
	assert_ends(p);
}

static void
processes_come_and_go(void **state)
{
	struct stage *s = *state;
	struct puppet *p;
	struct puppet_reply r;

	run_crowd(s, 6, 100, true); /* at times nobody is attached */
	p = puppet_open(s, 1, 0);
	for (uint32_t id = 0; id < 600; id++)
		s->fake->image[s->fake->visible & 3].times[id] = 0;
	run_crowd(s, 6, 100, true);
	r = puppet_ask(p, order(60000, FAKE_ADD));
	assert_outcome(r, 60000, FAKE_DID);
	assert_int_equal(r.counts.nrequests, 601);
	assert_int_equal(r.counts.ntimeouts, 0);
	assert_ends(p);
}

/* --- requests that go wrong --- */

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

/* --- recovery: the rows of a leader cut off at each step of a commit --- */

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

/* --- slots --- */

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

static void
each_program_runs_its_own_requests(void **state)
{
	struct stage *s = *state;
	struct puppet *p[4];
	struct group_shared *shared;
	const struct puppet_order o[4] = { order_of(1, 1), order_of(2, 2),
		order_of(3, 1), order_of(4, 0) };
	struct puppet_reply r;

	s->net_ms = NEVER_MS;
	p[0] = puppet_open(s, 1, 0);
	p[1] = puppet_open(s, 2, 0);
	p[2] = puppet_open(s, 1, 0);
	p[3] = puppet_open(s, 3, 0);
	shared = group_peek(s->dir);
	stage_gather(s, shared, p, o, 4);
	for (uint32_t i = 0; i < 4; i++) {
		r = puppet_reply(p[i]);
		assert_outcome(r, i + 1, FAKE_DID);
	}
	assert_int_equal(shared->ncommits, 2); /* 1, 3 and 4; then 2 */
	assert_int_equal(shared->nrequests, 4);
	assert_int_equal(shared->ntimeouts, 0);
	for (int i = 0; i < 4; i++)
		assert_ends(p[i]);
	group_unpeek(&shared);
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
	const struct CMUnitTest all[] = {
		cmocka_unit_test(marks_keep_the_last_batch_of_each_group),
#define CASE(f) cmocka_unit_test_setup_teardown(f, stage_set, stage_strike)
		CASE(one_process_is_a_group),
		CASE(results_have_their_limits),
		CASE(many_processes_share_commits),
		CASE(processes_come_and_go),
		CASE(a_request_that_fails_hurts_nobody),
		CASE(a_request_that_spoils_the_batch_fails_alone),
		CASE(a_request_that_kills_is_not_run_a_third_time),
		CASE(a_death_at_the_commit_blames_no_request),
		CASE(a_long_request_takes_the_others_along),
		CASE(a_full_store_grows_or_takes_what_still_fits),
		CASE(a_store_that_fails_fails_all),
		CASE(a_commit_that_failed_is_not_done_again),
		CASE(a_process_that_cannot_begin_fails_alone),
		CASE(recovery_alone_hands_off_too),
		CASE(recovery_puts_back_what_was_taken),
		CASE(a_dead_leaders_batch_is_found_or_done_again),
		CASE(a_recovery_that_cannot_look_is_told),
		CASE(what_a_dead_owner_asked_for_is_done),
		CASE(each_program_runs_its_own_requests),
		CASE(a_dead_one_does_not_swallow_the_handoff),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
