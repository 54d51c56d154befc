/*
 * stage.c - what each test of the group commit has: a store that counts, a
 * directory, puppets; and how a test has them meet.
 */
#include "stage.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "folder.h"

struct group_shared *
group_peek(const char *dir)
{
	char path[100];
	struct group_shared *s;
	int fd;

	assert_int_equal(text_format(path, sizeof path, "%s/group.2", dir),
	    IDEM_OK);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	(void)close(fd);
	assert_ptr_not_equal(s, MAP_FAILED);
	return s;
}

void
group_unpeek(struct group_shared **s)
{
	assert_int_equal(munmap(*s, sizeof **s), 0);
	*s = NULL;
}

void
group_until(struct group_shared *s, uint32_t slot, enum group_state state)
{
	const struct timespec t = { .tv_nsec = 200000 };
	int64_t end = io_steady_ms() + PATIENCE_MS;

	/* a word that others wake for their own sake cannot be slept on */
	while (WORD_STATE(s->slot[slot].word) != state) {
		assert_true(io_steady_ms() < end);
		(void)nanosleep(&t, NULL);
	}
}

int
stage_set(void **state)
{
	struct stage *s = calloc(1, sizeof *s);

	assert_non_null(s);
	s->fake = fake_make();
	assert_int_equal(text_format(s->dir, sizeof s->dir,
	    "/tmp/idem-group.XXXXXX"), IDEM_OK);
	assert_non_null(mkdtemp(s->dir));
	*state = s;
	return 0;
}

int
stage_strike(void **state)
{
	struct stage *s = *state;

	tree_remove(s->dir);
	fake_free(s->fake);
	free(s);
	return 0;
}

struct puppet *
puppet_open(struct stage *s, uint8_t program, int64_t wait_ms)
{
	struct puppet *p = puppet_make(s->fake, s->dir, program);
	struct puppet_reply r = puppet_ask(p, (struct puppet_order){
	    .verb = PUPPET_OPEN, .wait_ms = wait_ms, .net_ms = s->net_ms });

	assert_int_equal(r.err, IDEM_OK);
	return p;
}

struct puppet_order
order(uint32_t id, enum fake_kind kind)
{
	return (struct puppet_order){ .verb = PUPPET_SUBMIT, .request = {
	    .id = id, .nonce = id * 7 + 1, .kind = (uint8_t)kind } };
}

struct puppet_order
order_of(uint32_t id, uint8_t program)
{
	struct puppet_order o = order(id, FAKE_ADD);

	o.request.program = program;
	return o;
}

struct puppet_order
arm(const char *spec)
{
	struct puppet_order o = { .verb = PUPPET_ARM };

	assert_int_equal(text_format(o.text, sizeof o.text, "%s", spec),
	    IDEM_OK);
	return o;
}

void
assert_outcome(struct puppet_reply r, uint32_t id, enum fake_outcome outcome)
{
	assert_int_equal(r.err, IDEM_OK);
	assert_int_equal(r.result.outcome, outcome);
	assert_int_equal(r.result.id, id);
	assert_int_equal(r.result.nonce, id * 7 + 1);
	assert_int_equal(r.durable, outcome == FAKE_DID);
}

void
assert_failed(struct puppet_reply r, enum idem_err err)
{
	assert_int_equal(r.err, IDEM_OK);
	assert_int_equal(r.result.outcome, FAKE_FAILED);
	assert_int_equal(r.result.err, err);
	assert_false(r.durable);
}

void
assert_ends(struct puppet *p)
{
	assert_int_equal(puppet_end(&p), 0);
}

void
stage_lead(struct stage *s, struct puppet *p, struct puppet_order o)
{
	const struct timespec t = { .tv_nsec = 200000 };
	int64_t end = io_steady_ms() + PATIENCE_MS;
	uint32_t before = s->fake->nbegins;

	assert_int_equal(pthread_mutex_lock(&s->fake->writer), 0);
	puppet_tell(p, o);
	while (s->fake->nbegins == before) {
		assert_true(io_steady_ms() < end);
		(void)nanosleep(&t, NULL);
	}
}

void
stage_go(struct stage *s)
{
	assert_int_equal(pthread_mutex_unlock(&s->fake->writer), 0);
}

void
stage_gather(struct stage *s, struct group_shared *shared,
    struct puppet **p, const struct puppet_order *o, size_t n)
{
	stage_lead(s, p[0], o[0]);
	for (size_t i = 1; i < n; i++) {
		puppet_tell(p[i], o[i]);
		group_until(shared, (uint32_t)i, GROUP_PENDING);
	}
	stage_go(s);
}
