/*
 * variables.c - an application's variables, made of its request's.
 */
#include "base/text.h"
#include "guard/variables.h"

#define TEXT_MAX_BYTES (64 * 1024)
#define LIST_MAX_BYTES (1024 * 1024)

void
variables_init(struct variables *v)
{
	idem_buf_init(&v->text, TEXT_MAX_BYTES);
	idem_buf_init(&v->list, LIST_MAX_BYTES);
}

void
variables_free(struct variables *v)
{
	idem_buf_free(&v->text);
	idem_buf_free(&v->list);
}

static bool
is_of_guard(struct idem_span name)
{
	const struct idem_span redirected = IDEM_LIT("REDIRECT_");

	while (span_starts(name, redirected))
		name = span_from(name, redirected.n);
	return span_starts(name, IDEM_LIT("IDEM_"));
}

static bool
is_changed(struct idem_span name, const struct variables_change *changes,
    size_t nchanges)
{
	for (size_t i = 0; i < nchanges; i++)
		if (span_eq(name, changes[i].name))
			return true;
	return false;
}

static void
put(struct variables *v, const char *var)
{
	idem_buf_put(&v->list, &var, sizeof var);
}

/* All texts first: they move while there come more. */
static void
write_changes(struct variables *v, const struct variables_change *changes,
    size_t nchanges)
{
	for (size_t i = 0; i < nchanges; i++) {
		if (changes[i].value.p == NULL)
			continue;
		idem_buf_puts(&v->text, changes[i].name);
		idem_buf_putc(&v->text, '=');
		idem_buf_puts(&v->text, changes[i].value);
		idem_buf_putc(&v->text, '\0');
	}
}

static void
list_changes(struct variables *v)
{
	struct idem_span rest = idem_buf_span(&v->text);

	while (rest.n > 0) {
		put(v, rest.p);
		rest = span_from(rest, span_find(rest, '\0') + 1);
	}
}

enum idem_err
variables_make(struct variables *v, const char *const *vars,
    const struct variables_change *changes, size_t nchanges,
    const char *const **list)
{
	enum idem_err err;

	idem_buf_reset(&v->text);
	idem_buf_reset(&v->list);
	for (; *vars != NULL; vars++) {
		struct idem_span var = span_of(*vars), name = span_first(var,
		    span_find(var, '='));

		if (!is_of_guard(name) && !span_eq(name,
		    IDEM_LIT("HTTP_PROXY")) &&
		    !is_changed(name, changes, nchanges))
			put(v, *vars);
	}
	write_changes(v, changes, nchanges);
	if ((err = idem_buf_err(&v->text)) != IDEM_OK)
		return err;
	list_changes(v);
	put(v, NULL);
	/* the block comes from malloc(), so it is aligned */
	*list = (const char *const *)(void *)v->list.p;
	return idem_buf_err(&v->list);
}
