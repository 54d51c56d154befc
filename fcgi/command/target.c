/*
 * target.c - the record that a command line names.  The id of a key is taken as
 * a request's would be: the words become the variables of a web server.
 */
#include <string.h>

#include "base/sha256.h"
#include "base/text.h"
#include "command/target.h"

#include "idem/key.h"
#include "idem/scope.h"

#define VAR_BYTES ((size_t)1 << 20)

static void
put_header_name(struct idem_buf *b, struct idem_span name)
{
	idem_buf_puts(b, IDEM_LIT("HTTP_"));
	for (size_t i = 0; i < name.n; i++)
		idem_buf_putc(b, name.p[i] == '-' ? '_' : name.p[i]);
	idem_buf_putc(b, '=');
}

/* "cookie:NAME" and a value as the variable that a web server would set. */
static void
put_var(struct idem_buf *b, const struct idem_scope_rule *rule,
    struct idem_span value)
{
	switch (rule->from) {
	case IDEM_SCOPE_DEFAULT:
		idem_buf_puts(b, IDEM_LIT("HTTP_AUTHORIZATION="));
		break;
	case IDEM_SCOPE_REMOTE_USER:
		idem_buf_puts(b, IDEM_LIT("REMOTE_USER="));
		break;
	case IDEM_SCOPE_COOKIE:
		idem_buf_puts(b, IDEM_LIT("HTTP_COOKIE="));
		idem_buf_puts(b, rule->name);
		idem_buf_putc(b, '=');
		break;
	case IDEM_SCOPE_HEADER:
		put_header_name(b, rule->name);
		break;
	case IDEM_SCOPE_PARAM:
		idem_buf_puts(b, rule->name);
		idem_buf_putc(b, '=');
		break;
	}
	idem_buf_puts(b, value);
	idem_buf_putc(b, '\0');
}

/* SOURCE=value.  Without --scope: anonymous, with a request that says nothing.
 * *var holds what *out borrows. */
static enum idem_err
find_scope(const char *text, struct idem_buf *var, struct idem_scope *out)
{
	struct idem_span word = span_of(text);
	size_t equals = span_find(word, '=');
	struct idem_span source = span_first(word, equals);
	struct idem_scope_rule rule = { .from = IDEM_SCOPE_DEFAULT };
	const char *vars[2] = { NULL, NULL };
	struct idem_request req;
	struct idem_buf scratch;
	enum idem_err err;

	if (text != NULL) {
		if (equals == word.n || source.n == 0 ||
		    (!span_eq(source, IDEM_LIT("Authorization")) &&
		    idem_scope_rule_parse(source, &rule) != IDEM_OK))
			return IDEM_ESYNTAX;
		put_var(var, &rule, span_from(word, equals + 1));
		if ((err = idem_buf_err(var)) != IDEM_OK)
			return err;
		vars[0] = var->p;
	}
	idem_buf_init(&scratch, VAR_BYTES);
	err = idem_request_init(&req, vars, &scratch);
	if (err == IDEM_OK && idem_scope_find(&rule, &req, out) !=
	    (text != NULL))
		err = IDEM_ESYNTAX;
	idem_buf_free(&scratch);
	return err;
}

static enum idem_err
hash(const struct idem_scope *scope, const struct idem_key *key,
    unsigned char id[IDEM_ID_BYTES])
{
	struct sha256 *h = NULL;
	enum idem_err err = sha256_create(&h);

	if (err != IDEM_OK)
		return err;
	err = idem_record_id(h, scope, (struct idem_span){ key->b, key->n },
	    id);
	sha256_destroy(&h);
	return err;
}

static int
by_key(struct command *c, struct target *out)
{
	const char *scope_text = c->options.value[OPT_SCOPE];
	unsigned char id[IDEM_ID_BYTES];
	struct idem_scope scope;
	struct idem_key key;
	struct idem_buf var;
	enum idem_err err;

	if (idem_key_parse(span_of(c->options.value[OPT_KEY]), &key) !=
	    IDEM_OK) {
		idem_log(c->log, IDEM_ERROR, "--key: this is no key; wanted "
		    "are 1 to %d visible ASCII characters; see idem %s --help",
		    IDEM_KEY_MAX, c->options.command);
		return COMMAND_USAGE;
	}
	idem_buf_init(&var, VAR_BYTES);
	if ((err = find_scope(scope_text, &var, &scope)) == IDEM_OK)
		err = hash(&scope, &key, id);
	idem_buf_free(&var);
	if (err == IDEM_OK) {
		hex_lower(id, sizeof id, out->digits);
		out->n = TARGET_DIGITS;
		return COMMAND_FINE;
	}
	if (err == IDEM_ENOMEM) {
		idem_log(c->log, IDEM_ERROR, "the record's id: %s",
		    idem_strerror(err));
		return COMMAND_FAILED;
	}
	idem_log(c->log, IDEM_ERROR, "--scope: wanted is REMOTE_USER=value, "
	    "cookie:NAME=value, header:NAME=value, param:NAME=value or "
	    "Authorization=value; see idem %s --help", c->options.command);
	return COMMAND_USAGE;
}

static int
by_id(struct command *c, struct target *out)
{
	struct idem_span id = span_of(c->options.value[OPT_ID]);
	bool hex = id.n >= TARGET_DIGITS_MIN && id.n <= TARGET_DIGITS;

	for (size_t i = 0; hex && i < id.n; i++) {
		hex = hex_value(id.p[i]) >= 0;
		out->digits[i] = ascii_lower(id.p[i]);
	}
	out->n = id.n;
	if (hex)
		return COMMAND_FINE;
	idem_log(c->log, IDEM_ERROR, "--id %.200s: wanted are %d to %d hex "
	    "digits; see idem %s --help", id.p, TARGET_DIGITS_MIN,
	    TARGET_DIGITS, c->options.command);
	return COMMAND_USAGE;
}

int
target_read(struct command *c, struct target *out)
{
	const char *const *value = c->options.value;

	*out = (struct target){ .n = 0 };
	if ((value[OPT_KEY] == NULL) == (value[OPT_ID] == NULL))
		idem_log(c->log, IDEM_ERROR, "%s: one of --key and --id is "
		    "wanted; see idem %s --help", c->options.command,
		    c->options.command);
	else if (value[OPT_ID] != NULL && value[OPT_SCOPE] != NULL)
		idem_log(c->log, IDEM_ERROR, "%s: --scope goes with --key; "
		    "see idem %s --help", c->options.command,
		    c->options.command);
	else
		return value[OPT_ID] != NULL ? by_id(c, out) : by_key(c, out);
	return COMMAND_USAGE;
}

static bool
is_it(const struct census_row *row, const struct target *t)
{
	char digits[TARGET_DIGITS];

	if (row->class == CENSUS_DAMAGED)
		return false;
	hex_lower(row->r.id, sizeof row->r.id, digits);
	return memcmp(digits, t->digits, t->n) == 0;
}

struct search {
	bool found;
	bool several;
	struct census_row *out;
};

/* A key that was claimed anew meanwhile stands further behind: the later of two
 * rows with one id counts. */
static void
take(struct search *s, const struct census_row *row)
{
	if (s->found && memcmp(s->out->r.id, row->r.id, IDEM_ID_BYTES) != 0)
		s->several = true;
	s->found = true;
	*s->out = *row;
}

static bool
explain(struct command *c, const struct target *t, const struct search *s)
{
	if (s->several)
		idem_log(c->log, IDEM_ERROR, "--id %s: several records begin "
		    "with these digits: give more of them", t->digits);
	else if (!s->found && c->options.value[OPT_ID] != NULL)
		idem_log(c->log, IDEM_ERROR, "--id %s: no record begins with "
		    "these digits (idem list)", t->digits);
	else if (!s->found)
		idem_log(c->log, IDEM_ERROR, "no record of this key %s: is it "
		    "the scope that IDEM_SCOPE makes of the request? "
		    "(idem list, and --id)", c->options.value[OPT_SCOPE] ==
		    NULL ? "without a scope" : "in this scope");
	return s->found && !s->several;
}

bool
target_find(struct command *c, struct idem_store *store,
    const struct target *t, struct census_row *out)
{
	struct census census = { .more = true };
	struct search s = { .out = out };
	enum idem_err err = IDEM_OK;

	while (err == IDEM_OK && census.more) {
		err = census_step(store, c->world->wall_ms(), &census);
		for (size_t i = 0; err == IDEM_OK && i < census.n; i++)
			if (is_it(&census.rows[i], t))
				take(&s, &census.rows[i]);
	}
	if (err == IDEM_OK)
		return explain(c, t, &s);
	idem_log(c->log, IDEM_ERROR, "cannot read the store: %s",
	    idem_strerror(err));
	return false;
}
