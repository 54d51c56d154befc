/*
 * verb.c - one verb of the store on what was there before, and what must be
 * there then.
 */
#include "verb.h"

#define DUMP_BYTES 8192

struct kit k;
struct idem_op op;
char verb_big[VERB_BIG_BYTES + 1], verb_medium[20001];
char verb_long_script[6005] = "say ";
static char before_text[DUMP_BYTES], after_text[DUMP_BYTES];
static bool happened;

const struct verb *
verb(void)
{
	return oom_with();
}

/* The store as text; the answers' bytes are left out where they are long. */
static struct idem_span
dump(char text[DUMP_BYTES])
{
	struct idem_buf b;
	struct idem_span s;

	idem_buf_init(&b, 64 << 20);
	kit_dump(k.store, &b);
	s = idem_buf_span(&b);
	s.n = s.n < DUMP_BYTES ? s.n : DUMP_BYTES - 1;
	memcpy(text, s.p, s.n);
	text[s.n] = '\0';
	idem_buf_free(&b);
	return (struct idem_span){ text, s.n };
}

void
verb_make_kit(enum flavour flavour)
{
	kit_make(&k, flavour == MEMORY);
	k.log = oom_log;
	k.durable = flavour == GROUP;
	k.max_bytes = 256 << 20;
	if (verb_big[0] == '\0')
		memset(verb_big, 'b', VERB_BIG_BYTES);
	memset(verb_medium, 'm', sizeof verb_medium - 1);
	memset(verb_long_script + 4, 'l', sizeof verb_long_script - 5);
	happened = false;
}

void
verb_make(void)
{
	verb_make_kit(verb()->flavour);
	assert_int_equal(kit_reopen(&k, true), IDEM_OK);
	kit_run(&k, verb()->before, verb()->nbefore);
	(void)dump(before_text);
}

enum idem_err
verb_run(void)
{
	kit_op(&k, &verb()->step, &op);
	return verb()->step.what == LOOK ? idem_store_look(k.store, &op) :
	    idem_store_submit(k.store, &op);
}

/* A handle that broke is of no more use: the process would begin anew. */
enum idem_err
verb_run_anew(void)
{
	static enum idem_err before;

	if (before == IDEM_EMOVED)
		assert_int_equal(kit_reopen(&k, false), IDEM_OK);
	return before = verb_run();
}

void
verb_unharmed(void)
{
	struct idem_span now = dump(after_text);

	happened = verb()->may_have_happened &&
	    !span_eq(now, span_of(before_text));
	if (!happened)
		must_be(now, span_of(before_text));
}

void
verb_right(void)
{
	const struct step *s = &verb()->step;
	const struct step seen[] = { { SEE, .walk = s->walk,
	    .table = s->table } };

	must(op.verdict == (happened ? verb()->again : s->verdict));
	must(op.took_over == (!happened && s->took_over));
	must_be(idem_buf_span(&k.answer),
	    span_of(s->answer != NULL ? s->answer : ""));
	KIT_RUN(&k, seen);
}

void
verb_end(void)
{
	kit_close(&k);
}
