/*
 * guard.c - scenarios of guard.fcgi: it begins, and one request of each kind,
 * with an application behind CGI and behind FastCGI.
 */
#include "asked.h"
#include "backend.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/io.h"
#include "guard/service.h"
#include "settings/settings.h"

struct errand_row {
	bool fastcgi;
	bool nobody;         /* there is no application */
	struct asked before; /* asked first, where uri is set */
	struct asked ask;
	unsigned status;
	const char *text;
	unsigned ran;        /* how often the application then was asked */
};

static struct settings settings;
static struct guard *guard;
static bool second;
static unsigned nfirst; /* asked by the first try */
static char routes[128];

static const struct errand_row *
row(void)
{
	return oom_with();
}

static void
set(const char *option)
{
	const char *argv[] = { option, NULL };
	bool taken = false;
	size_t at = 0;

	must(settings_option(&settings, &oom_log, argv, &at, &taken) ==
	    IDEM_OK && taken);
}

/* One route's key stands in its form. */
static void
write_routes(void)
{
	static const char text[] = "POST /form*\n    IDEM_KEY_FROM=form:nonce\n"
	    "    IDEM_KEEP=2xx\n";
	int fd = open(routes, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	must(io_write(fd, text, sizeof text - 1) == IDEM_OK);
	(void)close(fd);
}

static void
make_settings(void)
{
	static char store[128];

	backend_make();
	settings_init(&settings, SETTINGS_GUARD);
	must(text_format(store, sizeof store, "%s/store", oom_dir()) ==
	    IDEM_OK);
	must(text_format(routes, sizeof routes, "%s/routes", oom_dir()) ==
	    IDEM_OK);
	write_routes();
	set("--anonymous=allow");
	set("--scripts=none");
	settings.store = span_of(store);
	settings.routes = span_of(routes);
	settings.durable = true;
	settings.backend = row()->nobody ? IDEM_LIT("fcgi:unix:/nobody") :
	    row()->fastcgi ? backend_fcgi_setting() : backend_cgi_setting();
}

static enum idem_err
begin(void)
{
	void *app = NULL;
	enum idem_err err = guard_check(&settings, &oom_log, "");

	if (err == IDEM_OK)
		err = guard_open(&settings, &oom_log, IDEM_ABSENT, &app);
	if (err == IDEM_OK)
		guard = app;
	return err;
}

static void
make(void)
{
	make_settings();
	must(begin() == IDEM_OK);
	if (row()->before.uri != NULL)
		asked_serve(&row()->before, guard_serve, guard);
	second = false;
	nfirst = 0;
}

static bool
is_keyed(void)
{
	return row()->ask.key != NULL ||
	    strncmp(row()->ask.uri, "/form", 5) == 0;
}

static enum idem_err
run(void)
{
	unsigned status, before = backend_count();

	asked_serve(&row()->ask, guard_serve, guard);
	status = asked_status();
	if (second && nfirst > 0 && is_keyed() && status == 409 &&
	    asked_has("\"code\":\"outcome-unknown\""))
		return IDEM_OK; /* it ran, and nobody knows how it ended */
	if (!second)
		nfirst = backend_count() - before;
	second = true;
	if (status == row()->status)
		return IDEM_OK;
	must(asked_has("Content-Type: application/problem+json"));
	return status == 500 || status == 503 ? IDEM_ENOMEM : IDEM_ESTORE;
}

static void
right(void)
{
	uint64_t nbad = 0;

	must(asked_status() == 409 || asked_has(row()->text));
	if (is_keyed()) /* it was protected: nothing is done for it again */
		asked_serve(&row()->ask, guard_serve, guard);
	must(backend_count() == row()->ran || (!is_keyed() && nfirst > 0 &&
	    backend_count() == row()->ran + 1));
	must(idem_store_check(guard->keeper.store, &nbad) == IDEM_OK);
	must(nbad == 0);
}

static void
end(void)
{
	guard_close(guard);
}

/* A store that could not be opened is told of, and tried again with the next
 * request; that it cannot begin at all is the worker's to say. */
static void
opened_right(void)
{
	static const struct asked one = { .uri = "/pay", .key = "k",
		.body = "a=1" };

	must(guard->keeper.store != NULL || oom_logged().n > 0);
	guard->keeper.tried_ms = 0;
	asked_serve(&one, guard_serve, guard);
	must(asked_status() == 201);
	must(asked_has(BACKEND_BODY));
}

#define FORM .more = { "CONTENT_TYPE=application/x-www-form-urlencoded" }
#define PAY { .uri = "/pay", .key = "k", .body = "a=1", FORM }
#define ON(name_, fastcgi_, ...) \
	{ .name = "guard, " name_, .make = make, .run = run, .right = right, \
	    .end = end, .logs = true, .with = &(const struct errand_row){ \
	    .fastcgi = fastcgi_, __VA_ARGS__ } }
#define ASK(name, ...) \
	ON(name ", CGI", false, __VA_ARGS__), \
	ON(name ", FastCGI", true, __VA_ARGS__)

static const struct scenario scenarios[] = {
	{ .name = "guard, begin", .make = make_settings, .run = begin, .right =
	    opened_right, .end = end, .with = &(const struct errand_row){
	    .fastcgi = true } },
	ASK("a new key", .ask = PAY, .status = 201, .text = BACKEND_BODY, .ran
	    = 1),
	ASK("a replay", .before = PAY, .ask = PAY, .status = 201, .text =
	    "Idempotency-Replayed: true", .ran = 1),
	ASK("another body", .before = PAY, .ask = { .uri = "/pay", .key = "k",
	    .body = "a=2", FORM }, .status = 422, .text =
	    "\"code\":\"key-reused\"", .ran = 1),
	ASK("no key", .ask = { .uri = "/pay", .body = "a=1", FORM }, .status =
	    201, .text = BACKEND_BODY, .ran = 1),
	ASK("GET", .ask = { .method = "GET", .uri = "/pay" }, .status = 201,
	    .text = BACKEND_BODY, .ran = 1),
	ASK("a key in a form", .ask = { .uri = "/form", FORM, .body =
	    "nonce=1&a=2" }, .status = 201, .text = BACKEND_BODY, .ran = 1),
	ASK("a large body", .ask = { .uri = "/pay", .key = "k", .big = true },
	    .status = 201, .text = BACKEND_BODY, .ran = 1),
	ON("nobody there", true, .nobody = true, .ask = PAY, .status = 502,
	    .text = "\"code\":\"backend-unreachable\""),
};

const struct part part_guard = { scenarios, COUNT(scenarios) };
