/*
 * command.c - one run of the command: words, settings, the command's function,
 * output; it knows no single command.
 */
#include <errno.h>
#include <string.h>

#include "base/io.h"
#include "base/text.h"
#include "command/command.h"
#include "process/version.h"

#define FILE_MAX_BYTES ((size_t)1 << 20)
#define OUT_MAX_BYTES ((size_t)2 << 30) /* of canonical: numbers grow */

/* The log's sink: a line of standard error, by one write. */
static void
line(void *arg, enum idem_level level, const char *text)
{
	const int *fd = arg;
	char memory[IDEM_LOG_MAX + 16]; /* a line may say that there is none */
	struct idem_buf b;
	enum idem_err err;

	(void)level; /* whoever runs a command wants to read all of it */
	idem_buf_over(&b, memory, sizeof memory);
	idem_buf_puts(&b, IDEM_LIT("idem: "));
	idem_buf_puts(&b, span_of(text));
	idem_buf_putc(&b, '\n');
	err = idem_buf_err(&b);
	if (err == IDEM_OK)
		err = io_write(*fd, b.p, b.n);
	(void)err; /* there is nowhere else to say it */
}

static const struct command_row *
find(const char *name)
{
	const struct command_row *row = NULL;

	for (size_t i = 0; (row = command_row(i)) != NULL; i++)
		if (span_eq(span_of(name), span_of(row->name)))
			break;
	return row;
}

/* The help that is pointed to is the command's own, once its name is known. */
static int
usage(struct command *c, const char *what)
{
	const char *name = c->options.command;

	if (name == NULL || find(name) == NULL)
		idem_log(c->log, IDEM_ERROR, "%s; see idem --help", what);
	else
		idem_log(c->log, IDEM_ERROR, "%s; see idem %s --help", what,
		    name);
	return COMMAND_USAGE;
}

/* The first option of the set, by name; NULL: the set is empty. */
static const char *
first_of(unsigned options)
{
	for (size_t i = 0; i < NOPTIONS; i++)
		if ((options & OPT_BIT(i)) != 0)
			return option_row((enum option)i)->name;
	return NULL;
}

/* Does the command take what was given, and is all there that it needs? */
static bool
fits(struct command *c, const struct command_row *row)
{
	const char *spare = first_of(c->options.given & ~row->options);
	const char *missing = first_of(row->required & ~c->options.given);

	if (row->operand == NULL && c->options.operand != NULL) {
		idem_log(c->log, IDEM_ERROR, "%.200s: one word too many; see "
		    "idem %s --help", c->options.operand, row->name);
		return false;
	}
	if (c->options.operand == NULL && missing == NULL)
		missing = row->operand;
	if (spare == NULL && c->options.nsettings > 0 &&
	    (row->options & OPT_BIT(OPT_CONFIG)) == 0)
		spare = "setting";
	if (spare != NULL)
		idem_log(c->log, IDEM_ERROR, "%s takes no %s; see idem %s "
		    "--help", row->name, spare, row->name);
	else if (missing != NULL)
		idem_log(c->log, IDEM_ERROR, "%s: %s is missing; see idem %s "
		    "--help", row->name, missing, row->name);
	return spare == NULL && missing == NULL;
}

/* All settings, from all sources.  --store stands in our own table, so that
 * its help is ours, and is handed on. */
static bool
load(struct command *c, const char *argv0)
{
	const struct settings_places places = {
		.config = c->options.value[OPT_CONFIG],
		.exe = c->world->exe[0] != '\0' ? c->world->exe : NULL,
		.argv0 = argv0,
		.fallback = c->world->fallback,
	};
	const char *store[] = { "--store", c->options.value[OPT_STORE], NULL };
	size_t at = 0;
	bool taken;

	if (store[1] != NULL && settings_option(&c->settings, c->log, store,
	    &at, &taken) != IDEM_OK)
		return false;
	return settings_load(&c->settings, c->log, &places, c->world->env,
	    false, &c->file) == IDEM_OK;
}

static int
check_config(struct command *c, const char *argv0)
{
	const unsigned allowed = OPT_BIT(OPT_STORE) | OPT_BIT(OPT_CONFIG) |
	    OPT_BIT(OPT_CHECK_CONFIG);

	if ((c->options.given & ~allowed) != 0)
		return usage(c, "--check-config goes with --config, --store "
		    "and settings only");
	if (!load(c, argv0))
		return COMMAND_SETTING;
	settings_print(&c->settings, &c->out);
	return settings_check(&c->settings, c->log, 1) == IDEM_OK ?
	    COMMAND_FINE : COMMAND_SETTING;
}

static int
run_command(struct command *c, const char *argv0)
{
	const struct command_row *row = find(c->options.command);

	if (row == NULL) {
		idem_log(c->log, IDEM_ERROR, "%.200s: no such command; see "
		    "idem --help", c->options.command);
		return COMMAND_USAGE;
	}
	if (c->options.value[OPT_HELP] != NULL) {
		command_help(row, &c->out);
		return COMMAND_FINE;
	}
	if (!fits(c, row))
		return COMMAND_USAGE;
	if ((row->options & OPT_BIT(OPT_CONFIG)) != 0 &&
	    (!load(c, argv0) ||
	    settings_check(&c->settings, c->log, 1) != IDEM_OK))
		return COMMAND_SETTING;
	return row->run(c);
}

static int
run_bare(struct command *c, const char *argv0)
{
	const struct options *o = &c->options;

	if (o->value[OPT_HELP] != NULL)
		command_help(NULL, &c->out);
	else if (o->value[OPT_VERSION] != NULL)
		version_put(&c->out, "idem");
	else if (o->value[OPT_CHECK_CONFIG] != NULL)
		return check_config(c, argv0);
	else
		return usage(c, "the name of a command is missing");
	return COMMAND_FINE;
}

static int
run(struct command *c, int argc, char *const argv[])
{
	char memory[IDEM_BUF_PRINTF_MAX + 1];
	struct idem_buf wrong;
	enum idem_err err;

	idem_buf_over(&wrong, memory, sizeof memory);
	err = options_parse(argc, argv, &c->settings, c->log, &c->options,
	    &wrong);
	idem_buf_putc(&wrong, '\0');
	if (err == IDEM_EREFUSED)
		return COMMAND_SETTING;
	if (err != IDEM_OK)
		return usage(c, idem_buf_err(&wrong) != IDEM_OK ?
		    "wrong usage" : wrong.p);
	return c->options.command != NULL ? run_command(c, argv[0]) :
	    run_bare(c, argv[0]);
}

/* Output that did not arrive is a failure: `idem stats > /full/disk`. */
static int
flush(struct command *c, int rc)
{
	enum idem_err err = idem_buf_err(&c->out);
	const char *why = idem_strerror(err);

	if (err == IDEM_OK) {
		err = io_write(c->world->out_fd, c->out.p, c->out.n);
		why = err == IDEM_OK ? NULL : strerror(errno);
	}
	if (err == IDEM_OK)
		return rc;
	idem_log(c->log, IDEM_ERROR, "cannot write the output: %s", why);
	return rc == COMMAND_FINE ? COMMAND_FAILED : rc;
}

int
command_main(const struct command_world *world, int argc, char *const argv[])
{
	int err_fd = world->err_fd;
	const struct idem_log log = { .line = line, .arg = &err_fd };
	struct command c = { .world = world, .log = &log };
	int rc;

	settings_init(&c.settings, SETTINGS_IDEM);
	idem_buf_init(&c.file, FILE_MAX_BYTES);
	idem_buf_init(&c.out, OUT_MAX_BYTES);
	rc = flush(&c, run(&c, argc, argv));
	idem_buf_free(&c.out);
	idem_buf_free(&c.file);
	return rc;
}
