/*
 * json_member.c - member names and their order: UTF-16 code units of the
 * unescaped name (RFC 8785 3.2.3), compared where they stand in the output.
 */
#include "base/text.h"
#include "request/json_scan.h"

/*
 * The next byte of the name at *p as it was before escaping, numbered so that
 * names compare as their UTF-16 code units do: code points above U+FFFF (lead
 * bytes F0 to F4) come before U+E000 to U+FFFF (EE and EF).  -1: the name ends.
 */
static int
name_byte(const unsigned char **p)
{
	static const char letters[] = "btnfr\"\\", values[] = "\b\t\n\f\r\"\\";
	int c = *(*p)++;

	if (c == '"')
		return -1;
	if (c == '\\') {
		c = *(*p)++;
		if (c != 'u')
			return values[strchr(letters, c) - letters];
		*p += 4; /* u00, then two digits */
		return hex_byte((char)(*p)[-2], (char)(*p)[-1]);
	}
	return c >= 0xf0 ? c - 2 : c >= 0xee ? c + 5 : c;
}

uint64_t
json_name_head(const unsigned char *p)
{
	uint64_t head;
	int shift = 56, c;

	if (json_plain_head(p, &head))
		return head;
	head = 0;
	for (; shift >= 0 && (c = name_byte(&p)) >= 0; shift -= 8)
		head |= (uint64_t)c << shift;
	return head;
}

/* Words that are the same need no closer look, unless a name may end there or
 * an escape may cross into the next word. */
static int
compare_names(const unsigned char *a, const unsigned char *b)
{
	uint64_t w = json_word(a);
	int x, y;

	while (w == json_word(b) && !json_has(w, '"') && !json_has(w, '\\')) {
		a += 8;
		b += 8;
		w = json_word(a);
	}
	do {
		x = name_byte(&a);
		y = name_byte(&b);
	} while (x == y && x >= 0);
	return x - y;
}

bool
json_name_before(struct json_scan *s, const struct json_member *a,
    const struct json_member *b)
{
	int order = compare_names(s->base + a->start + 1,
	    s->base + b->start + 1);

	if (order == 0)
		json_inexact(s, a->at > b->at ? a->at : b->at);
	return order < 0;
}

bool
json_members_grow(struct json_scan *s)
{
	struct idem_buf *b = &s->work->members;

	idem_buf_grew(b, s->nmembers * sizeof *s->members - b->n);
	if (idem_buf_room(b, sizeof *s->members) == NULL)
		return false;
	s->members = (struct json_member *)(void *)b->p;
	s->members_cap = b->cap / sizeof *s->members;
	return true;
}
