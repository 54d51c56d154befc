/*
 * task_list.c - walks the table of tasks and writes a page of them.
 */
#include "tasks/task_list.h"

#include <inttypes.h>

#include "base/text.h"
#include "tasks/task.h"
#include "tasks/words.h"

struct page {
	const struct task_query *q;
	struct idem_buf *out;
	size_t ntasks;
	uint64_t last_id;
	bool more;        /* another task fits behind the page */
	uint64_t bad_id;
	enum idem_err err;
};

static bool
has_tag(struct idem_span text, struct idem_span tag)
{
	struct idem_span tags[WORDS_TAGS_MAX];
	size_t ntags = words_tags(text, tags), i;

	for (i = 0; i < ntags; i++)
		if (span_eq(tags[i], tag))
			return true;
	return false;
}

static bool
fits(const struct task_query *q, const struct task *t)
{
	return (!q->has_done || q->done == t->done) &&
	    (!q->has_tag || has_tag(t->text, q->tag));
}

static bool
visit(void *arg, struct idem_span key, struct idem_span row)
{
	struct page *p = arg;
	struct task t;

	if (row.n == 0)
		return true;
	p->err = task_decode(key, row, &t);
	p->bad_id = t.id;
	if (p->err != IDEM_OK)
		return false;
	if (!fits(p->q, &t))
		return true;
	p->more = p->ntasks == p->q->limit;
	if (p->more)
		return false;
	if (p->ntasks++ > 0)
		idem_buf_putc(p->out, ',');
	task_json(&t, p->out);
	p->last_id = t.id;
	return true;
}

static void
end_page(const struct page *p)
{
	idem_buf_puts(p->out, IDEM_LIT("],\"keyingi\":"));
	if (p->more)
		idem_buf_printf(p->out, "%" PRIu64 "}", p->last_id);
	else
		idem_buf_puts(p->out, IDEM_LIT("null}"));
}

enum idem_err
task_list_json(struct idem_tables *t, const struct task_query *q,
    struct idem_buf *out, uint64_t *bad_id)
{
	struct page p = { .q = q, .out = out };
	unsigned char key[TASK_KEY_BYTES];
	enum idem_err err = IDEM_OK;

	idem_buf_puts(out, IDEM_LIT("{\"vazifalar\":["));
	if (q->after < UINT64_MAX)
		err = idem_tables_each(t, TASK_TABLE,
		    task_key(q->after + 1, key), visit, &p);
	*bad_id = p.bad_id;
	if (err == IDEM_OK)
		err = p.err;
	if (err != IDEM_OK)
		return err;
	end_page(&p);
	return idem_buf_err(out);
}
