/*
 * test_store_random.c - random scripts give the same verdicts, answers, tables
 * and records on every back end.
 */
#include "storekit.h"

#include <stdio.h>

#include "base/text.h"

#define NSCRIPTS 12
#define NGROUP 1    /* of them also on the group commit */
#define NOPS 500   /* a script */
#define NKEYS 6
#define NTOKENS 40 /* of each script, newest first in use */

/* xorshift64: the same numbers everywhere. */
static uint64_t
draw(uint64_t *seed, uint64_t n)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return (*seed >> 11) % n;
}

static const char *const scripts[] = {
	"say one", "put 0 a 1\nsay a", "put 0 a 2\nput 1 b\nsay b", "del 0 a",
	"put 0 c x\ndel 0 c\nput 1 d y\nsay long\nkeep 2",
	"say u\nput 0 a u\nundo",
	"put 1 b n\nnone", "put 0 a h\nsay h\nhold", "put 0 z 9\nfail",
	"del 1 b\ndel 1 d\nput 0 a 3\nsay three",
};
static const char *const inputs[] = { "", "x", "some answer", NULL };

struct script {
	uint64_t seed;
	int64_t now;
	unsigned ntokens; /* used so far */
};

/* A fresh token for a claim; else one of the last few, or of any age. */
static char
token(struct script *r, enum kit_do what)
{
	bool claims = what == CLAIM || what == ONCE;

	if (claims && draw(&r->seed, 8) != 0)
		r->ntokens++;
	return (char)('0' + (r->ntokens + NTOKENS -
	    (claims ? 0 : draw(&r->seed, 4))) % NTOKENS);
}

static struct step
random_step(struct script *r)
{
	static const enum kit_do kinds[] = { CLAIM, CLAIM, CLAIM, ONCE, ONCE,
		ONCE, FINISH, FINISH, FINISH, HOLD, RELEASE, RESOLVE, APPLY,
		LOOK, LEAVE, LEAVE, SWEEP };
	struct step s = { .what = kinds[draw(&r->seed, COUNT(kinds))] };

	r->now += (int64_t)draw(&r->seed, 300);
	s.now = r->now;
	s.key = (char)('a' + draw(&r->seed, NKEYS));
	s.token = token(r, s.what);
	s.body = draw(&r->seed, 12) == 0 ? 'x' : 'f';
	s.recipe = draw(&r->seed, 40) == 0 ? 2 : 1;
	s.retry = draw(&r->seed, 3) == 0;
	s.evict = draw(&r->seed, 2) == 0;
	s.min_keep = draw(&r->seed, 2) == 0 ? 0 : 400;
	s.max_keys = 1 + draw(&r->seed, NKEYS + 2);
	if (s.what == APPLY || draw(&r->seed, 2) == 0)
		s.script = scripts[draw(&r->seed, COUNT(scripts))];
	else
		s.input = inputs[draw(&r->seed, COUNT(inputs))];
	return s;
}

/* What came of a step, as text. */
static void
carry_out(struct kit *k, const struct step *s, struct idem_buf *out)
{
	unsigned char token_bytes[IDEM_TOKEN_BYTES];
	struct idem_sweep w = { .from = 0 };
	struct idem_op op;
	enum idem_err err = IDEM_OK;

	idem_buf_reset(out);
	memset(token_bytes, s->token, sizeof token_bytes);
	if (s->what == LEAVE) {
		idem_store_leave(k->store, token_bytes);
	} else if (s->what == SWEEP) {
		err = idem_store_sweep(k->store, s->now, KIT_UNKNOWN_TTL_MS,
		    2, &w);
		idem_buf_printf(out, "%d: %d %d %d %d %d %d %d", (int)err,
		    (int)w.from, w.more, (int)w.nseen, (int)w.nexpired,
		    (int)w.nunknown, (int)w.nheld, (int)w.nreleased);
	} else {
		kit_op(k, s, &op);
		err = s->what == LOOK ? idem_store_look(k->store, &op) :
		    idem_store_submit(k->store, &op);
		idem_buf_printf(out, "%d", (int)err);
		if (err == IDEM_OK)
			idem_buf_printf(out, ": %d %d [%.*s]",
			    (int)op.verdict, op.took_over,
			    IDEM_FMT(idem_buf_span(&k->answer)));
	}
	idem_buf_printf(out, " alive %d",
	    idem_store_alive(k->store, token_bytes));
	assert_int_equal(idem_buf_err(out), IDEM_OK);
}

static void
compare(struct kit *kits, size_t n, const struct step *s, struct idem_buf *out)
{
	for (size_t i = 0; i < n; i++)
		carry_out(&kits[i], s, &out[i]);
	for (size_t i = 1; i < n; i++)
		assert_span(idem_buf_span(&out[i]), idem_buf_span(&out[0]));
	for (size_t i = 0; i < n; i++)
		kit_dump(kits[i].store, &out[i]);
	for (size_t i = 1; i < n; i++)
		assert_span(idem_buf_span(&out[i]), idem_buf_span(&out[0]));
}

/* How often each verdict came, so that a dull script is noticed. */
static unsigned
distinct_verdicts(struct script r)
{
	struct kit k;
	struct idem_op op;
	unsigned seen = 0, n = 0;

	kit_open(&k, true);
	for (int i = 0; i < NOPS; i++) {
		struct step s = random_step(&r);
		unsigned char token_bytes[IDEM_TOKEN_BYTES];

		memset(token_bytes, s.token, sizeof token_bytes);
		if (s.what == LEAVE)
			idem_store_leave(k.store, token_bytes);
		if (s.what >= LOOK)
			continue;
		kit_op(&k, &s, &op);
		if (idem_store_submit(k.store, &op) == IDEM_OK)
			seen |= 1u << op.verdict;
	}
	kit_close(&k);
	for (; seen != 0; seen &= seen - 1)
		n++;
	return n;
}

/* Memory, LMDB, and the group commit, which waits for the disk at each step. */
static void
open_kits(struct kit *kits, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		kit_make(&kits[i], i == 0);
		kits[i].durable = i == 2;
		assert_int_equal(kit_reopen(&kits[i], true), IDEM_OK);
	}
}

static void
scripts_agree(void **state)
{
	struct idem_buf out[3];
	struct kit kits[3];

	(void)state;
	for (size_t i = 0; i < 3; i++)
		idem_buf_init(&out[i], 1 << 20);
	for (uint64_t seed = 1; seed <= NSCRIPTS; seed++) {
		struct script r = { .seed = seed * 0x9e3779b97f4a7c15 };
		size_t n = seed <= NGROUP ? 3 : 2;
		uint64_t nbad;

		/* all eleven but one at least */
		assert_in_range(distinct_verdicts(r), 10, 11);
		open_kits(kits, n);
		for (int i = 0; i < NOPS; i++) {
			struct step s = random_step(&r);

			print_message("    seed %d op %d kind %d key %c\n",
			    (int)seed, i, (int)s.what, s.key);
			compare(kits, n, &s, out);
		}
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(idem_store_check(kits[i].store, &nbad),
			    IDEM_OK);
			assert_int_equal(nbad, 0);
			kit_close(&kits[i]);
		}
	}
	for (size_t i = 0; i < 3; i++)
		idem_buf_free(&out[i]);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(scripts_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
