/*
 * test_store_group.c - the LMDB back end as a member of the group commit: what
 * others left in the shared file, a full disk, memory between two operations.
 */
#include "storekit.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "base/text.h"
#include "puppet.h"
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

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(a_request_that_does_not_decode),
		TEST(a_full_disk),
		TEST(a_large_operation_leaves_no_large_buffers),
		TEST(a_leader_that_stands_still),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
