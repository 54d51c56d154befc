/*
 * routes.c - the routes file against its lines taken apart one by one, and the
 * block that a request gets against the blocks compared from the first on.
 */
#include "idem/log.h"
#include "kit.h"
#include "settings/routes_file.h"
#include "settings/settings_table.h"
#include "slow.h"

#define BLOCKS_MAX 256

struct block {
	struct idem_span methods, path;
	struct settings settings;
};

struct slow_routes {
	const char *file;
	const struct settings *base;
	const struct idem_log *log;
	unsigned line;
	size_t n; /* complete ones, and the one that is read */
	struct block *block;
};

static enum idem_err
fault(const struct slow_routes *r, const char *what)
{
	idem_log(r->log, IDEM_ERROR, "%s:%u: %s", r->file, r->line, what);
	return IDEM_ESYNTAX;
}

static enum idem_err
slow_block(struct slow_routes *r, struct idem_span line)
{
	static regex_t *block, *star;
	struct idem_span part[4];
	struct block *b;

	if (r->n > BLOCKS_MAX)
		return fault(r, "there are too many blocks");
	if (!kit_parts(&block, "^([*]|[A-Z-]+(,[A-Z-]+)*)[ \t]+(/.*)$", line,
	    part, 4))
		return fault(r, "a block begins with methods in capitals by "
		    "commas, or *, and a path, as in: POST /checkout/*");
	if (!kit_matches(&star, "^[^*]*[*]?$", part[3]))
		return fault(r, "* may stand at the end of a path only");
	b = &r->block[r->n++];
	b->methods = part[1];
	b->path = part[3];
	b->settings = *r->base;
	return IDEM_OK;
}

static enum idem_err
slow_line(struct slow_routes *r, struct idem_span line)
{
	struct settings_origin from = { SETTINGS_ROUTE, r->file, r->line };
	struct idem_span all, name;

	if (line.n > 0 && line.p[line.n - 1] == '\r')
		line.n--;
	all = span_trim(line);
	if (all.n == 0 || all.p[0] == '#')
		return IDEM_OK;
	if (all.p == line.p)
		return slow_block(r, all);
	if (r->n == 0)
		return fault(r, "a setting stands before the first block");
	(void)slow_split(&all, '=', &name);
	if (all.p == NULL)
		return fault(r, "not a line of the form NAME=value");
	return settings_set(&r->block[r->n - 1].settings, r->log, &from,
	    span_trim(name), span_trim(all));
}

static enum idem_err
slow_read(struct slow_routes *r, struct idem_span text)
{
	enum idem_err err = IDEM_OK;
	struct idem_span line;

	if (span_find(text, '\0') < text.n)
		return fault(r, "the file holds a NUL byte");
	while (err == IDEM_OK && slow_split(&text, '\n', &line)) {
		r->line++;
		err = slow_line(r, line);
	}
	if (err == IDEM_OK && r->n > BLOCKS_MAX)
		return fault(r, "there are too many blocks");
	return err;
}

static size_t
slow_route(const struct slow_routes *r, struct idem_span method,
    struct idem_span path)
{
	for (size_t i = 0; i < r->n; i++) {
		struct idem_span rest = r->block[i].methods, one;
		struct idem_span wanted = r->block[i].path;
		bool fits = span_eq(rest, IDEM_LIT("*")), starred;

		while (!fits && slow_split(&rest, ',', &one))
			fits = span_eq(one, method);
		starred = wanted.p[wanted.n - 1] == '*';
		if (fits && path.n >= wanted.n - starred && memcmp(path.p,
		    wanted.p, wanted.n - starred) == 0 &&
		    (starred || path.n == wanted.n))
			return i;
	}
	return SIZE_MAX;
}

static void
same_is_found(const struct routes *fast, const struct slow_routes *slow,
    struct idem_span method, struct idem_span path)
{
	const struct route *list = (const void *)fast->list.p;
	const struct route *got = routes_find(fast, method, path);
	size_t want = slow_route(slow, method, path);

	must((got == NULL) == (want == SIZE_MAX));
	must(got == NULL || (size_t)(got - list) == want);
}

/* Requests that fit each block, just miss it, or go on behind it. */
static void
requests_get(const struct routes *fast, const struct slow_routes *slow)
{
	for (size_t i = 0; i < slow->n; i++) {
		struct idem_span path = slow->block[i].path, method;
		struct idem_span rest = slow->block[i].methods;
		struct idem_buf *longer = kit_buf();

		(void)slow_split(&rest, ',', &method);
		idem_buf_puts(longer, path);
		idem_buf_putc(longer, 'x');
		same_is_found(fast, slow, method, path);
		same_is_found(fast, slow, IDEM_LIT("POST"), path);
		same_is_found(fast, slow, method, idem_buf_span(longer));
		same_is_found(fast, slow, method, kit_copy(span_first(path,
		    path.n - 1)));
		idem_buf_free(longer);
		if (i == 20)
			break;
	}
	same_is_found(fast, slow, IDEM_LIT("POST"), IDEM_LIT("/"));
}

static void
must_be_blocks(const struct routes *fast, const struct slow_routes *slow)
{
	const struct route *list = (const void *)fast->list.p;

	must(fast->list.n == slow->n * sizeof *list);
	for (size_t i = 0; i < slow->n; i++) {
		const struct block *b = &slow->block[i];

		must_be(list[i].methods, b->methods);
		must_be(list[i].path, b->path);
		for (size_t k = 0; k < settings_nrows; k++) {
			must_be(list[i].settings.value[k].text,
			    b->settings.value[k].text);
			must(list[i].settings.value[k].line ==
			    b->settings.value[k].line);
		}
		must(list[i].settings.policy.ttl_ms ==
		    b->settings.policy.ttl_ms);
		must(list[i].settings.policy.wait_ms ==
		    b->settings.policy.wait_ms);
	}
}

void
fuzz_routes(struct idem_span input)
{
	static struct settings base;
	struct kit_log heard, wanted;
	struct idem_log log = kit_log_to(&heard), slow_log =
	    kit_log_to(&wanted);
	struct slow_routes slow = { .file = kit_file(input), .base = &base,
		.log = &slow_log, .block = kit_block((BLOCKS_MAX + 1) *
		    sizeof(struct block)) };
	struct routes fast;
	enum idem_err err;

	settings_init(&base, SETTINGS_GUARD);
	routes_init(&fast);
	err = routes_read(&fast, &base, &log, slow.file, false);
	must(err == slow_read(&slow, input));
	must(heard.nlines == wanted.nlines && heard.nlines == (err != IDEM_OK));
	must_be(span_of(heard.last), span_of(wanted.last));
	if (err == IDEM_OK) {
		must_be_blocks(&fast, &slow);
		requests_get(&fast, &slow);
	}
	routes_free(&fast);
}
