/*
 * test_access.c - every way around the web server's own rules that is known,
 * and the ways that must stay open.
 */
#include "folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/access.h"

/*
 * root/www/shop.php, pay.php -> shop.php, up/pic.jpg, up/evil.php -> pic.jpg,
 * out.php -> ../out.php, guard.php (the guard itself), out.php outside.
 */
static char root[] = "/tmp/idem-access-XXXXXX";

static const char *
at(const char *name)
{
	static char path[8][128];
	static size_t n;
	char *p = path[n++ % COUNT(path)];

	assert_int_equal(text_format(p, sizeof path[0], "%s/%s", root, name),
	    IDEM_OK);
	return p;
}

static int
build(void **state)
{
	static const char *const files[] = { "www/shop.php", "www/up/pic.jpg",
		"www/guard.php", "www/guard.fcgi", "out.php", "www/.php",
		"www/x.phpx", "wwwx.php", "www/dir.php/in.php" };
	(void)state;
	assert_non_null(mkdtemp(root));
	assert_int_equal(mkdir(at("www"), 0700), 0);
	assert_int_equal(mkdir(at("www/up"), 0700), 0);
	assert_int_equal(mkdir(at("www/dir.php"), 0700), 0);
	for (size_t i = 0; i < COUNT(files); i++) {
		int fd = open(at(files[i]), O_CREAT | O_WRONLY | O_CLOEXEC,
		    0600);

		assert_true(fd >= 0);
		assert_int_equal(close(fd), 0);
	}
	assert_int_equal(symlink("shop.php", at("www/pay.php")), 0);
	assert_int_equal(symlink("pic.jpg", at("www/up/evil.php")), 0);
	assert_int_equal(symlink("../out.php", at("www/out.php")), 0);
	assert_int_equal(symlink("..", at("www/climb")), 0);
	assert_int_equal(symlink("shop.php", at("www/shop.txt")), 0);
	assert_int_equal(symlink("nowhere.php", at("www/gone.php")), 0);
	assert_int_equal(symlink("www", at("link")), 0);
	return 0;
}

static int
remove_all(void **state)
{
	(void)state;
	tree_remove(root);
	return 0;
}

#define NO_REDIRECT "REDIRECT_STATUS did not come with it"
#define NO_FILE "there is no such file"
#define OUTSIDE "it lies outside DOCUMENT_ROOT"
#define ENDING "its name ends in none of IDEM_SCRIPTS"
#define ITSELF "it is the guard itself"

/* '@' in a value is the folder; what is NULL does not come. */
static const struct row {
	const char *status, *file, *info, *translated, *doc_root;
	const char *why;                /* NULL: it runs: */
	const char *runs, *name, *rest; /* name NULL: not moved */
} rows[] = {
	/* the web server names the script: lighttpd, nginx, FcgidWrapper */
	{ "200", "@/www/shop.php", NULL, NULL, "@/www", NULL,
	  "@/www/shop.php", NULL, NULL },
	{ "200", "@/www/pay.php", NULL, NULL, "@/www/", NULL,
	  "@/www/pay.php", NULL, NULL },
	{ "200", "@/link/shop.php", "/a", NULL, "@/link", NULL,
	  "@/link/shop.php", NULL, NULL },
	{ "200", "@/www/shop.php", NULL, NULL, "@/link", NULL,
	  "@/www/shop.php", NULL, NULL },
	{ "200", "proxy:fcgi://localhost:9000@/www/shop.php", NULL, NULL,
	  "@/www", NULL, "@/www/shop.php", NULL, NULL },
	{ "200", "@/www/dir.php/in.php", NULL, NULL, "@/www", NULL,
	  "@/www/dir.php/in.php", NULL, NULL },
	{ "200", "@/www/.php", NULL, NULL, "@/www", NULL, "@/www/.php", NULL,
	  NULL },
	{ NULL, "@/www/shop.php", NULL, NULL, "@/www", NO_REDIRECT, NULL,
	  NULL, NULL },
	{ "", "@/www/shop.php", NULL, NULL, "@/www", NO_REDIRECT, NULL, NULL,
	  NULL },
	{ "200", "@/www/no.php", NULL, NULL, "@/www", NO_FILE, NULL, NULL,
	  NULL },
	{ "200", "@/www/gone.php", NULL, NULL, "@/www", NO_FILE, NULL, NULL,
	  NULL },
	{ "200", "@/www/dir.php", NULL, NULL, "@/www", NO_FILE, NULL, NULL,
	  NULL },
	{ "200", "@/out.php", NULL, NULL, "@/www", OUTSIDE, NULL, NULL, NULL },
	{ "200", "@/wwwx.php", NULL, NULL, "@/www", OUTSIDE, NULL, NULL,
	  NULL },
	{ "200", "@/www/out.php", NULL, NULL, "@/www", OUTSIDE, NULL, NULL,
	  NULL },
	{ "200", "@/www/climb/out.php", NULL, NULL, "@/www", OUTSIDE, NULL,
	  NULL, NULL },
	{ "200", "@/www/../out.php", NULL, NULL, "@/www",
	  "SCRIPT_FILENAME climbs", NULL, NULL, NULL },
	{ "200", "@/www/up/../shop.php", NULL, NULL, "@/www",
	  "SCRIPT_FILENAME climbs", NULL, NULL, NULL },
	{ "200", "@/www/shop.php", NULL, NULL, NULL,
	  "DOCUMENT_ROOT is not there", NULL, NULL, NULL },
	{ "200", "@/www/shop.php", NULL, NULL, "", "DOCUMENT_ROOT is not there",
	  NULL, NULL, NULL },
	{ "200", "@/www/shop.php", NULL, NULL, "@/no",
	  "DOCUMENT_ROOT is not there", NULL, NULL, NULL },
	/* PHP in an upload, by its own name and by others */
	{ "200", "@/www/up/pic.jpg", NULL, NULL, "@/www",
	  "no script is named", NULL, NULL, NULL },
	{ "200", "@/www/up/pic.jpg/x.php", NULL, NULL, "@/www", NO_FILE, NULL,
	  NULL, NULL },
	{ "200", "@/www/up/evil.php", NULL, NULL, "@/www", ENDING, NULL, NULL,
	  NULL },
	{ "200", "@/www/shop.txt", NULL, NULL, "@/www", "no script is named",
	  NULL, NULL, NULL },
	{ "200", "@/www/x.phpx", NULL, NULL, "@/www", "no script is named",
	  NULL, NULL, NULL },
	{ "200", NULL, NULL, NULL, "@/www", "no script is named", NULL, NULL,
	  NULL },

	/* it names the guard, and a rewrite rule or an Action led here */
	{ "200", "@/www/guard.fcgi", "/shop.php", "@/www/shop.php", "@/www",
	  NULL, "@/www/shop.php", "/shop.php", NULL },
	{ "200", "@/www/guard.fcgi", "/shop.php", NULL, "@/www", NULL,
	  "@/www/shop.php", "/shop.php", NULL },
	{ "200", "@/www/guard.fcgi", "/shop.php/a/b", "@/www/shop.php/a/b",
	  "@/www", NULL, "@/www/shop.php", "/shop.php", "/a/b" },
	{ "200", "@/www/guard.fcgi", "/shop.php/", NULL, "@/www", NULL,
	  "@/www/shop.php", "/shop.php", "/" },
	{ "200", "@/www/guard.fcgi", "/shop.php/a",
	  "redirect:/guard.fcgi/shop.php/a", "@/www", NULL, "@/www/shop.php",
	  "/shop.php", "/a" },
	{ "200", "@/www/guard.php", "/shop.php", NULL, "@/www", NULL,
	  "@/www/shop.php", "/shop.php", NULL },
	{ NULL, "@/www/guard.fcgi", "/shop.php", "@/www/shop.php", "@/www",
	  NO_REDIRECT, NULL, NULL, NULL },
	{ "200", "@/www/guard.fcgi", "/up/pic.jpg", "@/www/up/pic.jpg",
	  "@/www", ENDING, NULL, NULL, NULL },
	{ "200", "@/www/guard.fcgi", "/up/pic.jpg/x.php",
	  "@/www/up/pic.jpg/x.php", "@/www", ENDING, NULL, NULL, NULL },
	{ "200", "@/www/guard.fcgi", "/up/evil.php", "@/www/up/evil.php",
	  "@/www", ENDING, NULL, NULL, NULL },
	{ "200", "@/www/guard.fcgi", "/../out.php", "@/www/../out.php",
	  "@/www", "PATH_INFO climbs", NULL, NULL, NULL },
	{ "200", "@/www/guard.fcgi", "/up/../shop.php", "@/www/shop.php",
	  "@/www", "PATH_INFO climbs", NULL, NULL, NULL },
	{ "200", "@/www/guard.fcgi", "/climb/out.php", NULL, "@/www", OUTSIDE,
	  NULL, NULL, NULL },
	{ "200", "@/www/guard.fcgi", "/x", "@/out.php", "@/www", OUTSIDE,
	  NULL, NULL, NULL },
	{ "200", "@/www/guard.fcgi", "/guard.php", "@/www/guard.php", "@/www",
	  ITSELF, NULL, NULL, NULL },
	{ "200", "@/www/guard.fcgi", "/guard.fcgi", NULL, "@/www", ENDING,
	  NULL, NULL, NULL },
	{ "200", "@/www/guard.fcgi", "/no.php", NULL, "@/www", NO_FILE, NULL,
	  NULL, NULL },
	{ "200", "@/www/guard.fcgi", "/", NULL, "@/www", NO_FILE, NULL, NULL,
	  NULL },
	{ "200", "@/www/guard.fcgi", "/a",
	  "@/www/shop.php/and/much/more/than/that", "@/www",
	  "PATH_TRANSLATED is not of PATH_INFO", NULL, NULL, NULL },
};

struct vars {
	char text[6][400];
	const char *list[7];
	size_t n;
};

static void
add(struct vars *v, const char *name, const char *value)
{
	const char *mark;
	char *text = v->text[v->n];

	if (value == NULL)
		return;
	mark = strchr(value, '@');
	assert_int_equal(mark == NULL ?
	    text_format(text, sizeof v->text[0], "%s=%s", name, value) :
	    text_format(text, sizeof v->text[0], "%s=%.*s%s%s", name,
	    (int)(mark - value), value, root, mark + 1), IDEM_OK);
	v->list[v->n++] = text;
}

static void
assert_row(const struct row *r, const struct exe *guard)
{
	struct vars v = { .n = 0 }, want = { .n = 0 };
	struct access_script got;
	struct idem_request req;
	struct idem_buf scratch;
	const char *why;

	add(&v, "REDIRECT_STATUS", r->status);
	add(&v, "SCRIPT_FILENAME", r->file);
	add(&v, "PATH_INFO", r->info);
	add(&v, "PATH_TRANSLATED", r->translated);
	add(&v, "DOCUMENT_ROOT", r->doc_root);
	idem_buf_init(&scratch, 4096);
	assert_int_equal(idem_request_init(&req, v.list, &scratch), IDEM_OK);
	why = access_refuses(&req, IDEM_LIT(".php,.phtml"), guard, &got);
	assert_text(span_of(why), r->why);
	if (why == NULL) {
		add(&want, "x", r->runs);
		assert_string_equal(got.file, want.text[0] + 2);
		assert_int_equal(got.moved, r->name != NULL);
		assert_text(got.name, r->name);
		assert_text(got.rest, r->rest);
	}
	idem_buf_free(&scratch);
}

static void
refuses_ways_around(void **state)
{
	struct exe guard = { .path = "guard" };
	struct stat st;

	(void)state;
	assert_int_equal(stat(at("www/guard.php"), &st), 0);
	guard.dev = st.st_dev;
	guard.ino = st.st_ino;
	for (size_t i = 0; i < COUNT(rows); i++) {
		print_message("row %zu\n", i);
		assert_row(&rows[i], &guard);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses_ways_around),
	};

	return cmocka_run_group_tests(tests, build, remove_all);
}
