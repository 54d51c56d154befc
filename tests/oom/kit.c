/*
 * kit.c - runs every scenario with each of its allocations failing: the nth
 * alone, and the nth with all that follow.
 *
 *   oom [SCENARIO [N]]    only these; with N: say where it failed
 *
 * $ROUNDS: how many n of each scenario and mode, 0: all; $SEED: which ones.
 * $OOM_COUNTS: a file that gets what was counted, for the table.
 */
#include <dirent.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "kit.h"

#define TRY_S 60       /* a try that takes longer hangs */
#define CRASHES_MAX 20 /* of one scenario; then the rest of it is given up */
#define LOG_BYTES 16384

static const struct part *const parts[] = { &part_request, &part_answer,
	&part_whole, &part_store, &part_engine, &part_front, &part_tasks,
	&part_guard };

/* Where the scenario's process is, in memory that it shares. */
static struct at {
	enum fault_mode mode;
	uint64_t n;
	uint64_t count;   /* allocations of run() */
	uint64_t npassed, nfailed, nabsorbed;
	uint64_t nfaults; /* allocations that failed */
	bool bad;         /* this try */
	bool warm;        /* what is allocated once is there */
	char dir_for_all[64];
} *at;

static const struct scenario *now;
static uint64_t rounds, seed, only_n;
static char log_text[LOG_BYTES];
static size_t log_n;
static unsigned ncomplaints; /* lines that are more than information */
static char dir[64];

static const char *const modes[] = { "none", "alone", "and all after it" };

void
must_not_be(const char *what, const char *file, int line)
{
	fprintf(stderr, "%s: allocation %llu of %llu fails (%s): %s:%d: not "
	    "so: %s\n", now->name, (unsigned long long)at->n,
	    (unsigned long long)at->count, modes[at->mode], file, line, what);
	at->bad = true;
}

void
must_be_at(struct idem_span got, struct idem_span want, const char *file,
    int line)
{
	if (span_eq(got, want))
		return;
	must_not_be("the bytes", file, line);
	fprintf(stderr, "got  %zu: %.*s\nwant %zu: %.*s\n", got.n,
	    IDEM_FMT(got), want.n, IDEM_FMT(want));
}

static void
log_line(void *arg, enum idem_level level, const char *text)
{
	size_t n = strlen(text);

	(void)arg;
	ncomplaints += level != IDEM_INFO;
	if (n + 1 > sizeof log_text - log_n)
		return; /* the first lines tell more */
	memcpy(log_text + log_n, text, n);
	log_text[log_n + n] = '\n';
	log_n += n + 1;
}

const struct idem_log oom_log = { log_line, NULL };

struct idem_span
oom_logged(void)
{
	return (struct idem_span){ log_text, log_n };
}

static void
remove_tree(const char *path)
{
	char below[512];
	struct dirent *e;
	DIR *d = opendir(path);

	while (d != NULL && (e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		(void)snprintf(below, sizeof below, "%s/%s", path, e->d_name);
		if (unlink(below) != 0)
			remove_tree(below);
	}
	if (d != NULL)
		(void)closedir(d);
	(void)rmdir(path);
}

/* In memory where that can be had: nothing here waits for a disk. */
static void
make_dir(char *out, size_t n)
{
	(void)snprintf(out, n, "%s/idem-oom-XXXXXX", getenv("TMPDIR"));
	if (mkdtemp(out) == NULL)
		fail_msg("mkdtemp");
}

const char *
oom_dir(void)
{
	if (dir[0] == '\0')
		make_dir(dir, sizeof dir);
	return dir;
}

const char *
oom_dir_for_all(void)
{
	if (at->dir_for_all[0] == '\0')
		make_dir(at->dir_for_all, sizeof at->dir_for_all);
	return at->dir_for_all;
}

const void *
oom_with(void)
{
	return now->with;
}

/* What is left is counted here, after each try. */
const char *__asan_default_options(void);

const char *
__asan_default_options(void)
{
	return "detect_leaks=0";
}

static void
say_log(void)
{
	if (at->bad && log_n > 0)
		fprintf(stderr, "  logged: %.*s", (int)log_n, log_text);
}

static void
fails_cleanly(enum idem_err err)
{
	uint32_t may = now->errors != 0 ? now->errors : ERR(ENOMEM);

	if ((may >> err & 1) == 0)
		must_not_be(idem_strerror(err), "the error", (int)err);
	if (now->logs && ncomplaints == 0)
		must_not_be("a complaint in the log", now->name, 0);
	if (now->unharmed != NULL)
		now->unharmed();
	err = now->run();
	if (err != IDEM_OK)
		must_not_be(idem_strerror(err), "once more", (int)err);
}

static void
try(enum fault_mode mode, uint64_t n)
{
	int64_t live = fault->nlive;
	enum idem_err err;

	at->mode = mode;
	at->n = n;
	at->bad = false;
	(void)alarm(TRY_S);
	if (now->make != NULL)
		now->make();
	log_n = ncomplaints = 0;
	fault_arm(mode, n);
	err = now->run();
	fault_disarm();
	if (mode == FAULT_COUNT) {
		at->count = fault->ncalls;
		must(at->count > 0);
		must(err == IDEM_OK);
	} else if (err != IDEM_OK) {
		at->nfaults += fault->nfailed;
		must(fault->nfailed > 0);
		fails_cleanly(err);
	} else {
		at->nfaults += fault->nfailed;
		at->nabsorbed++;
	}
	if (now->right != NULL)
		now->right();
	if (now->end != NULL)
		now->end();
	if (dir[0] != '\0')
		remove_tree(dir);
	dir[0] = '\0';
	if (at->warm && fault->nlive != live) {
		must_not_be("every block was given back", now->name,
		    (int)(fault->nlive - live));
	}
	at->warm = true;
	say_log();
	if (mode == FAULT_COUNT)
		return;
	at->nfailed += at->bad;
	at->npassed += !at->bad;
}

/* The next n behind this one, so that about $ROUNDS come out. */
static uint64_t
stride(void)
{
	return rounds == 0 || at->count <= rounds ? 1 :
	    (at->count + rounds - 1) / rounds;
}

static void
walk(enum fault_mode mode, uint64_t n)
{
	uint64_t step;

	at->warm = false;
	try(FAULT_COUNT, 0);
	try(FAULT_COUNT, 0);
	if (at->bad) {
		at->nfailed++;
		return;
	}
	step = stride();
	if (only_n != 0) {
		try(FAULT_ONE, only_n);
		try(FAULT_FROM, only_n);
		return;
	}
	for (; mode <= FAULT_FROM; mode++, n = 0)
		for (n = n != 0 ? n : 1 + seed % step; n <= at->count;
		    n += step)
			try(mode, n);
}

static int
in_a_process(enum fault_mode mode, uint64_t n)
{
	int status = 0;
	pid_t pid;

	(void)fflush(NULL);
	if ((pid = fork()) == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)freopen("/dev/null", "w", stdout); /* cmocka's */
		walk(mode, n);
		(void)fflush(NULL);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		fail_msg("fork");
	if (at->dir_for_all[0] != '\0')
		remove_tree(at->dir_for_all);
	at->dir_for_all[0] = '\0';
	return status;
}

static void
run(const struct scenario *s, struct at *sum)
{
	enum fault_mode mode = FAULT_ONE;
	uint64_t n = 0;
	int status, ncrashes = 0;

	now = s;
	*at = (struct at){ .mode = FAULT_COUNT };
	while ((status = in_a_process(mode, n)) != 0) {
		fprintf(stderr, "%s: allocation %llu of %llu fails (%s): the "
		    "process ended (status %x)\n", s->name,
		    (unsigned long long)at->n, (unsigned long long)at->count,
		    modes[at->mode], (unsigned)status);
		at->nfailed++;
		if (at->mode == FAULT_COUNT || ++ncrashes == CRASHES_MAX)
			break;
		mode = at->mode;
		n = at->n + stride();
	}
	printf("  %-44s %4llu allocations, %5llu tries, %4llu absorbed%s\n",
	    s->name, (unsigned long long)at->count,
	    (unsigned long long)(at->npassed + at->nfailed),
	    (unsigned long long)at->nabsorbed,
	    at->nfailed > 0 ? "  FAILED" : "");
	sum->npassed += at->npassed;
	sum->nfailed += at->nfailed;
	sum->nabsorbed += at->nabsorbed;
	sum->nfaults += at->nfaults;
	sum->n++;
}

static uint64_t
number_of(const char *text, uint64_t otherwise)
{
	uint64_t n = otherwise;

	if (text != NULL && text[0] != '\0' && parse_u64(span_of(text),
	    UINT64_MAX, &n) != IDEM_OK)
		n = otherwise;
	return n;
}

static void
keep_counts(const struct at *sum)
{
	const char *path = getenv("OOM_COUNTS");
	FILE *f = path == NULL ? NULL : fopen(path, "w");

	if (f == NULL)
		return;
	fprintf(f, "%llu %llu %llu %llu %llu\n",
	    (unsigned long long)sum->npassed, (unsigned long long)sum->nfailed,
	    (unsigned long long)sum->n, (unsigned long long)sum->nabsorbed,
	    (unsigned long long)sum->nfaults);
	(void)fclose(f);
}

int
main(int argc, char **argv)
{
	struct at sum = { .n = 0 };
	void *frames[1];

	rounds = number_of(getenv("ROUNDS"), 0);
	seed = number_of(getenv("SEED"), (uint64_t)time(NULL) % 1000000);
	only_n = argc > 2 ? number_of(argv[2], 0) : 0;
	(void)setenv("TMPDIR", access("/dev/shm", W_OK) == 0 ? "/dev/shm" :
	    "/tmp", 0);
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	fault->trace = only_n != 0;
	if (fault->trace)
		(void)backtrace(frames, 1);
	at = mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (size_t p = 0; p < COUNT(parts); p++)
		for (size_t i = 0; i < parts[p]->n; i++)
			if (argc < 2 || strstr(parts[p]->scenarios[i].name,
			    argv[1]) != NULL)
				run(&parts[p]->scenarios[i], &sum);
	keep_counts(&sum);
	printf("oom, units: %llu passed, %llu failed\n",
	    (unsigned long long)sum.npassed, (unsigned long long)sum.nfailed);
	return sum.nfailed > 0 || sum.npassed == 0;
}
