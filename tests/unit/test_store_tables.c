/*
 * test_store_tables.c - the store's contract: an application's own tables.
 */
#include "contract.h"

#include "base/bytes.h"

/* Keys with bytes of every kind come back in order of their bytes. */
static enum idem_err
fill_tables(void *arg, struct idem_tables *t, const struct idem_op *op,
    struct idem_buf *answer, struct idem_applied *out)
{
	static const struct idem_span keys[] = {
		IDEM_LIT_INIT("b"), IDEM_LIT_INIT("a\0b"), IDEM_LIT_INIT("\0"),
		IDEM_LIT_INIT("\xff"), IDEM_LIT_INIT("a"),
		IDEM_LIT_INIT("ab"),
	};
	static const char big[511] = { 'z' };
	struct idem_span got;

	(void)arg;
	(void)op;
	(void)answer;
	for (size_t i = 0; i < COUNT(keys); i++)
		assert_int_equal(idem_tables_put(t, 0, keys[i], keys[i]),
		    IDEM_OK);
	/* reads see the transaction's own writes */
	assert_int_equal(idem_tables_get(t, 0, IDEM_LIT("a\0b"), &got),
	    IDEM_OK);
	assert_span(got, IDEM_LIT("a\0b"));
	assert_int_equal(idem_tables_put(t, 1,
	    (struct idem_span){ big, sizeof big }, IDEM_LIT("")), IDEM_OK);
	assert_int_equal(idem_tables_get(t, 1,
	    (struct idem_span){ big, sizeof big }, &got), IDEM_OK);
	assert_span(got, IDEM_LIT(""));
	assert_int_equal(idem_tables_del(t, 0, IDEM_LIT("b")), IDEM_OK);
	assert_int_equal(idem_tables_get(t, 0, IDEM_LIT("b"), &got), IDEM_OK);
	assert_null(got.p);
	*out = (struct idem_applied){ .effect = IDEM_DONE };
	return IDEM_OK;
}

static bool
join(void *arg, struct idem_span key, struct idem_span value)
{
	struct idem_buf *out = arg;

	assert_span(value, key);
	wr_run(out, key);
	return out->n < 30;
}

static enum idem_err
read_tables(void *arg, struct idem_tables *t)
{
	struct idem_buf *out = arg;
	struct idem_span key, value;

	assert_int_equal(idem_tables_each(t, 0, IDEM_ABSENT, join, out),
	    IDEM_OK);
	assert_span(idem_buf_span(out), IDEM_LIT("\0\0\0\1\0" "\0\0\0\1a"
	    "\0\0\0\3a\0b" "\0\0\0\2ab" "\0\0\0\1\xff"));
	idem_buf_reset(out);
	assert_int_equal(idem_tables_each(t, 0, IDEM_LIT("aa"), join, out),
	    IDEM_OK);
	assert_span(idem_buf_span(out), IDEM_LIT("\0\0\0\2ab" "\0\0\0\1\xff"));
	idem_buf_reset(out);
	assert_int_equal(idem_tables_each(t, 0, IDEM_LIT("\xff\xff"), join,
	    out), IDEM_OK);
	assert_int_equal(out->n, 0);
	assert_int_equal(idem_tables_last(t, 0, &key, &value), IDEM_OK);
	assert_span(key, IDEM_LIT("\xff"));
	assert_span(value, IDEM_LIT("\xff"));
	assert_int_equal(idem_tables_last(t, 1, &key, &value), IDEM_OK);
	assert_int_equal(key.n, 511);
	assert_span(value, IDEM_LIT(""));
	return IDEM_EINEXACT; /* comes out as it is */
}

static enum idem_err
read_empty(void *arg, struct idem_tables *t)
{
	struct idem_span key, value;

	(void)arg;
	assert_int_equal(idem_tables_last(t, 1, &key, &value), IDEM_OK);
	assert_null(key.p);
	assert_null(value.p);
	assert_int_equal(idem_tables_get(t, 1, IDEM_LIT("x"), &value),
	    IDEM_OK);
	assert_null(value.p);
	return IDEM_OK;
}

static void
tables_are_ordered_bytewise(struct kit *k)
{
	static const struct step fill[] = {
		{ APPLY, .script = "done", .verdict = IDEM_STORED },
	};
	struct idem_buf out;

	idem_buf_init(&out, 1000);
	assert_int_equal(idem_store_read(k->store, read_empty, NULL), IDEM_OK);
	k->apply = fill_tables;
	KIT_RUN(k, fill);
	assert_int_equal(idem_store_read(k->store, read_tables, &out),
	    IDEM_EINEXACT);
	idem_buf_free(&out);
}

static void
undo_puts_everything_back(struct kit *k)
{
	static const struct step steps[] = {
		{ APPLY, .script = "put 0 a 1\nput 0 b 2\nput 0 c 3",
		    .verdict = IDEM_STORED, .table = "a=1 b=2 c=3" },
		{ APPLY, .script = "put 0 a x\nput 0 a y\ndel 0 b\nput 0 b z\n"
		    "del 0 c\nput 0 d 4\ndel 0 d\nput 0 d 5\nundo",
		    .verdict = IDEM_STORED, .table = "a=1 b=2 c=3" },
		{ APPLY, .script = "put 0 a x\nput 0 a y\ndel 0 b\nput 0 b z\n"
		    "del 0 c\nput 0 d 4\ndel 0 d\nput 0 d 5",
		    .verdict = IDEM_STORED, .table = "a=y b=z d=5" },
	};

	KIT_RUN(k, steps);
}

int
main(void)
{
	static const struct contract_case cases[] = {
		CASE(tables_are_ordered_bytewise),
		CASE(undo_puts_everything_back),
	};

	return CONTRACT_RUN(cases);
}
