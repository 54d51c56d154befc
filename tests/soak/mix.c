/*
 * mix.c - what the clients of the soak ask, and what must come of it.
 */
#include <stdlib.h>
#include <string.h>

#include "mix.h"

#include "base/io.h"
#include "base/text.h"

#define NKEPT 16384 /* answers that are remembered, the newest */
#define NPAIRS 512  /* more than there are connections */

const char *const mix_names[MIX_NKINDS] = { "new", "replay", "twin",
	"mismatch", "bad key", "no key", "bad JSON", "get", "list",
	"get nothing" };

/* In a hundred. */
static const unsigned weights[MIX_NKINDS] = { 18, 26, 10, 8, 8, 4, 3, 14, 4,
	5 };

/* What all of a kind get; 0: it depends. */
static const struct {
	unsigned status;
	const char *kod;
} wants[MIX_NKINDS] = {
	{ 201, NULL }, { 201, NULL }, { 0, NULL },
	{ 422, "idempotentlik-boshqa-tana" }, { 400, "idempotentlik-kalit" },
	{ 201, NULL }, { 400, "json-yaroqsiz" }, { 200, NULL }, { 200, NULL },
	{ 404, "topilmadi" },
};

/* Two clients that ask the same at once. */
struct pair {
	uint32_t number;
	unsigned nasked, nheard, nfirst;
	size_t nbody; /* of the first 201 that came, which all must equal */
	char body[MIX_BODY_MAX];
};

struct mix {
	uint64_t seed, state;
	uint32_t nasked;   /* the last number given out */
	uint64_t nkept, neffects, nconflicts;
	bool half;         /* pairs[open] waits for its second client */
	size_t open;
	struct mix_kept kept[NKEPT];
	struct pair pairs[NPAIRS];
};

struct mix *
mix_new(uint64_t seed)
{
	struct mix *m = calloc(1, sizeof *m);

	if (m == NULL)
		abort();
	m->seed = seed;
	m->state = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
	return m;
}

void
mix_free(struct mix *m)
{
	free(m);
}

uint64_t
mix_effects(const struct mix *m)
{
	return m->neffects;
}

uint64_t
mix_conflicts(const struct mix *m)
{
	return m->nconflicts;
}

/* xorshift64* */
uint32_t
mix_draw(struct mix *m, uint32_t below)
{
	m->state ^= m->state >> 12;
	m->state ^= m->state << 25;
	m->state ^= m->state >> 27;
	return (uint32_t)((m->state * UINT64_C(2685821657736338717)) >> 33) %
	    below;
}

/* --- asking --------------------------------------------------------------- */

static void
put_head(struct idem_buf *out, const char *line)
{
	idem_buf_printf(out, "%s HTTP/1.1\r\nHost: localhost\r\n", line);
}

static void
put_post(struct idem_buf *out, const char *key, const char *body)
{
	put_head(out, "POST /vazifalar");
	idem_buf_puts(out, span_of(key));
	idem_buf_printf(out, "Content-Type: application/json\r\n"
	    "Content-Length: %zu\r\n\r\n%s", strlen(body), body);
}

static void
put_task(struct mix *m, const struct mix_asked *a, struct idem_buf *out)
{
	bool anew = a->kind == MIX_REPLAY && mix_draw(m, 2) == 1;
	char key[100], body[200];

	if (text_format(key, sizeof key, "Idempotency-Key: %016llx-%u\r\n",
	    (unsigned long long)m->seed, a->of.number) != IDEM_OK ||
	    text_format(body, sizeof body, anew ?
	    "{ \"matn\" :\n\"\\u0079uk %u #soak\" }" :
	    "{\"matn\":\"yuk %u #soak\"}",
	    a->of.number + (a->kind == MIX_MISMATCH)) != IDEM_OK)
		abort();
	put_post(out, a->kind == MIX_UNKEYED ? "" : key,
	    a->kind == MIX_BAD_JSON ? "{\"matn\":" : body);
}

static void
put_bad_key(struct mix *m, struct idem_buf *out)
{
	static const char *const bad[] = { "a,b", "\"half", "\"\"", "a\"b",
		"a;b", "a\\b", "bir ikki",
		"x\r\nIdempotency-Key: y", "\xc5\x9f" };
	uint32_t i = mix_draw(m, sizeof bad / sizeof bad[0] + 1);
	char key[400], longest[257];

	memset(longest, 'k', 256);
	longest[256] = '\0';
	if (text_format(key, sizeof key, "Idempotency-Key: %s\r\n",
	    i < sizeof bad / sizeof bad[0] ? bad[i] : longest) != IDEM_OK)
		abort();
	put_post(out, key, "{\"matn\":\"hech qachon #soak\"}");
}

static void
put_get(const struct mix_asked *a, struct idem_buf *out)
{
	char line[100];
	struct idem_span id = { a->of.body + 6, a->of.nbody - 6 };

	if (text_format(line, sizeof line, "GET /vazifalar/%.*s",
	    (int)span_find(id, ','), id.p) != IDEM_OK)
		abort();
	put_head(out, line);
	idem_buf_puts(out, IDEM_LIT("\r\n"));
}

/* Recall an answer that is not old; false: there was none to be had. */
static bool
recall(struct mix *m, struct mix_kept *out)
{
	uint64_t held = m->nkept < NKEPT ? m->nkept : NKEPT;

	if (held == 0)
		return false;
	*out = m->kept[mix_draw(m, (uint32_t)held)];
	return io_steady_ms() - out->at_ms < MIX_KEPT_MS;
}

static void
choose(struct mix *m, struct mix_asked *a)
{
	uint32_t at = mix_draw(m, 100);
	unsigned kind = 0;

	while (at >= weights[kind])
		at -= weights[kind++];
	a->kind = (enum mix_kind)kind;
	if ((kind == MIX_REPLAY || kind == MIX_MISMATCH ||
	    kind == MIX_GET_ONE) && !recall(m, &a->of))
		a->kind = MIX_NEW;
}

/* The second client of the open pair, or the first one of the next. */
static void
join(struct mix *m, struct mix_asked *a)
{
	if (!m->half) {
		do /* one that nobody waits for any more */
			m->open = (m->open + 1) % NPAIRS;
		while (m->pairs[m->open].nheard < m->pairs[m->open].nasked);
		m->pairs[m->open] = (struct pair){ .number = ++m->nasked };
	}
	m->half = !m->half;
	a->pair = m->open;
	a->of.number = m->pairs[m->open].number;
	m->pairs[m->open].nasked++;
}

static void
choose_number(struct mix *m, struct mix_asked *a)
{
	if (m->half)
		a->kind = MIX_TWIN;
	else
		choose(m, a);
	if (a->kind == MIX_TWIN)
		join(m, a);
	else if (a->kind == MIX_NEW || a->kind == MIX_UNKEYED ||
	    a->kind == MIX_BAD_JSON)
		a->of.number = ++m->nasked;
}

void
mix_ask(struct mix *m, struct mix_asked *a, struct idem_buf *out)
{
	*a = (struct mix_asked){ .kind = MIX_NEW };
	choose_number(m, a);
	switch (a->kind) {
	case MIX_NEW:
	case MIX_REPLAY:
	case MIX_TWIN:
	case MIX_MISMATCH:
	case MIX_UNKEYED:
	case MIX_BAD_JSON:
		put_task(m, a, out);
		break;
	case MIX_BAD_KEY:
		put_bad_key(m, out);
		break;
	case MIX_GET_ONE:
		put_get(a, out);
		break;
	case MIX_GET_LIST:
		put_head(out, "GET /vazifalar?soni=5");
		idem_buf_puts(out, IDEM_LIT("\r\n"));
		break;
	case MIX_GET_NONE:
		put_head(out, "GET /vazifalar/4000000000");
		idem_buf_puts(out, IDEM_LIT("\r\n"));
		break;
	case MIX_NKINDS:
		break;
	}
}

/* --- judging -------------------------------------------------------------- */

static bool
has(struct idem_span text, const char *word)
{
	return memmem(text.p, text.n, word, strlen(word)) != NULL;
}

static bool
has_kod(struct idem_span body, const char *kod)
{
	char member[100];

	return text_format(member, sizeof member, "\"kod\":\"%s\"", kod) ==
	    IDEM_OK && has(body, member);
}

/* The task that it was made for, and small enough to be remembered. */
static bool
is_task(uint32_t number, struct idem_span body)
{
	char text[100];

	return text_format(text, sizeof text, "\"matn\":\"yuk %u #soak\"",
	    number) == IDEM_OK && has(body, text) && body.n < MIX_BODY_MAX &&
	    span_starts(body, IDEM_LIT("{\"id\":"));
}

static void
keep(struct mix *m, uint32_t number, struct idem_span body)
{
	struct mix_kept *k = &m->kept[m->nkept++ % NKEPT];

	k->number = number;
	k->at_ms = io_steady_ms();
	k->nbody = body.n;
	memcpy(k->body, body.p, body.n);
}

static bool
same(const char *p, size_t n, struct idem_span body)
{
	return span_eq((struct idem_span){ p, n }, body);
}

static const char *
judge_pair(struct mix *m, struct pair *p)
{
	if (p->nheard < 2)
		return NULL;
	if (p->nfirst != 1)
		return "of two at once exactly one has to be the first";
	keep(m, p->number, (struct idem_span){ p->body, p->nbody });
	return NULL;
}

static const char *
judge_twin(struct mix *m, struct pair *p, const struct mix_got *got)
{
	p->nheard++;
	if (got->status == 409) {
		m->nconflicts++;
		if (!has_kod(got->body, "idempotentlik-jarayonda"))
			return "409, but not because the other one runs";
		if (!got->retry_after || got->replayed)
			return "409 without Retry-After, or as a replay";
		return judge_pair(m, p);
	}
	if (got->status != 201 || !is_task(p->number, got->body))
		return "neither 409 nor its task";
	if (p->nbody != 0 && !same(p->body, p->nbody, got->body))
		return "the two answers differ";
	p->nbody = got->body.n;
	memcpy(p->body, got->body.p, got->body.n);
	p->nfirst += !got->replayed;
	m->neffects += !got->replayed;
	return judge_pair(m, p);
}

static const char *
judge_first(struct mix *m, const struct mix_asked *a, const struct mix_got *got)
{
	if (!is_task(a->of.number, got->body))
		return "another task";
	m->neffects++;
	if (a->kind == MIX_NEW)
		keep(m, a->of.number, got->body);
	return NULL;
}

const char *
mix_judge(struct mix *m, const struct mix_asked *a, const struct mix_got *got)
{
	if (a->kind == MIX_TWIN)
		return judge_twin(m, &m->pairs[a->pair], got);
	if (got->status != wants[a->kind].status)
		return "another status";
	if (wants[a->kind].kod != NULL &&
	    !has_kod(got->body, wants[a->kind].kod))
		return "another kod";
	if (got->replayed != (a->kind == MIX_REPLAY))
		return got->replayed ? "a replay" : "no replay";
	if (a->kind == MIX_NEW || a->kind == MIX_UNKEYED)
		return judge_first(m, a, got);
	if ((a->kind == MIX_REPLAY || a->kind == MIX_GET_ONE) &&
	    !same(a->of.body, a->of.nbody, got->body))
		return "other bytes than the first answer";
	return NULL;
}
