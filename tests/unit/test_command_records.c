/*
 * test_command_records.c - the operator's command on single records: listed,
 * shown, resolved.
 */
#include "commandkit.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "engine/answer.h"
#include "storekit.h"

#define A8 "6161616161616161"
#define B8 "6262626262626262"
#define C8 "6363636363636363"
#define D8 "6464646464646464"
#define NOW "1970-01-01T00:16:40.000Z"
#define PRINT43 "ZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmY"

/* Status 201, two lines, "a", NUL and 0xFF. */
#define LINES "Content-Type: t/p\r\nLink: <\xe9>\r\n"
#define ANSWER "\x00\xc9" "\x00\x00\x00\x1e" LINES "\x00\x00\x00\x03" "a\0\xff"
/* Status 200, no line, a body that was not kept. */
#define HEAD_ONLY "\x00\xc8" "\x00\x00\x00\x00" "\x00\x00\x00\x09"

static void
submit(struct kit *k, const struct step *s, struct idem_span input,
    enum idem_verdict want)
{
	struct idem_op op;

	kit_op(k, s, &op);
	if (s->what == ONCE) {
		op.input = input;
		op.kept_bytes = input.n;
	}
	assert_int_equal(idem_store_submit(k->store, &op), IDEM_OK);
	assert_int_equal(op.verdict, want);
}

/* a: expired; b: done; c: unknown; d: its worker is gone. */
static void
fill(struct kit *k)
{
	const struct step old = { ONCE, 'a', '1', .now = 0 };
	const struct step young = { ONCE, 'b', '2', .now = COMMAND_NOW_MS };
	const struct step claim = { CLAIM, 'c', '3', .now = COMMAND_NOW_MS };
	const struct step hold = { HOLD, 'c', '3', .now = COMMAND_NOW_MS };
	const struct step orphan = { CLAIM, 'd', '4', .now = COMMAND_NOW_MS,
		.retry = true };

	kit_open(k, false);
	submit(k, &old, IDEM_LIT(HEAD_ONLY), IDEM_STORED);
	submit(k, &young, IDEM_LIT(ANSWER), IDEM_STORED);
	submit(k, &claim, IDEM_ABSENT, IDEM_CLAIMED);
	submit(k, &hold, IDEM_ABSENT, IDEM_HELD);
	kit_leave(k, '3');
	submit(k, &orphan, IDEM_ABSENT, IDEM_CLAIMED);
	kit_leave(k, '4');
	idem_store_close(&k->store);
}

static void
run(struct kit *k, struct result *r, const char *const *words,
    struct idem_span in)
{
	const char *all[COMMAND_WORDS + 1] = { words[0], "--store",
		kit_path(k, "store") };

	for (size_t i = 1; words[i] != NULL; i++)
		all[i + 2] = words[i];
	command_run(r, all, in, no_env);
}

static void
expect_bytes(struct kit *k, const char *const *words, int rc,
    struct idem_span out, const char *err)
{
	struct result r;

	run(k, &r, words, IDEM_LIT("a\0b"));
	assert_span(idem_buf_span(&r.err), span_of(err));
	assert_span(idem_buf_span(&r.out), out);
	assert_int_equal(r.rc, rc);
	result_free(&r);
}

static void
expect(struct kit *k, const char *const *words, int rc, const char *out,
    const char *err)
{
	expect_bytes(k, words, rc, span_of(out), err);
}

/* --- list ------------------------------------------------------------------*/
#define HEAD "id               state    claimed                  since  " \
	"                  status\n"
#define LINE_B B8 " done     " NOW " " NOW " 201\n"
#define LINE_C C8 " unknown  " NOW " " NOW " -\n"
#define LINE_D D8 " orphaned " NOW " -                        -\n"

static void
records_are_listed(void **state)
{
	struct kit k;

	(void)state;
	fill(&k);
	expect(&k, WORDS("list"), 0, HEAD
	    A8 " expired  -                        -                        "
	    "200\n" LINE_B LINE_C LINE_D, "");
	expect(&k, WORDS("list", "--state", "unknown"), 0, HEAD LINE_C, "");
	expect(&k, WORDS("list", "--state=orphaned"), 0, HEAD LINE_D, "");
	expect(&k, WORDS("list", "--state", "running"), 0, HEAD, "");
	expect(&k, WORDS("list", "--max", "1", "--state", "done"), 0,
	    HEAD LINE_B, "");
	expect(&k, WORDS("list", "--max", "1"), 0, HEAD
	    A8 " expired  -                        -                        "
	    "200\nand more: --max shows them\n", "");
	expect(&k, WORDS("list", "--json", "--state", "unknown"), 0,
	    "{\"records\":[\n"
	    "{\"id\":\"" C8 C8 C8 C8 "\",\"state\":\"unknown\",\"claimed\":\""
	    NOW "\",\"stored\":\"" NOW "\",\"expires\":"
	    "\"1970-01-01T00:16:45.000Z\",\"status\":null}],\"more\":false}\n",
	    "");
	expect(&k, WORDS("list", "--json", "--max=2"), 0,
	    "{\"records\":[\n"
	    "{\"id\":\"" A8 A8 A8 A8 "\",\"state\":\"expired\",\"claimed\":"
	    "null,\"stored\":null,\"expires\":"
	    "\"1970-01-01T00:00:01.000Z\",\"status\":200},\n"
	    "{\"id\":\"" B8 B8 B8 B8 "\",\"state\":\"done\",\"claimed\":\""
	    NOW "\",\"stored\":\"" NOW "\",\"expires\":"
	    "\"1970-01-01T00:16:41.000Z\",\"status\":201}],\"more\":true}\n",
	    "");
	kit_close(&k);
}

/* More records than one snapshot holds, each once and in order. */
static void
long_lists(void **state)
{
	struct kit k;
	struct result r;
	struct idem_span rest, line;
	size_t n = 0;

	(void)state;
	kit_open(&k, false);
	for (int i = 0; i < 600; i++) {
		const struct step s = { ONCE, 'a', '1', .now = COMMAND_NOW_MS,
			.max_keys = 1000, .input = HEAD_ONLY, .kept = 10 };
		struct idem_op op;

		kit_op(&k, &s, &op);
		op.input = IDEM_LIT(HEAD_ONLY);
		op.id[0] = (unsigned char)(i >> 8);
		op.id[1] = (unsigned char)i;
		assert_int_equal(idem_store_submit(k.store, &op), IDEM_OK);
	}
	idem_store_close(&k.store);
	run(&k, &r, WORDS("list", "--max", "600"), IDEM_LIT(""));
	assert_int_equal(r.rc, 0);
	rest = idem_buf_span(&r.out);
	for (; span_next(&rest, '\n', &line) && line.n > 0; n++) {
		char want[5];

		if (n == 0)
			continue; /* the head */
		assert_int_equal(text_format(want, sizeof want, "%04zx",
		    n - 1), IDEM_OK);
		assert_span(span_first(line, 4), span_of(want));
	}
	assert_int_equal(n, 601);
	result_free(&r);
	kit_close(&k);
}

/* --- show ------------------------------------------------------------------*/
#define SHOWN_B "id           " B8 B8 B8 B8 "\n" \
	"state        done\n" \
	"claimed      " NOW "\n" \
	"stored       " NOW "\n" \
	"expires      1970-01-01T00:16:41.000Z\n" \
	"repeatable   no\n" \
	"fingerprint  " PRINT43 "\n" \
	"body_bytes   3\n" \
	"\n" \
	"Status: 201\n" \
	"Content-Type: t/p\n" \
	"Link: <\xe9>\n"
#define JSON_B "{\"id\":\"" B8 B8 B8 B8 "\",\"state\":\"done\"," \
	"\"claimed\":\"" NOW "\",\"stored\":\"" NOW "\"," \
	"\"expires\":\"1970-01-01T00:16:41.000Z\",\"repeatable\":false," \
	"\"fingerprint\":\"" PRINT43 "\",\"status\":201,\"headers\":[" \
	"[\"Content-Type\",\"t/p\"],[\"Link\",\"<\xc3\xa9>\"]]," \
	"\"body_bytes\":3,\"body_kept\":true"

static void
records_are_shown(void **state)
{
	struct kit k;

	(void)state;
	fill(&k);
	expect(&k, WORDS("show", "--id", "62626262"), 0, SHOWN_B, "");
	expect_bytes(&k, WORDS("show", "--id", B8 B8 B8 B8, "--body"), 0,
	    IDEM_LIT(SHOWN_B "\na\0\xff"), "");
	expect(&k, WORDS("show", "--id", B8 B8 B8 B8, "--json"), 0,
	    JSON_B "}\n", "");
	expect(&k, WORDS("show", "--body", "--id", B8, "--json"), 0,
	    JSON_B ",\"body_base64url\":\"YQD_\"}\n", "");
	expect(&k, WORDS("show", "--id", "64646464"), 0,
	    "id           " D8 D8 D8 D8 "\n"
	    "state        orphaned\n"
	    "claimed      " NOW "\n"
	    "stored       -\n"
	    "expires      -\n"
	    "repeatable   yes\n"
	    "fingerprint  " PRINT43 "\n", "");
	expect(&k, WORDS("show", "--id", A8, "--body", "--json"), 0,
	    "{\"id\":\"" A8 A8 A8 A8 "\",\"state\":\"expired\",\"claimed\":"
	    "null,\"stored\":null,\"expires\":\"1970-01-01T00:00:01.000Z\","
	    "\"repeatable\":false,\"fingerprint\":\"" PRINT43 "\","
	    "\"status\":200,\"headers\":[],\"body_bytes\":9,"
	    "\"body_kept\":false}\n", "");
	kit_close(&k);
}

/* --- by key and scope ------------------------------------------------------*/
static void
from_hex(const char *hex, unsigned char id[IDEM_ID_BYTES])
{
	for (size_t i = 0; i < IDEM_ID_BYTES; i++)
		id[i] = (unsigned char)(hex_value(hex[2 * i]) * 16 +
		    hex_value(hex[2 * i + 1]));
}

static void
found_by_key_and_scope(void **state)
{
	/* SHA-256 over source, name, value and "k-1", each with its length. */
	static const struct {
		const char *scope, *id;
	} rows[] = {
		{ NULL, "5ee550d3a9b1c2903a2dae4fef339a85"
		    "e003b2da616a97c4cbcbb7b21058d1d1" },
		{ "REMOTE_USER=ali", "313175855f79454660a6ec4db6cf738c"
		    "c77c3eddc30a0c30fc67f88dd0e0ab5b" },
		{ "cookie:sid=abc", "0210a45ce688143708341bdc53f33d20"
		    "5efb742d1f321458aab1c118887cb96c" },
		{ "header:X-Tenant=shop=1", "e4efe9d86f1a0bafb7943bf418201763"
		    "1552eda3ee63b4aa00c4d012293faa12" },
		{ "param:SHOP=7", "1f6cc2b6b42373fee0a2c4c96e0f416a"
		    "3eebfd7e686b3643d73c3aa2d9ec0239" },
		{ "Authorization=Bearer t0k",
		    "4008cb0698382729a0847684fa228349"
		    "70b74e503f4257b27234571d9955291f" },
	};
	struct kit k;

	(void)state;
	kit_open(&k, false);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct step s = { CLAIM, 'x', '1', .now = 1 };
		struct idem_op op;

		kit_op(&k, &s, &op);
		from_hex(rows[i].id, op.id);
		assert_int_equal(idem_store_submit(k.store, &op), IDEM_OK);
		assert_int_equal(op.verdict, IDEM_CLAIMED);
		kit_leave(&k, '1');
	}
	idem_store_close(&k.store);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *words[] = { "show", "--key", "k-1",
			rows[i].scope == NULL ? NULL : "--scope",
			rows[i].scope, NULL };
		struct result r;

		run(&k, &r, words, IDEM_LIT(""));
		assert_span(idem_buf_span(&r.err), IDEM_LIT(""));
		assert_int_equal(r.rc, 0);
		assert_span(span_first(span_from(idem_buf_span(&r.out), 13),
		    64), span_of(rows[i].id));
		result_free(&r);
	}
	expect(&k, WORDS("show", "--key", "\"k-1\"", "--scope",
	    "REMOTE_USER=vali"), 1, "", "idem: no record of this key in this "
	    "scope: is it the scope that IDEM_SCOPE makes of the request? "
	    "(idem list, and --id)\n");
	expect(&k, WORDS("show", "--key", "k-2"), 1, "", "idem: no record of "
	    "this key without a scope: is it the scope that IDEM_SCOPE makes "
	    "of the request? (idem list, and --id)\n");
	kit_close(&k);
}

static void
ids_are_to_be_unique(void **state)
{
	const struct step s = { CLAIM, 'x', '1', .now = 1 };
	struct idem_op op;
	struct kit k;

	(void)state;
	kit_open(&k, false);
	for (unsigned char last = 0; last < 2; last++) {
		kit_op(&k, &s, &op);
		op.id[4] = (unsigned char)(0xa0 + last);
		assert_int_equal(idem_store_submit(k.store, &op), IDEM_OK);
		kit_leave(&k, '1');
	}
	idem_store_close(&k.store);
	expect(&k, WORDS("show", "--id", "78787878a"), 1, "", "idem: --id "
	    "78787878a: several records begin with these digits: give more "
	    "of them\n");
	expect(&k, WORDS("resolve", "--release", "--id", "78787878A1"), 0,
	    "id=78787878a178787878787878787878787878787878787878787878787878"
	    "7878 state=released\n", "");
	expect(&k, WORDS("show", "--id", "78787878a1"), 1, "", "idem: --id "
	    "78787878a1: no record begins with these digits (idem list)\n");
	kit_close(&k);
}

/* --- resolve ---------------------------------------------------------------*/
static void
look(struct kit *k, char key, int64_t now, enum idem_verdict want)
{
	const struct step s = { LOOK, key, '9', .now = now };
	struct idem_op op;

	kit_op(k, &s, &op);
	assert_int_equal(idem_store_look(k->store, &op), IDEM_OK);
	assert_int_equal(op.verdict, want);
}

static void
released_keys_are_free(void **state)
{
	struct kit k;

	(void)state;
	fill(&k);
	expect(&k, WORDS("resolve", "--release", "--id", C8), 0,
	    "id=" C8 C8 C8 C8 " state=released\n", "");
	expect(&k, WORDS("resolve", "--release", "--id", D8, "--json"), 0,
	    "{\"id\":\"" D8 D8 D8 D8 "\",\"state\":\"released\"}\n", "");
	expect(&k, WORDS("resolve", "--release", "--id", C8), 1, "",
	    "idem: --id " C8 ": no record begins with these digits (idem "
	    "list)\n");
	expect(&k, WORDS("check"), 0, "records=2 damaged=0\n", "");
	kit_close(&k);
}

static void
completed_answers_are_replayed(void **state)
{
	struct answer_parts parts;
	struct kit k;

	(void)state;
	fill(&k);
	expect(&k, WORDS("resolve", "--complete", "201", "--header",
	    "Content-Type:  text/plain ", "--header", "Location: /a",
	    "--body", "-", "--id", C8), 0,
	    "id=" C8 C8 C8 C8 " state=done status=201\n", "");
	expect(&k, WORDS("resolve", "--complete", "204", "--ttl", "1h",
	    "--json", "--id", D8), 0, "{\"id\":\"" D8 D8 D8 D8 "\","
	    "\"state\":\"done\",\"status\":204}\n", "");
	assert_int_equal(kit_reopen(&k, false), IDEM_OK);
	look(&k, 'c', COMMAND_NOW_MS + 86400000 - 1, IDEM_REPLAY);
	assert_int_equal(answer_open(idem_buf_span(&k.answer), &parts),
	    IDEM_OK);
	assert_int_equal(parts.status, 201);
	assert_text(parts.fields,
	    "Content-Type: text/plain\r\nLocation: /a\r\n");
	assert_span(parts.body, IDEM_LIT("a\0b"));
	look(&k, 'c', COMMAND_NOW_MS + 86400000, IDEM_ABSENT_KEY);
	look(&k, 'd', COMMAND_NOW_MS + 3600000 - 1, IDEM_REPLAY);
	assert_span(idem_buf_span(&k.answer),
	    IDEM_LIT("\x00\xcc" "\0\0\0\0" "\0\0\0\0"));
	look(&k, 'd', COMMAND_NOW_MS + 3600000, IDEM_ABSENT_KEY);
	idem_store_close(&k.store);
	kit_close(&k);
}

static void
a_living_worker_keeps_its_record(void **state)
{
	const struct step claim = { CLAIM, 'f', '6', .now = COMMAND_NOW_MS };
	int up[2], down[2], status;
	struct kit k;
	char byte = 'x';
	pid_t pid;

	(void)state;
	fill(&k);
	assert_int_equal(pipe2(up, O_CLOEXEC), 0);
	assert_int_equal(pipe2(down, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct idem_op op;
		bool well = kit_reopen(&k, false) == IDEM_OK;

		close(down[1]);
		kit_op(&k, &claim, &op);
		well = well && idem_store_submit(k.store, &op) == IDEM_OK &&
		    io_write(up[1], &byte, 1) == IDEM_OK &&
		    io_read(down[0], &byte, 1) == 0;
		_exit(well ? 0 : 1);
	}
	close(down[0]);
	assert_int_equal(io_read(up[0], &byte, 1), 1);
	expect(&k, WORDS("resolve", "--release", "--id", "66666666"), 1, "",
	    "idem: nothing was changed: its worker lives and is at it: wait "
	    "for its end\n");
	expect(&k, WORDS("resolve", "--complete", "200", "--id", "66666666"),
	    1, "", "idem: nothing was changed: its worker lives and is at it: "
	    "wait for its end\n");
	close(down[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	expect(&k, WORDS("resolve", "--release", "--id", "66666666"), 0, "id="
	    "6666666666666666666666666666666666666666666666666666666666666666"
	    " state=released\n", "");
	close(up[0]);
	close(up[1]);
	kit_close(&k);
}

static void
what_is_not_resolved(void **state)
{
	static const struct {
		const char *words[COMMAND_WORDS];
		int rc;
		const char *err;
	} rows[] = {
		{ { "resolve", "--release", "--id", B8 }, 1,
		    "nothing was changed: it is done, and its answer stored: "
		    "there is nothing to resolve (idem show)" },
		{ { "resolve", "--release", "--id", A8 }, 1,
		    "nothing was changed: it is past its time, so that its "
		    "key is a new one: there is nothing to resolve" },
		{ { "resolve", "--complete", "200", "--id", C8, "--body",
		    "/nonexistent" }, 1, "--body /nonexistent: cannot read "
		    "it: No such file or directory" },
		{ { "resolve", "--complete", "200", "--id", C8, "--body", "-",
		    "--max-response", "2B" }, 1,
		    "--body -: longer than IDEM_MAX_RESPONSE, 2 bytes" },
		{ { "resolve", "--complete", "204", "--id", C8, "--body",
		    "-" }, 1,
		    "--body -: an answer with status 204 has none" },
		{ { "resolve", "--complete", "199", "--id", C8 }, 2,
		    "--complete 199: a status from 200 to 599 is wanted; see "
		    "idem resolve --help" },
		{ { "resolve", "--complete", "600", "--id", C8 }, 2,
		    "--complete 600: a status from 200 to 599 is wanted; see "
		    "idem resolve --help" },
		{ { "resolve", "--complete", "200", "--id", C8, "--header",
		    "Set-Cookie: a" }, 2, "--header Set-Cookie: a: a replay "
		    "does not carry this one; IDEM_KEEP_HEADERS names more; "
		    "see idem resolve --help" },
		{ { "resolve", "--complete", "200", "--id", C8, "--header",
		    "Link" }, 2, "--header Link: 'Name: value' is wanted; see "
		    "idem resolve --help" },
		{ { "resolve", "--complete", "200", "--id", C8, "--header",
		    "Link: a\nb" }, 2, "--header Link: a?b: a line end in it, "
		    "or all of them are too long; see idem resolve "
		    "--help" },
	};
	struct kit k;

	(void)state;
	fill(&k);
	for (size_t i = 0; i < COUNT(rows); i++) {
		char err[300];

		assert_int_equal(text_format(err, sizeof err, "idem: %s\n",
		    rows[i].err), IDEM_OK);
		expect(&k, rows[i].words, rows[i].rc, "", err);
	}
	expect(&k, WORDS("list", "--state", "unknown"), 0, HEAD LINE_C, "");
	kit_close(&k);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_listed),
		cmocka_unit_test(long_lists),
		cmocka_unit_test(records_are_shown),
		cmocka_unit_test(found_by_key_and_scope),
		cmocka_unit_test(ids_are_to_be_unique),
		cmocka_unit_test(released_keys_are_free),
		cmocka_unit_test(completed_answers_are_replayed),
		cmocka_unit_test(a_living_worker_keeps_its_record),
		cmocka_unit_test(what_is_not_resolved),
	};

	return cmocka_run_group_tests_name("command_records", tests, NULL,
	    NULL);
}
