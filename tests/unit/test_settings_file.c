/*
 * test_settings_file.c - the grammar of the settings file, and which file is
 * taken.
 */
#include "tests.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "caught.h"
#include "settings/settings.h"

/* A folder of the test's own. */
struct fixture {
	char dir[64];
	struct settings s;
	struct caught caught;
	struct idem_log log;
	struct idem_buf file;
};

static int
setup(void **state)
{
	struct fixture *f = test_calloc(1, sizeof *f);

	memcpy(f->dir, "/tmp/idem-settings-XXXXXX", 26);
	assert_non_null(mkdtemp(f->dir));
	settings_init(&f->s, SETTINGS_TASKS);
	f->log = caught_log(&f->caught);
	idem_buf_init(&f->file, 65536);
	*state = f;
	return 0;
}

static void
path_in(const struct fixture *f, const char *name, char path[200])
{
	assert_int_equal(text_format(path, 200, "%s/%s", f->dir, name),
	    IDEM_OK);
}

static int
teardown(void **state)
{
	static const char *const names[] = { "named", "env", "exe/.htidem.conf",
	    "argv0/.htidem.conf", "script/.htidem.conf", "fallback" };
	static const char *const dirs[] = { "exe", "argv0", "script" };
	struct fixture *f = *state;
	char path[200];

	for (size_t i = 0; i < COUNT(names); i++) {
		path_in(f, names[i], path);
		(void)unlink(path); /* some were never made */
	}
	for (size_t i = 0; i < COUNT(dirs); i++) {
		path_in(f, dirs[i], path);
		(void)rmdir(path);
	}
	assert_int_equal(rmdir(f->dir), 0);
	idem_buf_free(&f->file);
	test_free(f);
	return 0;
}

static void
write_file(const struct fixture *f, const char *name, struct idem_span text)
{
	char path[200];
	int fd;

	path_in(f, name, path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(io_write(fd, text.p, text.n), IDEM_OK);
	assert_int_equal(close(fd), 0);
}

static enum idem_err
read_text(struct fixture *f, struct idem_span text)
{
	char path[200];

	settings_init(&f->s, SETTINGS_TASKS);
	f->log = caught_log(&f->caught);
	write_file(f, "named", text);
	path_in(f, "named", path);
	return settings_file(&f->s, &f->log, path, &f->file);
}

/* Each file sets IDEM_PAY_LEDGER, a path of any bytes, and nothing else. */
static void
values(void **state)
{
	static const struct {
		const char *text;
		const char *want;
	} rows[] = {
		{ "IDEM_PAY_LEDGER=/a", "/a" },
		{ "IDEM_PAY_LEDGER=/a\n", "/a" },
		{ "IDEM_PAY_LEDGER=/a\r\n", "/a" },
		{ "\n\n  \t\nIDEM_PAY_LEDGER=/a", "/a" },
		{ "# c\n; c\n  # c\nIDEM_PAY_LEDGER=/a", "/a" },
		{ "# c\\\nIDEM_PAY_LEDGER=/a", "/a" },
		{ "  IDEM_PAY_LEDGER  =  /a  \t\n", "/a" },
		{ "IDEM_PAY_LEDGER=/a b  c", "/a b  c" },
		{ "IDEM_PAY_LEDGER=/a#b # c", "/a#b # c" },
		{ "IDEM_PAY_LEDGER=/a=b", "/a=b" },
		{ "IDEM_PAY_LEDGER='/a b '", "/a b " },
		{ "IDEM_PAY_LEDGER='/a\\'", "/a\\" },
		{ "IDEM_PAY_LEDGER='/\"'", "/\"" },
		{ "IDEM_PAY_LEDGER=\"/a b \"", "/a b " },
		{ "IDEM_PAY_LEDGER=\"/a\\\"b\\\\c\\$d\\`e\\f\"",
		    "/a\"b\\c$d`e\\f" },
		{ "IDEM_PAY_LEDGER=\"/a\"'b'c", "/abc" },
		{ "IDEM_PAY_LEDGER=/a\" \" ", "/a " },
		{ "IDEM_PAY_LEDGER=/a\\ b", "/a b" },
		{ "IDEM_PAY_LEDGER=/a\\'b", "/a'b" },
		{ "IDEM_PAY_LEDGER=/a \\\n b", "/a  b" },
		{ "IDEM_PAY_LEDGER=/a\\\r\nb", "/ab" },
		/* one line end goes, a CR alone is one */
		{ "IDEM_PAY_LEDGER=/a\\\r\"b  \"", "/ab  " },
		{ "IDEM_PAY_LEDGER=/a\\\r\r# c", "/a" },
		{ "IDEM_PAY_LEDGER=/a\\\n\n# c", "/a" },
		{ "IDEM_PAY_LEDGER=/a\\", "/a" },
		{ "IDEM_PAY_LEDGER=/$HOME", "/$HOME" },
		{ "IDEM_PAY_LEDGER=/a\nIDEM_PAY_LEDGER=/b", "/b" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(read_text(f, span_of(rows[i].text)), IDEM_OK);
		assert_text(f->s.pay_ledger, rows[i].want);
		assert_int_equal(f->caught.nlines, 0);
	}
}

#define NO_NUL(s) { sizeof(s) - 1, s }

static void
bad_lines(void **state)
{
	static const struct {
		struct {
			size_t n;
			const char *p;
		} text;
		const char *said; /* behind the file's name */
	} rows[] = {
		{ NO_NUL("IDEM_TTL"), ":1: not a line of the form NAME=value" },
		{ NO_NUL("\n\nIDEM_TTL\nIDEM_MAX_KEYS=1"),
		    ":3: not a line of the form NAME=value" },
		{ NO_NUL("PATH=/bin"),
		    ":1: only names that begin with IDEM_ may stand here" },
		{ NO_NUL("export IDEM_TTL=1h"),
		    ":1: only names that begin with IDEM_ may stand here" },
		{ NO_NUL("IDEM_TTL='1h\n'"),
		    ":1: a quote is not closed in its line" },
		{ NO_NUL("IDEM_TTL=\"1h"),
		    ":1: a quote is not closed in its line" },
		{ NO_NUL("IDEM_TTL=1h\nIDEM_TTL=1"),
		    ":2: IDEM_TTL=1 is refused; allowed: a duration such as "
		    "300ms, 25s, 15m, 24h or 30d, from 1ms to 3650d" },
		{ NO_NUL("IDEM_PAY_LEDGER=/a\\\nb\nIDEM_CONFIG=/x"),
		    ":3: IDEM_CONFIG=/x is refused; no setting has this name "
		    "(--check-config prints all)" },
		{ NO_NUL("IDEM_LENGTH=1"),
		    ":1: IDEM_LENGTH=1 is refused; no setting has this name "
		    "(--check-config prints all)" },
		{ NO_NUL("IDEM_TTL=1h\0IDEM_TTL=2h"),
		    ":1: the file holds a NUL byte" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		char want[300];

		assert_int_equal(read_text(f, (struct idem_span){
		    rows[i].text.p, rows[i].text.n }), IDEM_ESYNTAX);
		assert_int_equal(text_format(want, sizeof want, "%s/named%s",
		    f->dir, rows[i].said), IDEM_OK);
		assert_string_equal(f->caught.text, want);
		assert_int_equal(f->caught.nlines, 1);
	}
}

static void
an_environment_beats_a_file(void **state)
{
	const char *env[] = { "IDEM_TTL=2h", NULL };
	struct fixture *f = *state;

	assert_int_equal(read_text(f, IDEM_LIT("IDEM_TTL=1h\n"
	    "IDEM_MAX_KEYS=7")), IDEM_OK);
	assert_true(f->s.policy.ttl_ms == 3600000);
	assert_int_equal(settings_environment(&f->s, &f->log, env, false),
	    IDEM_OK);
	assert_true(f->s.policy.ttl_ms == 7200000);
	assert_true(f->s.policy.max_keys == 7);
}

static void
a_line_of_check_config_names_file_and_line(void **state)
{
	struct fixture *f = *state;
	struct idem_buf out;
	char want[300];

	assert_int_equal(read_text(f, IDEM_LIT("\nIDEM_TTL=1h")), IDEM_OK);
	idem_buf_init(&out, 65536);
	settings_print(&f->s, &out);
	idem_buf_putc(&out, '\0');
	assert_int_equal(idem_buf_err(&out), IDEM_OK);
	assert_int_equal(text_format(want, sizeof want, "\nIDEM_TTL=1h\t"
	    "%s/named:2\troute\tused by tasks.fcgi\n", f->dir), IDEM_OK);
	assert_non_null(strstr(out.p, want));
	idem_buf_free(&out);
}

/* Six places, each with a lifetime of its own; the first one there counts. */
static void
the_first_place_counts(void **state)
{
	static const struct {
		const char *name;
		const char *text;
		int64_t ttl_ms;
	} rows[] = { /* the last place first */
		{ NULL, NULL, 86400000 },
		{ "fallback", "IDEM_TTL=1s", 1000 },
		{ "script/.htidem.conf", "IDEM_TTL=2s", 2000 },
		{ "argv0/.htidem.conf", "IDEM_TTL=3s", 3000 },
		{ "exe/.htidem.conf", "IDEM_TTL=4s", 4000 },
	};
	static const char *const dirs[] = { "exe", "argv0", "script" };
	struct fixture *f = *state;
	char path[200], exe[200], argv0[200], script[200], fallback[200];
	char variable[300];
	const struct settings_places places = { NULL, exe, argv0, fallback };
	const char *env[] = { variable, NULL };

	path_in(f, "exe/tasks.fcgi", exe);
	path_in(f, "argv0/tasks.fcgi", argv0);
	path_in(f, "script/tasks.fcgi", script);
	path_in(f, "fallback", fallback);
	assert_int_equal(text_format(variable, sizeof variable,
	    "SCRIPT_FILENAME=%s", script), IDEM_OK);
	for (size_t i = 0; i < COUNT(dirs); i++) {
		path_in(f, dirs[i], path);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (rows[i].name != NULL)
			write_file(f, rows[i].name, span_of(rows[i].text));
		settings_init(&f->s, SETTINGS_TASKS);
		assert_int_equal(settings_load(&f->s, &f->log, &places, env,
		    true, &f->file), IDEM_OK);
		assert_true(f->s.policy.ttl_ms == rows[i].ttl_ms);
		idem_buf_free(&f->file);
	}
	assert_int_equal(f->caught.nlines, 0);
}

static void
script_filename_counts_in_cgi_only(void **state)
{
	struct fixture *f = *state;
	char path[200], variable[300];
	const struct settings_places places = { NULL, NULL, "tasks.fcgi",
	    "/nonexistent/idem.conf" };
	const char *env[] = { variable, NULL };

	path_in(f, "script", path);
	assert_int_equal(mkdir(path, 0700), 0);
	write_file(f, "script/.htidem.conf", IDEM_LIT("IDEM_TTL=2s"));
	assert_int_equal(text_format(variable, sizeof variable,
	    "SCRIPT_FILENAME=%s/script/a.cgi", f->dir), IDEM_OK);
	assert_int_equal(settings_load(&f->s, &f->log, &places, env, false,
	    &f->file), IDEM_OK);
	assert_true(f->s.policy.ttl_ms == 86400000);
	assert_null(f->s.file);
}

static void
named_files_must_exist(void **state)
{
	struct fixture *f = *state;
	char path[200], variable[300], want[300];
	struct settings_places places = { path, NULL, NULL,
	    "/nonexistent/idem.conf" };
	const char *env[] = { variable, NULL };

	path_in(f, "named", path);
	assert_int_equal(text_format(variable, sizeof variable,
	    "IDEM_CONFIG=%s/env", f->dir), IDEM_OK);
	assert_int_equal(settings_load(&f->s, &f->log, &places, env, false,
	    &f->file), IDEM_EIO);
	assert_int_equal(text_format(want, sizeof want, "cannot read the "
	    "settings file %s: No such file or directory", path), IDEM_OK);
	assert_string_equal(f->caught.text, want);
	idem_buf_free(&f->file);

	places.config = NULL;
	assert_int_equal(settings_load(&f->s, &f->log, &places, env, false,
	    &f->file), IDEM_EIO);
	idem_buf_free(&f->file);

	write_file(f, "env", IDEM_LIT("IDEM_TTL=2s"));
	assert_int_equal(settings_load(&f->s, &f->log, &places, env, false,
	    &f->file), IDEM_OK);
	assert_true(f->s.policy.ttl_ms == 2000);
	idem_buf_free(&f->file);

	write_file(f, "named", IDEM_LIT("IDEM_TTL=1s"));
	places.config = path; /* --config before $IDEM_CONFIG */
	assert_int_equal(settings_load(&f->s, &f->log, &places, env, false,
	    &f->file), IDEM_OK);
	assert_true(f->s.policy.ttl_ms == 1000);
	assert_string_equal(f->s.file, path);
}

static void
a_file_has_64_kib_at_most(void **state)
{
	struct fixture *f = *state;
	char *text = test_malloc(65536);
	char want[300];

	memset(text, '#', 65536);
	assert_int_equal(read_text(f, (struct idem_span){ text, 65000 }),
	    IDEM_OK);
	assert_int_equal(read_text(f, (struct idem_span){ text, 65536 }),
	    IDEM_ETOOBIG);
	assert_int_equal(text_format(want, sizeof want, "cannot read the "
	    "settings file %s/named: %s", f->dir,
	    idem_strerror(IDEM_ETOOBIG)), IDEM_OK);
	assert_string_equal(f->caught.text, want);
	test_free(text);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(values),
		IN_FOLDER(bad_lines),
		IN_FOLDER(an_environment_beats_a_file),
		IN_FOLDER(a_line_of_check_config_names_file_and_line),
		IN_FOLDER(the_first_place_counts),
		IN_FOLDER(script_filename_counts_in_cgi_only),
		IN_FOLDER(named_files_must_exist),
		IN_FOLDER(a_file_has_64_kib_at_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
