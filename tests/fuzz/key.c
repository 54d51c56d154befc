/*
 * key.c - the key field against the grammar of RFC 9651 as one expression.
 */
#include "idem/key.h"
#include "kit.h"

#define STRING "\"([] !#-[^-~]|\\\\[\"\\\\])*\""
#define BARE "[]!#-+./0-:<-[^-~-]+"
#define INTEGER "-?[0-9]{1,15}"
#define DECIMAL "-?[0-9]{1,12}\\.[0-9]{1,3}"
#define TOKEN "[A-Za-z*][A-Za-z0-9!#$%&'*+.^_`|~:/-]*"
#define B64 "[A-Za-z0-9+/]"
#define BYTES ":(" B64 "{4})*(" B64 "{2}(==)?|" B64 "{3}=?)?:"
#define H "[0-9a-f]"
#define MORE "%[89ab]" H
#define CODE_POINT "%[0-7]" H "|%c[2-9a-f]" MORE "|%d" H MORE \
	"|%e0%[ab]" H MORE "|%e[1-9abcef]" MORE MORE "|%ed%[89]" H MORE \
	"|%f0%[9ab]" H MORE MORE "|%f[1-3]" MORE MORE MORE \
	"|%f4%8" H MORE MORE
#define DISPLAY "%\"([ !#$&-~]|" CODE_POINT ")*\""
#define ITEM INTEGER "|" DECIMAL "|" STRING "|" TOKEN "|" BYTES \
	"|\\?[01]|@" INTEGER "|" DISPLAY
#define PARAMETERS "(; *[a-z*][a-z0-9_.*-]*(=(" ITEM "))?)*"

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* What the field says, undone by hand; false: it is no key. */
static bool
slow_key(struct idem_span field, struct idem_buf *key)
{
	static regex_t *quoted, *bare;
	struct idem_span part[2];

	while (field.n > 0 && is_blank(field.p[field.n - 1]))
		field.n--;
	while (field.n > 0 && is_blank(field.p[0]))
		field = span_from(field, 1);
	for (size_t i = 0; i < field.n; i++)
		if (field.p[i] < ' ' || field.p[i] > '~')
			return false;
	if (kit_matches(&bare, "^" BARE "$", field)) {
		idem_buf_puts(key, field);
		return true;
	}
	if (!kit_parts(&quoted, "^(" STRING ")" PARAMETERS "$", field, part,
	    2))
		return false;
	for (size_t i = 1; i + 1 < part[1].n; i++) {
		if (part[1].p[i] == '\\')
			i++;
		idem_buf_putc(key, part[1].p[i]);
	}
	return key->n > 0;
}

/* A key in quotes is that key. */
static void
quoted_is_the_same(struct idem_span key)
{
	struct idem_buf *field = kit_buf();
	struct idem_key again;

	idem_buf_puts(field, IDEM_LIT(" \""));
	for (size_t i = 0; i < key.n; i++) {
		if (key.p[i] == '"' || key.p[i] == '\\')
			idem_buf_putc(field, '\\');
		idem_buf_putc(field, key.p[i]);
	}
	idem_buf_puts(field, IDEM_LIT("\"\t"));
	must(idem_key_parse(kit_copy(idem_buf_span(field)), &again) ==
	    IDEM_OK);
	must_be(((struct idem_span){ again.b, again.n }), key);
}

void
fuzz_key(struct idem_span input)
{
	static const struct idem_key none;
	struct idem_buf *want = kit_buf();
	struct idem_key key;
	enum idem_err err = idem_key_parse(input, &key);
	enum idem_err want_err = !slow_key(input, want) ? IDEM_ESYNTAX :
	    want->n > IDEM_KEY_MAX ? IDEM_ETOOBIG : IDEM_OK;

	must(err == want_err);
	if (err != IDEM_OK) {
		must(memcmp(&key, &none, sizeof key) == 0);
		return;
	}
	must_be(((struct idem_span){ key.b, key.n }), idem_buf_span(want));
	quoted_is_the_same(idem_buf_span(want));
}
