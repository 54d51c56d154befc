/*
 * crowd.c - the group commit with threads in place of processes, for
 * ThreadSanitizer.
 *
 * The programs have no threads: what they share is the group file, mapped by
 * each process, and ThreadSanitizer sees only what threads of one process do at
 * one address.  So here each thread attaches as a process would, with a
 * descriptor, locks and a slot of its own, but mmap() gives all of them the
 * same mapping.  Then every access to the file is seen: which ones are ordered
 * by the words, the mutex and the intent, and which are not.  A thread that is
 * to die in the middle of a commit ends there; its robust mutexes tell the
 * others, as a killed process's would.
 *
 * Not seen: the order of memory and system calls (futex, locks of files, LMDB
 * itself, which is not compiled with it), and what only processes do: they are
 * killed and stopped in the torture and in the tests of the group.
 */
#include "tests.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "group_fake.h"
#include "puppet.h"

#define NTHREADS 6
#define MORTALS 4 /* of these, that die once */

void *__real_mmap(void *at, size_t n, int prot, int flags, int fd, off_t from);
void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t from);
int __real_munmap(void *at, size_t n);
int __wrap_munmap(void *at, size_t n);
int __real_kill(pid_t pid, int number);
int __wrap_kill(pid_t pid, int number);
void __tsan_release(void *at);

static struct fake *the_store;
static void *the_file; /* where the group file lies, once it was mapped */

void *
__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t from)
{
	if (n != sizeof(struct group_shared) || fd < 0)
		return __real_mmap(at, n, prot, flags, fd, from);
	if (the_file == NULL) /* by main(), before there are threads */
		the_file = __real_mmap(at, n, prot, flags, fd, from);
	return the_file;
}

int
__wrap_munmap(void *at, size_t n)
{
	return at == the_file ? 0 : __real_munmap(at, n);
}

int
__wrap_kill(pid_t pid, int number)
{
	if (pid == getpid() && number == SIGKILL) {
		struct group_shared *s = the_file;

		__tsan_release(&s->mutex); /* it holds both */
		__tsan_release(&the_store->writer);
		pthread_exit(NULL);
	}
	return __real_kill(pid, number);
}

struct member {
	struct fake *fake;
	const char *dir;
	uint32_t first, n;   /* ids */
	enum fake_step die_at;
	uint32_t nanswered;
	uint32_t nwrong;
};

static void
request(struct member *m, struct group *g, uint32_t id,
    struct idem_buf *result)
{
	/* a few refuse, a few are too long for a slot */
	struct fake_request r = { .id = id, .nonce = ~id,
		.kind = id % 16 == 3 ? FAKE_REFUSE : FAKE_ADD };
	char text[5000] = "";
	struct fake_result got = { .id = 0 };
	enum idem_err err;

	memcpy(text, &r, sizeof r);
	err = group_submit(g, (struct idem_span){ text, id % 50 == 7 ?
	    sizeof text : sizeof r }, result);
	if (err == IDEM_OK && result->n == sizeof got)
		memcpy(&got, result->p, sizeof got);
	m->nanswered++;
	m->nwrong += got.id != id || got.nonce != ~id || got.outcome !=
	    (id % 16 == 3 ? FAKE_REFUSED : FAKE_DID);
}

/* As a program: it attaches, asks, and now and then detaches. */
static void *
live(void *arg)
{
	struct member *m = arg;
	struct fake_client c;
	struct idem_buf result;
	struct group *g = NULL;

	fake_client_init(&c, m->fake, 1);
	c.die_at = m->die_at;
	c.nth = 1 + m->n / 50; /* it leads that often in any case */
	idem_buf_init(&result, 8192);
	const struct group_work work = fake_work(&c);
	for (uint32_t i = 0; i < m->n; i++) {
		if (g == NULL && group_open(m->dir, &work, PATIENCE_MS, NULL,
		    &g) != IDEM_OK) {
			m->nwrong++;
			break;
		}
		request(m, g, m->first + i, &result);
		if (i % 100 == 99)
			group_close(&g);
	}
	group_close(&g);
	idem_buf_free(&result);
	fake_client_free(&c);
	return NULL;
}

/* A write that nothing orders: it must be seen, or all the rest means nothing.
 */
static void *
write_unordered(void *arg)
{
	struct group_shared *s = arg;

	s->slot[9].nrequest++;
	return NULL;
}

static void
plant(struct group_shared *s)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&t[i], NULL, write_unordered,
		    s), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_join(t[i], NULL), 0);
}

/* The number of requests that came out wrong. */
static uint32_t
run(struct fake *f, const char *dir, uint32_t n, enum fake_step die_at)
{
	struct member m[NTHREADS];
	pthread_t t[NTHREADS];
	uint32_t nwrong = 0, nanswered = 0, ndied = 0;

	memset(f->image, 0, sizeof f->image);
	for (uint32_t i = 0; i < NTHREADS; i++) {
		m[i] = (struct member){ f, dir, i * n, n,
			i < MORTALS ? die_at : FAKE_ALIVE, 0, 0 };
		assert_int_equal(pthread_create(&t[i], NULL, live, &m[i]), 0);
	}
	for (uint32_t i = 0; i < NTHREADS; i++)
		assert_int_equal(pthread_join(t[i], NULL), 0);
	for (uint32_t i = 0; i < NTHREADS; i++) {
		nwrong += m[i].nwrong;
		nanswered += m[i].nanswered;
		ndied += m[i].nanswered < n;
		for (uint32_t k = 0; k < m[i].nanswered; k++)
			nwrong += fake_times_durable(f, i * n + k) !=
			    ((i * n + k) % 16 != 3);
	}
	printf("%u died %s: %u requests answered, %u wrong\n", ndied,
	    die_at == FAKE_ALIVE ? "at all" : die_at == FAKE_WRITTEN ?
	    "before the commit" : die_at == FAKE_VISIBLE ?
	    "before it was durable" : "behind the commit", nanswered, nwrong);
	return nwrong + (ndied != (die_at == FAKE_ALIVE ? 0 : MORTALS));
}

int
main(int argc, char **argv)
{
	static const enum fake_step deaths[] = { FAKE_ALIVE, FAKE_WRITTEN,
		FAKE_VISIBLE, FAKE_DURABLE };
	char dir[] = "/tmp/idem-tsan-XXXXXX", path[64];
	struct fake *f = fake_make();
	struct fake_client c;
	struct group *g;
	uint64_t n = 2000;
	uint32_t nwrong = 0;

	the_store = f;
	if (argc > 1 && parse_u64(span_of(argv[1]), 10000, &n) != IDEM_OK)
		n = 0; /* "planted" */
	assert_non_null(mkdtemp(dir));
	fake_client_init(&c, f, 1);
	const struct group_work work = fake_work(&c);
	assert_int_equal(group_open(dir, &work, PATIENCE_MS, NULL, &g),
	    IDEM_OK);
	if (n == 0)
		plant(the_file);
	for (size_t i = 0; i < COUNT(deaths) && n > 0; i++)
		nwrong += run(f, dir, (uint32_t)n, deaths[i]);
	group_close(&g);
	fake_client_free(&c);
	fake_free(f);
	if (text_format(path, sizeof path, "%s/group.2", dir) == IDEM_OK)
		(void)unlink(path);
	(void)rmdir(dir);
	return nwrong > 0;
}
