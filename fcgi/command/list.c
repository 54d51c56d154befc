/*
 * list.c - the records, one a line, in the order of their claims.
 */
#include "base/text.h"
#include "command/census.h"
#include "command/command.h"
#include "command/print.h"

#define LINES 100
#define LINES_MAX 1000000
#define DIGITS 16 /* of an id: enough for show and resolve */

struct list {
	struct command *c;
	bool json;
	bool some;               /* of one class only */
	enum census_class class;
	uint64_t max;
	uint64_t n;
	bool more;
};

static void
put_json(struct idem_buf *out, const struct census_row *row, bool first)
{
	idem_buf_puts(out, first ? IDEM_LIT("\n{\"id\":") :
	    IDEM_LIT(",\n{\"id\":"));
	if (row->class == CENSUS_DAMAGED) {
		idem_buf_puts(out, IDEM_LIT("null"));
	} else {
		idem_buf_putc(out, '"');
		print_id(out, row->r.id, 2 * IDEM_ID_BYTES);
		idem_buf_putc(out, '"');
	}
	idem_buf_printf(out, ",\"state\":\"%s\",\"claimed\":",
	    print_class(row->class));
	print_time_json(out, row->r.claimed_ms);
	idem_buf_puts(out, IDEM_LIT(",\"stored\":"));
	print_time_json(out, row->r.stored_ms);
	idem_buf_puts(out, IDEM_LIT(",\"expires\":"));
	print_time_json(out, row->r.expires_ms);
	if (row->status != 0)
		idem_buf_printf(out, ",\"status\":%u}", row->status);
	else
		idem_buf_puts(out, IDEM_LIT(",\"status\":null}"));
}

static void
put_time(struct idem_buf *out, int64_t ms)
{
	if (!print_time(out, ms))
		idem_buf_printf(out, "%-24s", "-");
	idem_buf_putc(out, ' ');
}

static void
put_line(struct idem_buf *out, const struct census_row *row)
{
	if (row->class == CENSUS_DAMAGED)
		idem_buf_printf(out, "%-*s", DIGITS, "-");
	else
		print_id(out, row->r.id, DIGITS);
	idem_buf_printf(out, " %-8s ", print_class(row->class));
	put_time(out, row->r.claimed_ms);
	put_time(out, row->r.stored_ms);
	if (row->status != 0)
		idem_buf_printf(out, "%u\n", row->status);
	else
		idem_buf_puts(out, IDEM_LIT("-\n"));
}

static void
put(struct list *l, const struct census_row *row)
{
	if (l->some && row->class != l->class)
		return;
	if (l->n == l->max) {
		l->more = true;
		return;
	}
	if (l->json)
		put_json(&l->c->out, row, l->n == 0);
	else
		put_line(&l->c->out, row);
	l->n++;
}

static enum idem_err
walk(struct list *l, struct idem_store *store)
{
	struct census census = { .more = true };
	enum idem_err err = IDEM_OK;

	while (err == IDEM_OK && census.more && !l->more) {
		err = census_step(store, l->c->world->wall_ms(), &census);
		for (size_t i = 0; err == IDEM_OK && i < census.n; i++)
			put(l, &census.rows[i]);
	}
	return err;
}

static bool
read_options(struct command *c, struct list *l)
{
	const char *state = c->options.value[OPT_STATE];
	const char *max = c->options.value[OPT_MAX];

	l->json = c->options.value[OPT_JSON] != NULL;
	l->max = LINES;
	l->some = state != NULL;
	if (state != NULL && !print_class_named(state, &l->class))
		idem_log(c->log, IDEM_ERROR, "--state %.200s: wanted is "
		    "running, orphaned, done, unknown, expired or damaged; "
		    "see idem list --help", state);
	else if (max != NULL && (parse_u64(span_of(max), LINES_MAX, &l->max) !=
	    IDEM_OK || l->max == 0))
		idem_log(c->log, IDEM_ERROR, "--max %.200s: a whole number "
		    "from 1 to %d is wanted; see idem list --help", max,
		    LINES_MAX);
	else
		return true;
	return false;
}

static void
put_head(struct list *l)
{
	if (l->json)
		idem_buf_puts(&l->c->out, IDEM_LIT("{\"records\":["));
	else
		idem_buf_printf(&l->c->out, "%-*s %-8s %-24s %-24s %s\n",
		    DIGITS, "id", "state", "claimed", "since", "status");
}

static void
put_tail(struct list *l)
{
	if (l->json)
		idem_buf_printf(&l->c->out, "],\"more\":%s}\n",
		    l->more ? "true" : "false");
	else if (l->more)
		idem_buf_puts(&l->c->out,
		    IDEM_LIT("and more: --max shows them\n"));
}

int
command_list(struct command *c)
{
	struct list l = { .c = c };
	struct idem_store *store = NULL;
	enum idem_err err;

	if (!read_options(c, &l))
		return COMMAND_USAGE;
	if (!command_store_open(c, &store))
		return COMMAND_FAILED;
	put_head(&l);
	err = walk(&l, store);
	put_tail(&l);
	idem_store_close(&store);
	if (err == IDEM_OK)
		return COMMAND_FINE;
	idem_buf_reset(&c->out);
	idem_log(c->log, IDEM_ERROR, "cannot read the store: %s",
	    idem_strerror(err));
	return COMMAND_FAILED;
}
