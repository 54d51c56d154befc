/*
 * engine.c - scenarios of the engine: one request from its variables to its
 * answer, on a memory store, with each kind of handler.
 */
#include "kit.h"

#include "../unit/shop.h"

struct ask {
	enum shop_handler handler;
	const char *key;      /* NULL: none */
	const char *body;     /* NULL: {"a":1} */
	const char *method;   /* NULL: POST */
	const char *more[2];  /* variables */
	bool warm;            /* another request came before */
	bool before;          /* the same one came before */
	const char *other;    /* or one with this body */
	enum idem_effect effect; /* what work() says then, and now */
	bool refuse;          /* prepare() answers */
	const char *key_from, *when, *keep, *fingerprint, *ignore;
	bool require_key;
	unsigned status;      /* wanted */
	const char *text;     /* the answer holds this */
	unsigned nrows;       /* then */
	unsigned nworked;
};

static struct shop *shop;
static unsigned nfirst; /* works before the second try */
static bool second, tried_again;

static const struct ask *
ask(void)
{
	return oom_with();
}

static struct idem_span
setting(const char *text)
{
	return text == NULL ? IDEM_ABSENT : span_of(text);
}

static void
set_policy(void)
{
	struct idem_policy *p = &shop->policy;

	p->key_from = setting(ask()->key_from);
	p->when = setting(ask()->when);
	p->keep = setting(ask()->keep);
	p->fingerprint = setting(ask()->fingerprint);
	p->fingerprint_ignore = setting(ask()->ignore);
	p->require_key = ask()->require_key;
}

static const char *
body_of(const struct ask *a)
{
	return a->body != NULL ? a->body : "{\"a\":1}";
}

static void
make(void)
{
	void *state = NULL;
	const struct ask *a = ask();

	assert_int_equal(shop_open(&state), 0);
	shop = state;
	shop->log = oom_log;
	set_policy();
	shop->method = a->method != NULL ? a->method : "POST";
	shop->more[0] = a->more[0];
	shop->more[1] = a->more[0] != NULL ? a->more[1] : NULL;
	(void)idem_buf_room(&shop->line, 63);
	(void)idem_buf_room(&shop->var, 500);
	shop->script.effect = a->effect;
	if (a->warm)
		(void)shop_send(shop, a->handler, "warm", "{\"w\":1}");
	if (a->before || a->other != NULL)
		(void)shop_send(shop, a->handler, a->key,
		    a->other != NULL ? a->other : body_of(a));
	if (a->refuse) {
		shop->script.refuse = true;
		shop->script.status = 422;
	}
	shop->nworked = 0;
	second = tried_again = false;
}

/* Who has no memory for his answer sends 500. */
static enum idem_err
run(void)
{
	unsigned status = shop_send(shop, ask()->handler, ask()->key,
	    body_of(ask()));
	bool whole = idem_response_err(&shop->res) == IDEM_OK;

	/* Work that was done and lost is not done again. */
	if (second && nfirst > 0 && status == 409)
		status = ask()->status;
	if (!second)
		nfirst = shop->nworked;
	tried_again = second;
	second = true;
	if (whole && status == ask()->status)
		return IDEM_OK;
	/* Of an answer that is none the front tells. */
	must(!whole || oom_logged().n > 0);
	return status == 503 || status == 500 || !whole ? IDEM_ENOMEM :
	    IDEM_ESTORE;
}

static void
right(void)
{
	struct idem_span body = idem_buf_span(&shop->res.body);
	const struct ask *a = ask();

	must(shop->nworked == a->nworked || (a->effect == IDEM_NONE &&
	    tried_again && shop->nworked == a->nworked + 1));
	must(shop_nrows(shop) == a->nrows || (a->key == NULL &&
	    a->key_from == NULL && shop_nrows(shop) == a->nrows + 1) ||
	    shop->res.status == 409);
	must(shop->res.status == 409 || memmem(body.p, body.n, a->text,
	    strlen(a->text)) != NULL);
}

static void
end(void)
{
	void *state = shop;

	(void)shop_close(&state);
}

#define ASK(name_, ...) \
	{ .name = "engine, " name_, .make = make, .run = run, .right = right, \
	    .end = end, .with = &(const struct ask){ \
	    __VA_ARGS__ } }
#define FIRST .status = 201, .text = "{\"id\":1}"
#define IS(number, code) .status = number, .text = "\"code\":\"" code "\""
#define PAGE(number, kod) .status = number, .text = "data-kod=\"" kod "\""

static const struct scenario scenarios[] = {
	ASK("a new key", SHOP_ONCE, "k", FIRST, .nrows = 1),
	ASK("a new key, not the first", SHOP_ONCE, "k", .warm = true, FIRST,
	    .nrows = 2),
	ASK("another body", SHOP_ONCE, "k", .other = "{}", IS(422,
	    "key-reused"), .nrows = 1),
	ASK("no key", SHOP_ONCE, NULL, FIRST, .nrows = 1),
	ASK("a bad key", SHOP_ONCE, "k k", IS(400, "key-invalid")),
	ASK("no key where one is due", SHOP_ONCE, NULL, .require_key = true,
	    IS(400, "key-required")),
	ASK("a refusal that is kept", SHOP_ONCE, "k", .refuse = true, .status =
	    422, .text = "{\"id\":1}"),
	ASK("work", SHOP_WORK, "k", FIRST, .nworked = 1),
	ASK("work, not the first", SHOP_WORK, "k", .warm = true, FIRST,
	    .nworked = 1),
	ASK("work, a replay", SHOP_WORK, "k", .before = true, FIRST),
	ASK("work that did nothing", SHOP_WORK, "k", .effect = IDEM_NONE,
	    FIRST, .nworked = 1),
	ASK("work and commit", SHOP_BOTH, "k", FIRST, .nworked = 1, .nrows =
	    1),
	ASK("work and commit, not the first", SHOP_BOTH, "k", .warm = true,
	    FIRST, .nworked = 1, .nrows = 2),
	ASK("unknown", SHOP_WORK, "k", .effect = IDEM_HOLD, .before = true,
	    IS(409, "outcome-unknown")),
	ASK("unknown, as a page", SHOP_WORK, "k", .effect = IDEM_HOLD, .before
	    = true, .more = { "HTTP_SEC_FETCH_MODE=navigate" }, PAGE(409,
	    "idempotentlik-nomalum")),
	ASK("a key in the body", SHOP_ONCE, NULL, .body =
	    "{\"id\":\"0123456789\",\"a\":[1,2,{\"c\":1,\"b\":2}]}", .key_from
	    = "json:/id", FIRST, .nrows = 1),
	ASK("a key of two parts", SHOP_ONCE, NULL, .body =
	    "{\"id\":\"0123456789\",\"m\":\"x\"}", .key_from =
	    "json:/id+json:/m", .when = "json:/m=x|y", .keep = "json:/id=1",
	    .fingerprint = "json:/id json:/m", .ignore = "json:/z", FIRST,
	    .nrows = 1),
};

const struct part part_engine = { scenarios, COUNT(scenarios) };
