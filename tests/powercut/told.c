/*
 * told.c - the marks of the log, by key.
 */
#include <stdlib.h>
#include <string.h>

#include "told.h"

#include "base/bytes.h"
#include "base/text.h"

static uint32_t *
place(struct tale *t, const unsigned char *id)
{
	size_t i = u64_from_key(id) % (2 * TOLD_MAX);

	while (t->at[i] != 0 && memcmp(t->told[t->at[i] - 1].id, id,
	    IDEM_ID_BYTES) != 0)
		i = (i + 1) % (2 * TOLD_MAX);
	return &t->at[i];
}

struct told *
tale_find(struct tale *t, const unsigned char *id)
{
	uint32_t at = *place(t, id);

	return at == 0 ? NULL : &t->told[at - 1];
}

static struct told *
find_or_add(struct tale *t, const struct mark *m)
{
	uint32_t *at = place(t, m->id);
	struct told *one;

	if (*at != 0)
		return &t->told[*at - 1];
	if (t->n == TOLD_MAX)
		abort();
	one = &t->told[t->n];
	*one = (struct told){ .what = MARK_ASKED,
		.deed = (enum deed_kind)m->deed };
	memcpy(one->id, m->id, sizeof one->id);
	*at = (uint32_t)++t->n;
	return one;
}

void
tale_add(struct tale *t, const struct trace_entry *e)
{
	const struct mark *m = (const struct mark *)(const void *)(e + 1);
	struct idem_span answer = { (const char *)(m + 1),
		(size_t)e->n - sizeof *m };
	struct told *one = find_or_add(t, m);

	if (m->kind == MARK_ASKED || (m->kind == MARK_BEGAN &&
	    one->what != MARK_ASKED))
		return;
	if (one->what == MARK_ANSWERED && one->answer.n > 0 &&
	    !span_eq(one->answer, answer))
		t->two = true;
	if (one->what == MARK_ASKED || one->what == MARK_BEGAN)
		t->nanswers += m->kind != MARK_BEGAN;
	one->what = (enum mark_kind)m->kind;
	one->answer = answer;
}
