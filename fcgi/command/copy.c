/*
 * copy.c - the store copied while it is in use; it does not know how.
 */
#include "base/text.h"
#include "command/command.h"

/* Where a web server serves from, if it is one that runs this. */
static struct idem_span
document_root(const struct command *c)
{
	const struct idem_span name = IDEM_LIT("DOCUMENT_ROOT=");

	for (const char *const *var = c->world->env; *var != NULL; var++)
		if (span_starts(span_of(*var), name))
			return span_from(span_of(*var), name.n);
	return IDEM_ABSENT;
}

static void
report(struct command *c, const struct idem_copied *copied, int64_t ms)
{
	const struct figure figures[] = {
		{ "records", copied->nrecords, false },
		{ "running", copied->nrunning, false },
		{ "damaged", copied->nbad, false },
		{ "file_bytes", copied->file_bytes, false },
		{ "ms", (uint64_t)ms, false },
	};

	if (c->options.value[OPT_QUIET] != NULL && copied->nbad == 0)
		return;
	(c->options.value[OPT_JSON] != NULL ? figures_json : figures_line)(
	    &c->out, figures, sizeof figures / sizeof figures[0]);
}

int
command_copy(struct command *c)
{
	const struct idem_copy copy = {
		.to = span_of(c->options.operand),
		.document_root = document_root(c),
		.compact = c->options.value[OPT_COMPACT] != NULL,
	};
	int64_t began_ms = c->world->steady_ms();
	struct idem_store *store = NULL;
	struct idem_copied copied;
	enum idem_err err;

	if (!command_store_open(c, &store))
		return COMMAND_FAILED;
	err = idem_store_copy(store, &copy, &copied);
	idem_store_close(&store);
	if (err != IDEM_OK) {
		idem_log(c->log, IDEM_ERROR, "no copy was made: %s",
		    idem_strerror(err));
		return COMMAND_FAILED;
	}
	report(c, &copied, c->world->steady_ms() - began_ms);
	if (copied.nbad == 0)
		return COMMAND_FINE;
	idem_log(c->log, IDEM_ERROR, "the copy was made, and records in it are "
	    "damaged, as they are in the store: see idem check");
	return COMMAND_FAILED;
}
