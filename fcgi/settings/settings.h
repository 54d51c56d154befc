/*
 * settings.h - all settings of all programs: read, checked and typed.
 *
 * A name known to any program is accepted by all.  File < environment <
 * command line < routes file < request parameter; the order of the calls below
 * does not matter, the higher source wins.  What a lower source says is checked
 * all the same.
 */
#ifndef FRONT_SETTINGS_H
#define FRONT_SETTINGS_H

#include "idem/log.h"
#include "idem/policy.h"

enum settings_program { SETTINGS_TASKS, SETTINGS_GUARD, SETTINGS_IDEM };
#define SETTINGS_NPROGRAMS ((size_t)SETTINGS_IDEM + 1)

enum settings_source {
	SETTINGS_DEFAULT,
	SETTINGS_FILE,
	SETTINGS_ENVIRONMENT,
	SETTINGS_OPTION,   /* the command line */
	SETTINGS_ROUTE,    /* a block of the routes file */
	SETTINGS_PARAMETER /* a FastCGI parameter of one request */
};

/* One setting's text and where it came from. */
struct settings_value {
	struct idem_span text; /* absent: not set */
	enum settings_source source;
	unsigned line;         /* in the file */
};

#define SETTINGS_MAX 48 /* rows of the table, at most */

/*
 * Every span is borrowed: from the program text, the file's buffer, the
 * environment, argv or the request's variables.  Plain value; copy it freely.
 */
struct settings {
	enum settings_program program;
	struct idem_policy policy; /* what the engine asks */

	struct idem_span store;    /* IDEM_STORE; absent: not set */
	bool durable;              /* IDEM_DURABILITY=full */
	uint64_t max_store_bytes;  /* IDEM_MAX_STORE */
	int64_t store_wait_ms;     /* IDEM_STORE_WAIT */

	struct idem_span cors_origins; /* IDEM_CORS_ORIGINS: "*", or exact
	                                * origins by commas; absent: not set */
	struct idem_span base;     /* IDEM_BASE: "", or "/api" and the like */
	bool status_for_all;       /* IDEM_STATUS=on */

	int64_t task_delay_ms;         /* IDEM_TASK_DELAY_MS */
	struct idem_span pay_provider; /* IDEM_PAY_PROVIDER; absent: not set */
	int64_t pay_timeout_ms;        /* IDEM_PAY_TIMEOUT */
	int64_t pay_delay_ms;          /* IDEM_PAY_DELAY_MS */
	struct idem_span pay_ledger;   /* IDEM_PAY_LEDGER; absent: not set */

	struct idem_span backend;      /* IDEM_BACKEND; absent: not set */
	int64_t backend_timeout_ms;    /* IDEM_BACKEND_TIMEOUT */
	struct idem_span scripts;      /* IDEM_SCRIPTS: endings by commas */
	struct idem_span routes;       /* IDEM_ROUTES; absent: not set */

	const char *file; /* the file that was read; NULL: none */
	bool one_request; /* plain CGI: the environment held the request's */
	struct settings_value value[SETTINGS_MAX]; /* in the table's order */
};

/* The defaults of one program. */
void settings_init(struct settings *s, enum settings_program program);

/*
 * Each of these says what is wrong in one log line that names the source, the
 * variable, the value and what is allowed, and returns IDEM_ESYNTAX.
 */

/*
 * Take argv[*at] where it is a setting's option: IDEM_MAX_KEYS is
 * "--max-keys=5" or "--max-keys" "5".  *taken says whether it was one; *at is
 * then its last argument.  IDEM_ESYNTAX also where the value is missing.
 */
IDEM_MUST_CHECK enum idem_err
settings_option(struct settings *s, const struct idem_log *log,
    const char *const *argv, size_t *at, bool *taken);

/* Where to look for the file. */
struct settings_places {
	const char *config;   /* --config; NULL: not given */
	const char *exe;      /* path of the running program; NULL: unknown */
	const char *argv0;    /* its folder counts where it has a slash */
	const char *fallback; /* SETTINGS_FALLBACK */
};
#define SETTINGS_FALLBACK "/etc/idem/idem.conf"

/*
 * Read the first file there is of: places->config, $IDEM_CONFIG, .htidem.conf
 * beside exe, argv0 or (cgi) SCRIPT_FILENAME, the fallback; then the
 * environment.  A file named outright must exist.  cgi: env carries a request
 * too, and REDIRECT_IDEM_* counts as IDEM_*.
 * *file is initialised here and holds the file's bytes, from which the settings
 * borrow.  IDEM_ESYNTAX; IDEM_EIO, IDEM_ETOOBIG, IDEM_ENOMEM (unreadable): all
 * with a log line.
 */
IDEM_MUST_CHECK enum idem_err
settings_load(struct settings *s, const struct idem_log *log,
    const struct settings_places *places, const char *const *env, bool cgi,
    struct idem_buf *file);

/*
 * One file: NAME=value lines as in systemd's EnvironmentFile.  *file (reset
 * first) holds its name and its bytes.  As above.
 */
IDEM_MUST_CHECK enum idem_err
settings_file(struct settings *s, const struct idem_log *log,
    const char *path, struct idem_buf *file);

IDEM_MUST_CHECK enum idem_err
settings_environment(struct settings *s, const struct idem_log *log,
    const char *const *env, bool cgi);

/*
 * What needs more than one setting to judge: IDEM_STORE must be set, "memory:"
 * serves one worker only; and what guard.fcgi does not start without.
 */
IDEM_MUST_CHECK enum idem_err
settings_check(const struct settings *s, const struct idem_log *log,
    size_t nworkers);

/*
 * The settings of one request: base, and over it what the variables IDEM_* and
 * REDIRECT_IDEM_* say about this route.  Call it where req->overrides is true.
 * A wrong value, an unknown name or a setting of the process is IDEM_ESYNTAX
 * with its log line: answer 500, run nothing.  *out borrows from base and vars.
 * In plain CGI the environment was the request's already: *out is base.
 */
IDEM_MUST_CHECK enum idem_err
settings_request(const struct settings *base, const struct idem_log *log,
    const char *const *vars, struct settings *out);

/*
 * --check-config: a line for every setting, "NAME=value", where it came from,
 * "process" or "route", and whether this program uses it, by tabs.
 */
void settings_print(const struct settings *s, struct idem_buf *out);

/* --help: a line for every setting that the program uses. */
void settings_help(enum settings_program program, struct idem_buf *out);

#endif
