/*
 * test_store_index.c - bits of the index's keys flipped under an open store: no
 * key that has a record ever counts as a new one.
 */
#include "storekit.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/io.h"

#define NIDS 240 /* several pages of the index, and the one above them */
#define NPLACES 4000

/* Where a key of the index stands in the file. */
struct place {
	size_t at;
	bool above; /* between two pages, not beside its number */
};

struct index {
	struct kit k;
	unsigned char id[NIDS][IDEM_ID_BYTES];
	struct place place[NPLACES];
	size_t nplaces;
	int fd;
};

static enum idem_err
ask(struct index *x, size_t i, enum idem_op_kind kind,
    enum idem_verdict *verdict)
{
	const struct step s = { CLAIM, 'x', 't', .input = "done",
		.max_keys = 1000 };
	struct idem_op op;
	enum idem_err err;

	kit_op(&x->k, &s, &op);
	op.kind = kind;
	memcpy(op.id, x->id[i], sizeof op.id);
	err = idem_store_submit(x->k.store, &op);
	*verdict = op.verdict;
	return err;
}

static void
fill(struct index *x)
{
	uint64_t random = 42;

	for (size_t i = 0; i < NIDS; i++) {
		enum idem_verdict verdict;

		for (size_t b = 0; b < IDEM_ID_BYTES; b++) {
			random = random * UINT64_C(6364136223846793005) + 1;
			x->id[i][b] = (unsigned char)(random >> 56);
		}
		assert_int_equal(ask(x, i, IDEM_OP_ONCE, &verdict), IDEM_OK);
		assert_int_equal(verdict, IDEM_STORED);
	}
}

/* Record number i + 1 is that of id[i].  A record has its id behind a head that
 * ends with recipe 1, seal 0 and flags 0. */
static void
find_places(struct index *x, struct idem_span file)
{
	for (size_t i = 0; i < NIDS; i++) {
		const char *at = file.p, *end = file.p + file.n;
		unsigned char number[8];

		u64_to_key(i + 1, number);
		while ((at = memmem(at, (size_t)(end - at), x->id[i],
		    IDEM_ID_BYTES)) != NULL) {
			bool leaf = memcmp(at + IDEM_ID_BYTES, number, 8) == 0;

			if (memcmp(at - 3, "\1\0\0", 3) != 0) {
				assert_true(x->nplaces < NPLACES);
				x->place[x->nplaces++] = (struct place){
					(size_t)(at - file.p), !leaf };
			}
			at++;
		}
	}
}

static void
flip(const struct index *x, size_t at, unsigned char bit)
{
	unsigned char byte;

	assert_int_equal(pread(x->fd, &byte, 1, (off_t)at), 1);
	byte ^= bit;
	assert_int_equal(pwrite(x->fd, &byte, 1, (off_t)at), 1);
}

/* Ask for everything: nothing is claimed; how many were found. */
static size_t
ask_all(struct index *x)
{
	size_t nfound = 0;

	for (size_t i = 0; i < NIDS; i++) {
		enum idem_verdict verdict;
		enum idem_err err = ask(x, i, IDEM_OP_CLAIM, &verdict);

		if (err == IDEM_OK)
			assert_int_equal(verdict, IDEM_REPLAY);
		else
			assert_int_equal(err, IDEM_ECORRUPT);
		nfound += err == IDEM_OK;
	}
	return nfound;
}

static void
no_key_becomes_a_new_one(void **state)
{
	static const struct {
		size_t byte;
		unsigned char bit;
	} bits[] = { { 0, 0x80 }, { 0, 0x08 }, { 0, 0x01 }, { 31, 0x01 } };
	static struct index x;
	struct idem_buf file;
	size_t nhurt = 0, nabove = 0;

	(void)state;
	kit_open(&x.k, false);
	fill(&x);
	x.fd = open(kit_path(&x.k, "store/data.mdb"), O_RDWR | O_CLOEXEC);
	assert_true(x.fd >= 0);
	idem_buf_init(&file, 1 << 26);
	assert_int_equal(io_read_all(x.fd, &file), IDEM_OK);
	find_places(&x, idem_buf_span(&file));
	assert_int_equal(ask_all(&x), NIDS);
	for (size_t p = 0; p < x.nplaces; p++)
		for (size_t b = 0; b < COUNT(bits); b++) {
			size_t at = x.place[p].at + bits[b].byte, nfound;

			/* a quarter of the many, all of the few */
			if (!x.place[p].above && (p + b) % 4 != 0)
				continue;
			flip(&x, at, bits[b].bit);
			idem_buf_reset(&x.k.lines);
			nfound = ask_all(&x);
			flip(&x, at, bits[b].bit);
			nhurt += nfound < NIDS;
			nabove += nfound < NIDS && x.place[p].above;
		}
	/* pages of old commits count for nothing, the others all do */
	assert_true(nhurt > 100);
	assert_true(nabove > 4);
	assert_int_equal(ask_all(&x), NIDS);
	close(x.fd);
	idem_buf_free(&file);
	kit_close(&x.k);
}

/* Only who meets the entry is told so, and in words. */
static void
the_damaged_entry_is_told(void **state)
{
	static const struct step before[] = {
		{ ONCE, 'c', '1', .input = "c", .verdict = IDEM_STORED },
		{ ONCE, 'g', '2', .input = "g", .verdict = IDEM_STORED },
		{ ONCE, 'm', '3', .input = "m", .verdict = IDEM_STORED },
		{ ONCE, 's', '4', .input = "s", .verdict = IDEM_STORED },
	};
	/* g became f in its last byte; what is claimed stays behind it */
	static const struct step after[] = {
		{ CLAIM, 'g', '5', .err = IDEM_ECORRUPT },
		{ ONCE, 'g', '5', .script = "put 0 x 1", .err = IDEM_ECORRUPT,
		    .table = "" },
		{ LOOK, 'g', .verdict = IDEM_ABSENT_KEY },
		{ CLAIM, 'd', '5', .err = IDEM_ECORRUPT },
		{ CLAIM, 'h', '5', .err = IDEM_ECORRUPT },
		{ CLAIM, 'c', '5', .verdict = IDEM_REPLAY, .answer = "c" },
		{ CLAIM, 'm', '5', .verdict = IDEM_REPLAY, .answer = "m" },
		{ CLAIM, 'b', '5', .verdict = IDEM_CLAIMED },
		{ CLAIM, 'n', '6', .verdict = IDEM_CLAIMED },
		{ CLAIM, 'z', '7', .verdict = IDEM_CLAIMED },
	};
	static const char g[] = "gggggggggggggggggggggggggggggggg"
	    "\0\0\0\0\0\0\0\2";
	struct idem_buf file;
	struct kit k;
	uint64_t nbad;
	const char *at, *end;
	int fd;

	(void)state;
	kit_open(&k, false);
	KIT_RUN(&k, before);
	fd = open(kit_path(&k, "store/data.mdb"), O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	idem_buf_init(&file, 1 << 26);
	assert_int_equal(io_read_all(fd, &file), IDEM_OK);
	end = file.p + file.n;
	for (at = file.p; (at = memmem(at, (size_t)(end - at), g, 40)) != NULL;
	    at++)
		assert_int_equal(pwrite(fd, "f", 1, at - file.p + 31), 1);
	close(fd);
	idem_buf_free(&file);
	KIT_RUN(&k, after);
	kit_logged(&k, "/store: the index of the keys is damaged: see \"idem "
	    "check\", and put a copy of the store in its place");
	assert_int_equal(idem_store_check(k.store, &nbad), IDEM_OK);
	assert_int_equal(nbad, 1);
	kit_logged(&k, "/store: record 2: the index does not lead to it");
	kit_close(&k);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_key_becomes_a_new_one),
		cmocka_unit_test(the_damaged_entry_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
