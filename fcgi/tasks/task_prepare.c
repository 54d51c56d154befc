/*
 * task_prepare.c - reads what a request says about a task, and refuses what no
 * task can be: 415, 400, 422.
 */
#include "tasks/task_prepare.h"

#include "base/text.h"
#include "tasks/service.h"
#include "tasks/task_order.h"
#include "tasks/turn.h"

#define TEXT_MAX_BYTES 4096    /* 500 code points of 4 bytes, and room */
#define FAULTS_MAX_BYTES 4096

static bool
is_media(const struct turn *t, struct idem_span type)
{
	return span_eq_nocase(t->call.req->media, type);
}

static bool
is_json(const struct turn *t, enum validate_form form)
{
	return is_media(t, IDEM_LIT("application/json")) ||
	    (form == VALIDATE_PATCH &&
	    is_media(t, IDEM_LIT("application/merge-patch+json")));
}

/* RFC 9110 15.5.16 and RFC 5789 2.2: say what would have been taken. */
static void
refuse_media(struct turn *t, enum validate_form form, struct idem_response *res)
{
	turn_problem(t, res, IDEM_P_MEDIA_TYPE, IDEM_ABSENT, IDEM_ABSENT);
	if (form == VALIDATE_PATCH)
		idem_response_field(res, IDEM_LIT("Accept-Patch"), IDEM_LIT(
		    "application/merge-patch+json, application/json"));
	else
		idem_response_field(res, IDEM_LIT("Accept"),
		    IDEM_LIT("application/json"));
}

/* What stands before and after the offset in a detail. */
struct around {
	const char *before, *after;
};

static const struct around broken[IDEM_NLANGS] = {
	[IDEM_UZ] = { "JSON matni ", "-baytda yaroqsiz (0 dan sanaganda)" },
	[IDEM_EN] = { "The JSON text is invalid at byte ",
	    ", counted from 0" },
	[IDEM_TR] = { "JSON metni ", ". baytta geçersiz (0'dan sayarak)" },
};

/* JSON, but two readers could take it for two different values. */
static const struct around unclear[IDEM_NLANGS] = {
	[IDEM_UZ] = { "JSON matni ", "-baytda bir ma'noli emas (0 dan"
	    " sanaganda): takroriy nom, yakka surrogat, haddan ortiq"
	    " chuqurlik yoki daraja" },
	[IDEM_EN] = { "The JSON text is ambiguous at byte ", ", counted from 0:"
	    " a name twice, a lone surrogate, too deep, or an exponent out of"
	    " range" },
	[IDEM_TR] = { "JSON metni ", ". baytta tek anlamlı değil (0'dan"
	    " sayarak): yinelenen ad, tek başına vekil, aşırı derinlik ya da"
	    " üs" },
};

static void
refuse_json(struct turn *t, enum idem_err err, size_t at,
    struct idem_response *res)
{
	const struct around *text = err == IDEM_ESYNTAX ? broken : unclear;
	struct idem_buf detail;

	text += t->call.who.lang;
	idem_buf_init(&detail, 512);
	idem_buf_printf(&detail, "%s%zu%s", text->before, at, text->after);
	if (idem_buf_err(&detail) == IDEM_OK)
		turn_problem(t, res, IDEM_P_JSON_INVALID,
		    idem_buf_span(&detail), IDEM_ABSENT);
	else
		turn_failed(t, res, idem_buf_err(&detail));
	idem_buf_free(&detail);
}

/* The body's values.  false: *res holds the answer. */
static bool
read_body(struct turn *t, enum validate_form form, struct idem_buf *text,
    struct task_change *change, struct idem_response *res)
{
	struct idem_span json;
	struct idem_buf out;
	struct faults faults = { &out, t->call.who.lang };
	enum idem_err err;
	size_t at = 0;

	if (!is_json(t, form)) {
		refuse_media(t, form, res);
		return false;
	}
	err = idem_call_json(&t->call, &json, &at);
	if (err == IDEM_ESYNTAX || err == IDEM_EINEXACT) {
		refuse_json(t, err, at, res);
		return false;
	}
	idem_buf_init(&out, FAULTS_MAX_BYTES);
	if (err == IDEM_OK)
		err = validate_task(json, form, &t->service->plain, text,
		    &faults, change);
	if (faults_end(&faults))
		turn_faults(t, res, &out);
	else if (err != IDEM_OK)
		turn_failed(t, res, err);
	idem_buf_free(&out);
	return err == IDEM_OK;
}

static void
write_order(const struct turn *t, const struct task_change *change,
    struct idem_buf *input)
{
	const struct idem_span *var = t->call.req->var;
	struct task_order order = {
		.id = t->id,
		.change = *change,
		.base = t->settings->base,
		.who = t->call.who,
		.problem_base = t->call.policy->problem_base,
		.instance = t->call.instance,
	};

	if (t->id != 0) {
		order.if_match = var[IDEM_VAR_IF_MATCH];
		order.if_none_match = var[IDEM_VAR_IF_NONE_MATCH];
	}
	task_order_encode(&order, input);
}

static bool
prepare(struct turn *t, enum validate_form form, struct idem_buf *input,
    struct idem_response *res)
{
	struct task_change change;
	char memory[TEXT_MAX_BYTES];
	struct idem_buf text;
	bool good;

	idem_buf_over(&text, memory, sizeof memory);
	good = read_body(t, form, &text, &change, res);
	if (good)
		write_order(t, &change, input);
	return good;
}

bool
task_prepare_whole(void *app, struct idem_call *call, struct idem_buf *input,
    struct idem_response *res)
{
	(void)app; /* the turn has all that is needed */
	return prepare(turn_of(call), VALIDATE_WHOLE, input, res);
}

bool
task_prepare_patch(void *app, struct idem_call *call, struct idem_buf *input,
    struct idem_response *res)
{
	(void)app; /* as above */
	return prepare(turn_of(call), VALIDATE_PATCH, input, res);
}

bool
task_prepare_delete(void *app, struct idem_call *call, struct idem_buf *input,
    struct idem_response *res)
{
	static const struct task_change none;

	(void)app; /* as above */
	(void)res; /* nothing to refuse: a body is ignored */
	write_order(turn_of(call), &none, input);
	return true;
}
