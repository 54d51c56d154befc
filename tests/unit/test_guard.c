/*
 * test_guard.c - the guard in front of real programs: what each way to answer,
 * to fail and to die becomes for the first client and for its retry.
 */
#include "folder.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "guard/service.h"

static char folder[] = "/tmp/idem-guard-XXXXXX";

/* --- one guard, and requests to it --------------------------------------- */

struct world {
	struct settings settings;
	struct idem_log log;
	struct idem_buf said;
	struct guard *guard;
	struct idem_span body;  /* of the request, not read yet */
	bool leaves;            /* the client takes nothing */
	struct idem_buf answer;
	char options[8][256];
	const char *argv[9];
	size_t nargs;
};

static void
hear(void *arg, enum idem_level level, const char *text)
{
	struct world *w = arg;

	(void)level;
	idem_buf_puts(&w->said, span_of(text));
	idem_buf_putc(&w->said, '\n');
}

static void
world_open(struct world *w, const char *const *options)
{
	void *app;

	*w = (struct world){ .leaves = false };
	w->log = (struct idem_log){ hear, w };
	idem_buf_init(&w->said, 1 << 20);
	idem_buf_init(&w->answer, 1 << 26);
	settings_init(&w->settings, SETTINGS_GUARD);
	for (size_t i = 0; options[i] != NULL; i++) {
		bool taken = false;

		if (settings_option(&w->settings, &w->log, options, &i,
		    &taken) != IDEM_OK || !taken)
			fail_msg("option %s: %.*s", options[i],
			    IDEM_FMT(idem_buf_span(&w->said)));
	}
	assert_int_equal(settings_check(&w->settings, &w->log, 0), IDEM_OK);
	assert_int_equal(guard_check(&w->settings, &w->log, ""), IDEM_OK);
	assert_int_equal(guard_open(&w->settings, &w->log, IDEM_ABSENT,
	    &app), IDEM_OK);
	w->guard = app;
}

static void
world_close(struct world *w)
{
	guard_close(w->guard);
	idem_buf_free(&w->said);
	idem_buf_free(&w->answer);
}

static long
give(void *arg, void *p, size_t n)
{
	struct world *w = arg;

	n = n < w->body.n ? n : w->body.n;
	memcpy(p, w->body.p, n);
	w->body = span_from(w->body, n);
	return (long)n;
}

static enum idem_err
take(void *arg, const void *p, size_t n)
{
	struct world *w = arg;

	if (w->leaves)
		return IDEM_EIO;
	idem_buf_put(&w->answer, p, n);
	return idem_buf_err(&w->answer);
}

static struct idem_span
ask(struct world *w, const char *const *vars, struct idem_span body)
{
	struct exchange x = { .vars = vars, .read = give, .write = take,
		.arg = w };

	w->body = body;
	idem_buf_reset(&w->answer);
	idem_buf_reset(&w->said);
	guard_serve(w->guard, &x);
	assert_int_equal(idem_buf_err(&w->answer), IDEM_OK);
	return idem_buf_span(&w->answer);
}

/* POST with a body; key NULL: none; more NULL: no further variable. */
static struct idem_span
post(struct world *w, const char *key, const char *more,
    struct idem_span body)
{
	char length[64], key_var[64];
	const char *vars[8] = { "REQUEST_METHOD=POST", "REQUEST_URI=/pay",
		"HTTP_X_REQUEST_ID=r1", length };
	size_t n = 4;

	assert_int_equal(text_format(length, sizeof length,
	    "CONTENT_LENGTH=%zu", body.n), IDEM_OK);
	if (key != NULL) {
		assert_int_equal(text_format(key_var, sizeof key_var,
		    "HTTP_IDEMPOTENCY_KEY=%s", key), IDEM_OK);
		vars[n++] = key_var;
	}
	if (more != NULL)
		vars[n++] = more;
	return ask(w, vars, body);
}

static bool
has(struct idem_span in, const char *part)
{
	return memmem(in.p, in.n, part, strlen(part)) != NULL;
}

static void
assert_has(struct idem_span in, const char *part)
{
	if (!has(in, part))
		fail_msg("want %s, got %.*s", part, IDEM_FMT(in));
}

/* --- programs ------------------------------------------------------------ */

/* How often the program ran. */
static size_t
ran(void)
{
	struct stat st;

	return stat(folder_path("ledger"), &st) != 0 ? 0 : (size_t)st.st_size;
}

static const char *const plain[] = { "--store=memory:", "--anonymous=allow",
	"--backend-timeout=500ms", NULL, NULL, NULL, NULL };

/* The plain options, the program as backend, and up to three more. */
static void
open_with(struct world *w, const char *const *more)
{
	static char backend[160];
	const char *options[8];
	size_t n = 0;

	for (; plain[n] != NULL; n++)
		options[n] = plain[n];
	assert_int_equal(text_format(backend, sizeof backend,
	    "--backend=cgi:%s", folder_path("program")), IDEM_OK);
	options[n++] = backend;
	for (size_t i = 0; more != NULL && more[i] != NULL; i++)
		options[n++] = more[i];
	options[n] = NULL;
	(void)unlink(folder_path("ledger"));
	world_open(w, options);
}

#define RUN "#!/bin/sh\nprintf x >>ledger\n"

enum again { REPLAYED, RAN_AGAIN, UNKNOWN };

static const struct {
	const char *name, *script;
	const char *status; /* of the first answer, with its phrase */
	const char *part;   /* of it */
	const char *outcome;
	enum again again;   /* what the retry gets */
} rows[] = {
	{ "200", RUN "printf 'A: b\\n\\nhi'", "200 OK", "\r\n\r\nhi",
	  "created", REPLAYED },
	{ "201 and fields", RUN "printf 'Status: 201\\nLocation: /1\\n\\n'",
	  "201 Created", "Location: /1\r\n", "created", REPLAYED },
	{ "204", RUN "printf 'Status: 204\\n\\n'", "204 No Content", "",
	  "created", REPLAYED },
	{ "301", RUN "printf 'Status: 301\\nLocation: /\\n\\n'",
	  "301 Moved Permanently", "Location: /\r\n", "created", REPLAYED },
	{ "302 by Location", RUN "printf 'Location: /\\n\\n'", "302 Found",
	  "Location: /\r\n", "created", REPLAYED },
	{ "303", RUN "printf 'Status: 303\\nLocation: /\\n\\n'",
	  "303 See Other", "Location: /\r\n", "created", REPLAYED },
	{ "307", RUN "printf 'Status: 307\\nLocation: /\\n\\n'",
	  "307 Temporary Redirect", "", "created", REPLAYED },
	{ "308", RUN "printf 'Status: 308\\nLocation: /\\n\\n'",
	  "308 Permanent Redirect", "", "created", REPLAYED },
	{ "404", RUN "printf 'Status: 404\\n\\nno'", "404 Not Found",
	  "\r\n\r\nno", "created", REPLAYED },
	{ "422 of its own", RUN "printf 'Status: 422\\n\\nno'",
	  "422 Unprocessable Content", "\r\n\r\nno", "created", REPLAYED },
	{ "500, a fatal error", RUN "printf 'Status: 500\\n\\nno'; exit 255",
	  "500 Internal Server Error", "\r\n\r\nno", "created", REPLAYED },
	{ "502 of its own", RUN "printf 'Status: 502\\n\\nno'",
	  "502 Bad Gateway", "\r\n\r\nno", "created", REPLAYED },
	{ "504 of its own", RUN "printf 'Status: 504\\n\\nno'",
	  "504 Gateway Timeout", "\r\n\r\nno", "created", REPLAYED },
	{ "503", RUN "printf 'Status: 503\\n\\nno'",
	  "503 Service Unavailable", "\r\n\r\nno", "created", REPLAYED },
	{ "503 for later", RUN
	  "printf 'Status: 503\\nRetry-After: 9\\n\\nno'",
	  "503 Service Unavailable", "Retry-After: 9\r\n", "released",
	  RAN_AGAIN },
	{ "401", RUN "printf 'Status: 401\\n\\n'", "401 ", "", "released",
	  RAN_AGAIN },
	{ "403", RUN "printf 'Status: 403\\n\\n'", "403 Forbidden", "",
	  "released", RAN_AGAIN },
	{ "429", RUN "printf 'Status: 429\\n\\n'", "429 Too Many Requests", "",
	  "released", RAN_AGAIN },
	{ "an exit status", RUN "printf 'A: b\\n\\nhi'; exit 1", "200 OK",
	  "\r\n\r\nhi", "created", REPLAYED },
	{ "dies before its answer", RUN "kill -9 $$", "502 Bad Gateway",
	  "\"kod\":\"ilova-uzildi\"", "held", UNKNOWN },
	{ "dies in its answer", RUN "printf 'A: b\\n\\nhi'; kill -9 $$",
	  "502 Bad Gateway", "\"kod\":\"ilova-uzildi\"", "held", UNKNOWN },
	{ "dies after its answer", RUN
	  "printf 'Content-Length: 2\\n\\nhi'; exec >&-; kill -9 $$",
	  "502 Bad Gateway", "\"kod\":\"ilova-uzildi\"", "held", UNKNOWN },
	{ "says nothing", RUN, "502 Bad Gateway", "\"kod\":\"ilova-uzildi\"",
	  "held", UNKNOWN },
	{ "garbage", RUN "echo; echo hi", "502 Bad Gateway",
	  "\"kod\":\"ilova-uzildi\"", "held", UNKNOWN },
	{ "a short body", RUN "printf 'Content-Length: 3\\n\\nhi'",
	  "502 Bad Gateway", "\"kod\":\"ilova-uzildi\"", "held", UNKNOWN },
	{ "a huge head", RUN "head -c 70000 /dev/zero | tr '\\0' x",
	  "502 Bad Gateway", "\"kod\":\"ilova-uzildi\"", "held", UNKNOWN },
	{ "a NUL in the head", RUN "printf 'A: \\0\\n\\nhi'",
	  "502 Bad Gateway", "\"kod\":\"ilova-uzildi\"", "held", UNKNOWN },
	{ "never answers", RUN "exec sleep 600", "504 Gateway Timeout",
	  "\"kod\":\"ilova-kechikdi\"", "held", UNKNOWN },
	{ "cannot run", "echo no interpreter", "502 Bad Gateway",
	  "\"kod\":\"ilova-ulanmadi\"", "released", RAN_AGAIN },
	{ "is not there", NULL, "502 Bad Gateway",
	  "\"kod\":\"ilova-ulanmadi\"", "released", RAN_AGAIN },
};

static void
assert_first(struct world *w, size_t i, struct idem_span got)
{
	char want[200];

	assert_int_equal(text_format(want, sizeof want, "Status: %s",
	    rows[i].status), IDEM_OK);
	if (!span_starts(got, span_of(want)))
		fail_msg("want %s, got %.*s", want, IDEM_FMT(got));
	assert_has(got, rows[i].part);
	assert_false(has(got, "Idempotency-Replayed"));
	assert_int_equal(text_format(want, sizeof want, "outcome=%s "
	    "status=%.3s route=\"POST *\" ms=", rows[i].outcome,
	    rows[i].status), IDEM_OK);
	assert_has(idem_buf_span(&w->said), want);
}

static void
assert_retry(size_t i, struct idem_span got, size_t times)
{
	switch (rows[i].again) {
	case REPLAYED:
		assert_has(got, "Idempotency-Replayed: true\r\n");
		assert_has(got, rows[i].part);
		assert_int_equal(ran(), 1);
		return;
	case RAN_AGAIN:
		assert_false(has(got, "Idempotency-Replayed"));
		assert_int_equal(ran(), 2 * times);
		return;
	case UNKNOWN:
		assert_has(got, "Status: 409 Conflict\r\n");
		assert_has(got, "\"kod\":\"idempotentlik-nomalum\"");
		assert_int_equal(ran(), 1);
		return;
	}
}

static void
answers_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct world w;
		size_t times;

		print_message("row %zu: %s\n", i, rows[i].name);
		folder_program(rows[i].script);
		open_with(&w, NULL);
		assert_first(&w, i, post(&w, "k", NULL, IDEM_LIT("a=1")));
		times = ran();
		assert_retry(i, post(&w, "k", NULL, IDEM_LIT("a=1")), times);
		/* another body under the same key, whatever became of it */
		if (rows[i].again != RAN_AGAIN) {
			assert_has(post(&w, "k", NULL, IDEM_LIT("a=2")),
			    "Status: 422 ");
			assert_int_equal(ran(), 1);
		}
		world_close(&w);
	}
}

/* Without a key all of it passes through, each time. */
static void
passes_unkeyed_through(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct world w;
		struct idem_span got;
		char want[64];

		print_message("row %zu: %s\n", i, rows[i].name);
		folder_program(rows[i].script);
		open_with(&w, NULL);
		for (size_t n = 0; n < 2; n++) {
			got = post(&w, NULL, NULL, IDEM_LIT("a=1"));
			/* a head that went out cannot be taken back */
			assert_int_equal(text_format(want, sizeof want,
			    "Status: %s", has(got, "\r\n\r\nhi") ? "200 OK" :
			    rows[i].status), IDEM_OK);
			assert_has(got, want);
			assert_false(has(got, "Idempotency-"));
			assert_false(has(idem_buf_span(&w.said), "outcome="));
		}
		assert_true(ran() == 0 || ran() == 2);
		world_close(&w);
	}
}

/* IDEM_KEEP_5XX=off frees a 500, but never what a backend did not answer. */
static void
never_releases_502_and_504(void **state)
{
	static const char *const off[] = { "--keep-5xx=off", NULL };
	static const struct { const char *script, *outcome; } cases[] = {
		{ RUN "printf 'Status: 500\\n\\nno'", "outcome=released" },
		{ RUN "printf 'Status: 503\\n\\nno'", "outcome=released" },
		{ RUN "printf 'Status: 502\\n\\nno'", "outcome=created" },
		{ RUN "printf 'Status: 504\\n\\nno'", "outcome=created" },
		{ RUN "kill -9 $$", "outcome=held" },
		{ RUN "exec sleep 600", "outcome=held" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct world w;

		print_message("row %zu\n", i);
		folder_program(cases[i].script);
		open_with(&w, off);
		post(&w, "k", NULL, IDEM_LIT(""));
		assert_has(idem_buf_span(&w.said), cases[i].outcome);
		world_close(&w);
	}
}

static void
runs_again_where_the_owner_says_so(void **state)
{
	static const char *const retry[] = { "--on-unknown=retry", NULL };
	struct world w;

	(void)state;
	folder_program(RUN "kill -9 $$");
	open_with(&w, retry);
	assert_has(post(&w, "k", NULL, IDEM_LIT("")), "ilova-uzildi");
	folder_program(RUN "printf 'A: b\\n\\nhi'");
	assert_has(post(&w, "k", NULL, IDEM_LIT("")), "\r\n\r\nhi");
	assert_has(post(&w, "k", NULL, IDEM_LIT("")),
	    "Idempotency-Replayed: true\r\n");
	assert_int_equal(ran(), 2);
	world_close(&w);
}

/* Over the limit the first client gets it all, its retry the head. */
static void
passes_large_answers_on(void **state)
{
	struct world w;
	struct idem_span got;

	(void)state;
	folder_program(RUN "printf 'Content-Type: a/b\\nETag: \"e\"\\n\\n'\n"
	    "head -c 5242880 /dev/zero");
	open_with(&w, NULL);
	got = post(&w, "k", NULL, IDEM_LIT(""));
	assert_has(got, "Content-Length: 5242880\r\n");
	assert_true(got.n > 5242880 && got.n < 5242880 + 500);
	got = post(&w, "k", NULL, IDEM_LIT(""));
	assert_has(got, "Idempotency-Body: omitted\r\n");
	assert_has(got, "ETag: \"e\"\r\n");
	assert_has(got, "Content-Length: 0\r\n");
	assert_false(has(got, "Content-Type"));
	assert_int_equal(ran(), 1);
	/* to the byte: 256 KiB are kept, one more is not */
	folder_program(RUN "printf 'A: b\\n\\n'; head -c 262144 /dev/zero");
	post(&w, "l", NULL, IDEM_LIT(""));
	assert_has(post(&w, "l", NULL, IDEM_LIT("")),
	    "Content-Length: 262144\r\n");
	folder_program(RUN "printf 'A: b\\n\\n'; head -c 262145 /dev/zero");
	post(&w, "m", NULL, IDEM_LIT(""));
	assert_has(post(&w, "m", NULL, IDEM_LIT("")),
	    "Idempotency-Body: omitted\r\n");
	world_close(&w);
}

static void
keeps_what_a_client_left(void **state)
{
	struct world w;

	(void)state;
	folder_program(RUN "printf 'A: b\\n\\nhi'");
	open_with(&w, NULL);
	w.leaves = true;
	post(&w, "k", NULL, IDEM_LIT(""));
	post(&w, NULL, NULL, IDEM_LIT(""));
	w.leaves = false;
	assert_has(post(&w, "k", NULL, IDEM_LIT("")), "\r\n\r\nhi");
	assert_int_equal(ran(), 2);
	world_close(&w);
}

static void
passes_bodies_on(void **state)
{
	static char body[3 << 20];
	static const char *const roomy[] = { "--max-body=3M", NULL };
	struct world w;

	(void)state;
	memset(body, 'b', sizeof body);
	folder_program("#!/bin/sh\n"
	    "printf 'A: b\\n\\n'; echo $CONTENT_LENGTH; wc -c");
	open_with(&w, roomy);
	assert_has(post(&w, "k", NULL, (struct idem_span){ body,
	    sizeof body }), "\r\n\r\n3145728\n3145728\n");
	assert_has(post(&w, NULL, NULL, (struct idem_span){ body,
	    sizeof body }), "\r\n\r\n3145728\n3145728\n");
	/* shorter than announced: nothing runs */
	assert_has(post(&w, "l", "IDEM_LENGTH=4", IDEM_LIT("abc")),
	    "\"kod\":\"tana-chala\"");
	assert_has(post(&w, NULL, "IDEM_LENGTH=4", IDEM_LIT("abc")),
	    "\"kod\":\"tana-chala\"");
	assert_has(post(&w, "l", "IDEM_LENGTH=x", IDEM_LIT("abc")),
	    "Status: 400 ");
	world_close(&w);
}

static void
drops_the_applications_own_marks(void **state)
{
	struct world w;

	(void)state;
	folder_program("#!/bin/sh\nprintf 'Idempotency-Replayed: true\\n"
	    "Set-Cookie: a\\nX-Request-Id: its\\nA: b\\n\\n'");
	open_with(&w, NULL);
	for (int keyed = 0; keyed < 2; keyed++) {
		struct idem_span got = post(&w, keyed ? "k" : NULL, NULL,
		    IDEM_LIT(""));

		assert_false(has(got, "Idempotency-Replayed"));
		assert_has(got, "Set-Cookie: a\r\n");
		assert_has(got, "X-Request-Id: its\r\n");
		assert_false(has(got, "X-Request-Id: r1"));
	}
	assert_has(post(&w, "k", NULL, IDEM_LIT("")),
	    "X-Request-Id: r1\r\n");
	assert_false(has(idem_buf_span(&w.answer), "Set-Cookie"));
	world_close(&w);
}

static void
obeys_routes_and_parameters(void **state)
{
	static char option[160];
	const char *const routes[] = { option, NULL };
	int fd = open(folder_path("routes"), O_WRONLY | O_CREAT | O_CLOEXEC,
	    0600);
	static const char text[] = "POST /pay\n  IDEM_REQUIRE_KEY=on\n";
	struct world w;

	(void)state;
	assert_int_equal(io_write(fd, text, sizeof text - 1), IDEM_OK);
	assert_int_equal(close(fd), 0);
	assert_int_equal(text_format(option, sizeof option, "--routes=%s",
	    folder_path("routes")), IDEM_OK);
	folder_program(RUN "printf 'A: b\\n\\nhi'");
	open_with(&w, routes);
	assert_has(post(&w, NULL, NULL, IDEM_LIT("")),
	    "\"kod\":\"idempotentlik-kalit-kerak\"");
	assert_has(idem_buf_span(&w.said), "route=\"POST /pay\"");
	assert_has(post(&w, NULL, "IDEM_REQUIRE_KEY=off", IDEM_LIT("")),
	    "\r\n\r\nhi");
	assert_has(post(&w, NULL, "REDIRECT_IDEM_REQUIRE_KEY=off",
	    IDEM_LIT("")), "\r\n\r\nhi");
	/* a header of the client's is no setting */
	assert_has(post(&w, NULL, "HTTP_IDEM_REQUIRE_KEY=off", IDEM_LIT("")),
	    "Status: 400 ");
	assert_has(post(&w, "k", "IDEM_BACKEND=cgi:/bin/true", IDEM_LIT("")),
	    "Status: 500 ");
	assert_has(idem_buf_span(&w.said), "IDEM_BACKEND");
	assert_int_equal(ran(), 2);
	world_close(&w);
	assert_int_equal(unlink(folder_path("routes")), 0);
}

/* The web server names the script, and it is one in a folder of its own. */
static void
judges_named_scripts(void **state)
{
	static const char *const named[] = { "--store=memory:",
		"--anonymous=allow", "--backend=cgi:", "--scripts=.sh", NULL };
	char root[128], file[160], guard_file[160];
	const char *vars[] = { "REQUEST_METHOD=POST",
		"REQUEST_URI=/pay.sh/more?q", "REDIRECT_STATUS=200",
		"REDIRECT_URL=/pay.sh/more", "PATH_INFO=/pay.sh/more",
		"SCRIPT_NAME=/guard.fcgi", guard_file, root,
		"PATH_TRANSLATED=/etc/passwd", "HTTP_PROXY=x", NULL };
	struct world w;
	struct idem_span got;

	(void)state;
	assert_int_equal(text_format(root, sizeof root, "DOCUMENT_ROOT=%s",
	    folder), IDEM_OK);
	assert_int_equal(text_format(guard_file, sizeof guard_file,
	    "SCRIPT_FILENAME=%s/guard.fcgi", folder), IDEM_OK);
	assert_int_equal(rename(folder_program("#!/bin/sh\n"
	    "printf 'A: b\\n\\n'\n"
	    "echo \"$SCRIPT_NAME $PATH_INFO ${PATH_TRANSLATED-none}"
	    " ${HTTP_PROXY-none} $SCRIPT_FILENAME\"\n"), folder_path("pay.sh")),
	    0);
	world_open(&w, named);
	got = ask(&w, vars, IDEM_LIT(""));
	assert_has(got, "Status: 403 Forbidden\r\n");
	assert_has(idem_buf_span(&w.said), "it lies outside DOCUMENT_ROOT");
	vars[8] = "X=y";
	got = ask(&w, vars, IDEM_LIT(""));
	assert_int_equal(text_format(file, sizeof file,
	    "\r\n\r\n/pay.sh /more none none %s/pay.sh\n", folder), IDEM_OK);
	assert_has(got, file);
	vars[2] = "HTTP_REDIRECT_STATUS=200";
	got = ask(&w, vars, IDEM_LIT(""));
	assert_has(got, "Status: 403 Forbidden\r\n");
	assert_has(got, "\r\n\r\n403 Forbidden\n");
	world_close(&w);
	assert_int_equal(unlink(folder_path("pay.sh")), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_once),
		cmocka_unit_test(passes_unkeyed_through),
		cmocka_unit_test(never_releases_502_and_504),
		cmocka_unit_test(runs_again_where_the_owner_says_so),
		cmocka_unit_test(passes_large_answers_on),
		cmocka_unit_test(keeps_what_a_client_left),
		cmocka_unit_test(passes_bodies_on),
		cmocka_unit_test(drops_the_applications_own_marks),
		cmocka_unit_test(obeys_routes_and_parameters),
		cmocka_unit_test(judges_named_scripts),
	};
	int failed;

	(void)signal(SIGPIPE, SIG_IGN);
	folder_make(folder);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	folder_remove();
	return failed;
}
