/*
 * powercut.c - goes through the log of a load, builds disks as a cut at each
 * point may leave them, and has each judged in a process of its own.
 *
 * usage: powercut LOG SEED STATES SCRATCH [COPYLOG | --with PROGRAM]
 * COPYLOG: of the making of a copy, when all of LOG was over; disks of the copy
 * are built then, and one that has its name must be whole.
 * PROGRAM judges instead: called with the disk, LOG and how many bytes of it
 * were over; exit 0: good, 1: an answer is lost, 2: bad, 3: refused.
 * One line of figures on standard output; exit 0: nothing lost, nothing bad.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <dirent.h>
#include <unistd.h>

#include "disk.h"
#include "judge.h"
#include "state.h"

#include "base/text.h"

#define LANES 2           /* states judged at once */
#define FAULTS_SHOWN 8
#define REFUSALS_SHOWN 3
#define SECONDS_MAX 20    /* for one state */

struct lane {
	pid_t pid;
	struct verdict *verdict; /* shared with the child */
	char dir[4096];
	uint64_t entry;
	char how[64];
};

struct figures {
	uint64_t nstates, ncuts, nrefused, nlost, nbad, nretried, nrequests,
	    nanswers;
};

struct hunt {
	const char *log_path;
	const char *with;
	const unsigned char *log;
	uint64_t over;        /* bytes of the log, at this cut */
	uint64_t nsent;       /* answers of FastCGI, so far */
	uint64_t nlog, seed, wanted;
	struct disk disk;
	struct tale tale;
	struct state state;
	uint64_t per_open;    /* states of a cut with something pending */
	double share;         /* of all that would be too many */
	double due;
	bool copied;          /* who asked for the copy was told that it is */
	struct lane lane[LANES];
	struct figures f;
};

/* --- one state -------------------------------------------------------------*/

static void
empty(const char *dir)
{
	char path[4400];
	struct dirent *e;
	DIR *d = opendir(dir);

	while (d != NULL && (e = readdir(d)) != NULL)
		if (text_format(path, sizeof path, "%s/%s", dir, e->d_name) ==
		    IDEM_OK)
			(void)unlink(path);
	if (d != NULL)
		(void)closedir(d);
	(void)rmdir(dir);
}

static void
report(struct hunt *h, struct lane *l)
{
	static const char *const names[] = { "", "refused", "LOST", "BAD" };
	const struct verdict *v = l->verdict;
	uint64_t shown = v->what == JUDGED_REFUSED ? h->f.nrefused :
	    h->f.nlost + h->f.nbad;

	if (shown <= (v->what == JUDGED_REFUSED ? REFUSALS_SHOWN :
	    FAULTS_SHOWN))
		(void)fprintf(stderr, "%s: cut behind entry %" PRIu64
		    ", %s: %s\n", names[v->what], l->entry, l->how, v->text);
}

static void
count(struct hunt *h, struct lane *l, int status)
{
	static const enum judgement said[] = { JUDGED_GOOD, JUDGED_LOST,
		JUDGED_BAD, JUDGED_REFUSED };
	struct verdict *v = l->verdict;

	if (h->with != NULL && WIFEXITED(status) && WEXITSTATUS(status) < 4) {
		*v = (struct verdict){ .what = said[WEXITSTATUS(status)] };
		deed_say(v->text, sizeof v->text, "as said above");
	} else if (status != 0) {
		v->what = JUDGED_BAD;
		deed_say(v->text, sizeof v->text, "the program died: "
		    "%s %d", WIFSIGNALED(status) ? "signal" : "exit status",
		    WIFSIGNALED(status) ? WTERMSIG(status) :
		    WEXITSTATUS(status));
	}
	h->f.nretried += v->nretried;
	h->f.nrequests += v->nrequests;
	h->f.nrefused += v->what == JUDGED_REFUSED;
	h->f.nlost += v->what == JUDGED_LOST;
	h->f.nbad += v->what == JUDGED_BAD;
	if (v->what != JUDGED_GOOD)
		report(h, l);
	l->pid = 0;
}

static void
wait_for_one(struct hunt *h)
{
	int status;
	pid_t pid = waitpid(-1, &status, 0);

	for (size_t i = 0; i < LANES; i++)
		if (pid > 0 && h->lane[i].pid == pid)
			count(h, &h->lane[i], status);
}

static struct lane *
free_lane(struct hunt *h)
{
	for (;;) {
		for (size_t i = 0; i < LANES; i++)
			if (h->lane[i].pid == 0)
				return &h->lane[i];
		wait_for_one(h);
	}
}

static void
judge_with(struct hunt *h, const char *dir)
{
	char over[24];

	deed_say(over, sizeof over, "%" PRIu64, h->over);
	(void)execl(h->with, h->with, dir, h->log_path, over, (char *)NULL);
	_exit(127);
}

static void
launch(struct hunt *h, uint64_t entry)
{
	struct lane *l = free_lane(h);
	char images[4096];

	l->entry = entry;
	deed_say(l->how, sizeof l->how, "%.40s (%zu pages)",
	    h->state.how, h->state.npages);
	h->f.nstates++;
	l->pid = fork();
	if (l->pid < 0)
		abort();
	if (l->pid > 0)
		return;
	(void)alarm(SECONDS_MAX);
	empty(l->dir);
	if (text_format(images, sizeof images, "%s.image", h->log_path) !=
	    IDEM_OK)
		abort();
	state_write(&h->state, &h->disk, l->dir, images);
	if (h->with != NULL)
		judge_with(h, l->dir);
	if (h->state.dir || !h->copied)
		judge(l->dir, &h->tale, h->seed + entry, l->verdict);
	else {
		l->verdict->what = JUDGED_LOST;
		deed_say(l->verdict->text, sizeof l->verdict->text,
		    "the copy is not there");
	}
	_exit(0);
}

/* --- one cut ---------------------------------------------------------------*/

static void
cut(struct hunt *h, uint64_t entry)
{
	uint64_t n, seen[64] = { 0 }, hash, before = h->f.nstates;
	bool open;

	state_begin(&h->state, &h->disk);
	open = state_open(&h->state, &h->disk);
	n = open ? h->per_open : 1;
	for (uint64_t i = 0; i < n; i++) {
		bool again = false;

		h->due += h->share;
		if (h->due < 1)
			continue;
		h->due -= 1;
		state_choose(&h->state, &h->disk, open ? i : 1,
		    h->seed * 1000003 + entry * 4099 + i);
		if (h->disk.copy && !h->state.dir && !h->copied)
			continue; /* not named: nobody takes it for one */
		hash = state_hash(&h->state);
		for (size_t k = 0; k < 64 && k < i; k++)
			again = again || seen[k] == hash;
		seen[i % 64] = hash;
		if (!again)
			launch(h, entry);
	}
	h->f.ncuts += h->f.nstates > before;
}

/* --- the log ---------------------------------------------------------------*/

static const struct trace_entry *
entry_at(const struct hunt *h, uint64_t at)
{
	const struct trace_entry *e =
	    (const struct trace_entry *)(const void *)(h->log + at);

	if (e->magic != TRACE_MAGIC)
		abort();
	return e;
}

/* The last one may have been looked at while it was written. */
static bool
whole_entry(const struct hunt *h, uint64_t at)
{
	return at + sizeof(struct trace_entry) <= h->nlog &&
	    h->nlog - at - sizeof(struct trace_entry) >= entry_at(h, at)->n;
}

static bool
is_asked(const struct trace_entry *e)
{
	const struct mark *m = (const struct mark *)(const void *)(e + 1);

	return e->kind == TRACE_MARK && m->kind == MARK_ASKED;
}

/* Goes through the log; of each cut fn is told. */
static void
walk(struct hunt *h, void (*fn)(struct hunt *h, uint64_t entry))
{
	uint64_t at = 0, index = 0;
	bool copy = h->disk.copy;

	memset(&h->disk, 0, sizeof h->disk);
	h->disk.copy = copy;
	h->copied = false;
	h->over = h->nsent = 0;
	if (!copy)
		memset(&h->tale, 0, sizeof h->tale);
	if (!copy)
		fn(h, index); /* before anything was done */
	for (; whole_entry(h, at); index++) {
		const struct trace_entry *e = entry_at(h, at);

		if (e->kind == TRACE_MARK)
			tale_add(&h->tale, e);
		h->nsent += e->kind == TRACE_SENT;
		at += sizeof *e + e->n + TRACE_PAD(e->n);
		h->over = at;
		if (disk_step(&h->disk, e, index) && !is_asked(e) &&
		    (h->disk.made || !copy))
			fn(h, index); /* nobody sees a copy before that */
	}
	if (!copy)
		return;
	h->copied = true;
	fn(h, index);
}

static void
count_cut(struct hunt *h, uint64_t entry)
{
	(void)entry; /* they are only counted */
	state_begin(&h->state, &h->disk);
	if (state_open(&h->state, &h->disk))
		h->f.ncuts++;
	else
		h->f.nstates++;
}

/* As many states at each cut as make what is wanted. */
static void
plan(struct hunt *h)
{
	uint64_t nopen, nclosed;

	walk(h, count_cut);
	nopen = h->f.ncuts;
	nclosed = h->f.nstates;
	h->f = (struct figures){ .nanswers = h->tale.nanswers +
	    h->nsent };
	h->per_open = h->wanted > nclosed + 2 * nopen && nopen > 0 ?
	    (h->wanted - nclosed + nopen - 1) / nopen : 2;
	h->share = (double)h->wanted / (double)(nclosed + h->per_open * nopen);
	if (h->share > 1)
		h->share = 1;
}

static void
read_log(struct hunt *h, const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *p;

	if (fd < 0 || fstat(fd, &st) != 0 || st.st_size == 0) {
		perror(path);
		exit(2);
	}
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		abort();
	h->log = p;
	h->nlog = (uint64_t)st.st_size;
	(void)close(fd);
}

static void
make_lanes(struct hunt *h, const char *scratch)
{
	struct verdict *shared = mmap(NULL, LANES * sizeof *shared,
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		abort();
	for (size_t i = 0; i < LANES; i++) {
		h->lane[i].verdict = &shared[i];
		if (text_format(h->lane[i].dir, sizeof h->lane[i].dir,
		    "%s/state.%zu", scratch, i) != IDEM_OK)
			abort();
	}
}

static bool
read_words(struct hunt *h, int argc, char **argv)
{
	if (argc < 5 || argc > 7 || parse_u64(span_of(argv[2]), UINT64_MAX,
	    &h->seed) != IDEM_OK || parse_u64(span_of(argv[3]), UINT32_MAX,
	    &h->wanted) != IDEM_OK)
		return false;
	h->log_path = argv[1];
	h->with = argc == 7 ? argv[6] : NULL;
	return true;
}

static void
print_figures(const struct figures *f)
{
	(void)printf("states=%" PRIu64 " cuts=%" PRIu64 " answers=%" PRIu64
	    " retried=%" PRIu64 " requests=%" PRIu64 " refused=%" PRIu64
	    " lost=%" PRIu64 " bad=%" PRIu64 "\n", f->nstates, f->ncuts,
	    f->nanswers, f->nretried, f->nrequests, f->nrefused, f->nlost,
	    f->nbad);
}

int
main(int argc, char **argv)
{
	static struct hunt h;

	if (!read_words(&h, argc, argv)) {
		(void)fprintf(stderr, "usage: powercut LOG SEED STATES DIR "
		    "[COPYLOG | --with PROGRAM]\n");
		return 2;
	}
	read_log(&h, argv[1]);
	make_lanes(&h, argv[4]);
	plan(&h);
	if (argc == 6) { /* all that was told is there when it is made */
		h.disk.copy = true;
		read_log(&h, argv[5]);
		plan(&h);
	}
	walk(&h, cut);
	for (size_t i = 0; i < LANES; i++) {
		while (h.lane[i].pid != 0)
			wait_for_one(&h);
		empty(h.lane[i].dir);
	}
	if (h.tale.two) {
		(void)fprintf(stderr, "BAD: one key, two answers\n");
		h.f.nbad++;
	}
	print_figures(&h.f);
	return h.f.nlost + h.f.nbad > 0;
}
