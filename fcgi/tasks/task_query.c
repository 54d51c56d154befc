/*
 * task_query.c - the parameters of a list of tasks.
 */
#include "base/text.h"
#include "tasks/task_list.h"

#define VALUE_MAX 4096 /* bytes, decoded; longer ones fit no task */

/* A text that no tag can be finds nothing; with '#' it is a mistake. */
static bool
set_tag(struct task_query *q, struct idem_span value)
{
	q->has_tag = true;
	q->tag = value;
	return value.n > 0 && span_find(value, '#') == value.n &&
	    utf8_is_all(value);
}

static bool
set_done(struct task_query *q, struct idem_span value)
{
	q->has_done = true;
	q->done = span_eq(value, IDEM_LIT("true"));
	return q->done || span_eq(value, IDEM_LIT("false"));
}

static bool
set_after(struct task_query *q, struct idem_span value)
{
	return parse_u64(value, UINT64_MAX, &q->after) == IDEM_OK;
}

static bool
set_limit(struct task_query *q, struct idem_span value)
{
	uint64_t n;

	if (parse_u64(value, TASK_PAGE_MAX, &n) != IDEM_OK || n == 0)
		return false;
	q->limit = (size_t)n;
	return true;
}

static const struct param {
	const char *name;
	bool (*set)(struct task_query *q, struct idem_span value);
	enum fault fault;
} params[] = {
	{ "teg", set_tag, FAULT_TAG },
	{ "bajarildi", set_done, FAULT_NOT_BOOL },
	{ "keyin", set_after, FAULT_FROM },
	{ "soni", set_limit, FAULT_COUNT },
};
#define NPARAMS (sizeof params / sizeof params[0])

/* The index of a parameter in the table; NPARAMS: not known. */
static size_t
find_param(struct idem_span name)
{
	size_t i = 0;

	while (i < NPARAMS && !span_eq(name, span_of(params[i].name)))
		i++;
	return i;
}

struct parse {
	struct task_query *q;
	struct faults *faults;
	struct idem_buf name, value;
	struct idem_buf *tag;
	bool seen[NPARAMS];
	enum idem_err err; /* IDEM_ENOMEM, or IDEM_ESYNTAX with a fault added */
};

static void
fail(struct parse *p, size_t i, enum fault fault)
{
	faults_add(p->faults, params[i].name, fault);
	if (p->err == IDEM_OK)
		p->err = IDEM_ESYNTAX;
}

/* IDEM_ESYNTAX also for what is longer than any good value. */
static enum idem_err
decode(struct idem_span raw, struct idem_buf *to)
{
	enum idem_err err;

	idem_buf_reset(to);
	err = percent_decode(raw, true, to);
	return err == IDEM_ETOOBIG ? IDEM_ESYNTAX : err;
}

/* The tag outlives its decoding: it gets a buffer of its own. */
static void
take_value(struct parse *p, size_t i, struct idem_span raw)
{
	struct idem_buf *to = params[i].set == set_tag ? p->tag : &p->value;
	enum idem_err err = decode(raw, to);

	if (err == IDEM_ENOMEM)
		p->err = err;
	else if (err != IDEM_OK || !params[i].set(p->q, idem_buf_span(to)))
		fail(p, i, params[i].fault);
}

static void
take_pair(struct parse *p, struct idem_span pair)
{
	size_t equals = span_find(pair, '='), i;
	enum idem_err err = decode(span_first(pair, equals), &p->name);

	if (err == IDEM_ENOMEM)
		p->err = err;
	if (err != IDEM_OK)
		return; /* no name that is known */
	i = find_param(idem_buf_span(&p->name));
	if (i == NPARAMS)
		return;
	if (p->seen[i])
		fail(p, i, FAULT_TWICE);
	else
		take_value(p, i,
		    span_from(pair, equals < pair.n ? equals + 1 : equals));
	p->seen[i] = true;
}

enum idem_err
task_query_parse(struct idem_span query, struct idem_buf *tag,
    struct faults *faults, struct task_query *out)
{
	struct parse p = { .q = out, .faults = faults, .tag = tag };
	struct idem_span pair;

	*out = (struct task_query){ .limit = TASK_PAGE };
	idem_buf_reset(tag);
	idem_buf_init(&p.name, VALUE_MAX);
	idem_buf_init(&p.value, VALUE_MAX);
	while (p.err != IDEM_ENOMEM && span_next(&query, '&', &pair))
		take_pair(&p, pair);
	idem_buf_free(&p.name);
	idem_buf_free(&p.value);
	return p.err;
}
