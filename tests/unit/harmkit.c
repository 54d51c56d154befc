/*
 * harmkit.c - a store in a folder of its own that a test harms.
 */
#include "harmkit.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/io.h"

int
harm_set(void **state)
{
	static struct kit kit;

	kit_make(&kit, false);
	*state = &kit;
	return 0;
}

int
harm_strike(void **state)
{
	struct kit *k = *state;

	idem_store_close(&k->store);
	/* where a test failed with its disk mounted */
	(void)umount2(kit_path(k, "store"), MNT_DETACH);
	kit_close(k);
	return 0;
}

void
harm_two_records(struct kit *k)
{
	static const struct step two[] = {
		{ ONCE, 'a', '1', .input = "answer of a",
		    .verdict = IDEM_STORED },
		{ CLAIM, 'b', '2', .verdict = IDEM_CLAIMED, .walk = "1aD 2bR" },
	};

	KIT_RUN(k, two);
}

void
harm_make_store(struct kit *k)
{
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
	harm_two_records(k);
	idem_store_close(&k->store);
}

size_t
harm_patch(struct kit *k, struct idem_span from, struct idem_span to)
{
	struct idem_buf b;
	char *at, *end;
	size_t n = 0;
	int fd;

	assert_int_equal(from.n, to.n);
	idem_buf_init(&b, 1 << 26);
	assert_int_equal(io_read_file(kit_path(k, "store/data.mdb"), &b),
	    IDEM_OK);
	end = b.p + b.n;
	for (at = b.p; (at = memmem(at, (size_t)(end - at), from.p, from.n)) !=
	    NULL; n++)
		memcpy(at, to.p, to.n);
	fd = open(kit_path(k, "store/data.mdb"), O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(io_write(fd, b.p, b.n), IDEM_OK);
	close(fd);
	idem_buf_free(&b);
	return n;
}

void
harm_overwrite(struct kit *k, off_t at, size_t n)
{
	static const char garbage[8192] = { 'g', 'a', 'r' };
	int fd = open(kit_path(k, "store/data.mdb"), O_WRONLY);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, garbage, n, at), n);
	close(fd);
}

size_t
harm_fill(struct kit *k, enum idem_err err)
{
	static char answer[8 * KIB];
	struct step s = { ONCE, .token = '9', .max_keys = 1000000 };
	struct idem_op op;
	enum idem_err got;

	memset(answer, 'x', sizeof answer);
	for (size_t n = 0; n < 100000; n++) {
		kit_op(k, &s, &op);
		op.input = (struct idem_span){ answer, sizeof answer };
		op.kept_bytes = sizeof answer;
		op.id[0] = 1;
		op.id[1] = (unsigned char)(n >> 16);
		op.id[2] = (unsigned char)(n >> 8);
		op.id[3] = (unsigned char)n;
		got = idem_store_submit(k->store, &op);
		if (got != IDEM_OK) {
			assert_int_equal(got, err);
			return n;
		}
		assert_int_equal(op.verdict, IDEM_STORED);
	}
	fail();
	return 0;
}

void
harm_sweep_all(struct kit *k, int64_t now_ms, uint64_t nexpired)
{
	struct idem_sweep sweep = { .from = 0 };

	do {
		assert_int_equal(idem_store_sweep(k->store, now_ms, 0, 10,
		    &sweep), IDEM_OK);
	} while (sweep.more);
	assert_int_equal(sweep.nexpired, nexpired);
}
