/*
 * options.h - the words of a command line: which there are, and what was said.
 */
#ifndef COMMAND_OPTIONS_H
#define COMMAND_OPTIONS_H

#include "settings/settings.h"

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
	OPT_KEY,
	OPT_SCOPE,
	OPT_ID,
	OPT_STATE,
	OPT_MAX,
	OPT_BODY_TOO,
	OPT_RELEASE,
	OPT_COMPLETE,
	OPT_HEADER,
	OPT_BODY,
	OPT_COMPACT,
	OPT_CHECK_CONFIG,
	OPT_VERSION,
	OPT_HELP
};
#define NOPTIONS ((size_t)OPT_HELP + 1)
#define OPT_BIT(o) (1U << (o))

struct option_row {
	const char *of;    /* the commands, between spaces, that the row is for;
	                    * NULL: all.  "--scope" is a setting elsewhere. */
	const char *name;  /* "--max-seconds" */
	const char *value; /* what stands behind it, "N"; NULL: nothing */
	const char *help;
};
const struct option_row *option_row(enum option o);

#define OPTIONS_HEADERS_MAX 32
struct options {
	const char *command;         /* the first other word; NULL: none */
	const char *operand;         /* the second one; NULL: none */
	const char *value[NOPTIONS]; /* NULL: not given; "" for a flag */
	unsigned given;              /* bits */
	unsigned nsettings;          /* other words that were settings */
	size_t nheaders;
	const char *headers[OPTIONS_HEADERS_MAX]; /* each --header */
};

/*
 * Read the words behind the program's name; "--name value" and "--name=value"
 * are the same, the last of two counts, but for --header.  Other options are
 * settings, which *s takes.  Which command takes which option, and which one an
 * operand, is not judged here, but for rows that are for some commands only.
 * IDEM_ESYNTAX: *wrong says what is wrong with which word.  IDEM_EREFUSED: a
 * setting has a wrong value, and the log says which.
 */
IDEM_MUST_CHECK enum idem_err
options_parse(int argc, char *const argv[], struct settings *s,
    const struct idem_log *log, struct options *out, struct idem_buf *wrong);

#endif
