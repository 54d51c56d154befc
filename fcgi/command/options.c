/*
 * options.c - the words of a command line, read by one table; it does not know
 * what they do.
 */
#include <string.h>

#include "base/text.h"
#include "command/options.h"

#define OF_RECORD " show resolve "

static const struct option_row rows[] = {
	[OPT_STORE] = { NULL, "--store", "DIR",
	    "the store's directory, as IDEM_STORE" },
	[OPT_CONFIG] = { NULL, "--config", "FILE",
	    "read the settings from this file" },
	[OPT_JSON] = { NULL, "--json", NULL,
	    "print one JSON object" },
	[OPT_QUIET] = { NULL, "--quiet", NULL,
	    "print nothing as long as all is well" },
	[OPT_MAX_SECONDS] = { NULL, "--max-seconds", "N",
	    "stop after N seconds, 1 to 86400; the next sweep goes on" },
	[OPT_METHOD] = { NULL, "--method", "M",
	    "the request's method: POST" },
	[OPT_TARGET] = { NULL, "--target", "T",
	    "its path and query as the server got them: /vazifalar?x=1" },
	[OPT_TYPE] = { NULL, "--type", "C",
	    "its Content-Type: application/json" },
	[OPT_KEY] = { OF_RECORD, "--key", "K",
	    "the record of this Idempotency-Key" },
	[OPT_SCOPE] = { OF_RECORD, "--scope", "S",
	    "whose key: REMOTE_USER=ali; left out: anonymous" },
	[OPT_ID] = { OF_RECORD, "--id", "HEX",
	    "the record by its id, 8 digits of it or more" },
	[OPT_STATE] = { " list ", "--state", "S",
	    "running, orphaned, done, unknown, expired or damaged" },
	[OPT_MAX] = { " list ", "--max", "N",
	    "at most so many records, 1 to 1000000; else 100" },
	[OPT_BODY_TOO] = { " show ", "--body", NULL,
	    "the stored body too" },
	[OPT_RELEASE] = { " resolve ", "--release", NULL,
	    "the work was not done: the next retry does it" },
	[OPT_COMPLETE] = { " resolve ", "--complete", "N",
	    "it was done: retries get an answer with this status" },
	[OPT_HEADER] = { " resolve ", "--header", "H",
	    "with this line, 'Name: value'; may stand again" },
	[OPT_BODY] = { " resolve ", "--body", "FILE",
	    "with the bytes of this file; -: standard input" },
	[OPT_COMPACT] = { " copy ", "--compact", NULL,
	    "leave out the room that is not in use" },
	[OPT_CHECK_CONFIG] = { NULL, "--check-config", NULL,
	    "print every setting, its value and where it came from" },
	[OPT_VERSION] = { NULL, "--version", NULL,
	    "print the version" },
	[OPT_HELP] = { NULL, "--help", NULL,
	    "print this; behind a command: what it does" },
};
_Static_assert(sizeof rows / sizeof rows[0] == NOPTIONS, "one row an option");

const struct option_row *
option_row(enum option o)
{
	return &rows[o];
}

/* Is the row for this command? */
static bool
is_for(const struct option_row *row, const char *command)
{
	char word[32];

	return row->of == NULL || (command != NULL &&
	    text_format(word, sizeof word, " %s ", command) == IDEM_OK &&
	    strstr(row->of, word) != NULL);
}

static bool
find(struct idem_span name, const char *command, size_t *out)
{
	for (size_t i = 0; i < NOPTIONS; i++)
		if (span_eq(name, span_of(rows[i].name)) &&
		    is_for(&rows[i], command)) {
			*out = i;
			return true;
		}
	return false;
}

/* The value of the option at argv[*i], with *i moved onto its last word. */
static enum idem_err
value_of(const struct option_row *row, int argc, char *const argv[], int *i,
    const char **value, struct idem_buf *wrong)
{
	const char *equals = strchr(argv[*i], '=');

	*value = "";
	if (row->value == NULL && equals != NULL)
		idem_buf_printf(wrong, "%s takes no value", row->name);
	else if (row->value == NULL)
		return IDEM_OK;
	else if (equals != NULL)
		*value = equals + 1;
	else if (*i + 1 < argc)
		*value = argv[++*i];
	else
		idem_buf_printf(wrong, "%s: its value %s is missing", row->name,
		    row->value);
	return wrong->n == 0 ? IDEM_OK : IDEM_ESYNTAX;
}

/* A setting's option, as the other programs read it. */
static enum idem_err
take_setting(char *const argv[], int *i, struct settings *s,
    const struct idem_log *log, struct options *out, struct idem_buf *wrong)
{
	size_t at = (size_t)*i;
	bool taken = false;

	if (settings_option(s, log, (const char *const *)argv, &at, &taken) !=
	    IDEM_OK)
		return IDEM_EREFUSED;
	if (!taken) {
		idem_buf_printf(wrong, "%.200s: no such option", argv[*i]);
		return IDEM_ESYNTAX;
	}
	*i = (int)at;
	out->nsettings++;
	return IDEM_OK;
}

static enum idem_err
take_header(const char *line, struct options *out, struct idem_buf *wrong)
{
	if (out->nheaders == OPTIONS_HEADERS_MAX) {
		idem_buf_printf(wrong, "more than %d times --header",
		    OPTIONS_HEADERS_MAX);
		return IDEM_ESYNTAX;
	}
	out->headers[out->nheaders++] = line;
	return IDEM_OK;
}

static enum idem_err
take(int argc, char *const argv[], int *i, struct settings *s,
    const struct idem_log *log, struct options *out, struct idem_buf *wrong)
{
	struct idem_span word = span_of(argv[*i]);
	enum idem_err err;
	const char *value;
	size_t o;

	if (!find(span_first(word, span_find(word, '=')), out->command, &o))
		return take_setting(argv, i, s, log, out, wrong);
	err = value_of(&rows[o], argc, argv, i, &value, wrong);
	if (err != IDEM_OK)
		return err;
	out->value[o] = value;
	out->given |= OPT_BIT(o);
	return o == OPT_HEADER ? take_header(value, out, wrong) : IDEM_OK;
}

enum idem_err
options_parse(int argc, char *const argv[], struct settings *s,
    const struct idem_log *log, struct options *out, struct idem_buf *wrong)
{
	enum idem_err err = IDEM_OK;

	*out = (struct options){ .command = NULL };
	for (int i = 1; i < argc && err == IDEM_OK; i++) {
		if (argv[i][0] == '-') {
			err = take(argc, argv, &i, s, log, out, wrong);
		} else if (out->command == NULL) {
			out->command = argv[i];
		} else if (out->operand == NULL) {
			out->operand = argv[i];
		} else {
			idem_buf_printf(wrong, "%.200s: one word too many",
			    argv[i]);
			err = IDEM_ESYNTAX;
		}
	}
	return err;
}
