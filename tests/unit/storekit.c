/*
 * storekit.c - what the tests of the store share.
 */
#include "storekit.h"

#include <stdio.h>

#include "base/text.h"
#include "folder.h"

static void
keep_line(void *arg, enum idem_level level, const char *text)
{
	struct kit *k = arg;

	if (level == IDEM_INFO)
		return; /* nothing is wrong */
	idem_buf_puts(&k->lines, span_of(text));
	idem_buf_putc(&k->lines, '\n');
}

static struct idem_span
word(struct idem_span *rest)
{
	struct idem_span w = IDEM_ABSENT;

	assert_true(span_next(rest, ' ', &w));
	return w;
}

static unsigned
number(struct idem_span *rest)
{
	uint64_t n = 0;

	assert_int_equal(parse_u64(word(rest), 1000000, &n), IDEM_OK);
	return (unsigned)n;
}

static enum idem_err
line_of_script(struct idem_tables *t, struct idem_span line,
    struct idem_buf *answer, struct idem_applied *out)
{
	struct idem_span verb = word(&line), key;
	unsigned table;

	if (span_eq(verb, IDEM_LIT("put"))) {
		table = number(&line);
		key = word(&line);
		return idem_tables_put(t, table, key, line);
	}
	if (span_eq(verb, IDEM_LIT("del"))) {
		table = number(&line);
		return idem_tables_del(t, table, word(&line));
	}
	if (span_eq(verb, IDEM_LIT("say")))
		idem_buf_puts(answer, line);
	else if (span_eq(verb, IDEM_LIT("keep")))
		out->kept_bytes = number(&line);
	else if (span_eq(verb, IDEM_LIT("undo")))
		out->undo = true;
	else if (span_eq(verb, IDEM_LIT("none")))
		out->effect = IDEM_NONE;
	else if (span_eq(verb, IDEM_LIT("hold")))
		out->effect = IDEM_HOLD;
	else if (span_eq(verb, IDEM_LIT("fail")))
		return IDEM_EINEXACT;
	else
		assert_true(span_eq(verb, IDEM_LIT("done")));
	return IDEM_OK;
}

static enum idem_err
kit_apply(void *arg, struct idem_tables *t, const struct idem_op *op,
    struct idem_buf *answer, struct idem_applied *out)
{
	const struct kit *k = arg;
	struct idem_span rest = op->input, line;
	enum idem_err err = IDEM_OK;

	assert_int_equal(op->apply, 1);
	if (k->apply != NULL)
		return k->apply(NULL, t, op, answer, out);
	out->effect = IDEM_DONE;
	out->undo = false;
	out->kept_bytes = SIZE_MAX;
	while (err == IDEM_OK && span_next(&rest, '\n', &line))
		err = line_of_script(t, line, answer, out);
	if (out->kept_bytes == SIZE_MAX)
		out->kept_bytes = answer->n;
	return err;
}

void
kit_make(struct kit *k, bool memory)
{
	const char *tmp = getenv("TMPDIR");

	memset(k, 0, sizeof *k);
	k->log = (struct idem_log){ keep_line, k };
	k->max_bytes = 64 << 20;
	idem_buf_init(&k->lines, 1 << 20);
	idem_buf_init(&k->answer, 1 << 20);
	if (memory)
		return;
	assert_int_equal(text_format(k->dir, sizeof k->dir, "%s/idem.XXXXXX",
	    tmp != NULL && strlen(tmp) < 40 ? tmp : "/tmp"), IDEM_OK);
	assert_non_null(mkdtemp(k->dir));
}

enum idem_err
kit_reopen(struct kit *k, bool create)
{
	static const char *const tables[] = { "first", "second" };
	struct idem_store_config config = {
		.place = span_of(k->dir[0] == '\0' ? "memory:" :
		    kit_path(k, "store")),
		.create = create,
		.durable = k->durable,
		.wait_ms = k->wait_ms,
		.max_bytes = k->max_bytes,
		.tables = tables,
		.ntables = COUNT(tables),
		.apply = kit_apply,
		.apply_arg = k,
		.program = 1,
		.log = &k->log,
	};

	idem_store_close(&k->store);
	return idem_store_open(&config, &k->store);
}

void
kit_open(struct kit *k, bool memory)
{
	kit_make(k, memory);
	assert_int_equal(kit_reopen(k, true), IDEM_OK);
}

const char *
kit_path(const struct kit *k, const char *name)
{
	static char path[512];

	assert_int_equal(text_format(path, sizeof path, "%s/%s", k->dir, name),
	    IDEM_OK);
	return path;
}

void
kit_remove(const struct kit *k, const char *name)
{
	char path[512];

	assert_int_equal(text_format(path, sizeof path, "%s/%s", k->dir, name),
	    IDEM_OK);
	tree_remove(path);
}

void
kit_close(struct kit *k)
{
	idem_store_close(&k->store);
	if (k->dir[0] != '\0')
		tree_remove(k->dir);
	idem_buf_free(&k->lines);
	idem_buf_free(&k->answer);
}

void
kit_logged(const struct kit *k, const char *text)
{
	struct idem_span lines = idem_buf_span(&k->lines);

	if (lines.n > 0 && memmem(lines.p, lines.n, text, strlen(text)) != NULL)
		return;
	print_error("not logged: %s\nlogged: %.*s\n", text, IDEM_FMT(lines));
	fail();
}

static bool
short_record(void *arg, uint64_t n, const struct idem_record *r)
{
	static const char states[] = "?RDU";
	struct idem_buf *out = arg;

	assert_non_null(r);
	idem_buf_printf(out, "%s%u%c%c", out->n > 0 ? " " : "", (unsigned)n,
	    r->id[0], states[r->state]);
	return true;
}

static bool
short_entry(void *arg, struct idem_span key, struct idem_span value)
{
	struct idem_buf *out = arg;

	idem_buf_printf(out, "%s%.*s=%.*s", out->n > 0 ? " " : "",
	    IDEM_FMT(key), IDEM_FMT(value));
	return true;
}

static enum idem_err
table_0(void *arg, struct idem_tables *t)
{
	return idem_tables_each(t, 0, IDEM_ABSENT, short_entry, arg);
}

static void
see(struct kit *k, const struct step *s)
{
	struct idem_buf out;
	uint64_t from = 0;
	bool more;

	idem_buf_init(&out, 1 << 20);
	if (s->walk != NULL) {
		assert_int_equal(idem_store_walk(k->store, &from, 1000, &more,
		    short_record, &out), IDEM_OK);
		assert_false(more);
		assert_span(idem_buf_span(&out), span_of(s->walk));
	}
	idem_buf_reset(&out);
	if (s->table != NULL) {
		assert_int_equal(idem_store_read(k->store, table_0, &out),
		    IDEM_OK);
		assert_span(idem_buf_span(&out), span_of(s->table));
	}
	idem_buf_free(&out);
}

void
kit_op(struct kit *k, const struct step *s, struct idem_op *op)
{
	memset(op, 0, sizeof *op);
	op->kind = s->what < LOOK ? (enum idem_op_kind)s->what : IDEM_OP_CLAIM;
	memset(op->id, s->key, sizeof op->id);
	memset(op->token, s->token, sizeof op->token);
	memset(op->fingerprint, s->body != 0 ? s->body : 'f',
	    sizeof op->fingerprint);
	op->recipe = s->recipe != 0 ? s->recipe : 1;
	op->retry = s->retry;
	op->evict = s->evict;
	op->now_ms = s->now;
	op->ttl_ms = KIT_TTL_MS;
	op->unknown_ttl_ms = KIT_UNKNOWN_TTL_MS;
	op->min_keep_ms = s->min_keep;
	op->max_keys = s->max_keys != 0 ? s->max_keys : 100;
	op->apply = s->script != NULL ? 1 : 0;
	op->input = span_of(s->script != NULL ? s->script : s->input);
	op->kept_bytes = s->script != NULL ? 0 :
	    s->kept != 0 ? s->kept : op->input.n;
	op->answer = &k->answer;
}

static void
sweep(struct kit *k, const struct step *s)
{
	struct idem_sweep w = { .from = 0 };
	char got[64];

	do {
		assert_int_equal(idem_store_sweep(k->store, s->now,
		    KIT_UNKNOWN_TTL_MS, 3, &w), IDEM_OK);
	} while (w.more);
	assert_int_equal(text_format(got, sizeof got, "%d %d %d %d",
	    (int)w.nexpired, (int)w.nunknown, (int)w.nheld, (int)w.nreleased),
	    IDEM_OK);
	assert_span(span_of(got), span_of(s->swept));
}

static void
run_op(struct kit *k, const struct step *s)
{
	struct idem_op op;
	enum idem_err err;

	kit_op(k, s, &op);
	err = s->what == LOOK ? idem_store_look(k->store, &op) :
	    idem_store_submit(k->store, &op);
	assert_int_equal(err, s->err);
	if (err != IDEM_OK)
		return;
	assert_int_equal(op.verdict, s->verdict);
	assert_int_equal(op.took_over, s->took_over);
	assert_span(idem_buf_span(&k->answer),
	    span_of(s->answer != NULL ? s->answer : ""));
}

void
kit_leave(struct kit *k, char token)
{
	unsigned char all[IDEM_TOKEN_BYTES];

	memset(all, token, sizeof all);
	idem_store_leave(k->store, all);
}

void
kit_run(struct kit *k, const struct step *steps, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct step *s = &steps[i];

		print_message("    step %zu\n", i);
		if (s->what == LEAVE)
			kit_leave(k, s->token);
		else if (s->what == SWEEP)
			sweep(k, s);
		else if (s->what != SEE)
			run_op(k, s);
		see(k, s);
	}
}

static bool
dump_record(void *arg, uint64_t n, const struct idem_record *r)
{
	struct idem_buf *out = arg;
	char id[17], token[17];

	assert_non_null(r);
	hex_lower(r->id, 8, id);
	hex_lower(r->token, 8, token);
	id[16] = token[16] = '\0';
	idem_buf_printf(out, "%llu %s %d %d %d %s %lld %lld %lld [%.*s]\n",
	    (unsigned long long)n, id, (int)r->state, r->recipe, r->retry,
	    token, (long long)r->claimed_ms, (long long)r->stored_ms,
	    (long long)r->expires_ms, IDEM_FMT(r->answer));
	return true;
}

static enum idem_err
dump_tables(void *arg, struct idem_tables *t)
{
	struct idem_buf *out = arg;
	struct idem_span key, value;

	for (unsigned i = 0; i < 2; i++) {
		idem_buf_printf(out, "table %u\n", i);
		if (idem_tables_each(t, i, IDEM_ABSENT, short_entry, out) !=
		    IDEM_OK ||
		    idem_tables_last(t, i, &key, &value) != IDEM_OK)
			return IDEM_ESTORE;
		idem_buf_printf(out, "\nlast %.*s=%.*s\n", IDEM_FMT(key),
		    IDEM_FMT(value));
	}
	return IDEM_OK;
}

void
kit_dump(struct idem_store *store, struct idem_buf *out)
{
	uint64_t from = 0;
	bool more = true;

	idem_buf_reset(out);
	while (more)
		assert_int_equal(idem_store_walk(store, &from, 7, &more,
		    dump_record, out), IDEM_OK);
	assert_int_equal(idem_store_read(store, dump_tables, out), IDEM_OK);
	assert_int_equal(idem_buf_err(out), IDEM_OK);
}
