/*
 * commandkit.h - the operator's command run inside a test: words, standard
 * input and environment go in; status and output come out.
 */
#ifndef COMMANDKIT_H
#define COMMANDKIT_H

#include "tests.h"

#include "command/command.h"

/* What time it is for the command. */
#define COMMAND_NOW_MS 1000000
#define COMMAND_WORDS 16

struct result {
	int rc;
	struct idem_buf out;
	struct idem_buf err;
};

/* Run the command; both clocks stand still.  result_free() afterwards. */
void command_run(struct result *r, const char *const *words,
    struct idem_span in, const char *const *env);
/* The same in a world of the test's own.  Descriptors are set here, but for an
 * out_fd that is not 0: r->out is then empty. */
void command_run_in(struct result *r, struct command_world *world,
    const char *const *words, struct idem_span in);
void result_free(struct result *r);

/* A world without files, whose clocks stand still. */
struct command_world command_world_still(void);

/* Run and compare everything. */
void command_expect(const char *const *words, const char *in, int rc,
    const char *out, const char *err);

/* Is there one line, and does it begin so? */
void assert_one_line(const struct idem_buf *b, const char *begin);

#define WORDS(...) (const char *const[]){ __VA_ARGS__, NULL }
extern const char *const no_env[];

#endif
