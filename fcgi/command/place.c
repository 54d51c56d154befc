/*
 * place.c - the store that the settings name, opened by its owner; it does not
 * know what a store holds.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "command/command.h"
#include "process/last_words.h"

bool
command_store_path(struct command *c, char path[COMMAND_PATH_BYTES])
{
	struct idem_span place = c->settings.store;

	if (text_format(path, COMMAND_PATH_BYTES, "%.*s", IDEM_FMT(place)) ==
	    IDEM_OK)
		return true;
	idem_log(c->log, IDEM_ERROR, "IDEM_STORE is longer than %d bytes",
	    COMMAND_PATH_BYTES - 1);
	return false;
}

bool
command_store_open(struct command *c, struct idem_store **out)
{
	const struct settings *s = &c->settings;
	const struct idem_store_config config = {
		.place = s->store,
		.create = false,
		.durable = s->durable,
		.max_bytes = s->max_store_bytes,
		.wait_ms = s->store_wait_ms,
		.log = c->log,
	};
	char path[COMMAND_PATH_BYTES];

	if (span_eq(s->store, IDEM_LIT("memory:"))) {
		idem_log(c->log, IDEM_ERROR, "IDEM_STORE=memory: lives inside "
		    "one web program and ends with it: nothing to open");
		return false;
	}
	last_words(c->world->err_fd, "idem: ", s->store);
	(void)umask(077); /* LMDB may have to make its lock file anew */
	return command_store_path(c, path) && command_become_owner(c, path) &&
	    idem_store_open(&config, out) == IDEM_OK;
}
