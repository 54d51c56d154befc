/*
 * test_command.c - the operator's command: its words, its settings, and what it
 * explains.
 */
#include "commandkit.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "rows.h"

/* --- words --------------------------------------------------------------- */
static void
usage_errors(void **state)
{
	static const struct {
		const char *words[COMMAND_WORDS];
		const char *err;
		const char *help; /* of this command; NULL: of all */
	} rows[] = {
		{ { NULL }, "the name of a command is missing", NULL },
		{ { "swep" }, "swep: no such command", NULL },
		{ { "" }, ": no such command", NULL },
		{ { "lis" }, "lis: no such command", NULL },
		{ { "list", "--id", "00000000" }, "--id: no such option",
		    "list" },
		{ { "show", "--store", "/x" },
		    "show: one of --key and --id is wanted", "show" },
		{ { "show", "--store", "/x", "--key", "a", "--id",
		    "00000000" }, "show: one of --key and --id is wanted",
		    "show" },
		{ { "show", "--store", "/x", "--scope", "REMOTE_USER=a",
		    "--id", "00000000" }, "show: --scope goes with --key",
		    "show" },
		{ { "show", "--store", "/x", "--id", "0123456" },
		    "--id 0123456: wanted are 8 to 64 hex digits", "show" },
		{ { "show", "--store", "/x", "--id", "0123456g" },
		    "--id 0123456g: wanted are 8 to 64 hex digits", "show" },
		{ { "show", "--store", "/x", "--key", "secret key" },
		    "--key: this is no key; wanted are 1 to 255 visible "
		    "ASCII characters", "show" },
		{ { "show", "--body=x" }, "--body takes no value", "show" },
		{ { "resolve", "--body" },
		    "--body: its value FILE is missing", "resolve" },
		{ { "resolve", "--store", "/x", "--id", "00000000" },
		    "resolve: one of --release and --complete is wanted",
		    "resolve" },
		{ { "resolve", "--store", "/x", "--id", "00000000",
		    "--release", "--complete", "200" },
		    "resolve: one of --release and --complete is wanted",
		    "resolve" },
		{ { "resolve", "--store", "/x", "--id", "00000000",
		    "--release", "--body", "/x" },
		    "resolve: --body and --header go with --complete",
		    "resolve" },
		{ { "list", "--store", "/x", "--state", "held" },
		    "--state held: wanted is running, orphaned, done, "
		    "unknown, expired or damaged", "list" },
		{ { "list", "--store", "/x", "--max", "0" },
		    "--max 0: a whole number from 1 to 1000000 is wanted",
		    "list" },
		{ { "--frob" }, "--frob: no such option", NULL },
		{ { "sweep", "-q" }, "-q: no such option", "sweep" },
		{ { "sweep", "--" }, "--: no such option", "sweep" },
		{ { "sweep", "--max-second=1" },
		    "--max-second=1: no such option", "sweep" },
		{ { "sweep", "now" }, "now: one word too many", "sweep" },
		{ { "sweep", "now", "then" }, "then: one word too many",
		    "sweep" },
		{ { "copy", "/x", "/y" }, "/y: one word too many", "copy" },
		{ { "copy", "--store", "/x" }, "copy: DIR is missing", "copy" },
		{ { "copy", "/x", "--max", "1" }, "--max: no such option",
		    "copy" },
		{ { "sweep", "--compact" }, "--compact: no such option",
		    "sweep" },
		{ { "--json=1", "sweep" }, "--json takes no value", NULL },
		{ { "sweep", "--max-seconds" },
		    "--max-seconds: its value N is missing", "sweep" },
		{ { "sweep", "--store" }, "--store: its value DIR is missing",
		    "sweep" },
		{ { "sweep", "--method", "POST" },
		    "sweep takes no --method", "sweep" },
		{ { "stats", "--quiet" }, "stats takes no --quiet", "stats" },
		{ { "stats", "--version" }, "stats takes no --version",
		    "stats" },
		{ { "canonical", "--store", "/x" },
		    "canonical takes no --store", "canonical" },
		{ { "canonical", "--max-keys", "7" },
		    "canonical takes no setting", "canonical" },
		{ { "fingerprint" }, "fingerprint: --method is missing",
		    "fingerprint" },
		{ { "fingerprint", "--method", "POST" },
		    "fingerprint: --target is missing", "fingerprint" },
		{ { "fingerprint", "--method", "A B", "--target", "/" },
		    "--method A B: not the name of a method", "fingerprint" },
		{ { "fingerprint", "--method", "", "--target", "/" },
		    "--method : not the name of a method", "fingerprint" },
		{ { "fingerprint", "--method", "POST", "--target", "" },
		    "--target : a path and query without spaces is wanted",
		    "fingerprint" },
		{ { "fingerprint", "--method", "POST", "--target", "/a b" },
		    "--target /a b: a path and query without spaces is "
		    "wanted", "fingerprint" },
		{ { "sweep", "--store", "/x", "--max-seconds", "0" },
		    "--max-seconds 0: a whole number from 1 to 86400 is "
		    "wanted", "sweep" },
		{ { "sweep", "--store", "/x", "--max-seconds", "86401" },
		    "--max-seconds 86401: a whole number from 1 to 86400 is "
		    "wanted", "sweep" },
		{ { "sweep", "--store", "/x", "--max-seconds", "1.5" },
		    "--max-seconds 1.5: a whole number from 1 to 86400 is "
		    "wanted", "sweep" },
		{ { "sweep", "--store", "/x", "--max-seconds", "" },
		    "--max-seconds : a whole number from 1 to 86400 is "
		    "wanted", "sweep" },
		{ { "--check-config", "--json" }, "--check-config goes with "
		    "--config, --store and settings only", NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char err[300];

		assert_int_equal(text_format(err, sizeof err,
		    "idem: %s; see idem %s%s--help\n", rows[i].err,
		    rows[i].help != NULL ? rows[i].help : "",
		    rows[i].help != NULL ? " " : ""), IDEM_OK);
		command_expect(rows[i].words, "", 2, "", err);
	}
}

static void
scopes_that_are_none(void **state)
{
	static const char *const scopes[] = { "", "ali", "=ali", "user=ali",
		"REMOTE_USER", "REMOTE_USER=", "cookie:=a", "cookie:a b=c",
		"Authorization=Digest x", "Authorization=Basic",
		"param:X=" };

	(void)state;
	for (size_t i = 0; i < COUNT(scopes); i++)
		command_expect(WORDS("show", "--store", "/x", "--key", "k",
		    "--scope", scopes[i]), "", 2, "", "idem: --scope: wanted "
		    "is REMOTE_USER=value, cookie:NAME=value, "
		    "header:NAME=value, param:NAME=value or "
		    "Authorization=value; see idem show --help\n");
}

/* "--scope" names a record there, and is a setting elsewhere. */
static void
a_word_of_two_meanings(void **state)
{
	struct result r;

	(void)state;
	command_run(&r, WORDS("--check-config", "--store", "/x", "--scope",
	    "REMOTE_USER"), IDEM_LIT(""), no_env);
	idem_buf_putc(&r.out, '\0');
	assert_int_equal(r.rc, 0);
	assert_non_null(strstr(r.out.p,
	    "IDEM_SCOPE=REMOTE_USER\tcommand line\t"));
	result_free(&r);
}

/* resolve --complete keeps an answer by these three. */
static void
says_which_settings_it_uses(void **state)
{
	static const char *const lines[] = {
		"\nIDEM_TTL=24h\tdefault\troute\tused by idem\n",
		"\nIDEM_MAX_RESPONSE=256K\tdefault\tprocess\tused by idem\n",
		"\nIDEM_KEEP_HEADERS=\tdefault\troute\tused by idem\n",
		"\nIDEM_MAX_BODY=1M\tdefault\tprocess\tnot used by idem\n",
	};
	struct result r;

	(void)state;
	command_run(&r, WORDS("--check-config", "--store", "/x"),
	    IDEM_LIT(""), no_env);
	idem_buf_putc(&r.out, '\0');
	assert_int_equal(r.rc, 0);
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		assert_non_null(strstr(r.out.p, lines[i]));
	result_free(&r);
}

static void
long_words_are_cut(void **state)
{
	char word[5001];
	struct result r;

	(void)state;
	memset(word, '-', sizeof word - 1);
	word[sizeof word - 1] = '\0';
	command_run(&r, WORDS(word), IDEM_LIT(""), no_env);
	assert_int_equal(r.rc, 2);
	assert_int_equal(r.err.n, 6 + 200 + 16 + 17 + 1);
	result_free(&r);
}

static void
version_and_help(void **state)
{
	(void)state;
	command_expect(WORDS("--version"), "", 0, "idem " IDEM_VERSION "\n",
	    "");
	command_expect(WORDS("--help"), "", 0,
	    "usage: idem COMMAND [OPTION ...]\n"
	    "\n"
	    "  sweep        delete what has expired: the command for cron\n"
	    "  stats        count the records by state, and the room\n"
	    "  check        read every record; exit 1 where one is damaged\n"
	    "  copy         copy the store while it is in use\n"
	    "  list         list the records, the oldest first\n"
	    "  show         show one record and its stored answer\n"
	    "  resolve      say how work ended that nobody knows the end of\n"
	    "  fingerprint  print the fingerprint of a request, its body on "
	    "standard input\n"
	    "  canonical    print the canonical form of a JSON text on "
	    "standard input\n"
	    "\n"
	    "  --store DIR        the store's directory, as IDEM_STORE\n"
	    "  --config FILE      read the settings from this file\n"
	    "  --check-config     print every setting, its value and where it "
	    "came from\n"
	    "  --version          print the version\n"
	    "  --help             print this; behind a command: what it does\n"
	    "\n"
	    "Every setting of idem.conf(5) is an option: --max-store 2G is "
	    "IDEM_MAX_STORE=2G.\n"
	    "\n"
	    "Exit status: 0 fine; 1 it failed, or what was asked is not so; "
	    "2 wrong usage;\n78 a wrong setting.\n", "");
	command_expect(WORDS("fingerprint", "--help"), "", 0,
	    "usage: idem fingerprint --method M --target T [--type C] < "
	    "BODY\n"
	    "\n"
	    "Print the 43 characters that a request is compared by.  A retry\n"
	    "under the same key that has others is answered 422.\n"
	    "\n"
	    "  --method M         the request's method: POST\n"
	    "  --target T         its path and query as the server got them: "
	    "/vazifalar?x=1\n"
	    "  --type C           its Content-Type: application/json\n"
	    "  --help             print this; behind a command: what it does\n"
	    "\n"
	    "Exit status: 0 fine; 1 it failed, or what was asked is not so; "
	    "2 wrong usage;\n78 a wrong setting.\n", "");
}

/* Each command has a help of its own that fits a terminal and names all that
 * the command takes. */
static void
every_command_helps(void **state)
{
	const struct command_row *row;
	struct idem_span rest, line;
	struct result r;

	(void)state;
	for (size_t i = 0; (row = command_row(i)) != NULL; i++) {
		command_run(&r, WORDS("--help", row->name), IDEM_LIT(""),
		    no_env);
		assert_int_equal(r.rc, 0);
		rest = idem_buf_span(&r.out);
		while (span_next(&rest, '\n', &line))
			assert_true(line.n <= 80);
		idem_buf_putc(&r.out, '\0');
		for (size_t o = 0; o < NOPTIONS; o++)
			if ((row->options & OPT_BIT(o)) != 0)
				assert_non_null(strstr(r.out.p,
				    option_row((enum option)o)->name));
		result_free(&r);
	}
}

static void
output_that_does_not_arrive(void **state)
{
	struct command_world world = command_world_still();
	struct result r;

	(void)state;
	world.out_fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	assert_true(world.out_fd > 0);
	command_run_in(&r, &world, WORDS("--version"), IDEM_LIT(""));
	close(world.out_fd);
	assert_span(idem_buf_span(&r.err), IDEM_LIT("idem: cannot write the "
	    "output: No space left on device\n"));
	assert_int_equal(r.rc, 1);
	result_free(&r);
}

/* --- settings ------------------------------------------------------------ */
static void
wrong_settings_end_with_78(void **state)
{
	static const char *const bad_env[] = { "IDEM_TTL=7", NULL };
	static const char *const unknown_env[] = { "IDEM_FROB=7", NULL };
	static const struct {
		const char *words[COMMAND_WORDS];
		const char *const *env;
		const char *begin;
	} rows[] = {
		{ { "stats" }, no_env, "idem: IDEM_STORE is not set" },
		{ { "sweep" }, bad_env, "idem: environment: IDEM_TTL=7 " },
		{ { "check" }, unknown_env,
		    "idem: environment: IDEM_FROB=7 " },
		{ { "--check-config" }, bad_env,
		    "idem: environment: IDEM_TTL=7 " },
		{ { "stats", "--ttl", "7" }, no_env,
		    "idem: command line: IDEM_TTL=7 " },
		{ { "stats", "--store", "" }, no_env,
		    "idem: command line: IDEM_STORE= is refused" },
		{ { "stats", "--config", "/nonexistent" }, no_env,
		    "idem: " },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct result r;

		command_run(&r, rows[i].words, IDEM_LIT(""), rows[i].env);
		assert_int_equal(r.rc, 78);
		assert_span(idem_buf_span(&r.out), IDEM_LIT(""));
		assert_one_line(&r.err, rows[i].begin);
		result_free(&r);
	}
}

static void
check_config_wants_a_store(void **state)
{
	struct result r;

	(void)state;
	command_run(&r, WORDS("--check-config"), IDEM_LIT(""), no_env);
	assert_int_equal(r.rc, 78);
	assert_one_line(&r.err, "idem: IDEM_STORE is not set");
	assert_span(span_first(idem_buf_span(&r.out), 20),
	    IDEM_LIT("IDEM_STORE=\tnot set\t"));
	result_free(&r);
}

static void
check_config_names_the_source(void **state)
{
	static const char *const env[] = { "IDEM_TTL=7h",
	    "IDEM_MAX_KEYS=5", NULL };
	static const char *const wanted[] = {
		"IDEM_STORE=/some/where\tcommand line\tprocess\t",
		"IDEM_MAX_KEYS=6\tcommand line\tprocess\t",
		"IDEM_TTL=7h\tenvironment\troute\t",
		"IDEM_UNKNOWN_TTL=30d\tdefault\troute\t",
		"# commits: many at once, by one flush\n",
	};
	struct result r;

	(void)state;
	command_run(&r, WORDS("--check-config", "--store", "/some/where",
	    "--max-keys=6"), IDEM_LIT(""), env);
	assert_int_equal(r.rc, 0);
	assert_span(idem_buf_span(&r.err), IDEM_LIT(""));
	idem_buf_putc(&r.out, '\0');
	for (size_t i = 0; i < COUNT(wanted); i++)
		assert_non_null(strstr(r.out.p, wanted[i]));
	result_free(&r);
}

/* --- fingerprint and canonical ------------------------------------------- */
static void
fingerprint_rows(void **state)
{
	struct rows rows;
	struct row row;
	size_t n = 0;

	(void)state;
	rows_open(&rows, "tests/vectors/fingerprints.tsv");
	while (rows_next(&rows, &row)) {
		const char *words[COMMAND_WORDS] = { "fingerprint",
			"--method" };
		char line[64];
		struct result r;

		assert_int_equal(row.ncells, 5);
		for (size_t i = 0; i < 3; i++)
			((char *)(uintptr_t)row.cell[i].p)[row.cell[i].n] = 0;
		words[2] = row.cell[0].p;
		words[3] = "--target";
		words[4] = row.cell[1].p;
		words[5] = row.cell[2].n > 0 ? "--type" : NULL;
		words[6] = row.cell[2].p;
		command_run(&r, words, unescape(row.cell[3]), no_env);
		assert_int_equal(text_format(line, sizeof line, "%.*s\n",
		    IDEM_FMT(row.cell[4])), IDEM_OK);
		assert_span(idem_buf_span(&r.err), IDEM_LIT(""));
		assert_span(idem_buf_span(&r.out), span_of(line));
		assert_int_equal(r.rc, 0);
		result_free(&r);
		n++;
	}
	assert_int_equal(n, 29);
	rows_close(&rows);
}

static void
canonical_says_where(void **state)
{
	(void)state;
	command_expect(WORDS("canonical"), "{ \"b\" : 1.50, \"a\" : [ ] }\n", 0,
	    "{\"a\":[],\"b\":1.5}\n", "");
	command_expect(WORDS("canonical"), "[1,]", 1, "",
	    "idem: byte 3: not JSON from here on\n");
	command_expect(WORDS("canonical"), "", 1, "",
	    "idem: byte 0: not JSON from here on\n");
	command_expect(WORDS("canonical"), "{\"a\":1,\"a\":1}", 1, "",
	    "idem: byte 7: JSON without a canonical form: a name twice in one "
	    "object, a lone surrogate, more than 64 open brackets, or an "
	    "exponent beyond 999999999\n");
}

/* --- the manual ---------------------------------------------------------- */
static void
the_manual_names_everything(void **state)
{
	const struct command_row *row;
	struct idem_buf page;
	char text[64];

	(void)state;
	idem_buf_init(&page, 1 << 20);
	assert_int_equal(io_read_file("man/idem.1", &page), IDEM_OK);
	idem_buf_putc(&page, '\0');
	assert_int_equal(idem_buf_err(&page), IDEM_OK);
	for (size_t i = 0; (row = command_row(i)) != NULL; i++) {
		assert_int_equal(text_format(text, sizeof text,
		    "\n.It Cm %s\n", row->name), IDEM_OK);
		assert_non_null(strstr(page.p, text));
	}
	for (size_t o = 0; o < NOPTIONS; o++) {
		const struct option_row *option = option_row((enum option)o);

		assert_int_equal(text_format(text, sizeof text,
		    "\n.It Fl %s%s", option->name + 1,
		    option->value == NULL ? "\n" : " Ar "), IDEM_OK);
		assert_non_null(strstr(page.p, text));
	}
	idem_buf_free(&page);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usage_errors),
		cmocka_unit_test(scopes_that_are_none),
		cmocka_unit_test(a_word_of_two_meanings),
		cmocka_unit_test(says_which_settings_it_uses),
		cmocka_unit_test(long_words_are_cut),
		cmocka_unit_test(version_and_help),
		cmocka_unit_test(every_command_helps),
		cmocka_unit_test(output_that_does_not_arrive),
		cmocka_unit_test(wrong_settings_end_with_78),
		cmocka_unit_test(check_config_wants_a_store),
		cmocka_unit_test(check_config_names_the_source),
		cmocka_unit_test(fingerprint_rows),
		cmocka_unit_test(canonical_says_where),
		cmocka_unit_test(the_manual_names_everything),
	};

	return cmocka_run_group_tests_name("command", tests, NULL, NULL);
}
