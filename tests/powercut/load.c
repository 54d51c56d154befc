/*
 * load.c - real worker processes on one store, killed and started again, while
 * record.c writes down what they do to its files.  Each says in the same log
 * what it was asked, and what it told its client and when.
 *
 * usage: load DIR LOG SEED DEEDS WORD ...
 *   nosync  IDEM_DURABILITY=none, which loses answers: a check of the check
 *   early   answers leave before they are stored: the same
 *   huge    answers so big that the map grows
 *   lone    one worker and nobody else, as where each request is a process
 *   plain   every operation is a commit of its own; mixed: of half of them
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "load.h"

#include "base/text.h"

#define SWEEPER WORKERS
#define READER (WORKERS + 1)
#define PROCESSES (WORKERS + 2)

static void
complain(void *arg, enum idem_level level, const char *text)
{
	(void)arg; /* there is one place for all */
	if (level == IDEM_ERROR)
		(void)fprintf(stderr, "load: %s\n", text);
}

static void
work(struct load *l)
{
	unsigned *done = &l->board->done[l->me];

	if (*done > 0)
		load_insist(l, l->board->latest[l->me]);
	while (*done < l->ndeeds)
		load_deed(l, ++*done);
}

/* The clock is ahead of the workers', so that what is short is over. */
static void
sweep(struct load *l)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	struct idem_sweep s;

	while (l->board->nworking > 0) {
		s = (struct idem_sweep){ .from = 0 };
		do
			load_must(idem_store_sweep(l->store, DEED_NOW +
			    DEED_LATER, DEED_TTL, 5, &s), "sweep");
		while (s.more && l->board->nworking > 0);
		(void)nanosleep(&pause, NULL);
	}
}

/* Asks again for what is being done: an answer found in the store counts as
 * told. */
static void
ask_again(struct load *l)
{
	const struct timespec pause = { .tv_nsec = 200000 };
	unsigned char id[IDEM_ID_BYTES];
	struct idem_op op;

	for (unsigned i = 0; l->board->nworking > 0; i++) {
		memcpy(id, l->board->latest[i % WORKERS], sizeof id);
		deed_op(&op, IDEM_OP_CLAIM, id, &l->seed, &l->answer);
		load_must(idem_store_look(l->store, &op), "look");
		if (op.verdict == IDEM_REPLAY &&
		    deed_kind_of(id) != DEED_SHORT)
			load_say(l, MARK_ANSWERED, id,
			    idem_buf_span(&l->answer));
		if (i % WORKERS == 0)
			(void)nanosleep(&pause, NULL);
	}
}

static void
run(struct load *l)
{
	const struct idem_log log = { complain, NULL };
	const struct timespec late = { .tv_nsec = l->me * 1000000L };

	l->seed += (uint64_t)getpid() << 32;
	idem_buf_init(&l->answer, DEED_ANSWER_MAX);
	(void)nanosleep(&late, NULL); /* some find a store half made */
	if (l->plain || (l->mixed && l->me % 2 == 1))
		(void)setenv("POWERCUT_DENY", "group.", 1);
	if (l->me == READER)
		(void)unsetenv("POWERCUT_KILL");
	load_must(deed_open(l->dir, !l->nosync, &log, &l->store), "open");
	if (l->me == SWEEPER)
		sweep(l);
	else if (l->me == READER)
		ask_again(l);
	else
		work(l);
	idem_store_close(&l->store);
	_exit(0);
}

static pid_t
start(struct load *l, unsigned me)
{
	pid_t pid = fork();

	if (pid < 0)
		abort();
	if (pid > 0)
		return pid;
	l->me = me;
	run(l);
	return 0;
}

/* What lies in shared memory may be on the disk after the cut, so that an image
 * of it is wanted.  This process holds no store, so it may open these files. */
static void
take_image(const struct load *l, const char *name)
{
	char from[4096], to[4096];
	static char bytes[1 << 20];
	ssize_t n = -1;
	int in, out;

	if (text_format(from, sizeof from, "%s/%s", l->dir, name) != IDEM_OK ||
	    text_format(to, sizeof to, "%s.image.%s", l->log_path, name) !=
	    IDEM_OK)
		abort();
	in = open(from, O_RDONLY | O_CLOEXEC);
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (in >= 0)
		n = read(in, bytes, sizeof bytes);
	if (out < 0 || (n > 0 && write(out, bytes, (size_t)n) != n))
		abort();
	(void)close(in);
	(void)close(out);
}

static void
take_images(const struct load *l)
{
	take_image(l, "group.2");
	take_image(l, "lock.mdb");
	take_image(l, "waiting");
	take_image(l, "sightings");
}

/* Start each again that was killed, until the workers are through. */
static int
tend(struct load *l)
{
	pid_t pids[PROCESSES];
	unsigned nkilled = 0, nleft = 0;
	int status, failed = 0;

	l->board->nworking = l->lone ? 1 : WORKERS;
	for (unsigned i = 0; i < PROCESSES; i++) {
		bool wanted = !l->lone || i == 0;

		pids[i] = wanted ? start(l, i) : -1;
		nleft += wanted;
	}
	while (nleft > 0) {
		pid_t pid = wait(&status);
		unsigned who = 0;

		if (pid < 0)
			abort();
		while (who < PROCESSES && pids[who] != pid)
			who++;
		if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
			if (++nkilled % 4 == 1)
				take_images(l);
			pids[who] = start(l, who);
			continue;
		}
		failed |= status != 0;
		nleft--;
		if (who < WORKERS && --l->board->nworking == 2)
			take_images(l);
	}
	(void)printf("%u\n", nkilled);
	return failed;
}

static bool
has(int argc, char **argv, const char *word)
{
	for (int i = 5; i < argc; i++)
		if (strcmp(argv[i], word) == 0)
			return true;
	return false;
}

int
main(int argc, char **argv)
{
	struct load l = { .log = -1 };
	uint64_t ndeeds;

	if (argc < 5 || parse_u64(span_of(argv[3]), UINT64_MAX, &l.seed) !=
	    IDEM_OK || parse_u64(span_of(argv[4]), 60000, &ndeeds) != IDEM_OK) {
		(void)fprintf(stderr, "usage: load DIR LOG SEED DEEDS ...\n");
		return 2;
	}
	l.dir = argv[1];
	l.log_path = argv[2];
	l.log = open(argv[2], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	l.ndeeds = (unsigned)ndeeds;
	l.nosync = has(argc, argv, "nosync");
	l.early = has(argc, argv, "early");
	l.plain = has(argc, argv, "plain");
	l.mixed = has(argc, argv, "mixed");
	l.huge = has(argc, argv, "huge");
	l.lone = has(argc, argv, "lone");
	l.board = mmap(NULL, sizeof *l.board, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (l.log < 0 || l.board == MAP_FAILED) {
		perror("load");
		return 2;
	}
	return tend(&l);
}
