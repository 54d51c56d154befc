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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hunt.h"
#include "whole.h"

#include "base/text.h"

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
			hunt_launch(h, entry);
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


/* The load's store and the copy of it lie beside what is built here. */
static bool
nothing_escaped(struct hunt *h, const char *scratch)
{
	char real[4096];
	bool same;

	deed_say(real, sizeof real, "%s/%s", scratch,
	    h->disk.copy ? "backup" : "store");
	same = whole_log(&h->disk, h->lane[0].dir, real);
	hunt_empty(h->lane[0].dir);
	return same;
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
	hunt_wait(&h);
	if (h.tale.two)
		(void)fprintf(stderr, "BAD: one key, two answers\n");
	h.f.nbad += h.tale.two;
	h.f.nbad += !nothing_escaped(&h, argv[4]);
	print_figures(&h.f);
	return h.f.nlost + h.f.nbad > 0;
}
