/*
 * tasks.c - scenarios of tasks.fcgi: it begins, and one request of each kind,
 * on a memory store and on LMDB.
 */
#include "asked.h"

#include "settings/settings.h"
#include "tasks/service.h"

#define NOW_MS 1796050800000 /* 2026-11-30T15:00:00.000Z */

struct turn_row {
	bool lmdb;
	bool warm;               /* another request came before */
	struct asked before;     /* and this, where uri is set */
	struct asked ask;
	unsigned status;
	const char *text;        /* in the answer */
	const char *tasks;       /* ids of all tasks then, "1 2" */
};

static struct settings settings;
static struct service *service;
static unsigned nrandom;
static bool second;

static const struct turn_row *
row(void)
{
	return oom_with();
}

static int64_t
clock_of_test(void *arg)
{
	(void)arg;
	return NOW_MS;
}

static enum idem_err
random_of_test(void *arg, void *p, size_t n)
{
	unsigned char *bytes = p;

	(void)arg;
	nrandom++;
	for (size_t i = 0; i < n; i++)
		bytes[i] = (unsigned char)(nrandom >> i % 4 * 8);
	return IDEM_OK;
}

static void
make_settings(void)
{
	static char store[128];

	settings_init(&settings, SETTINGS_TASKS);
	settings.durable = true;
	settings.store = IDEM_LIT("memory:");
	settings.policy.max_body_bytes = 1 << 20;
	if (row() != NULL && row()->lmdb) {
		must(text_format(store, sizeof store, "%s/store", oom_dir()) ==
		    IDEM_OK);
		settings.store = span_of(store);
	}
}

static void
send(const struct asked *a)
{
	asked_serve(a, service_serve, service);
}

static enum idem_err
begin(void)
{
	void *app = NULL;
	enum idem_err err = service_open(&settings, &oom_log, IDEM_ABSENT,
	    &app);

	if (err != IDEM_OK)
		return err;
	service = app;
	service->engine.now_ms = clock_of_test;
	service->engine.random = random_of_test;
	service->engine.arg = NULL;
	return IDEM_OK;
}

static void
make(void)
{
	static const struct asked other = { .uri = "/", .method = "GET" };

	make_settings();
	must(begin() == IDEM_OK);
	if (row()->before.uri != NULL)
		send(&row()->before);
	if (row()->warm)
		send(&other);
	second = false;
}

static enum idem_err
run(void)
{
	unsigned status;

	send(&row()->ask);
	status = asked_status();
	second = second || status != row()->status;
	if (status == row()->status)
		return IDEM_OK;
	must(status == 0 || asked_has("Content-Type: application/problem+json")
	    || asked_has("data-kod="));
	return status == 0 || status == 500 || status == 503 ? IDEM_ENOMEM :
	    IDEM_ESTORE;
}

/* Who sent no key may have done it twice: nobody promised anything. */
static void
tasks_right(void)
{
	static const struct asked list = { .method = "GET",
		.uri = "/vazifalar" };
	static const char name[] = "\"id\":";
	struct idem_span rest;
	char ids[64] = "";
	size_t n = 0;
	const char *at;

	send(&list);
	must(asked_status() == 200);
	for (rest = asked_answer(); n + 2 < sizeof ids && (at = memmem(rest.p,
	    rest.n, name, sizeof name - 1)) != NULL;) {
		rest = span_from(rest, (size_t)(at - rest.p) + sizeof name - 1);
		if (n > 0)
			ids[n++] = ' ';
		ids[n++] = rest.p[0];
	}
	if (row()->ask.key == NULL && second && row()->status == 201 &&
	    span_eq((struct idem_span){ ids, n }, IDEM_LIT("1 2")))
		return;
	must_be(((struct idem_span){ ids, n }), span_of(row()->tasks));
}

static void
right(void)
{
	uint64_t nbad = 0;

	must(row()->text == NULL || asked_has(row()->text));
	if (row()->ask.key != NULL) /* nothing is done for it again */
		send(&row()->ask);
	tasks_right();
	must(idem_store_check(service->keeper.store, &nbad) == IDEM_OK);
	must(nbad == 0);
}

static void
end(void)
{
	service_close(service);
}

/* --- it begins ----------------------------------------------------------- */

static enum idem_err
open_service(void)
{
	return begin();
}

/* Where the store could not be opened it says so, answers 503 and tries again;
 * that it cannot begin at all is the worker's to say. */
static void
opened_right(void)
{
	static const struct asked one = { .uri = "/vazifalar", .key = "k",
		.more = { "CONTENT_TYPE=application/json" },
		.body = "{\"matn\":\"Non\"}" };

	must(service->keeper.store != NULL || oom_logged().n > 0);
	service->keeper.tried_ms = 0;
	send(&one);
	must(asked_status() == 201);
}

#define JSON .more = { "CONTENT_TYPE=application/json" }
#define NON .body = "{\"matn\":\"Non #uy\"}"
#define TASK { .uri = "/vazifalar", .key = "k", JSON, NON }
#define ON(name_, lmdb_, ...) \
	{ .name = "tasks, " name_, .make = make, .run = run, .right = right, \
	    .end = end, .logs = true, .with = &(const struct turn_row){ \
	    .lmdb = lmdb_, __VA_ARGS__ } }
#define ASK(name, ...) \
	ON(name ", memory", false, __VA_ARGS__), \
	ON(name ", LMDB", true, __VA_ARGS__)
#define OPEN(name_, lmdb_) \
	{ .name = "tasks, " name_, .make = make_settings, \
	    .run = open_service, .right = opened_right, .end = end, \
	    .with = &(const struct turn_row){ .lmdb = lmdb_ } }

static const struct scenario scenarios[] = {
	OPEN("begin, memory", false),
	OPEN("begin, LMDB", true),
	ASK("a new key", .ask = TASK, .status = 201, .text = "\"teglar\":"
	    "[\"uy\"]", .tasks = "1"),
	ASK("a new key, later", .warm = true, .ask = TASK, .status = 201, .text
	    = "\"id\":1,", .tasks = "1"),
	ON("a replay, LMDB", true, .before = TASK, .ask = TASK, .status = 201,
	    .text = "Idempotency-Replayed: true", .tasks = "1"),
	ASK("another body", .before = TASK, .ask = { .key = "k", JSON, .body =
	    "{\"matn\":\"Suv\"}" }, .status = 422, .text =
	    "\"code\":\"key-reused\"", .tasks = "1"),
	ASK("no key", .ask = { JSON, NON }, .status = 201, .text =
	    "\"Non #uy\"", .tasks = "1"),
	ASK("a bad key", .ask = { .key = "k k", JSON, NON }, .status = 400,
	    .text = "\"code\":\"key-invalid\"", .tasks = ""),
	ASK("no JSON", .ask = { .key = "k", JSON, .body = "{\"matn\":" },
	    .status = 400, .text = "\"code\":\"json-invalid\"", .tasks = ""),
	ASK("wrong values", .ask = { .key = "k", JSON, .body =
	    "{\"matn\":\"\",\"bajarildi\":1}" }, .status = 422, .text =
	    "\"xatolar\":[{\"maydon\":\"matn\"", .tasks = ""),
	ASK("another type", .ask = { .key = "k", .body = "a=1", .more = {
	    "CONTENT_TYPE=text/plain" } }, .status = 415, .text =
	    "\"code\":\"media-type\"", .tasks = ""),
	ASK("a large body", .ask = { .key = "k", JSON, .big = true }, .status =
	    201, .text = "\"id\":1,", .tasks = "1"),
	ASK("the list", .before = TASK, .ask = { .method = "GET", .uri =
	    "/vazifalar?teg=uy" }, .status = 200, .text =
	    "{\"vazifalar\":[{\"id\":1,", .tasks = "1"),
	ASK("a wrong query", .ask = { .method = "GET", .uri =
	    "/vazifalar?soni=x" }, .status = 422, .text =
	    "\"maydon\":\"soni\"", .tasks = ""),
	ON("one task, LMDB", true, .before = TASK, .ask = { .method = "GET",
	    .uri = "/vazifalar/1" }, .status = 200, .text = "{\"id\":1,",
	    .tasks = "1"),
	ASK("PUT", .before = TASK, .ask = { .method = "PUT", .uri =
	    "/vazifalar/1", JSON, .body = "{\"matn\":\"Suv\"}" }, .status =
	    200, .text = "\"matn\":\"Suv\"", .tasks = "1"),
	ASK("PATCH", .before = TASK, .ask = { .method = "PATCH", .key = "p",
	    .uri = "/vazifalar/1", JSON, .body = "{\"bajarildi\":true}" },
	    .status = 200, .text = "\"bajarildi\":true", .tasks = "1"),
	ASK("DELETE", .before = TASK, .ask = { .method = "DELETE", .uri =
	    "/vazifalar/1" }, .status = 204, .tasks = ""),
	ASK("no such task", .ask = { .method = "GET", .uri = "/vazifalar/7" },
	    .status = 404, .text = "\"code\":\"not-found\"", .tasks = ""),
	ASK("no such page", .ask = { .method = "GET", .uri = "/x%41" }, .status
	    = 404, .text = "\"code\":\"not-found\"", .tasks = ""),
	ASK("no such method", .ask = { .method = "DELETE" }, .status = 405,
	    .text = "Allow: ", .tasks = ""),
	ASK("a page for a person", .ask = { .method = "GET", .uri = "/x", .more
	    = { "HTTP_SEC_FETCH_MODE=navigate" } }, .status = 404, .text =
	    "data-kod=\"topilmadi\"", .tasks = ""),
	ASK("the page of a problem", .ask = { .method = "GET", .uri =
	    "/xatolar/metod" }, .status = 200, .text = "metod", .tasks = ""),
	ASK("the policy", .ask = { .method = "GET", .uri = "/idempotentlik" },
	    .status = 200, .text = "{\"", .tasks = ""),
	ASK("the policy for a person", .ask = { .method = "GET", .uri =
	    "/idempotentlik", .more = { "HTTP_SEC_FETCH_MODE=navigate",
	    "HTTP_ACCEPT=text/html" } }, .status = 200, .text = "<dl>", .tasks
	    = ""),
};

const struct part part_tasks = { scenarios, COUNT(scenarios) };
