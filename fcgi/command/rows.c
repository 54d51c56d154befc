/*
 * rows.c - the commands there are, as one table, and the help that is printed
 * from it.
 */
#include "base/text.h"
#include "command/command.h"
#include "command/target.h"

#define OF_STORE (OPT_BIT(OPT_STORE) | OPT_BIT(OPT_CONFIG) | OPT_BIT(OPT_JSON))

#define RECORD_TEXT \
	"\nS is what IDEM_SCOPE makes of a request: REMOTE_USER=value, or\n" \
	"cookie:NAME=value, header:NAME=value, param:NAME=value, or\n" \
	"'Authorization=Bearer value'.  Keys that stand elsewhere than in a\n" \
	"header are found by --id only.\n"

static const struct command_row rows[] = {
	{ "sweep", "[OPTION ...]",
	    "delete what has expired: the command for cron",
	    "Delete expired records, and mark the records of workers that\n"
	    "died in their work as unknown.  It goes in small steps, pausing\n"
	    "between them, so that requests are served meanwhile.  One sweep\n"
	    "works at a time: a second one says so, does nothing, exits 0.\n",
	    OF_STORE | OPT_BIT(OPT_QUIET) | OPT_BIT(OPT_MAX_SECONDS), 0,
	    NULL, command_sweep },
	{ "stats", "[OPTION ...]",
	    "count the records by state, and the room",
	    "Count the records by state, and say how much room there is.\n",
	    OF_STORE, 0, NULL, command_stats },
	{ "check", "[OPTION ...]",
	    "read every record; exit 1 where one is damaged",
	    "Read every record, and compare index and records both ways.\n"
	    "Each damaged one is a line on standard error; exit 1 then.\n",
	    OF_STORE | OPT_BIT(OPT_QUIET), 0, NULL, command_check },
	{ "copy", "DIR [OPTION ...]",
	    "copy the store while it is in use",
	    "Copy the store to DIR, a new directory on a local disk, while\n"
	    "the web programs go on.  Every answer given before is in the\n"
	    "copy.  It is read back and flushed before it gets its name.\n"
	    "Exit 1 where there is none, or where a record in it is damaged.\n",
	    OF_STORE | OPT_BIT(OPT_QUIET) | OPT_BIT(OPT_COMPACT), 0, "DIR",
	    command_copy },
	{ "list", "[--state S] [--max N] [OPTION ...]",
	    "list the records, the oldest first",
	    "List the records in the order of their claims: the first digits\n"
	    "of the id, the state, when it was claimed, since when it is done\n"
	    "or unknown, and the status of the stored answer.\n",
	    OF_STORE | OPT_BIT(OPT_STATE) | OPT_BIT(OPT_MAX), 0,
	    NULL, command_list },
	{ "show", "--key K [--scope S] | --id HEX [OPTION ...]",
	    "show one record and its stored answer",
	    "Show one record: its state, times, fingerprint, and the answer\n"
	    "that retries get.\n" RECORD_TEXT,
	    OF_STORE | TARGET_OPTIONS | OPT_BIT(OPT_BODY_TOO), 0,
	    NULL, command_show },
	{ "resolve", "--key K [--scope S] | --id HEX  --release | --complete N",
	    "say how work ended that nobody knows the end of",
	    "End a record whose outcome is unknown, or whose worker died.\n"
	    "Look first at what really happened: --release lets the work be\n"
	    "done again, --complete stores what every retry gets from now on.\n"
	    "A record whose worker lives is left alone; so is one that is\n"
	    "done.\n" RECORD_TEXT,
	    OF_STORE | TARGET_OPTIONS | OPT_BIT(OPT_RELEASE) |
	    OPT_BIT(OPT_COMPLETE) | OPT_BIT(OPT_HEADER) | OPT_BIT(OPT_BODY),
	    0, NULL, command_resolve },
	{ "fingerprint", "--method M --target T [--type C] < BODY",
	    "print the fingerprint of a request, its body on standard input",
	    "Print the 43 characters that a request is compared by.  A retry\n"
	    "under the same key that has others is answered 422.\n",
	    OPT_BIT(OPT_METHOD) | OPT_BIT(OPT_TARGET) | OPT_BIT(OPT_TYPE),
	    OPT_BIT(OPT_METHOD) | OPT_BIT(OPT_TARGET), NULL,
	    command_fingerprint },
	{ "canonical", "< JSON",
	    "print the canonical form of a JSON text on standard input",
	    "Print the canonical form of a JSON text and a line end.  Exit 1\n"
	    "where there is none, with the offset of the byte that is the\n"
	    "reason; the first byte is 0.\n",
	    0, 0, NULL, command_canonical },
};

const struct command_row *
command_row(size_t i)
{
	return i < sizeof rows / sizeof rows[0] ? &rows[i] : NULL;
}

static void
put_options(struct idem_buf *out, unsigned options)
{
	for (size_t i = 0; i < NOPTIONS; i++) {
		const struct option_row *o = option_row((enum option)i);
		const char *value = o->value == NULL ? "" : o->value;

		if ((options & OPT_BIT(i)) != 0)
			idem_buf_printf(out, "  %s %-*s  %s\n", o->name,
			    (int)(16 - span_of(o->name).n), value, o->help);
	}
}

static void
put_end(struct idem_buf *out, unsigned options)
{
	if ((options & OPT_BIT(OPT_CONFIG)) != 0)
		idem_buf_puts(out, IDEM_LIT("\nEvery setting of idem.conf(5) "
		    "is an option: --max-store 2G is IDEM_MAX_STORE=2G.\n"));
	idem_buf_puts(out, IDEM_LIT("\nExit status: 0 fine; 1 it failed, or "
	    "what was asked is not so; 2 wrong usage;\n78 a wrong setting.\n"));
}

void
command_help(const struct command_row *row, struct idem_buf *out)
{
	unsigned options = OPT_BIT(OPT_STORE) | OPT_BIT(OPT_CONFIG) |
	    OPT_BIT(OPT_CHECK_CONFIG) | OPT_BIT(OPT_VERSION);

	if (row != NULL) {
		options = row->options;
		idem_buf_printf(out, "usage: idem %s %s\n\n", row->name,
		    row->usage);
		idem_buf_puts(out, span_of(row->text));
	} else {
		idem_buf_puts(out,
		    IDEM_LIT("usage: idem COMMAND [OPTION ...]\n\n"));
		for (size_t i = 0; (row = command_row(i)) != NULL; i++)
			idem_buf_printf(out, "  %-11s  %s\n", row->name,
			    row->summary);
	}
	idem_buf_putc(out, '\n');
	put_options(out, options | OPT_BIT(OPT_HELP));
	put_end(out, options);
}
