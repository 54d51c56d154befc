/*
 * test_store_group.c - the LMDB back end as a member of the group commit: what
 * others left in the shared file, long answers, full maps and disks, memory.
 */
#include "storekit.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "stage.h"
#include "store/lmdb_store.h"

#define KIB 1024

static int
setup(void **state)
{
	static struct kit kit;

	kit_make(&kit, false);
	kit.durable = true;
	*state = &kit;
	return 0;
}

static int
teardown(void **state)
{
	struct kit *k = *state;

	idem_store_close(&k->store);
	/* where a test failed with its disk mounted */
	(void)umount2(kit_path(k, "store"), MNT_DETACH);
	kit_close(k);
	return 0;
}

/* A slot whose owner died, and what it says was never written by us. */
static void
a_request_that_does_not_decode(void **state)
{
	static const struct step first[] = {
		{ CLAIM, 'a', '1', .verdict = IDEM_CLAIMED },
	};
	static const struct step second[] = {
		{ CLAIM, 'b', '2', .verdict = IDEM_CLAIMED, .walk = "1aR 2bR" },
	};
	struct kit *k = *state;
	struct group_shared *shared;

	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	KIT_RUN(k, first);
	shared = group_peek(kit_path(k, "store"));
	memcpy(shared->payload[5].request, "junk", 4);
	shared->slot[5].nrequest = 4;
	shared->nslots = 6;
	shared->slot[5].word = WORD(1, GROUP_PENDING);
	KIT_RUN(k, second);
	assert_int_equal(shared->slot[5].word, WORD(1, GROUP_DONE));
	assert_int_equal(shared->slot[5].nresult, 7);
	assert_memory_equal(shared->payload[5].result,
	    "\x0b" "\0" "\0" "\0\0\0\0", 7); /* IDEM_ECORRUPT, no verdict */
	group_unpeek(&shared);
}

/* An answer under a key of this number. */
static enum idem_err
store_answer(struct kit *k, unsigned char key, size_t bytes)
{
	static char answer[512 * KIB];
	struct step s = { ONCE, .token = '9', .max_keys = 1000000 };
	struct idem_op op;

	kit_op(k, &s, &op);
	memset(answer, 'x', bytes);
	op.input = (struct idem_span){ answer, bytes };
	op.kept_bytes = bytes;
	op.id[0] = key;
	return idem_store_submit(k->store, &op);
}

static size_t
times_logged(const struct kit *k, const char *text)
{
	struct idem_span rest = idem_buf_span(&k->lines), line;
	size_t n = 0;

	while (span_next(&rest, '\n', &line))
		n += line.n > 0 &&
		    memmem(line.p, line.n, text, strlen(text)) != NULL;
	return n;
}

/* The batch is tried once more with its leader's request alone; the map, which
 * is not what is full, stays as it is. */
static void
a_full_disk(void **state)
{
	struct kit *k = *state;
	enum idem_err err = IDEM_OK;
	unsigned char key = 0;

	assert_int_equal(mkdir(kit_path(k, "store"), 0700), 0);
	if (mount("tmpfs", kit_path(k, "store"), "tmpfs", 0,
	    "size=12m,mode=0700") != 0) {
		print_message("SKIPPED: a small disk cannot be mounted here\n");
		skip();
	}
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	while (err == IDEM_OK && key < 100)
		err = store_answer(k, ++key, 256 * KIB);
	assert_int_equal(err, IDEM_EFULL);
	assert_in_range(key, 5, 16);
	assert_int_equal(times_logged(k, "/store: commit: No space left on "
	    "device: make room on the disk"), 2);
	assert_int_equal(times_logged(k, "MDB_MAP_FULL"), 0);
	assert_int_equal(mount("tmpfs", kit_path(k, "store"), "tmpfs",
	    MS_REMOUNT, "size=14m"), 0);
	assert_int_equal(store_answer(k, key, 256 * KIB), IDEM_OK);
	idem_store_close(&k->store);
	assert_int_equal(umount(kit_path(k, "store")), 0);
}

static void
a_large_operation_leaves_no_large_buffers(void **state)
{
	struct kit *k = *state;
	const struct lmdb_store *s;

	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	s = k->store->self;
	assert_int_equal(store_answer(k, 1, 512 * KIB), IDEM_OK);
	assert_in_range(s->request.cap, 0, 256 * KIB);
	assert_in_range(s->result.cap, 0, 256 * KIB);
	assert_in_range(s->answer.cap, 0, 256 * KIB);
	assert_int_equal(store_answer(k, 2, 512 * KIB), IDEM_OK);
}

/* Counts its calls that stay in a row of table 0, and answers as many bytes as
 * its input's number says. */
static enum idem_err
count_and_answer(void *arg, struct idem_tables *t, const struct idem_op *op,
    struct idem_buf *answer, struct idem_applied *out)
{
	struct idem_span had;
	uint64_t nbytes;
	char count;

	(void)arg; /* the kit's own; not needed */
	assert_int_equal(idem_tables_get(t, 0, IDEM_LIT("n"), &had), IDEM_OK);
	count = had.n == 0 ? 'a' : (char)(had.p[0] + 1);
	assert_int_equal(idem_tables_put(t, 0, IDEM_LIT("n"),
	    (struct idem_span){ &count, 1 }), IDEM_OK);
	assert_int_equal(parse_u64(op->input, SIZE_MAX, &nbytes), IDEM_OK);
	for (uint64_t i = 0; i < nbytes; i++)
		idem_buf_putc(answer, count);
	*out = (struct idem_applied){ .effect = IDEM_DONE,
		.kept_bytes = answer->n };
	return IDEM_OK;
}

/* A slot holds an outcome of 4,096 bytes, 7 of them beside the answer. */
static void
answers_that_fit_no_slot(void **state)
{
	static const struct {
		const char *nbytes;
		size_t want;
		const char *table;
	} rows[] = { { "4088", 4088, "n=a" }, { "4089", 4089, "n=b" },
		{ "4090", 4090, "n=c" }, { "300000", 300000, "n=d" },
		{ "1", 1, "n=e" } };
	struct kit *k = *state;

	k->apply = count_and_answer;
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct step see[] = { { SEE, .table = rows[i].table } };
		struct step s = { .what = ONCE, .key = (char)('A' + i) };
		struct idem_op op;

		s.script = rows[i].nbytes;
		for (int again = 0; again < 2; again++) {
			kit_op(k, &s, &op);
			assert_int_equal(idem_store_submit(k->store, &op),
			    IDEM_OK);
			assert_int_equal(op.verdict, again ? IDEM_REPLAY :
			    IDEM_STORED);
			assert_int_equal(op.answer->n, rows[i].want);
			assert_int_equal(op.answer->p[op.answer->n - 1],
			    rows[i].table[2]);
		}
		KIT_RUN(k, see);
	}
	k->apply = NULL;
}

/* A process that was stopped while it led, or died with the file overwritten:
 * the log says what there is to do. */
static void
a_leader_that_stands_still(void **state)
{
	struct kit *k = *state;
	struct group_shared *shared;

	k->wait_ms = 30;
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	assert_int_equal(store_answer(k, 1, 1), IDEM_OK);
	shared = group_peek(kit_path(k, "store"));
	assert_true(group_lock(shared, 0));
	assert_int_equal(store_answer(k, 2, 1), IDEM_EBUSY);
	assert_int_equal(times_logged(k, "/store: nobody has committed for "
	    "IDEM_STORE_WAIT: a program that uses the store was stopped"), 1);
	group_unlock(shared);
	assert_int_equal(store_answer(k, 2, 1), IDEM_OK);
	group_unpeek(&shared);
}

/* A handler that answers at length to a short request, and counts. */
static enum idem_err
long_answer(void *arg, struct idem_tables *t, const struct idem_op *op,
    struct idem_buf *answer, struct idem_applied *out)
{
	static const struct idem_span key = IDEM_LIT_INIT("ran");
	struct idem_span before;
	char count[2] = { '1', '\0' };
	enum idem_err err;

	(void)arg;
	(void)op;
	if ((err = idem_tables_get(t, 0, key, &before)) != IDEM_OK)
		return err;
	if (before.n == 1)
		count[0] = (char)(before.p[0] + 1);
	for (int i = 0; i < 5000; i++)
		idem_buf_putc(answer, 'x');
	*out = (struct idem_applied){ .effect = IDEM_DONE, .kept_bytes = 5000 };
	return idem_tables_put(t, 0, key, span_of(count));
}

/* What fits no slot was not done: who asked does it, leading. */
static void
an_answer_longer_than_a_slot(void **state)
{
	static const struct step after[] = {
		{ SEE, .walk = "1aD", .table = "ran=1" },
	};
	const enum kit_do kinds[] = { ONCE, CLAIM };
	const enum idem_verdict verdicts[] = { IDEM_STORED, IDEM_REPLAY };
	struct kit *k = *state;

	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	k->apply = long_answer;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct step s = { .what = kinds[i], .key = 'a',
			.token = '1' };
		struct idem_op op;

		kit_op(k, &s, &op);
		op.apply = kinds[i] == ONCE;
		assert_int_equal(idem_store_submit(k->store, &op), IDEM_OK);
		assert_int_equal(op.verdict, verdicts[i]);
		assert_int_equal(k->answer.n, 5000);
		assert_int_equal(k->answer.p[4999], 'x');
		KIT_RUN(k, after);
	}
}

static void
the_map_grows_under_a_batch(void **state)
{
	struct kit *k = *state;
	struct idem_room room;

	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	for (unsigned char key = 1; key <= 40; key++)
		assert_int_equal(store_answer(k, key, 512 * KIB), IDEM_OK);
	assert_int_equal(idem_store_room(k->store, &room), IDEM_OK);
	assert_true(room.used_bytes > 20 << 20);
	assert_int_equal(room.nrecords, 40);
}

/* Nothing new begins near the limit; what runs has room up to twice that. */
static void
a_full_store(void **state)
{
	static const struct step before[] = {
		{ CLAIM, 'a', '1', .verdict = IDEM_CLAIMED },
		{ CLAIM, 'b', '2', .verdict = IDEM_CLAIMED },
		{ CLAIM, 'c', '3', .verdict = IDEM_CLAIMED },
	};
	static const struct step full[] = {
		{ CLAIM, 'd', '4', .err = IDEM_EFULL },
		{ FINISH, 'a', '1', .input = "a", .verdict = IDEM_STORED },
	};
	static char beyond[5 * 1024 * KIB];
	struct step s = { .what = FINISH, .key = 'b', .token = '2' };
	struct step t = { .what = FINISH, .key = 'c', .token = '3' };
	struct kit *k = *state;
	struct idem_op op;
	enum idem_err err = IDEM_OK;
	unsigned char key = 0;

	k->max_bytes = 2048 * KIB;
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	KIT_RUN(k, before);
	while (err == IDEM_OK && key < 100)
		err = store_answer(k, ++key, 128 * KIB);
	assert_int_equal(err, IDEM_EFULL);
	kit_logged(k, "the store is full: IDEM_MAX_STORE=2097152 is met, ");
	KIT_RUN(k, full);
	kit_op(k, &s, &op);
	op.input = (struct idem_span){ beyond, 1024 * KIB };
	op.kept_bytes = 1024 * KIB;
	assert_int_equal(idem_store_submit(k->store, &op), IDEM_OK);
	assert_int_equal(op.verdict, IDEM_STORED);
	/* the work is done, so "full" would be the wrong thing to say */
	kit_op(k, &t, &op);
	op.input = (struct idem_span){ beyond, sizeof beyond };
	op.kept_bytes = sizeof beyond;
	assert_int_equal(idem_store_submit(k->store, &op), IDEM_ESTORE);
	assert_true(idem_store_alive(k->store, op.token));
}

/* Too many processes: the next write asks for a slot again, instead of going
 * without the group for ever. */
static void
no_free_slot(void **state)
{
	static const struct step busy[] = {
		{ CLAIM, 'a', '1', .err = IDEM_EBUSY },
	};
	static const struct step free_again[] = {
		{ CLAIM, 'a', '1', .verdict = IDEM_CLAIMED, .walk = "1aR" },
	};
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET,
		.l_start = ((off_t)1 << 40) + 16, .l_len = 1024 };
	struct kit *k = *state;
	const struct lmdb_store *s;
	int fd;

	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	fd = open(kit_path(k, "store/group.2"), O_RDWR | O_CREAT | O_CLOEXEC,
	    0600);
	assert_int_equal(fcntl(fd, F_OFD_SETLK, &l), 0);
	KIT_RUN(k, busy);
	kit_logged(k, "/store/group.2: no group commit: no free slot: too many "
	    "processes");
	assert_int_equal(close(fd), 0);
	KIT_RUN(k, free_again);
	s = k->store->self;
	assert_non_null(s->group);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(a_request_that_does_not_decode),
		TEST(a_full_disk),
		TEST(a_large_operation_leaves_no_large_buffers),
		TEST(answers_that_fit_no_slot),
		TEST(a_leader_that_stands_still),
		TEST(an_answer_longer_than_a_slot),
		TEST(the_map_grows_under_a_batch),
		TEST(a_full_store),
		TEST(no_free_slot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
