/*
 * scope.c - who is asking, by each source, and the ids of records: two that
 * differ in source, name, value or key are two records.
 *
 * Input: lines of IDEM_SCOPE, REMOTE_USER, Authorization, the redirected one,
 * the header X-A, and the key.
 */
#include "base/sha256.h"
#include "idem/scope.h"
#include "kit.h"
#include "slow.h"

#define TOKEN "[A-Za-z0-9!#$%&'*+.^_`|~-]+"

struct sent {
	struct idem_span user, auth, redirected, header; /* absent: not sent */
};

static struct idem_span
slow_auth(const struct sent *s)
{
	return s->auth.n > 0 ? s->auth : s->redirected;
}

/* Without a rule. */
static void
slow_default(const struct sent *s, struct idem_scope *out)
{
	static regex_t *good;
	struct idem_span part[4], auth = span_trim(slow_auth(s));

	if (s->user.n > 0) {
		out->source = IDEM_LIT("REMOTE_USER");
		out->value = s->user;
	} else if (kit_parts(&good, "^([Bb][Aa][Ss][Ii][Cc]|"
	    "[Bb][Ee][Aa][Rr][Ee][Rr]) ([^\n]*)$", auth, part, 3) &&
	    span_trim(part[2]).n > 0) {
		out->source = IDEM_LIT("Authorization");
		out->name = part[1].n == 5 ? IDEM_LIT("Basic") :
		    IDEM_LIT("Bearer");
		out->value = span_trim(part[2]);
	}
}

static struct idem_span
slow_header(const struct sent *s, struct idem_span name)
{
	static regex_t *mine, *authorization;

	if (kit_matches(&authorization, "^[Aa][Uu][Tt][Hh][Oo][Rr][Ii][Zz]"
	    "[Aa][Tt][Ii][Oo][Nn]$", name))
		return slow_auth(s);
	return kit_matches(&mine, "^[Xx][_-][Aa]$", name) ? s->header :
	    IDEM_ABSENT;
}

static struct idem_span
slow_param(const struct sent *s, struct idem_span name)
{
	const struct {
		const char *name;
		struct idem_span value;
	} all[] = { { "REMOTE_USER", s->user },
	    { "HTTP_AUTHORIZATION", s->auth },
	    { "REDIRECT_HTTP_AUTHORIZATION", s->redirected },
	    { "HTTP_X_A", s->header } };

	for (size_t i = 0; i < 4; i++)
		if (span_eq(name, span_of(all[i].name)))
			return all[i].value;
	return IDEM_ABSENT;
}

/* false: no rule of that grammar. */
static bool
slow_scope(struct idem_span rule, const struct sent *s,
    struct idem_scope *out)
{
	static regex_t *good;
	struct idem_span part[3] = { IDEM_LIT("") };
	struct idem_scope found = { IDEM_LIT(""), IDEM_LIT(""),
		IDEM_LIT("") };

	if (rule.n == 0)
		slow_default(s, &found);
	else if (span_eq(rule, IDEM_LIT("REMOTE_USER")))
		found = (struct idem_scope){ rule, IDEM_LIT(""), s->user };
	else if (kit_parts(&good, "^(cookie|header|param):(" TOKEN ")$", rule,
	    part, 3))
		found = (struct idem_scope){ part[1], part[2],
			part[1].p[0] == 'h' ? slow_header(s, part[2]) :
			part[1].p[0] == 'p' ? slow_param(s, part[2]) :
			IDEM_ABSENT };
	else
		return false;
	*out = found.value.n > 0 ? found : (struct idem_scope){
		IDEM_LIT(""), IDEM_LIT(""), IDEM_LIT("") };
	return true;
}

static void
put_run(struct idem_span s, struct idem_buf *out)
{
	for (unsigned shift = 56; shift < 64; shift -= 8)
		idem_buf_putc(out, (char)((uint64_t)s.n >> shift & 0xff));
	idem_buf_puts(out, s);
}

static void
id_is_of(const struct idem_scope *scope, struct idem_span key)
{
	static struct sha256 *h;
	struct kit_dice dice = kit_dice_of(key);
	struct idem_buf *text = kit_buf();
	unsigned char got[32], want[32];

	if (h == NULL)
		must(sha256_create(&h) == IDEM_OK);
	put_run(scope->source, text);
	put_run(scope->name, text);
	put_run(scope->value, text);
	put_run(key, text);
	kit_hash(&dice, idem_buf_span(text), want);
	must(idem_record_id(h, scope, key, got) == IDEM_OK);
	must(memcmp(got, want, sizeof want) == 0);
}

/* A variable, where its line is not empty; absent: it was not sent. */
static struct idem_span
send(struct idem_span *input, const char *name, const char **vars)
{
	struct idem_span line = kit_line(input);
	size_t n = 0;

	if (line.n == 0)
		return IDEM_ABSENT;
	while (vars[n] != NULL)
		n++;
	vars[n] = kit_variable(name, line);
	return span_first(line, span_find(line, '\0'));
}

void
fuzz_scope(struct idem_span input)
{
	const char *vars[5] = { NULL };
	struct idem_span rule_text = kit_copy(kit_line(&input));
	struct idem_scope want, got;
	struct idem_scope_rule rule;
	struct idem_request req;
	struct sent s;
	bool good;

	s.user = send(&input, "REMOTE_USER", vars);
	s.auth = send(&input, "HTTP_AUTHORIZATION", vars);
	s.redirected = send(&input, "REDIRECT_HTTP_AUTHORIZATION", vars);
	s.header = send(&input, "HTTP_X_A", vars);
	must(idem_request_init(&req, vars, kit_buf()) == IDEM_OK);
	good = slow_scope(rule_text, &s, &want);
	must(idem_scope_rule_parse(rule_text, &rule) ==
	    (good ? IDEM_OK : IDEM_ESYNTAX));
	if (!good)
		return;
	must(idem_scope_find(&rule, &req, &got) == (want.source.n > 0));
	must(span_eq(got.source, want.source));
	must(span_eq(got.name, want.name));
	must(span_eq(got.value, want.value));
	id_is_of(&got, kit_copy(input));
}
