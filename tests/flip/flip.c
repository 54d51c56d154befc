/*
 * flip.c - breaks the data file of a good store in thousands of ways and asks
 * each broken store for everything that it held.
 *
 * usage: flip DIR SEED FROM N    damages FROM to FROM + N - 1
 *        flip DIR SEED I FILE    write the data file with damage I to FILE
 * DIR holds good/ (a store), old.0, old.1, ... (its data file earlier) and
 * work/ (a store; its data file is overwritten).
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "damage.h"
#include "probe.h"

struct tally {
	unsigned long n;
	unsigned long right;   /* every answer was right */
	unsigned long refused; /* some were errors, with a line */
	unsigned long died;    /* the process ended, with a line */
	unsigned long hung;
	unsigned long again;   /* work would have been done again */
	unsigned long again_told;  /* after an error line */
	unsigned long again_found; /* "idem check" says so */
	unsigned long bad;     /* none of these: what may never be */
	unsigned long keys_again;
};

struct run {
	const char *dir;
	struct damage_source source;
	struct idem_buf good, old[DAMAGE_OLD_MAX];
	unsigned char *broken;
	struct probe *probe;
	struct tally tally[DAMAGE_NKINDS];
};

static void
die(const char *what, const char *name)
{
	fprintf(stderr, "flip: %s: %s\n", what, name);
	exit(2);
}

static const char *
path_in(const struct run *r, const char *name)
{
	static char path[4][512];
	static const size_t n = sizeof path / sizeof path[0];
	static int at;
	char *p = path[(size_t)at++ % n];

	if (text_format(p, sizeof path[0], "%s/%s", r->dir, name) != IDEM_OK)
		die("too long", name);
	return p;
}

static bool
read_file(const char *path, struct idem_buf *b)
{
	idem_buf_init(b, 1 << 26);
	return io_read_file(path, b) == IDEM_OK;
}

static void
read_all(struct run *r, uint64_t seed)
{
	size_t longest;

	if (!read_file(path_in(r, "good/data.mdb"), &r->good) ||
	    r->good.n % DAMAGE_PAGE != 0 || r->good.n < 8 * DAMAGE_PAGE)
		die("no good data file in", r->dir);
	longest = r->good.n;
	r->source = (struct damage_source){ .seed = seed, .n = r->good.n,
		.good = (const unsigned char *)r->good.p };
	for (size_t i = 0; i < DAMAGE_OLD_MAX; i++) {
		char name[] = "old.0";

		name[4] = (char)('0' + i);
		if (!read_file(path_in(r, name), &r->old[i]))
			break;
		r->source.old[i] = (const unsigned char *)r->old[i].p;
		r->source.nold_bytes[i] = r->old[i].n;
		if (r->old[i].n > longest)
			longest = r->old[i].n;
		r->source.nold++;
	}
	r->broken = malloc(longest);
	if (r->broken == NULL)
		die("no memory for", r->dir);
}

static void
write_file(const char *path, const unsigned char *p, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || io_write(fd, p, n) != IDEM_OK || close(fd) != 0)
		die("cannot write", path);
}

static void
open_probe(struct run *r)
{
	void *p = mmap(NULL, sizeof *r->probe, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("no memory for", "the probe");
	r->probe = p;
	r->probe->now_ms = io_wall_ms();
	r->probe->log_fd = open(path_in(r, "log"), O_RDWR | O_CREAT |
	    O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
	if (r->probe->log_fd < 0 || text_format(r->probe->dir,
	    sizeof r->probe->dir, "%s/good", r->dir) != IDEM_OK)
		die("cannot open", path_in(r, "log"));
	probe_learn(r->probe);
	if (text_format(r->probe->dir, sizeof r->probe->dir, "%s/work",
	    r->dir) != IDEM_OK)
		die("too long", r->dir);
}

/* It may never be: a wrong answer, an error or a death without a line. */
static bool
is_bad(const struct probe *p, enum probe_end end)
{
	return p->nwrong > 0 || (end == PROBE_DIED && !probe_said(p)) ||
	    (end == PROBE_DONE && p->opened && !p->finished);
}

static void
count_again(struct tally *t, const struct probe *p)
{
	t->again++;
	t->keys_again += p->nagain;
	if (p->nagain_told == p->nagain)
		t->again_told++;
	else if (!p->check_ran || p->nbad > 0)
		t->again_found++;
}

static void
count(struct run *r, enum damage_kind kind, size_t i, enum probe_end end)
{
	const struct probe *p = r->probe;
	struct tally *t = &r->tally[kind];

	t->n++;
	if (is_bad(p, end)) {
		t->bad++;
		printf("FAILED damage %zu, %s: %s\n", i, damage_name(kind),
		    p->nwrong > 0 ? p->wrong : end == PROBE_DIED ?
		    "died without a line" : "gave up without a line");
	} else if (end == PROBE_HUNG) {
		t->hung++;
	} else if (p->nagain > 0) {
		count_again(t, p);
	} else if (end == PROBE_DIED) {
		t->died++;
	} else if (p->finished && p->nerrors == 0) {
		t->right++;
	} else {
		t->refused++;
	}
}

static void
run_one(struct run *r, size_t i)
{
	size_t n;
	enum damage_kind kind = damage_make(&r->source, i, r->broken, &n);

	write_file(path_in(r, "work/data.mdb"), r->broken, n);
	(void)unlink(path_in(r, "work/lock.mdb")); /* the first time: none */
	count(r, kind, i, probe_run(r->probe));
}

static unsigned long
report(const struct run *r)
{
	unsigned long bad = 0;

	for (size_t k = 0; k < DAMAGE_NKINDS; k++) {
		const struct tally *t = &r->tally[k];

		printf("kind\t%s\t%lu\t%lu\t%lu\t%lu\t%lu\t%lu\t%lu\t%lu\t%lu"
		    "\t%lu\n", damage_name((enum damage_kind)k), t->n,
		    t->right, t->refused, t->died, t->hung, t->again,
		    t->again_told, t->again_found, t->bad, t->keys_again);
		bad += t->bad;
	}
	return bad;
}

static uint64_t
number(const char *text)
{
	uint64_t n = 0;

	if (parse_u64(span_of(text), UINT64_MAX, &n) != IDEM_OK)
		die("not a number", text);
	return n;
}

int
main(int argc, char **argv)
{
	struct run r = { .dir = argc == 5 ? argv[1] : "" };
	size_t from, n;

	if (argc != 5)
		die("wanted are", "DIR SEED FROM N");
	from = (size_t)number(argv[3]);
	read_all(&r, number(argv[2]));
	if (argv[4][0] == '/') {
		(void)damage_make(&r.source, from, r.broken, &n);
		write_file(argv[4], r.broken, n);
		return 0;
	}
	open_probe(&r);
	for (size_t i = 0; i < (size_t)number(argv[4]); i++)
		run_one(&r, from + i);
	return report(&r) == 0 ? 0 : 1;
}
