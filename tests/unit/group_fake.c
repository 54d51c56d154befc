/*
 * group_fake.c - a store for the tests of the group commit.
 */
#include "tests.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "group_fake.h"

static void
make_lock(pthread_mutex_t *m)
{
	pthread_mutexattr_t a;

	assert_int_equal(pthread_mutexattr_init(&a), 0);
	assert_int_equal(pthread_mutexattr_setpshared(&a,
	    PTHREAD_PROCESS_SHARED), 0);
	assert_int_equal(pthread_mutexattr_setrobust(&a,
	    PTHREAD_MUTEX_ROBUST), 0);
	assert_int_equal(pthread_mutex_init(m, &a), 0);
}

struct fake *
fake_make(void)
{
	struct fake *f = mmap(NULL, sizeof *f, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(f, MAP_FAILED);
	make_lock(&f->writer);
	f->room = UINT64_MAX;
	return f;
}

void
fake_free(struct fake *f)
{
	assert_int_equal(munmap(f, sizeof *f), 0);
}

static void
writer_in(struct fake *f)
{
	if (pthread_mutex_lock(&f->writer) == EOWNERDEAD)
		(void)pthread_mutex_consistent(&f->writer);
}

static void
writer_out(struct fake *f)
{
	(void)pthread_mutex_unlock(&f->writer);
}

static void
cut_off(struct fake_client *c, enum fake_step here)
{
	if (c->die_at == here && --c->nth == 0)
		(void)kill(getpid(), SIGKILL);
}

/* What is visible becomes durable; never back to an older one. */
static void
harden(struct fake *f)
{
	uint64_t v = f->visible, d = f->durable;

	while (d < v && !atomic_compare_exchange_weak(&f->durable, &d, v))
		continue;
}

static enum idem_err
fake_begin(void *arg)
{
	struct fake_client *c = arg;
	struct fake *f = c->fake;

	if (c->sick)
		return IDEM_EIO;
	if (f->begin_err != IDEM_OK)
		return (enum idem_err)f->begin_err;
	f->nbegins++;
	writer_in(f);
	memcpy(c->work, &f->image[f->visible & 3], sizeof *c->work);
	return IDEM_OK;
}

static void
answer(struct idem_buf *result, const struct fake_request *r,
    enum fake_outcome outcome)
{
	const struct fake_result a = { r->id, r->nonce, outcome, IDEM_OK };

	idem_buf_reset(result);
	idem_buf_put(result, &a, sizeof a);
}

/* A result that needs more room than it may have is known before anything is
 * kept. */
static enum idem_err
answer_long(struct fake_client *c, const struct fake_request *r,
    struct idem_buf *result)
{
	static const char zeros[FAKE_LONG_BYTES];

	answer(result, r, FAKE_DID);
	idem_buf_put(result, zeros, FAKE_LONG_BYTES - result->n);
	if (r->kind == FAKE_LONG && idem_buf_err(result) != IDEM_OK) {
		c->work->times[r->id]--;
		answer(result, r, FAKE_TOO_LONG);
	}
	return IDEM_OK;
}

static enum idem_err
fake_run(void *arg, struct idem_span request, struct idem_buf *result)
{
	struct fake_client *c = arg;
	struct fake_request r;

	if (request.n < sizeof r) {
		r = (struct fake_request){ .id = 0 };
		answer(result, &r, FAKE_REFUSED);
		return IDEM_OK;
	}
	memcpy(&r, request.p, sizeof r);
	if (r.weight > c->fake->room - c->work->used)
		return IDEM_EFULL;
	c->work->times[r.id]++;
	switch ((enum fake_kind)r.kind) {
	case FAKE_REFUSE:
		c->work->times[r.id]--;
		answer(result, &r, FAKE_REFUSED);
		return IDEM_OK;
	case FAKE_SPOIL:
		return IDEM_ECORRUPT;
	case FAKE_CRASH:
		(void)kill(getpid(), SIGKILL);
		return IDEM_ESTORE;
	case FAKE_LONG:
	case FAKE_CARELESS:
		return answer_long(c, &r, result);
	case FAKE_ADD:
		break;
	}
	c->work->used += r.weight;
	answer(result, &r, FAKE_DID);
	return IDEM_OK;
}

static void
fake_failed(void *arg, enum idem_err err, struct idem_buf *result)
{
	const struct fake_result a = { 0, 0, FAKE_FAILED, err };

	(void)arg; /* a callback's */
	idem_buf_put(result, &a, sizeof a);
}

static enum idem_err
fake_mark(void *arg, const unsigned char batch[GROUP_BATCH_BYTES])
{
	struct fake_client *c = arg;

	if (c->fake->mark_err != IDEM_OK)
		return (enum idem_err)c->fake->mark_err;
	group_marks_set(c->work->marks, batch);
	return IDEM_OK;
}

static void
fake_abort(void *arg)
{
	struct fake_client *c = arg;

	writer_out(c->fake);
}

static enum idem_err
fake_commit(void *arg)
{
	struct fake_client *c = arg;
	struct fake *f = c->fake;
	uint64_t v = f->visible, d = f->durable, k = 0;
	struct timespec t = { .tv_nsec = (long)f->commit_us * 1000 };

	if (f->commit_err != IDEM_OK) {
		enum idem_err err = (enum idem_err)f->commit_err;

		if (f->once)
			f->commit_err = IDEM_OK;
		writer_out(f);
		return err;
	}
	while (k == (v & 3) || k == (d & 3))
		k++;
	memcpy(&f->image[k], c->work, sizeof *c->work);
	cut_off(c, FAKE_WRITTEN);
	f->visible = ((v >> 2) + 1) << 2 | k;
	cut_off(c, FAKE_VISIBLE);
	if (f->commit_us > 0)
		(void)nanosleep(&t, NULL); /* the disk */
	harden(f);
	cut_off(c, FAKE_DURABLE);
	writer_out(f);
	return IDEM_OK;
}

static enum idem_err
fake_grow(void *arg)
{
	struct fake *f = ((struct fake_client *)arg)->fake;

	if (f->grow_to <= f->room)
		return IDEM_EFULL;
	f->room = f->grow_to;
	return IDEM_OK;
}

static enum idem_err
fake_flush(void *arg)
{
	struct fake *f = ((struct fake_client *)arg)->fake;

	if (f->flush_err != IDEM_OK)
		return (enum idem_err)f->flush_err;
	f->nflushes++;
	harden(f);
	return IDEM_OK;
}

static enum idem_err
fake_find(void *arg, const unsigned char batch[GROUP_BATCH_BYTES],
    bool *committed)
{
	struct fake *f = ((struct fake_client *)arg)->fake;

	if (f->find_err != IDEM_OK)
		return (enum idem_err)f->find_err;
	writer_in(f);
	*committed = group_marks_have(f->image[f->visible & 3].marks, batch);
	writer_out(f);
	return IDEM_OK;
}

static bool
fake_mine(void *arg, struct idem_span request)
{
	struct fake_client *c = arg;
	struct fake_request r;

	if (request.n < sizeof r)
		return true;
	memcpy(&r, request.p, sizeof r);
	return r.program == 0 || r.program == c->program;
}

void
fake_client_init(struct fake_client *c, struct fake *f, uint8_t program)
{
	*c = (struct fake_client){ .fake = f, .program = program,
		.work = malloc(sizeof *c->work) };
	assert_non_null(c->work);
}

void
fake_client_free(struct fake_client *c)
{
	free(c->work);
	c->work = NULL;
}

struct group_work
fake_work(struct fake_client *c)
{
	return (struct group_work){ .arg = c, .begin = fake_begin,
		.run = fake_run, .failed = fake_failed, .mark = fake_mark,
		.commit = fake_commit, .abort = fake_abort, .grow = fake_grow,
		.flush = fake_flush, .find = fake_find, .mine = fake_mine };
}

uint8_t
fake_times(const struct fake *f, uint32_t id)
{
	return f->image[f->visible & 3].times[id];
}

uint8_t
fake_times_durable(const struct fake *f, uint32_t id)
{
	return f->image[f->durable & 3].times[id];
}

void
fake_power_cut(struct fake *f)
{
	f->visible = f->durable;
	memset(&f->writer, 0, sizeof f->writer);
	make_lock(&f->writer);
}
