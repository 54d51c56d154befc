/*
 * command.h - the operator's command as a function of its words: descriptors,
 * environment and clocks come in, the exit status goes out.
 */
#ifndef COMMAND_COMMAND_H
#define COMMAND_COMMAND_H

#include "command/options.h"
#include "settings/settings.h"

#include "idem/log.h"
#include "idem/store.h"

/* Exit statuses. */
#define COMMAND_FINE 0
#define COMMAND_FAILED 1   /* it failed, or what was asked is not so */
#define COMMAND_USAGE 2
#define COMMAND_SETTING 78 /* EX_CONFIG, as the web programs */

/* Everything outside the program. */
struct command_world {
	int in_fd;
	int out_fd;
	int err_fd;
	const char *const *env; /* ended by NULL */
	const char *exe;        /* path of the program; "": unknown */
	const char *fallback;   /* the settings' file where no other is */
	int64_t (*wall_ms)(void);
	int64_t (*steady_ms)(void);
};

/*
 * Run the command that argv names and return the exit status.  Run by root, the
 * process is the owner of the store's directory afterwards.
 */
int command_main(const struct command_world *world, int argc,
    char *const argv[]);

/* What a command works with; made anew for each run. */
struct command {
	const struct command_world *world;
	const struct idem_log *log; /* standard error, "idem: " in front */
	struct options options;
	struct settings settings;
	struct idem_buf file;  /* the settings' file; they borrow from it */
	struct idem_buf out;   /* written to standard output at the end */
};

/*
 * The commands.  Each returns the exit status, appends to c->out what it has to
 * print, and complains to c->log.
 */
int command_sweep(struct command *c);
int command_stats(struct command *c);
int command_check(struct command *c);
int command_copy(struct command *c);
int command_list(struct command *c);
int command_show(struct command *c);
int command_resolve(struct command *c);
int command_fingerprint(struct command *c);
int command_canonical(struct command *c);

/* One row a command. */
struct command_row {
	const char *name;
	const char *usage;   /* what stands behind the name */
	const char *summary; /* one line */
	const char *text;    /* what --help says; lines of at most 80 columns */
	unsigned options;    /* bits: what it takes beside --help */
	unsigned required;   /* bits */
	const char *operand; /* the word that must stand behind the name; NULL:
	                      * none may */
	int (*run)(struct command *c);
};
/* The row number i, or NULL behind the last. */
const struct command_row *command_row(size_t i);

/* What --help prints; row NULL: without a command. */
void command_help(const struct command_row *row, struct idem_buf *out);

/*
 * Become who may open the store of the settings, and open it.
 * false: why not went to c->log.
 */
bool command_store_open(struct command *c, struct idem_store **out);

/* The store's directory as a string, in path; false: too long, logged. */
#define COMMAND_PATH_BYTES 4096
bool command_store_path(struct command *c, char path[COMMAND_PATH_BYTES]);

/*
 * Make the process the owner of the directory: root becomes it, the owner is it
 * already, anybody else is refused.  false: why not went to c->log.
 */
bool command_become_owner(struct command *c, const char *dir);

/* A number, or a yes or no, with its name. */
struct figure {
	const char *name;
	uint64_t value;
	bool truth; /* value is 0 or 1 and means no or yes */
};
/* {"seen":12,"more":false} and a line end */
void figures_json(struct idem_buf *out, const struct figure *f, size_t n);
/* seen=12 more=no and a line end */
void figures_line(struct idem_buf *out, const struct figure *f, size_t n);
/* One line each, the values below one another. */
void figures_list(struct idem_buf *out, const struct figure *f, size_t n);

#endif
