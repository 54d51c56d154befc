/*
 * keep.c - does an answer count as done?  IDEM_KEEP, IDEM_KEEP_5XX and what the
 * handler said.  Changes no record.
 */
#include "base/text.h"
#include "engine/keep.h"
#include "request/condition.h"

/* A form that is shown again with its errors is no reason to keep a key that
 * the page happens to carry. */
#define KEEP_OF_OTHERS IDEM_LIT("2xx 3xx")

/* The type that old applications give their JSON is not asked. */
static void
look_into(struct idem_engine *e, const struct idem_response *res,
    struct condition_answer *a)
{
	struct idem_buf *text = &e->fp.pruned;
	enum idem_err err;

	a->unseen = res->elsewhere_bytes > 0;
	if (res->body.n == 0)
		return;
	idem_buf_reset(text);
	err = idem_json_canonical(&e->fp.json, idem_buf_span(&res->body),
	    text, NULL);
	if (err == IDEM_OK)
		a->canonical = idem_buf_span(text);
	else
		a->unseen = err == IDEM_ENOMEM || err == IDEM_ETOOBIG;
}

static bool
meets(struct idem_engine *e, struct idem_span keep,
    const struct idem_response *res)
{
	struct condition_answer a = { .status = res->status,
		.location = idem_fields_value(idem_buf_span(&res->fields),
		    IDEM_LIT("Location")) };

	if (condition_keep_reads_body(keep))
		look_into(e, res, &a);
	return condition_keep_holds(keep, &a);
}

enum idem_effect
keep_effect(struct idem_engine *e, const struct keep_rules *rules,
    enum idem_effect said, const struct idem_response *res)
{
	struct idem_span keep = rules->keep;

	if (said != IDEM_BY_STATUS)
		return said;
	if (keep.p == NULL && rules->other)
		keep = KEEP_OF_OTHERS;
	if (keep.p == NULL || (res->status >= 500 &&
	    !condition_keep_names(keep, res->status)))
		return idem_policy_effect(rules->keep_5xx, said, res);
	return meets(e, keep, res) ? IDEM_DONE : IDEM_NONE;
}

struct keep_rules
keep_rules_of(const struct walk *w)
{
	const struct idem_policy *p = w->call->policy;

	return (struct keep_rules){ p->keep, p->keep_5xx, w->other };
}
