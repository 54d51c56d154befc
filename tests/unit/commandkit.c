/*
 * commandkit.c - the operator's command run inside a test.
 */
#include "commandkit.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"

const char *const no_env[] = { NULL };

static int64_t
wall(void)
{
	return COMMAND_NOW_MS;
}

static int64_t
steady(void)
{
	return 5;
}

struct command_world
command_world_still(void)
{
	return (struct command_world){
		.env = no_env,
		.exe = "",
		.fallback = "/nonexistent/idem.conf",
		.wall_ms = wall,
		.steady_ms = steady,
	};
}

static int
memory_fd(struct idem_span content)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(io_write(fd, content.p, content.n), IDEM_OK);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static void
take(int fd, struct idem_buf *b)
{
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(io_read_all(fd, b), IDEM_OK);
	close(fd);
}

void
command_run_in(struct result *r, struct command_world *world,
    const char *const *words, struct idem_span in)
{
	char name[] = "idem";
	char *argv[COMMAND_WORDS + 2] = { name };
	int out = world->out_fd == 0 ? memory_fd(IDEM_LIT("")) : -1;
	int argc = 1;

	for (; *words != NULL; words++) {
		assert_true(argc <= COMMAND_WORDS);
		argv[argc++] = (char *)(uintptr_t)*words;
	}
	world->in_fd = memory_fd(in);
	if (out >= 0)
		world->out_fd = out;
	world->err_fd = memory_fd(IDEM_LIT(""));
	r->rc = command_main(world, argc, argv);
	close(world->in_fd);
	idem_buf_init(&r->out, 1 << 20);
	if (out >= 0)
		take(out, &r->out);
	world->out_fd = out >= 0 ? 0 : world->out_fd;
	idem_buf_init(&r->err, 1 << 20);
	take(world->err_fd, &r->err);
}

void
command_run(struct result *r, const char *const *words, struct idem_span in,
    const char *const *env)
{
	struct command_world world = command_world_still();

	world.env = env;
	command_run_in(r, &world, words, in);
}

void
result_free(struct result *r)
{
	idem_buf_free(&r->out);
	idem_buf_free(&r->err);
}

void
command_expect(const char *const *words, const char *in, int rc,
    const char *out, const char *err)
{
	struct result r;

	command_run(&r, words, span_of(in), no_env);
	assert_span(idem_buf_span(&r.err), span_of(err));
	assert_span(idem_buf_span(&r.out), span_of(out));
	assert_int_equal(r.rc, rc);
	result_free(&r);
}

void
assert_one_line(const struct idem_buf *b, const char *begin)
{
	struct idem_span got = idem_buf_span(b), want = span_of(begin);

	assert_true(got.n > want.n);
	assert_span(span_first(got, want.n), want);
	assert_int_equal(span_find(got, '\n'), got.n - 1);
}
