/*
 * test_fuzz.c - every input of the fuzz corpora, and those kept by hand, for
 * each target, without a fuzzer: where one no longer holds, the last line names
 * it.
 *
 * usage: test_fuzz [EVERY]     of every EVERYth input each prefix, too
 */
#include "tests.h"

#include <dirent.h>

#include "base/io.h"
#include "kit.h"

static unsigned long every, nfiles, nprefixes;

static void
run_prefixes(struct idem_span input, void (*target)(struct idem_span input))
{
	for (size_t n = 0; n < input.n; n++) {
		target(kit_copy(span_first(input, n)));
		kit_over();
	}
	nprefixes += input.n;
}

static size_t
run_file(const char *folder, const char *name,
    void (*target)(struct idem_span input))
{
	struct idem_buf b;
	char path[400];

	assert_int_equal(text_format(path, sizeof path, "%s/%s", folder, name),
	    IDEM_OK);
	print_message("%s\n", path);
	idem_buf_init(&b, 1 << 20);
	assert_int_equal(io_read_file(path, &b), IDEM_OK);
	target(kit_copy(idem_buf_span(&b)));
	kit_over();
	if (every > 0 && nfiles++ % every == 0)
		run_prefixes(idem_buf_span(&b), target);
	idem_buf_free(&b);
	return 1;
}

/* The number of inputs there are. */
static size_t
run_folder(const char *kind, const char *target_name,
    void (*target)(struct idem_span input))
{
	char folder[100];
	struct dirent *entry;
	size_t n = 0;
	DIR *dir;

	assert_int_equal(text_format(folder, sizeof folder,
	    "tests/fuzz/%s/%s", kind, target_name), IDEM_OK);
	dir = opendir(folder);
	if (dir == NULL)
		return 0;
	while ((entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			n += run_file(folder, entry->d_name, target);
	assert_int_equal(closedir(dir), 0);
	return n;
}

#define TEST(name) \
static void \
name##_holds(void **state) \
{ \
	(void)state; \
	assert_true(run_folder("corpus", #name, fuzz_##name) >= 5); \
	(void)run_folder("kept", #name, fuzz_##name); /* may be none */ \
}
FUZZ_TARGETS(TEST)

int
main(int argc, char **argv)
{
#define ROW(name) cmocka_unit_test(name##_holds),
	static const struct CMUnitTest tests[] = { FUZZ_TARGETS(ROW) };

	int failed;

	every = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	print_message("%lu prefixes\n", nprefixes);
	return failed;
}
