/*
 * task_order.c - a change of a task as bytes:
 *
 *   u64 id | u8 flags | u8 language | run text | run if_match |
 *   run if_none_match | run base | run problem_base | run instance
 */
#include "tasks/task_order.h"

#include "base/bytes.h"

enum {
	HAS_TEXT = 1,
	HAS_DONE = 2,
	DONE = 4,
	HAS_IF_MATCH = 8,
	HAS_IF_NONE_MATCH = 16,
	PERSON = 32
};

static unsigned
flags_of(const struct task_order *o)
{
	return (o->change.has_text ? HAS_TEXT : 0u) |
	    (o->change.has_done ? HAS_DONE : 0u) |
	    (o->change.done ? DONE : 0u) |
	    (o->if_match.p != NULL ? HAS_IF_MATCH : 0u) |
	    (o->if_none_match.p != NULL ? HAS_IF_NONE_MATCH : 0u) |
	    (o->who.person ? PERSON : 0u);
}

void
task_order_encode(const struct task_order *o, struct idem_buf *out)
{
	wr_u64(out, o->id);
	wr_u8(out, (uint8_t)flags_of(o));
	wr_u8(out, (uint8_t)o->who.lang);
	wr_run(out, o->change.text);
	wr_run(out, o->if_match);
	wr_run(out, o->if_none_match);
	wr_run(out, o->base);
	wr_run(out, o->problem_base);
	wr_run(out, o->instance);
}

static struct idem_span
run_if(bool there, struct reader *r)
{
	struct idem_span run = rd_run(r);

	return there ? run : IDEM_ABSENT;
}

enum idem_err
task_order_decode(struct idem_span bytes, struct task_order *out)
{
	struct reader r = reader_of(bytes);
	unsigned flags, lang;

	out->id = rd_u64(&r);
	flags = rd_u8(&r);
	lang = rd_u8(&r);
	out->change = (struct task_change){
		.has_text = flags & HAS_TEXT,
		.has_done = flags & HAS_DONE,
		.done = flags & DONE,
		.text = rd_run(&r),
	};
	out->if_match = run_if(flags & HAS_IF_MATCH, &r);
	out->if_none_match = run_if(flags & HAS_IF_NONE_MATCH, &r);
	out->base = rd_run(&r);
	out->problem_base = rd_run(&r);
	out->instance = rd_run(&r);
	if (r.bad || r.rest.n > 0 || lang >= IDEM_NLANGS)
		return IDEM_ECORRUPT;
	out->who = (struct idem_audience){ (enum idem_lang)lang,
	    flags & PERSON };
	return IDEM_OK;
}
