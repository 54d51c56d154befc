/*
 * key.c - the grammar of the Idempotency-Key field: bare, or a Structured
 * Field String with parameters (RFC 9651).  Knows nothing of who asks.
 */
#include <string.h>

#include "base/text.h"
#include "idem/key.h"

/* Each reader below takes its item off the front of *in; false: the item is
 * not there, and what is left of *in means nothing. */

static bool
take(struct idem_span *in, char c)
{
	if (in->n == 0 || in->p[0] != c)
		return false;
	*in = span_from(*in, 1);
	return true;
}

/* Reads a run of the characters that fits() likes; returns their number. */
static size_t
take_run(struct idem_span *in, bool (*fits)(char))
{
	size_t n = 0;

	while (n < in->n && fits(in->p[n]))
		n++;
	*in = span_from(*in, n);
	return n;
}

static bool
is_sf_ascii(char c)
{
	return c >= 0x20 && c <= 0x7e;
}

static void
keep(struct idem_key *key, char c)
{
	if (key->n < IDEM_KEY_MAX)
		key->b[key->n] = c;
	key->n++;
}

/*
 * RFC 9651 4.2.5.  key->n counts every character, also those that found no
 * room.
 */
static bool
sf_string(struct idem_span *in, struct idem_key *key)
{
	if (!take(in, '"'))
		return false;
	while (in->n > 0) {
		char c = in->p[0];

		*in = span_from(*in, 1);
		if (c == '"')
			return true;
		if (c == '\\') {
			if (in->n == 0 || (in->p[0] != '"' && in->p[0] != '\\'))
				return false;
			c = in->p[0];
			*in = span_from(*in, 1);
		}
		if (!is_sf_ascii(c))
			return false;
		keep(key, c);
	}
	return false;
}

static bool
sf_string_dropped(struct idem_span *in)
{
	struct idem_key dropped = { .n = 0 };

	return sf_string(in, &dropped);
}

/* RFC 9651 4.2.4: 15 digits, or 12 and a fraction of 3. */
static bool
sf_number(struct idem_span *in)
{
	size_t whole, fraction;

	(void)take(in, '-'); /* the sign may be absent */
	whole = take_run(in, ascii_digit);
	if (!take(in, '.'))
		return whole >= 1 && whole <= 15;
	fraction = take_run(in, ascii_digit);
	return whole >= 1 && whole <= 12 && fraction >= 1 && fraction <= 3;
}

/* RFC 9651 4.2.9: a Decimal is no date. */
static bool
sf_date(struct idem_span *in)
{
	struct idem_span from;

	if (!take(in, '@'))
		return false;
	from = *in;
	return sf_number(in) &&
	    span_find(span_first(from, from.n - in->n), '.') == from.n - in->n;
}

static bool
is_token_char(char c)
{
	return c == ':' || c == '/' ||
	    is_token((struct idem_span){ &c, 1 });
}

/* RFC 9651 4.2.6; the first character was looked at. */
static bool
sf_token(struct idem_span *in)
{
	return take_run(in, is_token_char) > 0;
}

static bool
is_base64(char c)
{
	return ascii_alpha(c) || ascii_digit(c) || c == '+' || c == '/';
}

static bool
is_pad(char c)
{
	return c == '=';
}

/* RFC 9651 4.2.7: padding may be missing; where it stands it must be right. */
static bool
sf_bytes(struct idem_span *in)
{
	size_t digits, pad;

	if (!take(in, ':'))
		return false;
	digits = take_run(in, is_base64);
	pad = take_run(in, is_pad);
	return take(in, ':') && digits % 4 != 1 &&
	    (pad == 0 || (pad <= 2 && (digits + pad) % 4 == 0));
}

static bool
sf_boolean(struct idem_span *in)
{
	return take(in, '?') && (take(in, '0') || take(in, '1'));
}

static bool
is_lower_hex(char c)
{
	return ascii_digit(c) || (c >= 'a' && c <= 'f');
}

/* One byte of a Display String's text, percent-decoded. */
static bool
display_byte(struct idem_span *in, char *c)
{
	if (in->n == 0 || !is_sf_ascii(in->p[0]) || in->p[0] == '"')
		return false;
	*c = in->p[0];
	*in = span_from(*in, 1);
	if (*c != '%')
		return true;
	if (in->n < 2 || !is_lower_hex(in->p[0]) || !is_lower_hex(in->p[1]))
		return false;
	*c = (char)hex_byte(in->p[0], in->p[1]);
	*in = span_from(*in, 2);
	return true;
}

/* RFC 9651 4.2.10: the decoded bytes must be UTF-8. */
static bool
sf_display(struct idem_span *in)
{
	char text[4];
	size_t n = 0;
	uint32_t cp;

	if (!take(in, '%') || !take(in, '"'))
		return false;
	while (!take(in, '"')) {
		if (n == sizeof text || !display_byte(in, &text[n]))
			return false;
		if (utf8_decode((struct idem_span){ text, ++n }, &cp) > 0)
			n = 0;
	}
	return n == 0;
}

/* RFC 9651 4.2.3.1: the first character says which item it is. */
static bool
sf_bare_item(struct idem_span *in)
{
	static const struct {
		const char *first;
		bool (*read)(struct idem_span *in);
	} items[] = {
		{ "-0123456789", sf_number },
		{ "\"", sf_string_dropped },
		{ ":", sf_bytes },
		{ "?", sf_boolean },
		{ "@", sf_date },
		{ "%", sf_display },
	};

	if (in->n == 0)
		return false;
	if (in->p[0] == '*' || ascii_alpha(in->p[0]))
		return sf_token(in);
	for (size_t i = 0; i < sizeof items / sizeof items[0]; i++)
		if (span_find(span_of(items[i].first), in->p[0]) <
		    strlen(items[i].first))
			return items[i].read(in);
	return false;
}

static bool
is_lower_alpha(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool
is_name_char(char c)
{
	return is_lower_alpha(c) || ascii_digit(c) || c == '_' || c == '-' ||
	    c == '.' || c == '*';
}

static bool
is_space(char c)
{
	return c == ' ';
}

/* RFC 9651 4.2.3.2: checked, because what does not parse is no Item at all. */
static bool
sf_parameters(struct idem_span *in)
{
	while (take(in, ';')) {
		(void)take_run(in, is_space); /* any number, also none */
		if (in->n == 0 ||
		    (in->p[0] != '*' && !is_lower_alpha(in->p[0])))
			return false;
		(void)take_run(in, is_name_char); /* its first was seen */
		if (take(in, '=') && !sf_bare_item(in))
			return false;
	}
	return true;
}

static bool
bare_key(struct idem_span in, struct idem_key *key)
{
	for (size_t i = 0; i < in.n; i++) {
		if (!is_sf_ascii(in.p[i]) ||
		    memchr(" \"\\,;", in.p[i], 5) != NULL)
			return false;
		keep(key, in.p[i]);
	}
	return true;
}

enum idem_err
idem_key_parse(struct idem_span field, struct idem_key *out)
{
	struct idem_span in = span_trim(field);
	bool quoted = in.n > 0 && in.p[0] == '"', good;
	enum idem_err err = IDEM_OK;

	*out = (struct idem_key){ .n = 0 };
	if (quoted)
		good = sf_string(&in, out) && sf_parameters(&in) && in.n == 0;
	else
		good = bare_key(in, out);
	if (!good || out->n == 0)
		err = IDEM_ESYNTAX;
	else if (out->n > IDEM_KEY_MAX)
		err = IDEM_ETOOBIG;
	if (err != IDEM_OK)
		*out = (struct idem_key){ .n = 0 };
	return err;
}
