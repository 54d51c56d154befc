/*
 * test_wrap_ends.c - how a handler's run ends: kept, released or held, for
 * handlers inside the transaction and around work outside.
 */
#include "shop.h"

#include "base/sha256.h"

/* Send twice with one key; the second is a first run, a replay or unknown. */
static void
send_twice(struct shop *s, enum shop_handler kind, const char *key,
    unsigned status, enum idem_outcome first, enum idem_outcome second)
{
	shop_send(s, kind, key, "{}");
	assert_ended(s, status, first);
	assert_text(shop_field(&s->res, "Idempotency-Replayed"), NULL);
	shop_send(s, kind, key, "{}");
	assert_ended(s, second == IDEM_O_UNKNOWN ? 409 : status, second);
	assert_text(shop_field(&s->res, "Idempotency-Replayed"),
	    second == IDEM_O_REPLAYED ? "true" : NULL);
}

static const enum shop_handler kinds[] = {
	SHOP_ONCE, SHOP_WORK, SHOP_BOTH, SHOP_AGAIN,
};

static bool
is_released(unsigned status)
{
	static const unsigned released[] = {
		401, 403, 407, 408, 412, 421, 423, 425, 428, 429,
	};

	for (size_t i = 0; i < COUNT(released); i++)
		if (status == released[i])
			return true;
	return false;
}

static void
every_status_of_every_kind(void **state)
{
	static const unsigned statuses[] = {
		200, 201, 202, 204, 301, 302, 303, 304, 307, 308, 400, 401, 402,
		403, 404, 405, 407, 408, 409, 410, 412, 413, 415, 421, 422,
		423, 425, 428, 429, 451,
	};
	struct shop *s = *state;

	s->script.effect = s->script.commit_effect = IDEM_BY_STATUS;
	for (size_t i = 0; i < COUNT(statuses) * COUNT(kinds); i++) {
		enum shop_handler kind = kinds[i % COUNT(kinds)];
		unsigned status = statuses[i / COUNT(kinds)];
		bool released = is_released(status);
		uint64_t nrows = shop_nrows(s);

		shop_clear(s);
		s->script.status = status;
		send_twice(s, kind, "k1", status,
		    released ? IDEM_O_RELEASED : IDEM_O_CREATED,
		    released ? IDEM_O_RELEASED : IDEM_O_REPLAYED);
		assert_int_equal(s->nworked + (kind == SHOP_ONCE),
		    released && kind != SHOP_ONCE ? 2 : 1);
		assert_int_equal(shop_nrows(s) - nrows,
		    kind == SHOP_WORK || released ? 0 : 1);
	}
	assert_int_equal(s->lines.n, 0);
}

static void
server_errors_by_setting(void **state)
{
	static const unsigned statuses[] = { 500, 501, 502, 503, 504 };
	struct shop *s = *state;

	for (size_t i = 0; i < COUNT(statuses) * COUNT(kinds) * 2; i++) {
		enum shop_handler kind = kinds[i / 2 % COUNT(kinds)];
		bool keep = i % 2 == 1;

		shop_clear(s);
		s->policy.keep_5xx = keep;
		s->script.status = statuses[i / 2 / COUNT(kinds)];
		send_twice(s, kind, "k1", s->script.status,
		    keep ? IDEM_O_CREATED : IDEM_O_RELEASED,
		    keep ? IDEM_O_REPLAYED : IDEM_O_RELEASED);
	}
	/* kept or not, what such a handler wrote does not stand */
	assert_int_equal(shop_nrows(s), 0);
}

static void
retry_after_releases(void **state)
{
	static const struct { unsigned status; bool released; } rows[] = {
		{ 200, false }, { 303, true }, { 404, true }, { 409, true },
	};
	struct shop *s = *state;

	s->script.fields[2] = "Retry-After";
	s->script.fields[3] = "1";
	for (size_t i = 0; i < COUNT(rows) * COUNT(kinds); i++) {
		bool released = rows[i / COUNT(kinds)].released;

		shop_clear(s);
		s->script.status = rows[i / COUNT(kinds)].status;
		send_twice(s, kinds[i % COUNT(kinds)], "k1", s->script.status,
		    released ? IDEM_O_RELEASED : IDEM_O_CREATED,
		    released ? IDEM_O_RELEASED : IDEM_O_REPLAYED);
	}
}

static void
what_the_handler_says(void **state)
{
	static const struct {
		enum shop_handler kind;
		enum idem_effect work, commit;
		enum idem_outcome first, second;
		uint64_t nrows;
	} rows[] = {
		{ SHOP_ONCE, IDEM_BY_STATUS, IDEM_DONE, IDEM_O_CREATED,
		    IDEM_O_REPLAYED, 1 },
		{ SHOP_ONCE, IDEM_BY_STATUS, IDEM_NONE, IDEM_O_RELEASED,
		    IDEM_O_RELEASED, 0 },
		{ SHOP_ONCE, IDEM_BY_STATUS, IDEM_HOLD, IDEM_O_HELD,
		    IDEM_O_UNKNOWN, 0 },
		{ SHOP_WORK, IDEM_DONE, IDEM_BY_STATUS, IDEM_O_CREATED,
		    IDEM_O_REPLAYED, 0 },
		{ SHOP_WORK, IDEM_NONE, IDEM_BY_STATUS, IDEM_O_RELEASED,
		    IDEM_O_RELEASED, 0 },
		{ SHOP_WORK, IDEM_HOLD, IDEM_BY_STATUS, IDEM_O_HELD,
		    IDEM_O_UNKNOWN, 0 },
		{ SHOP_BOTH, IDEM_DONE, IDEM_DONE, IDEM_O_CREATED,
		    IDEM_O_REPLAYED, 1 },
		{ SHOP_BOTH, IDEM_NONE, IDEM_DONE, IDEM_O_RELEASED,
		    IDEM_O_RELEASED, 0 },
		{ SHOP_BOTH, IDEM_HOLD, IDEM_DONE, IDEM_O_HELD,
		    IDEM_O_UNKNOWN, 0 },
		{ SHOP_BOTH, IDEM_DONE, IDEM_NONE, IDEM_O_RELEASED,
		    IDEM_O_RELEASED, 0 },
		{ SHOP_BOTH, IDEM_BY_STATUS, IDEM_HOLD, IDEM_O_HELD,
		    IDEM_O_UNKNOWN, 0 },
	};
	struct shop *s = *state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t nrows = shop_nrows(s);

		shop_clear(s);
		/* a status that alone would say the opposite */
		s->script.status = rows[i].first == IDEM_O_CREATED ? 429 : 201;
		s->script.effect = rows[i].work;
		s->script.commit_effect = rows[i].commit;
		send_twice(s, rows[i].kind, "k1", s->script.status,
		    rows[i].first, rows[i].second);
		assert_int_equal(shop_nrows(s) - nrows, rows[i].nrows);
	}
}

static void
refusals_are_kept_as_any_answer(void **state)
{
	static const struct { unsigned status; bool kept; } rows[] = {
		{ 400, true }, { 415, true }, { 422, true }, { 404, true },
		{ 401, false }, { 412, false }, { 429, false }, { 500, false },
	};
	struct shop *s = *state;

	s->script.refuse = true;
	for (size_t i = 0; i < COUNT(rows) * COUNT(kinds); i++) {
		bool kept = rows[i / COUNT(kinds)].kept;

		shop_clear(s);
		s->script.status = rows[i / COUNT(kinds)].status;
		send_twice(s, kinds[i % COUNT(kinds)], "k1", s->script.status,
		    kept ? IDEM_O_CREATED : IDEM_O_RELEASED,
		    kept ? IDEM_O_REPLAYED : IDEM_O_RELEASED);
		assert_text(idem_buf_span(&s->res.body), "{\"id\":1}");
		assert_int_equal(s->nprepared, kept ? 1 : 2);
		assert_int_equal(s->nworked + s->ncommitted, 0);
	}
	/* without a key: each time, and nothing is stored */
	shop_clear(s);
	s->script.status = 422;
	shop_send(s, SHOP_BOTH, NULL, "{}");
	assert_ended(s, 422, IDEM_O_UNPROTECTED);
	assert_int_equal(s->ndrawn % 2, 0);
}

static struct idem_response met; /* what another worker answered */
static const char *met_body;

static void
ask_once_and_be_refused(struct shop *s)
{
	struct shop_script before = s->script;

	s->script.refuse = true;
	s->script.status = 401;
	shop_send_other(s, SHOP_ONCE, "k1", met_body, &met);
	s->script = before;
}

/* An answer that is not kept must not hide whose key it is. */
static void
a_refusal_finds_the_record_first(void **state)
{
	static const struct {
		const char *body;
		unsigned status;
		const char *code;
	} rows[] = {
		{ "{\"a\":1}", 409, "in-progress" },
		{ "{\"a\":2}", 422, "key-reused" },
	};
	struct shop *s = *state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		shop_clear(s);
		idem_response_init(&met, SHOP_MAX_BYTES);
		met_body = rows[i].body;
		s->script.meanwhile = ask_once_and_be_refused;
		shop_send(s, SHOP_WORK, "k1", "{\"a\":1}");
		assert_ended(s, 201, IDEM_O_CREATED);
		assert_int_equal(met.status, rows[i].status);
		assert_problem_at(&met, rows[i].code, __FILE__, __LINE__);
		idem_response_free(&met);
	}
	s->script.refuse = true;
	s->script.status = 401;
	shop_send(s, SHOP_ONCE, "k1", "{\"a\":1}");
	assert_ended(s, 201, IDEM_O_REPLAYED);
	shop_send(s, SHOP_ONCE, "k1", "{\"a\":2}");
	assert_ended(s, 422, IDEM_O_MISMATCH);
	/* a free key stays free, and its store has nothing more */
	assert_int_equal(shop_nrecords(s), 1);
	shop_send(s, SHOP_ONCE, "k2", "{}");
	assert_ended(s, 401, IDEM_O_RELEASED);
	assert_int_equal(shop_nrecords(s), 1);
}

#define BODY_65 "01234567890123456789012345678901" \
	"012345678901234567890123456789012"

static void
an_answer_over_the_limit(void **state)
{
	struct shop *s = *state;

	s->script.fields[2] = "Content-Type";
	s->script.fields[3] = "text/plain";
	for (size_t i = 0; i < COUNT(kinds); i++) {
		shop_clear(s);
		s->script.body = IDEM_LIT(BODY_65);
		send_twice(s, kinds[i], "k1", 201, IDEM_O_CREATED,
		    IDEM_O_REPLAYED);
		assert_text(idem_buf_span(&s->res.fields),
		    "Location: /t/1\r\nCache-Control: no-store\r\n"
		    "Idempotency-Replayed: true\r\n"
		    "Idempotency-Body: omitted\r\n");
		assert_text(idem_buf_span(&s->res.body), "");
		assert_int_equal(s->nworked + s->ncommitted,
		    kinds[i] == SHOP_ONCE || kinds[i] == SHOP_WORK ? 1 : 2);
		shop_clear(s);
		shop_send(s, kinds[i], "k1", "{}");
		assert_ended(s, 201, IDEM_O_CREATED);
		assert_text(idem_buf_span(&s->res.body), BODY_65);
		shop_clear(s);
		s->script.body.n = 64;
		send_twice(s, kinds[i], "k1", 201, IDEM_O_CREATED,
		    IDEM_O_REPLAYED);
		assert_int_equal(s->res.body.n, 64);
		assert_text(shop_field(&s->res, "Content-Type"), "text/plain");
	}
}

static void
our_own_fields_are_ours(void **state)
{
	struct shop *s = *state;

	s->script.fields[2] = "Idempotency-Replayed";
	s->script.fields[3] = "true";
	for (size_t i = 0; i < COUNT(kinds) * 2; i++) {
		shop_clear(s);
		s->script.refuse = i % 2 == 1;
		send_twice(s, kinds[i / 2], "k1", 201, IDEM_O_CREATED,
		    IDEM_O_REPLAYED);
		shop_send(s, kinds[i / 2], NULL, "{}");
		assert_ended(s, 201, IDEM_O_UNPROTECTED);
		assert_text(shop_field(&s->res, "Idempotency-Replayed"), NULL);
	}
	/* as a request's field it means nothing */
	s->more[0] = "HTTP_IDEMPOTENCY_REPLAYED=true";
	shop_send(s, SHOP_ONCE, "k9", "{}");
	assert_ended(s, 201, IDEM_O_CREATED);
}

static void
an_answer_that_is_none(void **state)
{
	struct shop *s = *state;

	/* done, and no answer says what */
	s->script.bad_field = true;
	send_twice(s, SHOP_WORK, "k1", 500, IDEM_O_HELD, IDEM_O_UNKNOWN);
	/* nothing done */
	s->script.effect = IDEM_NONE;
	send_twice(s, SHOP_WORK, "k2", 500, IDEM_O_RELEASED, IDEM_O_RELEASED);
	/* prepare(): nothing done, whatever the setting */
	s->policy.keep_5xx = true;
	s->script.refuse = true;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		send_twice(s, kinds[i], "k3", 500, IDEM_O_RELEASED,
		    IDEM_O_RELEASED);
		assert_problem(s, "internal");
	}
	/* an input that does not fit */
	s->script.refuse = s->script.bad_field = false;
	s->script.input_bytes = 3 * SHOP_MAX_BYTES;
	for (size_t i = 0; i < COUNT(kinds); i++)
		send_twice(s, kinds[i], "k4", 500, IDEM_O_RELEASED,
		    IDEM_O_RELEASED);
	shop_send(s, SHOP_ONCE, NULL, "{}");
	assert_ended(s, 500, IDEM_O_UNPROTECTED);
	assert_int_equal(s->ncommitted, 0);
}

/* sanitizer/allocator_interface.h, which gcc does not install; NULL in a build
 * without sanitizers (valgrind, coverage). */
__attribute__((weak)) int __sanitizer_install_malloc_and_free_hooks(
    void (*allocated)(const volatile void *, size_t),
    void (*freed)(const volatile void *));

static size_t nallocated;

static void
count_allocation(const volatile void *p, size_t n)
{
	(void)p;
	(void)n;
	nallocated++;
}

static void
ignore_free(const volatile void *p)
{
	(void)p;
}

/* What libcrypto allocates for one hash: some versions do, for each. */
static size_t
allocated_by_hash(struct shop *s)
{
	unsigned char digest[SHA256_BYTES];
	size_t before = nallocated;

	sha256_start(s->engine.fp.hash);
	assert_int_equal(sha256_finish(s->engine.fp.hash, digest), IDEM_OK);
	return nallocated - before;
}

/* Two hashes: the record's id and the fingerprint. */
static void
a_replay_allocates_nothing(void **state)
{
	struct shop *s = *state;
	size_t before, hashes;

	if (__sanitizer_install_malloc_and_free_hooks == NULL)
		skip();
	for (int i = 0; i < 3; i++)
		shop_send(s, SHOP_ONCE, "k1", "{\"a\":[1,2,{\"b\":\"c\"}]}");
	assert_true(__sanitizer_install_malloc_and_free_hooks(
	    count_allocation, ignore_free) > 0);
	hashes = 2 * allocated_by_hash(s);
	before = nallocated;
	idem_wrap(&s->engine, &s->call);
	assert_ended(s, 201, IDEM_O_REPLAYED);
	assert_int_equal(nallocated - before, hashes);
	s->fault[0] = (struct shop_fault){ IDEM_ESTORE, 0, true, 2 };
	idem_wrap(&s->engine, &s->call); /* grows the buffer of the answer */
	before = nallocated;
	idem_wrap(&s->engine, &s->call);
	assert_ended(s, 503, IDEM_O_DOWN);
	assert_int_equal(nallocated - before, hashes);
}

#define ROW(f) cmocka_unit_test_setup_teardown(f, shop_open, shop_close)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ROW(every_status_of_every_kind),
		ROW(server_errors_by_setting),
		ROW(retry_after_releases),
		ROW(what_the_handler_says),
		ROW(refusals_are_kept_as_any_answer),
		ROW(a_refusal_finds_the_record_first),
		ROW(an_answer_over_the_limit),
		ROW(our_own_fields_are_ours),
		ROW(an_answer_that_is_none),
		ROW(a_replay_allocates_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
