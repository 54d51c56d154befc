/*
 * wire.c - the FastCGI client: an answer cut anywhere says the same, and what a
 * reader by the specification's table of bytes finds in it; a request's
 * variables come out as they went in.
 */
#include "guard/wire.h"
#include "kit.h"

/* What was said, byte by byte: "o" or "e" before each, then how it ended. */
static void
say(struct idem_buf *said, char kind, struct idem_span bytes)
{
	for (size_t i = 0; i < bytes.n; i++) {
		idem_buf_putc(said, kind);
		idem_buf_putc(said, bytes.p[i]);
	}
}

/* false: nothing more is to be read. */
static bool
listen_to(struct wire *w, struct idem_span bytes, struct idem_buf *said)
{
	struct idem_span piece;

	for (;;) {
		switch (wire_next(w, &bytes, &piece)) {
		case WIRE_MORE:
			must(bytes.n == 0);
			return true;
		case WIRE_OUT:
			must(piece.n > 0);
			say(said, 'o', piece);
			break;
		case WIRE_ERR:
			must(piece.n > 0);
			say(said, 'e', piece);
			break;
		case WIRE_END:
			idem_buf_printf(said, "end %u", w->protocol_status);
			return false;
		case WIRE_BAD:
			idem_buf_printf(said, "bad");
			return false;
		}
	}
}

/* The same from FastCGI 1.0, 3.3: version, type, two bytes of id, two of
 * length, one of padding, one reserved. */
static void
slow_answer(struct idem_span s, struct idem_buf *said)
{
	while (s.n > 0) {
		const unsigned char *p = (const unsigned char *)s.p;
		size_t length, there, whole;
		bool ours;

		if (p[0] != 1)
			idem_buf_printf(said, "bad");
		if (p[0] != 1 || s.n < 8)
			return;
		length = (size_t)p[4] * 256 + p[5];
		there = s.n - 8 < length ? s.n - 8 : length;
		ours = p[2] == 0 && p[3] == 1;
		if (p[1] == 3 && length != 8) {
			idem_buf_printf(said, "bad");
			return;
		}
		if (ours && (p[1] == 6 || p[1] == 7))
			say(said, p[1] == 6 ? 'o' : 'e',
			    span_first(span_from(s, 8), there));
		if (ours && p[1] == 3 && there == 8) {
			idem_buf_printf(said, "end %u", p[12]);
			return;
		}
		whole = 8 + length + p[6];
		s = span_from(s, whole < s.n ? whole : s.n);
	}
}

static void
answers_are_read(struct idem_span input)
{
	struct wire whole = { .nend = 0 }, cut = { .nend = 0 };
	struct idem_buf *want = kit_buf(), *got = kit_buf();
	struct kit_dice dice = kit_dice_of(input);
	struct idem_span piece;

	slow_answer(input, want);
	(void)listen_to(&whole, input, got);
	must(span_eq(idem_buf_span(got), idem_buf_span(want)));
	idem_buf_reset(got);
	while ((piece = kit_piece(&dice, &input)).p != NULL)
		if (!listen_to(&cut, piece, got))
			break;
	must(span_eq(idem_buf_span(got), idem_buf_span(want)));
}

/* All bytes of PARAMS records, up to the empty one; *rest behind it. */
static void
gather_params(struct idem_span *rest, struct idem_buf *pairs)
{
	for (;;) {
		const unsigned char *p = (const unsigned char *)rest->p;
		size_t n;

		must(rest->n >= 8 && memcmp(p, "\1\4\0\1", 4) == 0);
		must(p[6] == 0 && p[7] == 0);
		n = (size_t)p[4] * 256 + p[5];
		must(n <= rest->n - 8);
		idem_buf_puts(pairs, span_first(span_from(*rest, 8), n));
		*rest = span_from(*rest, 8 + n);
		if (n == 0)
			return;
	}
}

/* FastCGI 1.0, 3.4: one byte below 128, else four. */
static size_t
take_length(struct idem_span *s)
{
	const unsigned char *p = (const unsigned char *)s->p;
	size_t n;

	must(s->n > 0);
	if (p[0] < 128) {
		n = p[0];
		*s = span_from(*s, 1);
		return n;
	}
	must(s->n >= 4);
	n = (size_t)(p[0] & 127) << 24 | (size_t)p[1] << 16 |
	    (size_t)p[2] << 8 | p[3];
	must(n > 127);
	*s = span_from(*s, 4);
	return n;
}

static void
variables_arrive(struct idem_span input)
{
	struct idem_buf *out = kit_buf(), *pairs = kit_buf();
	const char *vars[20] = { NULL };
	struct idem_span rest;
	size_t nvars = 0;

	while (input.n > 0 && nvars < 19) {
		struct idem_span line = kit_line(&input);

		vars[nvars++] = kit_variable("", line) + 1;
	}
	wire_put_begin(out, vars);
	must(idem_buf_err(out) == IDEM_OK);
	rest = idem_buf_span(out);
	must(span_starts(rest, IDEM_LIT("\1\1\0\1\0\10\0\0\0\1\0\0\0\0\0\0")));
	rest = span_from(rest, 16);
	gather_params(&rest, pairs);
	must(rest.n == 0);
	rest = idem_buf_span(pairs);
	for (size_t i = 0; i < nvars; i++) {
		struct idem_span var = span_of(vars[i]);
		size_t equals = span_find(var, '='), name, value;

		if (equals == var.n)
			continue;
		name = take_length(&rest);
		value = take_length(&rest);
		must(name == equals && value == var.n - equals - 1);
		must(rest.n >= name + value);
		must_be(span_first(rest, name), span_first(var, name));
		must_be(span_first(span_from(rest, name), value),
		    span_from(var, name + 1));
		rest = span_from(rest, name + value);
	}
	must(rest.n == 0);
}

void
fuzz_wire(struct idem_span input)
{
	answers_are_read(input);
	variables_arrive(input);
}
