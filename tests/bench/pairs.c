/*
 * pairs.c - claim and finish, again and again, by N processes on one store.
 *
 *   pairs DIR full|none WORKERS SECONDS
 * prints, by tabs: pairs a second; median, 99th percentile and maximum of a
 * claim in microseconds; commits of the group, requests in them, sleeps that
 * nobody ended, batches of dead leaders.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "kit.h"

#define NSAMPLES 20000 /* claims timed, a worker */

struct tally {
	uint64_t npairs;
	uint32_t nsamples;
	uint32_t claim_us[NSAMPLES];
};

static void
pair(struct idem_store *s, struct idem_buf *answer, struct tally *t)
{
	struct idem_op op = kit_op(IDEM_OP_CLAIM, answer);
	int64_t began = kit_now_us();

	kit_check("claim", idem_store_submit(s, &op));
	if (t->nsamples < NSAMPLES)
		t->claim_us[t->nsamples++] = (uint32_t)(kit_now_us() - began);
	op.kind = IDEM_OP_FINISH;
	op.input = kit_answer();
	op.kept_bytes = op.input.n;
	kit_check("finish", idem_store_submit(s, &op));
	if (op.verdict != IDEM_STORED)
		kit_die("finish: lost", IDEM_ESTORE);
	idem_store_leave(s, op.token);
	t->npairs++;
}

static void
work(const char *dir, bool durable, struct tally *t, int ready, int go,
    int64_t seconds)
{
	struct idem_store *s = kit_store(dir, durable);
	struct idem_buf answer;
	int64_t end;
	char c = 0;

	idem_buf_init(&answer, 65536);
	pair(s, &answer, t); /* warm: slot, map, files */
	*t = (struct tally){ 0 };
	if (io_write(ready, &c, 1) != IDEM_OK || io_read(go, &c, 1) < 0)
		kit_die("start", IDEM_EIO);
	end = kit_now_us() + seconds * 1000000;
	while (kit_now_us() < end)
		pair(s, &answer, t);
	idem_store_close(&s);
	idem_buf_free(&answer);
	_exit(0);
}

static void
report(const struct tally *t, uint64_t nworkers, uint64_t seconds)
{
	uint32_t *all = malloc(nworkers * NSAMPLES * sizeof *all);
	uint64_t npairs = 0;
	size_t n = 0;

	if (all == NULL)
		kit_die("report", IDEM_ENOMEM);
	for (uint64_t i = 0; i < nworkers; i++) {
		npairs += t[i].npairs;
		memcpy(all + n, t[i].claim_us,
		    t[i].nsamples * sizeof t[i].claim_us[0]);
		n += t[i].nsamples;
	}
	printf("%.1f\t%u\t%u\t%u\t", (double)npairs / (double)seconds,
	    kit_quantile(all, n, 0.5), kit_quantile(all, n, 0.99),
	    kit_quantile(all, n, 1));
	free(all);
}

static void
report_group(struct idem_store *s)
{
	struct group_counts c = kit_counts(s);

	printf("%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
	    c.ncommits, c.nrequests, c.ntimeouts, c.nrecoveries);
}

/* All begin at once: every worker has opened the store and waits for a pipe to
 * close. */
static int
run(char **argv, struct tally *tally, uint64_t nworkers, int64_t seconds,
    struct idem_store **watched)
{
	int ready[2], go[2], status, bad = 0;
	char c;

	if (pipe(ready) != 0 || pipe(go) != 0)
		kit_die("pipe", IDEM_EIO);
	for (uint64_t i = 0; i < nworkers; i++) {
		pid_t pid = fork();

		if (pid < 0)
			kit_die("fork", IDEM_EIO);
		if (pid > 0)
			continue;
		(void)close(go[1]); /* or nobody sees it close */
		work(argv[1], strcmp(argv[2], "full") == 0, &tally[i],
		    ready[1], go[0], seconds);
	}
	for (uint64_t i = 0; i < nworkers; i++)
		if (io_read(ready[0], &c, 1) != 1)
			kit_die("a worker did not start", IDEM_EIO);
	/* the group's counts end with its last member */
	*watched = kit_store(argv[1], strcmp(argv[2], "full") == 0);
	(void)kit_counts(*watched);
	(void)close(go[1]);
	while (wait(&status) > 0)
		bad |= status;
	return bad;
}

int
main(int argc, char **argv)
{
	uint64_t nworkers, seconds;
	struct idem_store *watched = NULL;
	struct tally *tally;
	int bad;

	if (argc != 5) {
		fputs("usage: pairs DIR full|none WORKERS SECONDS\n", stderr);
		return 2;
	}
	nworkers = kit_number(argv[3], 1000);
	seconds = kit_number(argv[4], 3600);
	tally = mmap(NULL, nworkers * sizeof *tally, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (tally == MAP_FAILED)
		kit_die("shared memory", IDEM_ENOMEM);
	bad = run(argv, tally, nworkers, (int64_t)seconds, &watched);
	if (bad == 0) {
		report(tally, nworkers, seconds);
		report_group(watched);
	}
	idem_store_close(&watched);
	return bad != 0;
}
