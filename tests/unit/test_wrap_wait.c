/*
 * test_wrap_wait.c - a retry while its first request runs: for how long it
 * waits, and what it gets then.
 */
#include "shop.h"

#include <unistd.h>

#define FORM "CONTENT_TYPE=application/x-www-form-urlencoded"

/* The shop is this worker; another one only fills the second seat. */
struct hall {
	struct shop *shop;
	struct waiting other;
	char path[32];
};

static int
setup(void **state)
{
	struct hall *h = calloc(1, sizeof *h);
	void *shop;
	int fd;

	assert_non_null(h);
	*state = h;
	assert_int_equal(shop_open(&shop), 0);
	h->shop = shop;
	memcpy(h->path, "/tmp/idem-wait-XXXXXX", 22);
	assert_true((fd = mkstemp(h->path)) >= 0);
	(void)close(fd);
	waiting_open(&h->shop->store->waiting, h->path, true, 1, NULL);
	waiting_open(&h->other, h->path, true, 1, NULL);
	return 0;
}

static int
teardown(void **state)
{
	struct hall *h = *state;
	void *shop = h->shop;

	waiting_close(&h->other);
	(void)unlink(h->path);
	(void)shop_close(&shop);
	free(h);
	return 0;
}

/*
 * While the first request works, the second comes and waits; what happens
 * then is the store's script.  *second is its answer.
 */
static struct idem_response second;
static unsigned second_status;
static const char *second_key = "k1";

static void
send_second(struct shop *s)
{
	s->script.meanwhile = NULL;
	second_status = shop_send_other(s, SHOP_WORK, second_key, "n=1",
	    &second);
}

static void
send_both(struct shop *s)
{
	idem_response_init(&second, SHOP_MAX_BYTES);
	s->type = FORM;
	s->script.meanwhile = send_second;
	shop_send(s, SHOP_WORK, second_key, "n=1");
}

static bool
second_is(unsigned status, const char *code)
{
	struct idem_span body = idem_buf_span(&second.body);
	bool is = second_status == status && (code == NULL ||
	    memmem(body.p, body.n, code, strlen(code)) != NULL);

	if (!is)
		print_error("got %u: %.*s\n", second_status, IDEM_FMT(body));
	idem_response_free(&second);
	return is;
}

static void
header_keys_do_not_wait(void **state)
{
	struct hall *h = *state;
	struct shop *s = h->shop;

	s->policy.wait_ms = -1;
	s->policy.max_wait_ms = 25000;
	send_both(s);
	assert_int_equal(s->nasked, 0);
	assert_true(second_is(409, "\"code\":\"in-progress\""));
}

/* The first one cannot end while the second waits in the same thread: its time
 * is over at last, and then it is 409. */
static void
settings_say_how_long(void **state)
{
	static const struct {
		int64_t wait_ms, max_wait_ms;
		const char *prefer;
		bool waits;
	} rows[] = {
		{ 20, 25000, NULL, true },
		{ 0, 25000, NULL, false },
		{ 60000, 25000, "HTTP_PREFER=wait=0", false },
		{ 0, 20, "HTTP_PREFER=wait=1", true },
		{ 0, 0, "HTTP_PREFER=wait=1", false },
		{ 20, 0, "HTTP_PREFER=wait=1", true },
		{ 20, 0, "HTTP_PREFER=wait=x", true },
		{ -1, 0, "HTTP_PREFER=wait=1", false },
	};
	struct hall *h = *state;
	struct shop *s = h->shop;

	for (size_t i = 0; i < COUNT(rows); i++) {
		s->policy.wait_ms = rows[i].wait_ms;
		s->policy.max_wait_ms = rows[i].max_wait_ms;
		s->more[0] = rows[i].prefer;
		s->nasked = 0;
		send_both(s);
		assert_int_equal(s->nasked > 0, rows[i].waits);
		assert_true(second_is(409, "\"code\":\"in-progress\""));
		assert_ended(s, 201, IDEM_O_CREATED);
		shop_clear(s);
	}
	assert_int_equal(s->nworked, 0); /* cleared each time */
}

static void
other_keys_wait_by_themselves(void **state)
{
	struct hall *h = *state;
	struct shop *s = h->shop;

	second_key = NULL;
	s->policy.wait_ms = -1;
	s->policy.max_wait_ms = 25000;
	s->policy.key_from = IDEM_LIT("form:n");
	s->ends = SHOP_ENDS_DEAD; /* so that the wait has an end */
	send_both(s);
	second_key = "k1";
	assert_int_equal(s->nasked, 1);
	assert_true(second_is(409, "\"code\":\"outcome-unknown\""));
}

static void
the_first_ends_and_is_replayed(void **state)
{
	struct hall *h = *state;
	struct shop *s = h->shop;

	s->policy.wait_ms = 60000;
	s->ends = SHOP_ENDS_DONE;
	send_both(s);
	assert_int_equal(s->nasked, 1);
	assert_text(shop_field(&second, "Idempotency-Replayed"), "true");
	assert_true(second_is(200, "by hand"));
	assert_int_equal(s->nworked, 1);
}

static void
a_released_one_is_taken_over(void **state)
{
	struct hall *h = *state;
	struct shop *s = h->shop;

	s->policy.wait_ms = 60000;
	s->ends = SHOP_ENDS_RELEASED;
	send_both(s);
	assert_int_equal(s->nasked, 1);
	assert_text(shop_field(&second, "Idempotency-Replayed"), NULL);
	assert_true(second_is(201, "{\"id\":1}"));
	assert_int_equal(s->nworked, 2);
}

static void
a_dead_one_is_unknown(void **state)
{
	struct hall *h = *state;
	struct shop *s = h->shop;

	s->policy.wait_ms = 60000;
	s->ends = SHOP_ENDS_DEAD;
	send_both(s);
	assert_true(second_is(409, "\"code\":\"outcome-unknown\""));
	assert_int_equal(s->nworked, 1);
}

static void
other_content_does_not_wait(void **state)
{
	struct hall *h = *state;
	struct shop *s = h->shop;

	s->policy.wait_ms = 60000;
	s->policy.fingerprint = IDEM_LIT("body");
	idem_response_init(&second, SHOP_MAX_BYTES);
	s->script.meanwhile = send_second; /* with the body n=1 */
	shop_send(s, SHOP_WORK, "k1", "other");
	assert_int_equal(s->nasked, 0);
	assert_true(second_is(422, "\"code\":\"key-reused\""));
}

static void
who_is_asked_to_stop_says_409(void **state)
{
	struct hall *h = *state;
	struct shop *s = h->shop;

	s->policy.wait_ms = 60000;
	s->stopping = true;
	send_both(s);
	assert_int_equal(s->nasked, 1);
	assert_true(second_is(409, "\"code\":\"in-progress\""));
}

static void
the_last_worker_does_not_wait(void **state)
{
	struct hall *h = *state;
	struct shop *s = h->shop;

	s->policy.wait_ms = 60000;
	waiting_close(&h->other);
	send_both(s);
	assert_int_equal(s->nasked, 0);
	assert_true(second_is(409, "\"code\":\"in-progress\""));
}

static void
a_store_that_fails_meanwhile(void **state)
{
	struct hall *h = *state;
	struct shop *s = h->shop;

	s->policy.wait_ms = 60000;
	s->ends = SHOP_ENDS_DONE;
	s->break_look = true;
	send_both(s);
	assert_true(second_is(503, "\"code\":\"store-unavailable\""));
	assert_int_equal(s->nworked, 1);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(header_keys_do_not_wait),
		EACH(settings_say_how_long),
		EACH(other_keys_wait_by_themselves),
		EACH(the_first_ends_and_is_replayed),
		EACH(a_released_one_is_taken_over),
		EACH(a_dead_one_is_unknown),
		EACH(other_content_does_not_wait),
		EACH(who_is_asked_to_stop_says_409),
		EACH(the_last_worker_does_not_wait),
		EACH(a_store_that_fails_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
