/*
 * options.h - the words of a command line: which there are, and what was said.
 */
#ifndef COMMAND_OPTIONS_H
#define COMMAND_OPTIONS_H

#include "settings.h"

#include "idem/buf.h"
#include "idem/log.h"

enum option {
	OPT_STORE,
	OPT_CONFIG,
	OPT_JSON,
	OPT_QUIET,
	OPT_MAX_SECONDS,
	OPT_METHOD,
	OPT_TARGET,
	OPT_TYPE,
	OPT_CHECK_CONFIG,
	OPT_VERSION,
	OPT_HELP
};
#define NOPTIONS ((size_t)OPT_HELP + 1)
#define OPT_BIT(o) (1U << (o))

struct option_row {
	const char *name;  /* "--max-seconds" */
	const char *value; /* what stands behind it, "N"; NULL: nothing */
	const char *help;
};
const struct option_row *option_row(enum option o);

struct options {
	const char *command;         /* the first other word; NULL: none */
	const char *value[NOPTIONS]; /* NULL: not given; "" for a flag */
	unsigned given;              /* bits */
	unsigned nsettings;          /* other words that were settings */
};

/*
 * Read the words behind the program's name; "--name value" and "--name=value"
 * are the same, the last of two counts.  Other options are settings, which *s
 * takes.  Which command takes which option is not judged here.
 * IDEM_ESYNTAX: *wrong says what is wrong with which word.  IDEM_EREFUSED: a
 * setting has a wrong value, and the log says which.
 */
IDEM_MUST_CHECK enum idem_err
options_parse(int argc, char *const argv[], struct settings *s,
    const struct idem_log *log, struct options *out, struct idem_buf *wrong);

#endif
