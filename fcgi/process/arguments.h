/*
 * arguments.h - the command line of a web program.
 */
#ifndef FRONT_ARGUMENTS_H
#define FRONT_ARGUMENTS_H

#include "settings/settings.h"

enum arguments_action {
	ARGUMENTS_SERVE,
	ARGUMENTS_HELP,
	ARGUMENTS_VERSION,
	ARGUMENTS_CHECK /* --check-config */
};

struct arguments {
	enum arguments_action action;
	const char *config; /* NULL: not given */
	const char *listen; /* NULL: not given */
	size_t nworkers;    /* 0: not given */
};

/*
 * Read argv: the front's own options here, settings into *s.
 * IDEM_EREFUSED: a usage error; IDEM_ESYNTAX: a setting's wrong value.  Both
 * with a log line.
 */
IDEM_MUST_CHECK enum idem_err
arguments_parse(const char *const *argv, const struct idem_log *log,
    struct arguments *out, struct settings *s);

/* --help. */
void arguments_help(const char *name, const char *summary,
    enum settings_program program, struct idem_buf *out);

#endif
