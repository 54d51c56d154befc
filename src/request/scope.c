/*
 * scope.c - who is asking, and the id of a key's record.  Does not know what a
 * record is or whether the name it found has been checked.
 */
#include "base/sha256.h"
#include "base/text.h"
#include "idem/scope.h"

static const struct {
	struct idem_span prefix;
	enum idem_scope_from from;
} named_sources[] = {
	{ IDEM_LIT_INIT("cookie:"), IDEM_SCOPE_COOKIE },
	{ IDEM_LIT_INIT("header:"), IDEM_SCOPE_HEADER },
	{ IDEM_LIT_INIT("param:"), IDEM_SCOPE_PARAM },
};
#define NSOURCES (sizeof named_sources / sizeof named_sources[0])

enum idem_err
idem_scope_rule_parse(struct idem_span text, struct idem_scope_rule *out)
{
	if (text.n == 0 || span_eq(text, IDEM_LIT("REMOTE_USER"))) {
		*out = (struct idem_scope_rule){ .from = text.n == 0 ?
		    IDEM_SCOPE_DEFAULT : IDEM_SCOPE_REMOTE_USER };
		return IDEM_OK;
	}
	for (size_t i = 0; i < NSOURCES; i++) {
		struct idem_span name;

		if (!span_starts(text, named_sources[i].prefix))
			continue;
		name = span_from(text, named_sources[i].prefix.n);
		if (!is_token(name))
			return IDEM_ESYNTAX;
		*out = (struct idem_scope_rule){ named_sources[i].from, name };
		return IDEM_OK;
	}
	return IDEM_ESYNTAX;
}

/* A scheme's value that is the same on each try; the others (Digest, ...)
 * change and would make a new scope each time. */
static bool
split_credentials(struct idem_span auth, struct idem_scope *out)
{
	static const struct idem_span schemes[] = {
		IDEM_LIT_INIT("Basic"), IDEM_LIT_INIT("Bearer"),
	};
	size_t end = span_find(auth, ' ');

	for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
		if (!span_eq_nocase(span_first(auth, end), schemes[i]))
			continue;
		out->source = IDEM_LIT("Authorization");
		out->name = schemes[i];
		out->value = span_trim(span_from(auth, end));
		return out->value.n > 0;
	}
	return false;
}

/* An internal redirect of the web server renames the variable. */
static struct idem_span
authorization(const struct idem_request *req)
{
	if (req->var[IDEM_VAR_AUTH].n == 0)
		return req->var[IDEM_VAR_AUTH_REDIRECT];
	if (req->twice >> IDEM_VAR_AUTH & 1)
		return IDEM_ABSENT;
	return req->var[IDEM_VAR_AUTH];
}

static bool
find_default(const struct idem_request *req, struct idem_scope *out)
{
	if (req->var[IDEM_VAR_USER].n == 0)
		return split_credentials(span_trim(authorization(req)), out);
	out->source = IDEM_LIT("REMOTE_USER");
	out->value = req->var[IDEM_VAR_USER];
	return true;
}

static struct idem_span
header_value(const struct idem_request *req, struct idem_span name)
{
	struct idem_span value;
	bool twice;

	if (span_eq_nocase(name, IDEM_LIT("Authorization")))
		return authorization(req);
	value = idem_request_header(req, name, &twice);
	return twice ? IDEM_ABSENT : value;
}

static bool
find(const struct idem_scope_rule *rule, const struct idem_request *req,
    struct idem_scope *out)
{
	bool twice; /* the first value of a cookie counts */

	switch (rule->from) {
	case IDEM_SCOPE_DEFAULT:
		return find_default(req, out);
	case IDEM_SCOPE_REMOTE_USER:
		out->source = IDEM_LIT("REMOTE_USER");
		out->value = req->var[IDEM_VAR_USER];
		break;
	case IDEM_SCOPE_COOKIE:
		out->source = IDEM_LIT("cookie");
		out->value = idem_request_cookie(req, rule->name,
		    &twice);
		break;
	case IDEM_SCOPE_HEADER:
		out->source = IDEM_LIT("header");
		out->value = header_value(req, rule->name);
		break;
	case IDEM_SCOPE_PARAM:
		out->source = IDEM_LIT("param");
		out->value = idem_request_var(req, rule->name);
		break;
	}
	if (rule->name.n > 0)
		out->name = rule->name;
	return out->value.n > 0;
}

bool
idem_scope_find(const struct idem_scope_rule *rule,
    const struct idem_request *req, struct idem_scope *out)
{
	static const struct idem_scope anonymous = {
		IDEM_LIT_INIT(""), IDEM_LIT_INIT(""), IDEM_LIT_INIT(""),
	};

	*out = anonymous;
	if (find(rule, req, out))
		return true;
	*out = anonymous;
	return false;
}

static void
start_id(struct sha256 *h, const struct idem_scope *scope)
{
	sha256_start(h);
	sha256_update_run(h, scope->source);
	sha256_update_run(h, scope->name);
	sha256_update_run(h, scope->value);
}

enum idem_err
idem_record_id(struct sha256 *h, const struct idem_scope *scope,
    struct idem_span key, unsigned char id[IDEM_ID_BYTES])
{
	start_id(h, scope);
	sha256_update_run(h, key);
	return sha256_finish(h, id);
}

enum idem_err
idem_record_id_of_parts(struct sha256 *h, const struct idem_scope *scope,
    struct idem_span place, struct idem_span parts,
    struct idem_span fingerprint, unsigned char id[IDEM_ID_BYTES])
{
	start_id(h, scope);
	sha256_update_run(h, place);
	sha256_update_run(h, parts);
	sha256_update_run(h, fingerprint);
	return sha256_finish(h, id);
}
