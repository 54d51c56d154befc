/*
 * arguments.c - the command line of a web program.
 */
#include "process/arguments.h"
#include "base/text.h"
#include "process/listen.h"
#include "process/supervisor.h"

struct parsing {
	const struct idem_log *log;
	struct arguments *out;
};

static enum idem_err
refuse(const struct parsing *p, const char *option, const char *why)
{
	idem_log(p->log, IDEM_ERROR, "command line: %s %s (see --help)",
	    option, why);
	return IDEM_EREFUSED;
}

static enum idem_err
take_config(struct parsing *p, const char *value)
{
	p->out->config = value;
	return IDEM_OK;
}

static enum idem_err
take_listen(struct parsing *p, const char *value)
{
	p->out->listen = value;
	return listen_check(value, p->log) == IDEM_OK ? IDEM_OK :
	    IDEM_EREFUSED;
}

static enum idem_err
take_workers(struct parsing *p, const char *value)
{
	uint64_t n = 0;

	if (parse_u64(span_of(value), SUPERVISOR_WORKERS_MAX,
	    &n) != IDEM_OK || n == 0)
		return refuse(p, "--workers", "takes a number from 1 to 256");
	p->out->nworkers = (size_t)n;
	return IDEM_OK;
}
_Static_assert(SUPERVISOR_WORKERS_MAX == 256, "as the message says");

static const struct {
	const char *name;
	enum idem_err (*take)(struct parsing *p, const char *value);
	enum arguments_action action; /* of options without a value */
} options[] = {
	{ "--config", take_config, ARGUMENTS_SERVE },
	{ "--listen", take_listen, ARGUMENTS_SERVE },
	{ "--workers", take_workers, ARGUMENTS_SERVE },
	{ "--help", NULL, ARGUMENTS_HELP },
	{ "--version", NULL, ARGUMENTS_VERSION },
	{ "--check-config", NULL, ARGUMENTS_CHECK },
};
#define NOPTIONS (sizeof options / sizeof options[0])

/* "--name=value" or "--name" "value"; *at is the last argument taken. */
static enum idem_err
take_own(struct parsing *p, const char *const *argv, size_t *at)
{
	struct idem_span arg = span_of(argv[*at]);
	size_t equals = span_find(arg, '='), i = 0;
	const char *value;

	while (i < NOPTIONS && !span_eq(span_of(options[i].name),
	    span_first(arg, equals)))
		i++;
	if (i == NOPTIONS)
		return refuse(p, argv[*at], "is no option of this program");
	if (options[i].take == NULL) {
		if (equals < arg.n)
			return refuse(p, options[i].name, "takes no value");
		p->out->action = options[i].action;
		return IDEM_OK;
	}
	value = equals < arg.n ? arg.p + equals + 1 : argv[*at + 1];
	if (value == NULL)
		return refuse(p, options[i].name, "needs a value");
	if (equals == arg.n)
		(*at)++;
	return options[i].take(p, value);
}

enum idem_err
arguments_parse(const char *const *argv, const struct idem_log *log,
    struct arguments *out, struct settings *s)
{
	struct parsing p = { log, out };
	enum idem_err err = IDEM_OK;

	*out = (struct arguments){ .action = ARGUMENTS_SERVE };
	for (size_t i = 1; argv[i] != NULL && err == IDEM_OK; i++) {
		bool taken;

		err = settings_option(s, log, argv, &i, &taken);
		if (err == IDEM_OK && !taken)
			err = take_own(&p, argv, &i);
	}
	return err;
}

#define HELP_HOW \
	"Started by a web server (a listening socket on descriptor 0, " \
	"LISTEN_FDS, or the\n" \
	"variables of one CGI request) it needs no option; for a CGI " \
	"request none counts.\n\n"
#define HELP_OPTIONS \
	"  --listen WHERE        unix:PATH[:MODE] or HOST:PORT\n" \
	"  --workers N           so many processes, and one that watches\n" \
	"                        them; without it one\n" \
	"  --config FILE         settings as NAME=value lines; else " \
	"$IDEM_CONFIG,\n" \
	"                        .htidem.conf beside the program, " \
	SETTINGS_FALLBACK "\n" \
	"  --check-config        print all settings and where they come from\n"\
	"  --help, --version     print this, or the version\n\n" \
	"Settings: --max-keys 5 is IDEM_MAX_KEYS=5 in the environment or " \
	"the file.\n\n"

void
arguments_help(const char *name, const char *summary,
    enum settings_program program, struct idem_buf *out)
{
	idem_buf_printf(out, "%s - %s\n\n"
	    "usage: %s [--listen WHERE [--workers N]] [option ...]\n\n",
	    name, summary, name);
	idem_buf_puts(out, IDEM_LIT(HELP_HOW));
	idem_buf_puts(out, IDEM_LIT(HELP_OPTIONS));
	settings_help(program, out);
}
