/*
 * target.h - the record that a command line names: by key and scope, or by the
 * first digits of its id.
 */
#ifndef COMMAND_TARGET_H
#define COMMAND_TARGET_H

#include "command/census.h"
#include "command/command.h"

#define TARGET_DIGITS_MIN 8
#define TARGET_DIGITS (2 * IDEM_ID_BYTES)

struct target {
	char digits[TARGET_DIGITS + 1]; /* lower case hex, of the id's front */
	size_t n;
};

/*
 * What --key and --scope, or --id, say.  COMMAND_FINE, COMMAND_USAGE or
 * COMMAND_FAILED: why went to c->log, without the key.
 */
IDEM_MUST_CHECK int target_read(struct command *c, struct target *out);

/* The options that say it. */
#define TARGET_OPTIONS \
	(OPT_BIT(OPT_KEY) | OPT_BIT(OPT_SCOPE) | OPT_BIT(OPT_ID))

/*
 * Find the one record.  false: none, several or an error; which went to
 * c->log.
 */
IDEM_MUST_CHECK bool
target_find(struct command *c, struct idem_store *s, const struct target *t,
    struct census_row *out);

#endif
