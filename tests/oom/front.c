/*
 * front.c - scenarios of what the programs share: settings, bodies, answers,
 * spools, names.
 */
#include "kit.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/io.h"
#include "exchange/cors.h"
#include "exchange/exchange.h"
#include "exchange/spool.h"
#include "process/names.h"
#include "settings/routes_file.h"
#include "settings/settings.h"

#define LONG 20000

static struct settings settings;
static struct routes routes;
static struct idem_buf out;
static char path[128], text[LONG + 1];

static void
write_file(const char *name, const char *content)
{
	int fd;

	must(text_format(path, sizeof path, "%s/%s", oom_dir(), name) ==
	    IDEM_OK);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	must(io_write(fd, content, strlen(content)) == IDEM_OK);
	(void)close(fd);
}

/* --- settings ------------------------------------------------------------ */

static void
make_settings(void)
{
	settings_init(&settings, SETTINGS_TASKS);
	idem_buf_init(&out, 1 << 20);
	write_file("conf", "IDEM_STORE=/var/lib/idem\nIDEM_MAX_KEYS=7\n");
}

static void
end_out(void)
{
	idem_buf_free(&out);
}

static enum idem_err
load_settings(void)
{
	static const char *const env[] = { "PATH=/bin", "IDEM_TTL=2h", NULL };
	const struct settings_places places = { .config = path,
		.argv0 = "tasks.fcgi", .fallback = "/nonexistent" };

	idem_buf_free(&out); /* it is initialised there */
	return settings_load(&settings, &oom_log, &places, env, false, &out);
}

static void
settings_right(void)
{
	must_be(settings.store, IDEM_LIT("/var/lib/idem"));
	must(settings.policy.max_keys == 7);
	must(settings.policy.ttl_ms == 7200000);
}

static enum idem_err
print_settings(void)
{
	idem_buf_reset(&out);
	settings_print(&settings, &out);
	return idem_buf_err(&out);
}

static void
printed_right(void)
{
	must(memmem(out.p, out.n, "\nIDEM_TTL=24h\t", 14) != NULL);
}

static enum idem_err
print_help(void)
{
	idem_buf_reset(&out);
	settings_help(SETTINGS_TASKS, &out);
	return idem_buf_err(&out);
}

static void
help_right(void)
{
	must(memmem(out.p, out.n, "--ttl", 5) != NULL);
}

/* A wrong value stays wrong, and the line still names it. */
static enum idem_err
refuse_value(void)
{
	static const char *const argv[] = { "--max-keys=x", NULL };
	size_t at = 0;
	bool taken = false;

	return settings_option(&settings, &oom_log, argv, &at, &taken) ==
	    IDEM_ESYNTAX ? IDEM_OK : IDEM_ESTORE;
}

static void
refused_right(void)
{
	must(memmem(oom_logged().p, oom_logged().n, "IDEM_MAX_KEYS=x", 15) !=
	    NULL);
}

/* --- the routes file ----------------------------------------------------- */

static void
make_routes(void)
{
	settings_init(&settings, SETTINGS_GUARD);
	routes_init(&routes);
	write_file("routes", "POST /a*\n\tIDEM_TTL=1h\n\nPOST /b\n"
	    "\tIDEM_KEY_FROM=form:n\n");
}

static void
end_routes(void)
{
	routes_free(&routes);
}

static enum idem_err
read_routes(void)
{
	routes_free(&routes);
	routes_init(&routes);
	return routes_read(&routes, &settings, &oom_log, path, false);
}

static void
routes_right(void)
{
	const struct route *a = routes_find(&routes, IDEM_LIT("POST"),
	    IDEM_LIT("/abc")), *b = routes_find(&routes, IDEM_LIT("POST"),
	    IDEM_LIT("/b"));

	must(a != NULL && a->settings.policy.ttl_ms == 3600000);
	must(b != NULL);
	if (b != NULL)
		must_be(b->settings.policy.key_from, IDEM_LIT("form:n"));
}

/* --- bodies and answers -------------------------------------------------- */

static struct idem_span unread;
static struct idem_buf written;
static struct idem_request req;
static struct idem_response res;
static struct spool spool;

static long
give(void *arg, void *p, size_t n)
{
	(void)arg;
	n = n < unread.n ? n : unread.n;
	memcpy(p, unread.p, n);
	unread = span_from(unread, n);
	return (long)n;
}

static enum idem_err
take(void *arg, const void *p, size_t n)
{
	(void)arg;
	idem_buf_put(&written, p, n);
	return IDEM_OK;
}

static void
make_exchange(void)
{
	static const char *const vars[] = { "REQUEST_METHOD=POST",
		"REQUEST_URI=/", NULL };
	static char memory[3 * LONG];

	memset(text, 't', LONG);
	idem_buf_init(&out, 1 << 20);
	idem_buf_over(&written, memory, sizeof memory);
	idem_response_init(&res, 1 << 20);
	must(idem_request_init(&req, vars, &out) == IDEM_OK);
	res.status = 200;
	idem_response_field(&res, IDEM_LIT("Link"), span_of(text));
	idem_buf_puts(&res.body, IDEM_LIT("body"));
	spool_init(&spool, oom_dir());
}

static void
end_exchange(void)
{
	idem_buf_free(&out);
	idem_response_free(&res);
	spool_free(&spool);
}

static enum idem_err
read_body(void)
{
	struct exchange x = { .read = give, .write = take };

	unread = span_of(text);
	return exchange_read_body(&x, &req, 1 << 20, &out);
}

static void
body_right(void)
{
	must_be(req.body, span_of(text));
}

static enum idem_err
write_head(void)
{
	struct exchange x = { .read = give, .write = take };
	const uint64_t length = 4;

	idem_buf_reset(&written);
	return exchange_head(&x, &res, 1 << 20, &length);
}

static void
head_right(void)
{
	must(written.n == 16 + 6 + LONG + 2 + 19 + 2);
	must_be(span_first(idem_buf_span(&written), 22),
	    IDEM_LIT("Status: 200 OK\r\nLink: "));
}

static enum idem_err
fill_spool(void)
{
	enum idem_err err = IDEM_OK;
	struct idem_span s;

	spool_reset(&spool);
	for (unsigned i = 0; i < 5 && err == IDEM_OK; i++)
		err = spool_put(&spool, text, LONG);
	return err != IDEM_OK ? err : spool_bytes(&spool, &s);
}

static void
spool_right(void)
{
	struct idem_span s = IDEM_ABSENT;

	must(spool_bytes(&spool, &s) == IDEM_OK);
	must(s.n == 5 * LONG && s.p[0] == 't' && s.p[s.n - 1] == 't');
}

static enum idem_err
preflight(void)
{
	static const char *const vars[] = { "REQUEST_METHOD=OPTIONS",
		"REQUEST_URI=/", "HTTP_ORIGIN=https://a.example",
		"HTTP_ACCESS_CONTROL_REQUEST_METHOD=POST", NULL };

	idem_response_reset(&res);
	res.status = 204;
	must(idem_request_init(&req, vars, &out) == IDEM_OK);
	cors_preflight(IDEM_LIT("https://a.example"), &req, IDEM_LIT("POST"),
	    &res);
	return idem_response_err(&res);
}

static void
make_empty_exchange(void)
{
	make_exchange();
	idem_response_free(&res);
	idem_response_init(&res, 1 << 20);
}

static void
preflight_right(void)
{
	static const char line[] =
	    "Access-Control-Allow-Origin: https://a.example\r\n";

	must(memmem(res.fields.p, res.fields.n, line, sizeof line - 1) !=
	    NULL);
}

/* --- names --------------------------------------------------------------- */

static struct names_address addresses[NAMES_ADDRESSES_MAX];
static size_t naddresses;

static enum idem_err
look_up(void)
{
	const char *why = NULL;
	enum idem_err err = names_addresses("127.0.0.1", "80", addresses,
	    &naddresses, &why);

	must(err == IDEM_OK || why != NULL);
	return err;
}

static void
addresses_right(void)
{
	must(naddresses == 1);
}

static const struct scenario scenarios[] = {
	{ "settings: all of them", make_settings, load_settings,
	    settings_right, .end = end_out, .logs = true },
	{ "settings: printed", make_settings, print_settings, printed_right,
	    .end = end_out },
	{ "settings: help", make_settings, print_help, help_right, .end =
	    end_out },
	{ "settings: a wrong one", make_settings, refuse_value, refused_right,
	    .end = end_out },
	{ "routes: read", make_routes, read_routes, routes_right, .end =
	    end_routes, .logs = true },
	{ "exchange: a body", make_exchange, read_body, body_right, .end =
	    end_exchange },
	{ "exchange: a long head", make_exchange, write_head, head_right, .end
	    = end_exchange },
	{ "exchange: a preflight", make_empty_exchange, preflight,
	    preflight_right, .end = end_exchange },
	{ "spool: in a file", make_exchange, fill_spool, spool_right, .end =
	    end_exchange, .errors = ERR(ENOMEM) | ERR(EIO) },
	{ "names: a number", NULL, look_up, addresses_right, .errors = ERR(EIO)
	    },
};

const struct part part_front = { scenarios, COUNT(scenarios) };
