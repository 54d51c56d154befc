/*
 * test_group_kill.c - the group commit while processes are killed: at every
 * failpoint by name, at random, and all at once with the power.  A ledger says
 * what each request was told; the store counts what was done.
 */
#include "tests.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "stage.h"
#include "store/failpoint.h"

#define NWORKERS 4
#define NREQUESTS 25 /* of each worker in a round */

/* What a request was told. */
enum said { NOT_SENT, SENT, DID, DID_NOT, IN_DOUBT };

struct ledger {
	_Atomic uint32_t next_id;
	_Atomic uint32_t nanswers;
	_Atomic uint8_t said[FAKE_NIDS];
};

struct job {
	struct stage *stage;
	struct ledger *ledger;
	const char *spec;  /* a failpoint, or NULL */
	enum fake_step die_at;
	uint32_t nrequests;
	int64_t wait_ms;
};

static struct ledger *
ledger_make(void)
{
	struct ledger *l = mmap(NULL, sizeof *l, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(l, MAP_FAILED);
	return l;
}

/* What was told must be what is in the store; the killed may have either. */
static void
ledger_check(const struct ledger *l, const struct fake *f)
{
	for (uint32_t id = 0; id < l->next_id; id++) {
		uint8_t times = fake_times(f, id);
		bool right = times <= 1;

		switch ((enum said)l->said[id]) {
		case NOT_SENT:
		case DID_NOT:
			right = times == 0;
			break;
		case DID:
			right = times == 1 && fake_times_durable(f, id) == 1;
			break;
		case SENT:
		case IN_DOUBT:
			break;
		}
		if (!right)
			print_error("request %u: told %d, done %d times\n", id,
			    l->said[id], times);
		assert_true(right);
	}
}

/* One of sixteen refuses, one spoils its batch; one of fifty is long. */
static enum fake_kind
kind_of(uint32_t id)
{
	return id % 16 == 3 ? FAKE_REFUSE : id % 16 == 9 ? FAKE_SPOIL :
	    FAKE_ADD;
}

/* Exit status 0, or which promise was broken. */
static int
judge(const struct job *job, uint32_t id, const struct idem_buf *result)
{
	struct fake_result got;
	enum said said = DID_NOT;

	if (result->n != sizeof got)
		return 10;
	memcpy(&got, result->p, sizeof got);
	if (got.outcome == FAKE_FAILED) {
		/* two leaders died while they ran it, or it spoils */
		if (got.err != (kind_of(id) == FAKE_SPOIL ? IDEM_ECORRUPT :
		    IDEM_ESTORE) && got.err != IDEM_ESTORE)
			return 11;
	} else {
		if (got.id != id || got.nonce != ~id)
			return 12;
		if (got.outcome != (kind_of(id) == FAKE_REFUSE ? FAKE_REFUSED :
		    FAKE_DID) || kind_of(id) == FAKE_SPOIL)
			return 13;
		said = got.outcome == FAKE_DID ? DID : DID_NOT;
	}
	if (fake_times_durable(job->stage->fake, id) != (said == DID))
		return 14;
	job->ledger->said[id] = (uint8_t)said;
	job->ledger->nanswers++;
	return 0;
}

static int
one_request(const struct job *job, struct group *g, struct idem_buf *result)
{
	uint32_t id = job->ledger->next_id++;
	struct fake_request r = { .id = id, .nonce = ~id,
		.kind = (uint8_t)kind_of(id) };
	char request[5000] = "";
	enum idem_err err;

	if (id >= FAKE_NIDS)
		return 15;
	memcpy(request, &r, sizeof r);
	job->ledger->said[id] = SENT;
	err = group_submit(g, (struct idem_span){ request,
	    id % 50 == 7 ? sizeof request : sizeof r }, result);
	if (err == IDEM_OK)
		return judge(job, id, result);
	job->ledger->said[id] = group_in_doubt(g) ? IN_DOUBT : DID_NOT;
	return err == IDEM_EBUSY ? 0 : 16;
}

static int
work(void *arg)
{
	const struct job *job = arg;
	struct fake_client c;
	struct group *g = NULL;
	struct idem_buf result;
	enum idem_err err;
	int bad = 0;

	if (!failpoint_arm(job->spec))
		return 17;
	fake_client_init(&c, job->stage->fake, 1);
	c.die_at = job->die_at;
	c.nth = 3;
	idem_buf_init(&result, 8192);
	const struct group_work w = fake_work(&c);
	err = group_open(job->stage->dir, &w, job->wait_ms, NULL, &g);
	if (err != IDEM_OK)
		bad = err == IDEM_EBUSY ? 0 : 18;
	for (uint32_t i = 0; i < job->nrequests && bad == 0 && g != NULL; i++)
		bad = one_request(job, g, &result);
	group_close(&g);
	idem_buf_free(&result);
	fake_client_free(&c);
	return bad;
}

/* --- at each failpoint --- */

struct round {
	struct stage *stage;
	struct ledger *ledger;
	const char *victims; /* spec of the first two workers */
	const char *bait;    /* of the third, or NULL */
	enum fake_step bait_at;
	int64_t wait_ms;
};

/* How many victims died; whoever dies is followed by a sane one. */
static unsigned
run_round(const struct round *r)
{
	struct job sane = { .stage = r->stage, .ledger = r->ledger,
		.nrequests = NREQUESTS, .wait_ms = r->wait_ms },
	    job[NWORKERS] = { sane, sane, sane, sane };
	pid_t pid[NWORKERS];
	unsigned ndead = 0;

	job[0].spec = job[1].spec = r->victims;
	job[2].spec = r->bait;
	job[2].die_at = r->bait_at;
	for (unsigned i = 0; i < NWORKERS; i++)
		pid[i] = proc_start(work, &job[i]);
	for (unsigned i = 0; i < NWORKERS; i++) {
		int status = proc_wait(pid[i], false);

		if (WIFSIGNALED(status)) {
			assert_int_equal(WTERMSIG(status), SIGKILL);
			assert_in_range(i, 0, 2); /* the last one is sane */
			ndead += i < 2;
			status = proc_wait(proc_start(work, &sane), false);
		}
		assert_int_equal(status, 0);
	}
	ledger_check(r->ledger, r->stage->fake);
	return ndead;
}

/* A third process dies where the others have something to recover, or is slow
 * while the others have no patience. */
static const struct { const char *spec; enum fake_step step; int64_t wait_ms; }
baits[] = {
	{ "group-opened:kill:2", FAKE_ALIVE, PATIENCE_MS },
	{ "group-committed:kill:2", FAKE_ALIVE, PATIENCE_MS },
	{ NULL, FAKE_VISIBLE, PATIENCE_MS },
	{ "group-running:kill:3", FAKE_ALIVE, PATIENCE_MS },
	{ "group-taken:kill:3", FAKE_ALIVE, PATIENCE_MS },
	{ "group-published:kill:2", FAKE_ALIVE, PATIENCE_MS },
	{ "group-committed:delay=120:2", FAKE_ALIVE, 20 },
};

static void
kill_at(struct stage *s, struct ledger *l, const char *name, size_t row)
{
	char spec[64];
	struct round r = { .stage = s, .ledger = l, .victims = spec,
		.wait_ms = PATIENCE_MS };
	unsigned ndead = 0;

	for (unsigned nth = 1; nth <= 4; nth += 3) {
		assert_int_equal(text_format(spec, sizeof spec, "%s:kill:%u",
		    name, nth), IDEM_OK);
		ndead += run_round(&r);
	}
	assert_int_equal(text_format(spec, sizeof spec, "%s:kill", name),
	    IDEM_OK);
	/* one bait for each name, and on until somebody died there */
	for (size_t i = 0; i < 10 * COUNT(baits) && (i == 0 || ndead == 0);
	    i++) {
		size_t bait = (row + i) % COUNT(baits);

		r.bait = baits[bait].spec;
		r.bait_at = baits[bait].step;
		r.wait_ms = baits[bait].wait_ms;
		ndead += run_round(&r);
	}
	if (ndead == 0)
		print_error("nobody died at %s\n", name);
	assert_true(ndead > 0);
}

static void
killed_at_every_failpoint(void **state)
{
	struct stage *s = *state;
	struct ledger *l = ledger_make();
	const char *name;

	s->fake->commit_us = 100;
	for (unsigned i = 0; (name = failpoint_name(i)) != NULL; i++)
		if (strncmp(name, "group-", 6) == 0)
			kill_at(s, l, name, i);
	assert_int_equal(munmap(l, sizeof *l), 0);
}

static void
killed_inside_the_stores_commit(void **state)
{
	static const enum fake_step steps[] = { FAKE_WRITTEN, FAKE_VISIBLE,
		FAKE_DURABLE };
	struct stage *s = *state;
	struct ledger *l = ledger_make();

	s->fake->commit_us = 100;
	for (size_t i = 0; i < COUNT(steps); i++) {
		struct round r = { .stage = s, .ledger = l,
			.bait_at = steps[i], .wait_ms = PATIENCE_MS };

		for (int n = 0; n < 5; n++)
			assert_int_equal(run_round(&r), 0);
	}
	assert_int_equal(munmap(l, sizeof *l), 0);
}

/* --- at random --- */

static void
killed_at_random(void **state)
{
	struct stage *s = *state;
	struct ledger *l = ledger_make();
	struct puppet *keeper = puppet_open(s, 1, 0); /* keeps the file */
	struct puppet_reply r;
	struct job job = { .stage = s, .ledger = l, .nrequests = 400,
		.spec = "*:kill:1/3000/24", .wait_ms = PATIENCE_MS };
	pid_t pid[NWORKERS];
	unsigned ndead = 0, n = 0;

	s->fake->commit_us = 50;
	for (; n < NWORKERS; n++)
		pid[n] = proc_start(work, &job);
	for (unsigned i = 0; ndead < 200; i = (i + 1) % NWORKERS) {
		int status = proc_wait(pid[i], false);

		ndead += WIFSIGNALED(status) != 0;
		assert_true(WIFSIGNALED(status) || status == 0);
		pid[i] = proc_start(work, &job);
	}
	for (unsigned i = 0; i < NWORKERS; i++)
		(void)proc_wait(pid[i], false);
	ledger_check(l, s->fake);
	r = puppet_ask(keeper, order(FAKE_NIDS - 1, FAKE_ADD));
	assert_outcome(r, FAKE_NIDS - 1, FAKE_DID);
	/* some deaths leave a commit to be found */
	assert_in_range(r.counts.nrecoveries, 10, 1000);
	assert_in_range(r.counts.nrecovered, 5, r.counts.nrecoveries);
	assert_ends(keeper);
	assert_int_equal(munmap(l, sizeof *l), 0);
}

static void
until_answers(const struct ledger *l, uint32_t n)
{
	const struct timespec t = { .tv_nsec = 100000 };

	while (l->nanswers < n)
		(void)nanosleep(&t, NULL);
}

static void
the_power_goes(void **state)
{
	struct stage *s = *state;
	struct ledger *l = ledger_make();
	struct job job = { .stage = s, .ledger = l, .nrequests = 100000,
		.wait_ms = PATIENCE_MS };
	pid_t pid[NWORKERS];

	s->fake->commit_us = 100;
	for (unsigned n = 0; n < 40; n++) {
		uint32_t before = l->nanswers;

		for (unsigned i = 0; i < NWORKERS; i++)
			pid[i] = proc_start(work, &job);
		until_answers(l, before + 37 + 13 * (n % 7));
		for (unsigned i = 0; i < NWORKERS; i++)
			assert_int_equal(kill(pid[i], SIGKILL), 0);
		for (unsigned i = 0; i < NWORKERS; i++)
			assert_int_equal(proc_wait(pid[i], false), SIGKILL);
		fake_power_cut(s->fake);
		ledger_check(l, s->fake);
	}
	assert_int_equal(munmap(l, sizeof *l), 0);
}

int
main(void)
{
	const struct CMUnitTest all[] = {
		STAGE(killed_at_every_failpoint),
		STAGE(killed_inside_the_stores_commit),
		STAGE(killed_at_random),
		STAGE(the_power_goes),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
