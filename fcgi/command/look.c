/*
 * look.c - stats and check: what a store holds, and whether it is sound.
 */
#include "command/census.h"
#include "command/command.h"

static int
failed(struct command *c, enum idem_err err)
{
	idem_log(c->log, IDEM_ERROR, "cannot read the store: %s",
	    idem_strerror(err));
	return COMMAND_FAILED;
}

static void
print_stats(struct command *c, const uint64_t count[CENSUS_NCLASSES],
    const struct idem_room *room)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < CENSUS_NCLASSES; i++)
		sum += count[i];
	const struct figure figures[] = {
		{ "running", count[CENSUS_RUNNING], false },
		{ "orphaned", count[CENSUS_ORPHANED], false },
		{ "done", count[CENSUS_DONE], false },
		{ "unknown", count[CENSUS_UNKNOWN], false },
		{ "expired", count[CENSUS_EXPIRED], false },
		{ "damaged", count[CENSUS_DAMAGED], false },
		{ "records", sum, false },
		{ "max_records", c->settings.policy.max_keys, false },
		{ "used_bytes", room->used_bytes, false },
		{ "file_bytes", room->file_bytes, false },
		{ "max_bytes", room->max_bytes, false },
	};

	(c->options.value[OPT_JSON] != NULL ? figures_json : figures_list)(
	    &c->out, figures, sizeof figures / sizeof figures[0]);
}

int
command_stats(struct command *c)
{
	struct idem_store *store = NULL;
	uint64_t count[CENSUS_NCLASSES];
	struct idem_room room;
	enum idem_err err;

	if (!command_store_open(c, &store))
		return COMMAND_FAILED;
	err = census_take(store, c->world->wall_ms(), count);
	if (err == IDEM_OK)
		err = idem_store_room(store, &room);
	idem_store_close(&store);
	if (err != IDEM_OK)
		return failed(c, err);
	idem_room_warn(c->log, room.reader_pid, room.reader_behind);
	print_stats(c, count, &room);
	return COMMAND_FINE;
}

static void
print_check(struct command *c, uint64_t nrecords, uint64_t nbad)
{
	const struct figure figures[] = {
		{ "records", nrecords, false },
		{ "damaged", nbad, false },
	};

	if (c->options.value[OPT_QUIET] != NULL && nbad == 0)
		return;
	(c->options.value[OPT_JSON] != NULL ? figures_json : figures_line)(
	    &c->out, figures, sizeof figures / sizeof figures[0]);
}

int
command_check(struct command *c)
{
	struct idem_store *store = NULL;
	struct idem_room room;
	uint64_t nbad = 0;
	enum idem_err err;

	if (!command_store_open(c, &store))
		return COMMAND_FAILED;
	err = idem_store_check(store, &nbad);
	if (err == IDEM_OK)
		err = idem_store_room(store, &room);
	idem_store_close(&store);
	if (err != IDEM_OK)
		return failed(c, err);
	idem_room_warn(c->log, room.reader_pid, room.reader_behind);
	print_check(c, room.nrecords, nbad);
	return nbad == 0 ? COMMAND_FINE : COMMAND_FAILED;
}
