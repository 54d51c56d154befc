/*
 * test_group.c - the group commit over a store that counts: its marks, one
 * process, many, several programs.
 */
#include "tests.h"

#include <sys/wait.h>

#include "stage.h"
#include "store/group_lead.h"

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
	/* That all who wait share one is test_group_requests.c's: here it is
	 * the scheduler that says how many wait. */
	assert_in_range(r.counts.ncommits, 1000, 8000);
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

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_keep_the_last_batch_of_each_group),
		STAGE(one_process_is_a_group),
		STAGE(results_have_their_limits),
		STAGE(many_processes_share_commits),
		STAGE(processes_come_and_go),
		STAGE(each_program_runs_its_own_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
